"""The real thing: an embedder process with the bundled model, and what sessions may import of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.supervisor import EmbedderSupervisor
from hyperloci.memory import Memory
from hyperloci.spaces.profile import FINGERPRINT_VERSION
from hyperloci.store import Store
from tests.embedder.conftest import ROOT
from tests.embedder.helpers import wait_for
from tests.support import add


@pytest.mark.model
@pytest.mark.req("E.17", "B.03")
def test_a_cold_embedder_answers_then_moves_to_torch_and_drains_the_queue(settings: Settings) -> None:
    with Store.open(settings.database) as store:
        nodes = [
            add(store, f"Decision {number}: the cache is keyed by path.", now=system_clock()) for number in range(5)
        ]
    client = EmbedderClient(settings)
    with EmbedderSupervisor(settings) as owner:
        assert owner.ensure_running()
        assert client.wait_until_ready(60)
        model_id, first = client.embed_query("how is the cache keyed?", 30)
        assert model_id == f"all-MiniLM-L6-v2@53aa51172d14/384+{FINGERPRINT_VERSION}"
        wait_for(lambda: (status := client.status()) and status.backend == "torch", 60)
        assert float(client.embed_query("how is the cache keyed?", 30)[1] @ first) > 0.9999
        wait_for(lambda: (status := client.status()) and status.drained == 5 and not status.draining, 60)
        status = client.status()
    assert status is not None and (status.device, status.error) == ("cpu", None)
    with Store.open(settings.database) as store:
        assert store.vectors.list_pending(10) == []
        assert len(nodes) == 5


@pytest.mark.model
@pytest.mark.req("D.13")
def test_what_an_older_version_saw_is_seen_anew_before_all_counts_as_embedded(
    settings: Settings, tmp_path: Path
) -> None:
    with Memory.open(settings, tmp_path) as memory:
        add(memory.store, "The cache is keyed by path.", now=system_clock())
        assert memory.embed_pending() == 0
        current = memory.store.vectors.get_model_in_use()
        assert current is not None
        foundation = current.partition("+")[0]
        with memory.store.transaction():
            memory.store.connection.execute("UPDATE models SET id = ? WHERE id = ?", (f"{foundation}+0", current))
            memory.store.connection.execute(
                "UPDATE meta SET value = ? WHERE name = 'model_in_use'", (f"{foundation}+0",)
            )
        assert memory.store.vectors.count_pending() == 0
        assert memory.embed_pending() == 0
        (made_with,) = memory.store.connection.execute(
            "SELECT m.id FROM fingerprints f JOIN models m ON m.key = f.model_key WHERE f.e9 IS NOT NULL"
        ).fetchall()
    assert made_with[0] == current


@pytest.mark.model
def test_token_states_of_the_real_model_come_through_the_socket(settings: Settings) -> None:
    client = EmbedderClient(settings)
    with EmbedderSupervisor(settings) as owner:
        assert owner.ensure_running()
        assert client.wait_until_ready(60)
        (matrix,) = client.embed_tokens(["the cache is keyed by path"], 30)
    assert matrix.shape == (7, 384)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("module", "banned"),
    [
        ("hyperloci.embedder.client", ("numpy", "torch", "transformers", "sentence_transformers", "tokenizers")),
        ("hyperloci.embedder.supervisor", ("numpy", "torch", "transformers", "sentence_transformers", "tokenizers")),
        ("hyperloci.embedder.process.main", ("torch", "transformers", "sentence_transformers")),
        ("hyperloci.embedder.models.forward_torch", ("transformers", "sentence_transformers")),
    ],
)
def test_nobody_pays_for_what_the_embedder_alone_needs(module: str, banned: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*[name for name in {banned!r} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert told.stdout.strip() == ""


def test_the_embedder_alone_imports_torch() -> None:
    guilty = [
        path.relative_to(ROOT).as_posix()
        for folder in ("server", "tools", "hooks")
        for path in sorted(Path(ROOT, folder).rglob("*.py"))
        if "embedder" not in path.parts and any(line in path.read_text() for line in ("import torch", "from torch"))
    ]
    assert guilty == []


def test_what_an_embedder_logs_has_no_secrets() -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    code = (
        "import logging, sys; from hyperloci.embedder.process import main; main._set_up_logging('info');"
        "logging.getLogger('engine').error('draining %s failed', sys.argv[1])"
    )
    said = subprocess.run([sys.executable, "-c", code, token], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "ERROR engine" in said.stderr and "draining" in said.stderr
    assert token not in said.stderr
