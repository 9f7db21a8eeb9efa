"""Device: where the models run, and in which precision."""

from __future__ import annotations

from typing import Final

import torch

from hyperloci.errors import ConfigurationError
from hyperloci.system.native_threads import MAX_MODEL_THREADS, count_usable_cores
from hyperloci.system.values import dataclass

DTYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class ComputeDevice:
    """A device of torch and the type that numbers have on it."""

    device: torch.device
    dtype: torch.dtype

    @property
    def dtype_name(self) -> str:
        """`float32`, `bfloat16` or `float16`."""
        return str(self.dtype).removeprefix("torch.")


def choose_device(device: str, dtype: str | None = None) -> ComputeDevice:
    """Pick the device that `Settings.device` asks for; `auto` takes cuda, then mps, then cpu.

    Without `dtype`, the half precision that the device has instructions for; a CPU without them computes in float32.
    Half precision is 1.6 times as fast on such a CPU, at a cosine of 0.9999 to float32 (docs/benchmarks/embedding.md).

    Raises:
        ConfigurationError: torch does not have the requested device, or the dtype is unknown.
    """
    name = _find_best_device() if device == "auto" else device
    if not _is_available(name):
        raise ConfigurationError(
            f"device={device!r}: this torch ({torch.__version__}) has no such device. Use device=auto, or install a "
            f"torch built for it."
        )
    return ComputeDevice(torch.device(name), _choose_dtype(name, dtype))


def choose_float32_on_cpu(device: str) -> ComputeDevice:
    """Pick a device, a CPU in float32: what half precision costs there is known of the bundled model only.

    Raises:
        ConfigurationError: torch does not have the requested device.
    """
    place = choose_device(device)
    return choose_device("cpu", "float32") if place.device.type == "cpu" else place


def has_bfloat16(device: str = "cpu") -> bool:
    """Tell whether bfloat16 is computed by instructions of its own, and so is worth asking for."""
    if device == "cuda":
        return torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    checks = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return device == "cpu" and any(check() for check in checks if check is not None)


def cap_threads() -> int:
    """Cap torch's threads to the cores this process may use and return their number."""
    threads = max(1, min(torch.get_num_threads(), count_usable_cores(), MAX_MODEL_THREADS))
    torch.set_num_threads(threads)
    return threads


def _find_best_device() -> str:
    return next(name for name in ("cuda", "mps", "cpu") if _is_available(name))


def _is_available(name: str) -> bool:
    if name == "cuda":
        return torch.cuda.is_available()
    if name == "mps":
        return torch.backends.mps.is_available()
    return name == "cpu"


def _choose_dtype(device: str, dtype: str | None) -> torch.dtype:
    if dtype is None:
        if device == "cpu":
            return torch.bfloat16 if has_bfloat16() else torch.float32
        return torch.bfloat16 if device == "cuda" and has_bfloat16("cuda") else torch.float16
    if dtype not in DTYPES:
        raise ConfigurationError(f"dtype={dtype!r} is unknown: use one of {', '.join(DTYPES)}.")
    return DTYPES[dtype]
