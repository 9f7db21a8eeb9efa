"""What the doctor finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperloci.doctor import Level, examine, file_system_of
from hyperloci.store import Store
from tests.support import NOW


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("RLM_MEMORY_DB", str(tmp_path / "memory.db"))
    monkeypatch.setenv("HYPERLOCI_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path / "memory.db"


def test_a_database_others_can_read_is_a_warning(database: Path, tmp_path: Path) -> None:
    Store.open(database).close()
    database.chmod(0o644)

    findings = examine(tmp_path)

    assert any(item.level is Level.WARNING and "read by others" in item.message for item in findings)


def test_drift_is_found_and_repaired_from_the_rows_of_truth(database: Path, tmp_path: Path) -> None:
    from tests.support import add

    with Store.open(database) as store:
        node = add(store, "alpha beta", now=NOW)
        with store.transaction():
            store.connection.execute("DELETE FROM keywords")
            store.connection.execute("DELETE FROM pending")

    before = [item for item in examine(tmp_path) if item.level is Level.WARNING and item.subject == "database"]
    after = examine(tmp_path, repair=True)

    assert len(before) == 2
    assert not [item for item in after if item.level is Level.WARNING and item.subject == "database"]
    with Store.open(database) as store:
        from hyperloci.model.search import Where

        found = store.keyword_search.search(["alpha"], store.filters.allowed(Where()), 5)
        assert list(found.scores) == [node.key]


def test_settings_that_do_not_parse_are_an_error_with_the_file_named(database: Path, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "hyperloci.toml").write_text("device = [")

    findings = examine(tmp_path)

    assert findings[-1].level is Level.ERROR
    assert "hyperloci.toml" in findings[-1].message


def test_the_file_system_is_that_of_the_nearest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("a / ext4 rw 0 0\nb /home nfs4 rw 0 0\nc /home/me ext4 rw 0 0\n")

    assert file_system_of(Path("/home/you/x.db"), mounts) == "nfs4"
    assert file_system_of(Path("/home/me/x.db"), mounts) == "ext4"
    assert file_system_of(Path("/x.db"), mounts) == "ext4"
    assert file_system_of(Path("/x.db"), tmp_path / "none") is None
