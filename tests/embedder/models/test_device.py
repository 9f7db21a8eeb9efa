"""Where a model runs, in which precision, on how many threads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from hyperloci.embedder.models import device
from hyperloci.errors import ConfigurationError
from hyperloci.system import native_threads

WITHOUT_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has the device that must be missing")


@pytest.mark.parametrize(("has", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_a_cpu_computes_in_half_precision_where_it_has_instructions_for_it(
    has: bool, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "has_bfloat16", lambda name="cpu": has)
    assert device.choose_device("cpu") == device.ComputeDevice(torch.device("cpu"), dtype)
    assert device.choose_device("cpu", "float32").dtype_name == "float32"
    assert device.choose_device("cpu", "bfloat16").dtype_name == "bfloat16"


def test_auto_takes_the_best_there_is() -> None:
    expected = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert device.choose_device("auto").device.type == expected


@WITHOUT_GPU
def test_a_device_that_is_not_there_is_refused_with_the_remedy() -> None:
    with pytest.raises(ConfigurationError, match=r"device='cuda'.*has no such device. Use device=auto"):
        device.choose_device("cuda")


def test_an_unknown_precision_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ConfigurationError, match="dtype='int4' is unknown: use one of float32, bfloat16, float16"):
        device.choose_device("cpu", "int4")


def test_a_gpu_computes_in_half_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for supported, expected in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda supported=supported: supported)
        assert device.choose_device("auto") == device.ComputeDevice(torch.device("cuda"), expected)


def test_bfloat16_is_worth_asking_for_only_where_the_processor_has_it() -> None:
    flags = Path("/proc/cpuinfo").read_text()
    assert device.has_bfloat16("cpu") == ("avx512_bf16" in flags or "amx_tile" in flags)
    assert not device.has_bfloat16("tpu")


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", 16),
        ("250000 100000", 2),
        ("10000 100000", 1),
        ("3200000 100000", 16),
        ("nonsense", 16),
        (None, 16),
    ],
)
def test_a_containers_share_of_the_cores_is_respected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quota: str | None, expected: int
) -> None:
    file = tmp_path / "cpu.max"
    if quota is not None:
        file.write_text(quota)
    monkeypatch.setattr(native_threads, "_CGROUP_QUOTA", str(file))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(16))
    assert native_threads.count_usable_cores() == expected


def test_threads_never_exceed_the_cores() -> None:
    assert 1 <= device.cap_threads() <= native_threads.MAX_MODEL_THREADS
    assert torch.get_num_threads() <= native_threads.count_usable_cores()
