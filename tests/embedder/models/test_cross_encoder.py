"""The cross-encoder that comes along: the bundled model with its adapter, as torch computes it, and over a socket."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from hyperloci.config import Settings
from hyperloci.embedder.models import cross_encoder
from hyperloci.embedder.models.bundled import find_model_folder, read_tokenizer
from hyperloci.embedder.models.cross_encoder import (
    HEAD_WIDTH,
    LEFT,
    MAX_TOKENS,
    REPLACEMENT_ADAPTER,
    RIGHT,
    STATEMENT_ADAPTER,
    CrossEncoder,
    load_cross_encoder,
)
from hyperloci.embedder.models.device import ComputeDevice, choose_device
from hyperloci.embedder.models.loader import load_bundled_stages
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import EmbedderEngine, ReadingTask
from hyperloci.embedder.process.main import _load_cross_encoder
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from tests.embedder.helpers import drain_lines, serving, stages, wait_for

pytestmark = [pytest.mark.model, pytest.mark.req("D.10")]

OVER = [
    ("Deploys need two approvals.", "One approval is enough for a deploy now."),
    ("Grafana is only reachable over the VPN.", "You can open Grafana from any café, no VPN needed."),
    ("The session timeout is 30 minutes.", "Sessions end after an hour from now on."),
]
STANDING = [
    ("Deploys need two approvals.", "The deploy log is kept for two weeks."),
    ("Grafana is only reachable over the VPN.", "Grafana shows the error rate of each service."),
    ("The session timeout is 30 minutes.", "The cache expires after an hour."),
]
KEPT = [
    ("Should I run pip install -r requirements.txt? ‖ ", "yes, always uv in this repo, pip breaks our lockfile"),
    (" ‖ ", "never touch the generated client by hand → Noted, I only change the schema."),
]
PASSING = [
    (" ‖ ", "can you look at order.py, the endpoint is slow → Looking."),
    ("The tests pass. ‖ ", "run the linter too → It is clean."),
]
ADAPTERS = [REPLACEMENT_ADAPTER, STATEMENT_ADAPTER]
ODD = [("", ""), ("half a pair \ud800", "x"), ("word " * 400, "other " * 400), ("日本語", "🙂 ünïcode [SEP] text")]


@cache
def encoder() -> CrossEncoder:
    return load_cross_encoder(REPLACEMENT_ADAPTER)


def score_by_torch(pairs: list[tuple[str, str]], stored: Path) -> list[float]:
    """Return what torch makes of the bundled model and the adapter, pair by pair."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(find_model_folder()).eval()
    adapter = {name: value.float() for name, value in load_file(stored).items()}
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            if name in adapter:
                weight += adapter[name]
            elif name + LEFT in adapter:
                weight += adapter[name + LEFT] @ adapter[name + RIGHT]
        scores = []
        for older, newer in pairs:
            old, new = (text.encode("utf-8", "replace").decode() for text in (older, newer))
            ids = read_tokenizer(find_model_folder(), MAX_TOKENS).encode(old, new).ids
            states = model(torch.tensor([ids])).last_hidden_state[0]
            read = torch.cat([states[0], states.mean(0)])
            inner = torch.nn.functional.gelu(adapter["first.weight"] @ read + adapter["first.bias"])
            scores.append(float(torch.sigmoid(adapter["last.weight"] @ inner + adapter["last.bias"])))
    return scores


@pytest.mark.parametrize("stored", ADAPTERS, ids=lambda path: path.stem)
def test_scores_are_those_that_torch_computes(stored: Path) -> None:
    pairs = [*OVER, *STANDING, *KEPT, *PASSING, *ODD]
    assert load_cross_encoder(stored).score_pairs(pairs) == pytest.approx(score_by_torch(pairs, stored), abs=2e-4)


def count_views(path: Path) -> int:
    """Return how many views of a file this process holds."""
    return sum(line.endswith(f" {path}") for line in Path("/proc/self/maps").read_text("utf-8").splitlines())


@pytest.mark.skipif(sys.platform != "linux", reason="says what it has mapped on Linux only")
@pytest.mark.parametrize("place", [None, choose_device("cpu", "float32")], ids=["numpy", "torch"])
def test_two_models_hold_one_table_of_words_and_nothing_else_of_its_file(
    place: ComputeDevice | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("model.safetensors", "tokenizer.json"):
        shutil.copy(find_model_folder() / name, tmp_path)
    monkeypatch.setattr(cross_encoder, "find_model_folder", lambda: tmp_path)
    path = tmp_path / "model.safetensors"
    models = [load_cross_encoder(stored, place) for stored in ADAPTERS]
    assert count_views(path) == 1
    assert [len(model.score_pairs(OVER)) for model in models] == [len(OVER)] * 2
    models.clear()
    assert count_views(path) == 0


def test_torch_gives_the_scores_that_numpy_gives() -> None:
    pairs = [*OVER, *STANDING, *ODD]
    by_torch = load_cross_encoder(REPLACEMENT_ADAPTER, choose_device("cpu", "float32"))
    assert by_torch.score_pairs(pairs) == pytest.approx(encoder().score_pairs(pairs), abs=1e-5)


def test_half_precision_gives_almost_the_same_scores() -> None:
    pairs = [*OVER, *STANDING, *ODD]
    halved = load_cross_encoder(REPLACEMENT_ADAPTER, choose_device("cpu", "bfloat16"))
    assert halved.score_pairs(pairs) == pytest.approx(encoder().score_pairs(pairs), abs=0.05)


def test_what_is_over_is_told_from_what_stands_beside_it() -> None:
    assert min(encoder().score_pairs(OVER)) > 0.5 > max(encoder().score_pairs(STANDING))


def test_what_is_to_be_kept_is_told_from_what_is_asked_for_now() -> None:
    reader = load_cross_encoder(STATEMENT_ADAPTER)
    assert min(reader.score_pairs(KEPT)) > 0.5 > max(reader.score_pairs(PASSING))


def test_pairs_do_not_depend_on_each_other() -> None:
    together = encoder().score_pairs([*OVER, *ODD, *STANDING])
    alone = [encoder().score_pairs([pair])[0] for pair in (*OVER, *ODD, *STANDING)]
    assert together == pytest.approx(alone, abs=1e-4)
    assert encoder().score_pairs([]) == []


def test_of_two_long_texts_both_are_read() -> None:
    ids = read_tokenizer(find_model_folder(), MAX_TOKENS).encode("old " * 500, "new " * 500).ids
    assert len(ids) == MAX_TOKENS
    assert np.diff(np.flatnonzero(np.array(ids) == ids[-1]))[0] == pytest.approx(MAX_TOKENS / 2, abs=2)


@pytest.mark.parametrize("stored", ADAPTERS, ids=lambda path: path.stem)
def test_the_adapter_changes_the_layers_and_adds_a_head_only(stored: Path) -> None:
    adapter = load_file(stored)
    assert {name.split(".")[0] for name in adapter} == {"encoder", "first", "last"}
    assert adapter["first.bias"].shape == (HEAD_WIDTH,) and all(value.isfinite().all() for value in adapter.values())


def test_a_session_has_pairs_read_by_its_embedder(settings: Settings) -> None:
    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=lambda *_: encoder())
    with serving(settings, engine) as client:
        assert client.wait_until_ready(10)
        assert client.score_pairs(OVER * 40, timeout=30) == pytest.approx(encoder().score_pairs(OVER) * 40, abs=1e-4)


def test_each_question_is_asked_of_its_own_model(settings: Settings) -> None:
    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=_load_cross_encoder)
    with serving(settings, engine) as client:
        assert client.wait_until_ready(10)
        kept = client.score_statements(KEPT, timeout=30)
        assert client.score_pairs(OVER, timeout=30) == pytest.approx(encoder().score_pairs(OVER), abs=1e-4)
    assert kept == pytest.approx(load_cross_encoder(STATEMENT_ADAPTER).score_pairs(KEPT), abs=1e-4)


def test_pairs_are_read_by_the_library_that_the_embedder_has_come_to(settings: Settings) -> None:
    loaded = []

    def load(stage: EncoderStage, task: ReadingTask) -> CrossEncoder:
        loaded.append(stage.backend)
        return _load_cross_encoder(stage, task)

    engine = EmbedderEngine(lambda: load_bundled_stages("cpu"), lambda: drain_lines, cross_encoder=load)
    with serving(settings, engine) as client:
        assert client.wait_until_ready(60)
        wait_for(lambda: (status := client.status()) and status.backend == "torch", 60)
        scores = [client.score_pairs(OVER, timeout=30) for _ in range(2)]
    assert loaded == ["torch"]
    assert scores[0] == scores[1] == pytest.approx(encoder().score_pairs(OVER), abs=0.05)


def test_questions_do_not_wait_until_it_is_loaded(settings: Settings) -> None:
    begun, free = threading.Event(), threading.Event()

    def load(_: EncoderStage, __: ReadingTask) -> CrossEncoder:
        begun.set()
        free.wait(30)
        return encoder()

    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=load)
    with serving(settings, engine) as client, ThreadPoolExecutor() as pool:
        assert client.wait_until_ready(10)
        try:
            reading = pool.submit(engine.score_pairs, OVER, deadline=time.monotonic() + 60)
            assert begun.wait(10)
            assert (
                len(engine.encode(["is the cache warm?"], tokens=False, deadline=time.monotonic() + 10).matrices) == 1
            )
            assert not reading.done()
        finally:
            free.set()
        assert len(reading.result(60)) == len(OVER)


def test_who_waits_too_long_for_a_model_is_told_that_it_loads_and_the_next_one_has_it(settings: Settings) -> None:
    free, calls = threading.Event(), list[ReadingTask]()

    def load(_: EncoderStage, task: ReadingTask) -> CrossEncoder:
        calls.append(task)
        free.wait(30)
        return encoder()

    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=load)
    with serving(settings, engine) as client:
        assert client.wait_until_ready(10)
        try:
            with pytest.raises(NotReadyError, match="loading"):
                client.score_pairs(OVER, timeout=0.2)
            assert client.silent_since is None
        finally:
            free.set()
        assert client.score_pairs(OVER, timeout=30) == pytest.approx(encoder().score_pairs(OVER), abs=1e-4)
    assert calls == [ReadingTask.REPLACEMENT]


def test_a_model_that_could_not_be_loaded_is_loaded_again_when_it_is_asked_next(settings: Settings) -> None:
    faults = [EmbedderError("the disk is gone")]

    def load(_: EncoderStage, __: ReadingTask) -> CrossEncoder:
        if faults:
            raise faults.pop()
        return encoder()

    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=load)
    with serving(settings, engine) as client:
        assert client.wait_until_ready(10)
        with pytest.raises(EmbedderError, match="disk is gone"):
            client.score_pairs(OVER, timeout=30)
        assert len(client.score_pairs(OVER, timeout=30)) == len(OVER)


def test_an_embedder_without_one_says_so(settings: Settings) -> None:
    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines)
    with serving(settings, engine) as client:
        assert client.wait_until_ready(10)
        with pytest.raises(BadRequestError, match="no cross-encoder"):
            client.score_pairs(OVER)


def test_while_the_embedder_loads_nobody_waits_for_a_reading(settings: Settings) -> None:
    engine = EmbedderEngine(lambda: stages(settings), lambda: drain_lines, cross_encoder=lambda *_: encoder())
    with pytest.raises(NotReadyError, match="still loading"):
        engine.score_pairs(OVER, deadline=float("inf"))
