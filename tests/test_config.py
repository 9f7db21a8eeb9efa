"""Settings: where they come from, who wins, and what is refused."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci import config, idle_settings
from hyperloci.config import Settings
from hyperloci.errors import ConfigurationError
from hyperloci.idle_settings import list_idle_settings, list_idle_variables
from hyperloci.setting_values import RANGES
from hyperloci.system.data_paths import database_key, find_paths
from tests.support import examples


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    return folder


def load(home: Path, project: Path | None = None, **environ: str) -> Settings:
    return Settings.from_env({"HOME": str(home), **environ}, project)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.req("SPEC-02.02")
def test_without_any_setting_everything_lies_under_the_claude_folder(home: Path) -> None:
    found = load(home)
    assert found.database == home / ".claude" / "rlm-memory.db"
    assert found.state_dir == home / ".claude" / "hyperloci"
    assert found.log_file == found.state_dir / "hyperloci.log"
    assert found.spool_dir == found.state_dir / "spool" / database_key(str(found.database))
    assert found.backup_dir == found.state_dir / "backups"
    assert found.lock_dir == found.state_dir / "locks"


@pytest.mark.req("SPEC-02.03")
def test_the_database_is_moved_by_its_variable(home: Path, tmp_path: Path) -> None:
    assert load(home, RLM_MEMORY_DB=str(tmp_path / "x.db")).database == tmp_path / "x.db"
    assert load(home, RLM_MEMORY_DB="").database == home / ".claude" / "rlm-memory.db"
    assert load(home, HYPERLOCI_DATABASE="/elsewhere.db").database == home / ".claude" / "rlm-memory.db"


@pytest.mark.req("B.20")
def test_the_defaults_are_those_that_were_asked_for(home: Path) -> None:
    found = load(home)
    assert (found.rrf_k, found.rrf_weight_fts, found.rrf_weight_vector, found.rrf_weight_graph) == (60, 1.0, 1.0, 1.0)
    assert (found.decay_threshold, found.decay_rate_default, found.context_token_budget) == (0.05, 0.1, 2_000)
    assert found.entity_enrichment_min_mentions == 3 and found.causal_inference_batch_size == 50


def test_nearer_settings_win_over_farther_ones(home: Path, project: Path) -> None:
    user = home / ".claude" / "hyperloci.toml"
    write(user, 'max_file_bytes = 1\nproject = "user"\ndevice = "cpu"\nexclude = ["a"]\n')
    assert (load(home).max_file_bytes, load(home).device, load(home).exclude) == (1, "cpu", ("a",))
    write(project / ".hyperloci.toml", 'max_file_bytes = 2\nexclude = ["b", "c"]\nwatch = false\n')
    found = load(home, project)
    assert (found.max_file_bytes, found.exclude, found.watch, found.project) == (2, ("b", "c"), False, "user")
    found = load(home, project, HYPERLOCI_MAX_FILE_BYTES="3", HYPERLOCI_DEVICE="cuda", HYPERLOCI_WATCH="yes")
    assert (found.max_file_bytes, found.device, found.watch) == (3, "cuda", True)


def test_the_runtime_folder_follows_the_same_order(home: Path, tmp_path: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", 'runtime_dir = "/from/file"\n')
    assert load(home).runtime_dir == Path("/from/file").absolute()
    assert load(home, HYPERLOCI_RUNTIME_DIR=str(tmp_path)).runtime_dir == tmp_path


def test_the_runtime_folder_is_the_systems_or_the_users_own(home: Path, tmp_path: Path) -> None:
    assert load(home, XDG_RUNTIME_DIR=str(tmp_path)).runtime_dir == tmp_path / "hyperloci"
    own = load(home, XDG_RUNTIME_DIR=str(tmp_path / "missing")).runtime_dir
    assert own == load(home).runtime_dir
    assert own.name == (f"hyperloci-{os.getuid()}" if hasattr(os, "getuid") else "hyperloci-user")


def test_every_path_is_absolute(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = load(home, CLAUDE_CONFIG_DIR="claude", RLM_MEMORY_DB="x.db", HYPERLOCI_RUNTIME_DIR="run")
    assert found.database == tmp_path / "x.db"
    assert (found.state_dir, found.runtime_dir) == (tmp_path / "claude" / "hyperloci", tmp_path / "run")
    monkeypatch.setenv("HOME", str(home))
    assert load(home, RLM_MEMORY_DB="~/x.db").database == home / "x.db"


@pytest.mark.parametrize("name", ["database", "state_dir", "runtime_dir"])
def test_an_empty_path_is_refused_instead_of_meaning_the_current_folder(home: Path, name: str) -> None:
    """The current folder is the user's project: it would be closed to others, and hold our files."""
    write(home / ".claude" / "hyperloci.toml", f'{name} = ""\n')
    with pytest.raises(ConfigurationError, match=name):
        load(home)
    with pytest.raises(ConfigurationError, match=name):
        Settings.from_usable({"HOME": str(home)})
    with pytest.raises(ValueError, match="empty"):
        find_paths({"HOME": str(home)})


def test_the_users_file_may_lie_elsewhere(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "mine.toml", "rrf_k = 7\n")
    assert load(home, HYPERLOCI_CONFIG=str(tmp_path / "mine.toml")).rrf_k == 7


def test_a_file_that_starts_with_a_byte_order_mark_is_read(home: Path) -> None:
    (home / ".claude" / "hyperloci.toml").write_bytes(b"\xef\xbb\xbfrrf_k = 9\n")
    assert load(home).rrf_k == 9


@pytest.mark.parametrize("damage", [b"rrf_k = ", b"\xff\xfe", b"watch = tru\n", b"x = " + b"[" * 5_000])
def test_a_file_of_the_users_that_does_not_parse_is_named(home: Path, damage: bytes) -> None:
    (home / ".claude" / "hyperloci.toml").write_bytes(damage)
    with pytest.raises(ConfigurationError, match=r"hyperloci\.toml cannot be read"):
        load(home)


@pytest.mark.req("W5")
@pytest.mark.parametrize(
    "damage", [b"rrf_k = ", b"\xff\xfe", b"watch = tru\n", b"x = " + b"[" * 5_000, b"#" * (2 << 20)]
)
def test_a_project_whose_file_does_not_parse_has_a_memory_and_is_told(home: Path, project: Path, damage: bytes) -> None:
    (project / ".hyperloci.toml").write_bytes(damage)
    settings = load(home, project)
    assert settings.exclude_fault is not None and "hyperloci.toml cannot be read" in settings.exclude_fault
    assert settings.project_faults == (settings.exclude_fault,)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_a_files_place_keeps_nobody_waiting(home: Path, project: Path) -> None:
    os.mkfifo(project / ".hyperloci.toml")
    assert "not a settings file" in str(load(home, project).exclude_fault)


def test_a_folder_in_a_files_place_is_named_and_a_missing_folder_is_none(home: Path, project: Path) -> None:
    assert load(home, project / "file" / "missing") == load(home)
    (project / ".hyperloci.toml").mkdir()
    assert "cannot be read" in str(load(home, project).exclude_fault)


def test_what_a_project_sets_wrongly_is_left_out_and_the_rest_holds(home: Path, project: Path) -> None:
    write(project / ".hyperloci.toml", 'watch = "perhaps"\nmax_file_bytes = 7\nexclude = 5\n')
    settings = load(home, project)
    assert (settings.watch, settings.max_file_bytes, settings.exclude) == (True, 7, ())
    assert len(settings.project_faults) == 2
    assert settings.exclude_fault is not None and "exclude=5" in settings.exclude_fault


def test_an_unknown_setting_is_named_with_its_file(home: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", "colour = 1\n[table]\nx = 1\n")
    with pytest.raises(ConfigurationError, match=r"hyperloci\.toml: unknown setting colour, table"):
        load(home)


def test_a_setting_of_the_documents_is_told_what_it_is_here(home: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", "[memory]\nhot_max_turns = 100\n")
    with pytest.raises(ConfigurationError, match=r"unknown setting memory \('hot_max_turns' is .*hot_chunks"):
        load(home)
    with pytest.raises(ConfigurationError, match="settings stand at the top of the file"):
        load(home)
    write(home / ".claude" / "hyperloci.toml", 'consolidation = "local"\n')
    with pytest.raises(ConfigurationError, match=r"consolidation='local' is unknown: 'local' is .*llm_url"):
        load(home)
    write(home / ".claude" / "hyperloci.toml", "micro_chunk_size = 5\n")
    with pytest.raises(ConfigurationError, match=r"'micro_chunk_size' has no place here: always 10 turns"):
        load(home)


def test_a_misspelt_setting_is_told_the_right_one(home: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", "embeder = false\n")
    with pytest.raises(ConfigurationError, match=r"embeder \(did you mean embedder\?\)"):
        load(home)


def test_a_misspelt_variable_is_told() -> None:
    told = list_idle_variables(
        {
            "HYPERLOCI_EMBEDER": "off",
            "RLM_MEMORY_DATABASE": "x",
            "HYPERLOCI_DATABASE": "x",
            "HYPERLOCI_HOT_MAX_TURNS": "1",
            "HOME": "/",
            "PATH": "",
        }
    )
    assert told[0] == "HYPERLOCI_DATABASE is no setting; did you mean RLM_MEMORY_DB?"
    assert told[1] == "HYPERLOCI_EMBEDER is no setting; did you mean HYPERLOCI_EMBEDDER?"
    assert told[2].startswith("HYPERLOCI_HOT_MAX_TURNS is no setting; 'hot_max_turns' is")
    assert told[3] == "RLM_MEMORY_DATABASE is no setting; did you mean RLM_MEMORY_DB?"


def test_a_variable_like_no_setting_is_not_taken_for_one_that_begins_alike() -> None:
    told = list_idle_variables({"HYPERLOCI_DB_PATH": "x", "HYPERLOCI_LIMIT": "3"})
    assert told == [
        "HYPERLOCI_DB_PATH is no setting; docs/configuration.md lists all",
        "HYPERLOCI_LIMIT is no setting; docs/configuration.md lists all",
    ]


@pytest.mark.parametrize("said", ["soon", "nan", "1e30"])
def test_a_clock_that_cannot_be_moved_so_is_told(said: str) -> None:
    (told,) = list_idle_variables({"HYPERLOCI_CLOCK_OFFSET": said})
    assert told.startswith(f"HYPERLOCI_CLOCK_OFFSET={said} is no number of seconds")
    assert list_idle_variables({"HYPERLOCI_CLOCK_OFFSET": "-86400.5"}) == []


def test_a_settings_file_that_is_named_and_missing_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    told = list_idle_variables({"HYPERLOCI_CONFIG": str(file)})
    assert told == [f"HYPERLOCI_CONFIG names {file}, which does not exist: no settings are read from it"]
    file.touch()
    assert list_idle_variables({"HYPERLOCI_CONFIG": str(file)}) == []
    assert list_idle_variables({"HYPERLOCI_CONFIG": os.devnull}) == list_idle_variables({"HYPERLOCI_CONFIG": ""}) == []


def test_every_variable_that_is_read_is_known(tmp_path: Path) -> None:
    names = [config.name_variable(field.name) for field in fields(Settings)]
    known = dict.fromkeys((*names, *idle_settings._OTHER_VARIABLES), "x")
    known = {name: value for name, value in known.items() if name[10:].lower() not in config.CLAIMS}
    known |= {"HYPERLOCI_CONFIG": str(tmp_path), "HYPERLOCI_CLOCK_OFFSET": "1"}
    assert list_idle_variables(known) == []


def test_settings_that_do_nothing_as_things_are_are_told(home: Path) -> None:
    assert list_idle_settings(load(home)) == []
    changed = load(home, HYPERLOCI_RRF_K="10", HYPERLOCI_RRF_WEIGHT_FTS="2", HYPERLOCI_CLAUDE_MODEL="opus")
    assert list_idle_settings(changed) == [
        'rrf_k, rrf_weight_fts act in strategy pipeline only unless fusion = "rrf"',
        'claude_model acts nowhere unless consolidation = "claude"',
    ]
    assert list_idle_settings(load(home, HYPERLOCI_RRF_K="10", HYPERLOCI_FUSION="rrf")) == []


@pytest.mark.parametrize("name", sorted({field.name for field in fields(Settings)} - config._PROJECT_KEYS))
def test_a_cloned_repository_may_not_choose_where_data_goes_or_what_runs(home: Path, project: Path, name: str) -> None:
    write(project / ".hyperloci.toml", f'{name} = "x"\n')
    settings = load(home, project)
    assert f"{name} may not be set by a project; it may set exclude" in "".join(settings.project_faults)
    assert replace(settings, project_faults=()) == load(home)


HOSTILE = {
    "HYPERLOCI_CLAUDE_PROGRAM": "/opt/claude",
    "HYPERLOCI_CONSOLIDATION": "llm",
    "HYPERLOCI_LLM_URL": "https://elsewhere.example/v1",
    "HYPERLOCI_LLM_MODEL": "m",
    "HYPERLOCI_MODEL": "/opt/model",
    "HYPERLOCI_DECAY_RATE_DEFAULT": "1e9",
    "HYPERLOCI_PRUNE_CAP": "1000000",
    "HYPERLOCI_COLD_RETENTION_DAYS": "1",
    "HYPERLOCI_BACKUPS_DAILY": "0",
}

CLIENT_FILES = {
    ".claude/settings.json": '{"env": {"NAME": "x"}}',
    ".claude/settings.local.json": '{"env": {"NAME": "x"}}',
    ".mcp.json": '{"mcpServers": {"hyperloci": {"env": {"NAME": "x"}}}}',
    ".gemini/settings.json": '{"mcpServers": {"a": {"env": {"NAME": "x"}}}, /* mine */ }',
    ".gemini/.env": "NAME=x\n",
    ".env": "export NAME=x\n",
    ".codex/config.toml": '[mcp_servers.hyperloci.env]\nNAME = "x"\n',
    ".cursor/mcp.json": '{"mcpServers": {"a": {"env": {"NAME": "x"}}}}',
    ".vscode/mcp.json": '{"servers": {"a": {"env": {"NAME": "x"}}}, } // mine',
    "opencode.json": '{"mcp": {"a": {"environment": {"NAME": "x"}}}}',
}


@pytest.mark.req("W5")
@pytest.mark.parametrize("file", CLIENT_FILES)
def test_a_cloned_repository_may_not_choose_them_by_way_of_a_client_either(
    home: Path, project: Path, file: str
) -> None:
    assert load(home, project, **HOSTILE).llm_url == HOSTILE["HYPERLOCI_LLM_URL"]
    (project / file).parent.mkdir(exist_ok=True)
    for variable in HOSTILE:
        write(project / file, CLIENT_FILES[file].replace("NAME", variable))
        setting = variable.removeprefix("HYPERLOCI_").lower()
        settings = load(home, project, **HOSTILE)
        assert getattr(settings, setting) == getattr(load(home), setting)
        assert settings.project_faults == (f"{variable} may not be set by a file of the project; it is ignored.",)


@pytest.mark.req("W5")
@pytest.mark.parametrize("variable", ["HYPERLOCI_CONFIG", "CLAUDE_CONFIG_DIR"])
def test_a_file_of_settings_that_a_cloned_repository_names_may_say_as_little(
    home: Path, project: Path, variable: str
) -> None:
    folder = project / "theirs"
    folder.mkdir()
    write(folder / "hyperloci.toml", 'consolidation = "llm"\nproject = "rocket"\nrrf_k = 7\n')
    given = {variable: str(folder / "hyperloci.toml" if variable == "HYPERLOCI_CONFIG" else folder)}
    assert load(home, project, **given).project == "rocket"
    write(project / ".mcp.json", CLIENT_FILES[".mcp.json"].replace("NAME", variable))
    settings = load(home, project, **given)
    assert (settings.consolidation, settings.project, settings.rrf_k) == ("heuristic", None, 7)
    assert len(settings.project_faults) == 2


@pytest.mark.req("W5")
@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".env", "JAVA_HOME=x\nOLD_HYPERLOCI_LLM_URL=x\nPATTERN=\\d+\n"),
        (".mcp.json", '{"env": {"X": "HYPERLOCI_LLM_URL"}}'),
        (".vscode/mcp.json", '{"servers": {}, } // C:\\tools'),
        (".env/pyvenv.cfg", "HYPERLOCI_LLM_URL"),
    ],
)
def test_what_the_user_set_counts_where_files_of_the_project_set_something_else(
    home: Path, project: Path, file: str, text: str
) -> None:
    (project / file).parent.mkdir(exist_ok=True)
    write(project / file, text)
    assert load(home, project, **HOSTILE).llm_url == HOSTILE["HYPERLOCI_LLM_URL"]


@pytest.mark.req("W5")
@pytest.mark.parametrize("folder", [".", "notes"])
def test_what_clients_files_in_the_home_folder_set_is_the_users_own(home: Path, folder: str) -> None:
    (home / ".git").mkdir()
    (home / folder).mkdir(exist_ok=True)
    write(home / ".claude" / "settings.json", '{"env": {"HYPERLOCI_LLM_URL": "x", "HYPERLOCI_CLOCK_OFFSET": "60"}}')
    settings = load(home, home / folder, **HOSTILE)
    assert (settings.llm_url, settings.project_faults) == (HOSTILE["HYPERLOCI_LLM_URL"], ())
    assert not config.has_foreign_clock({"HOME": str(home), "HYPERLOCI_CLOCK_OFFSET": "60"}, home / folder)


@pytest.mark.req("W5")
@pytest.mark.parametrize("file", [".mcp.json", ".env"])
def test_a_variable_is_known_by_its_name_in_any_case_as_on_windows(home: Path, project: Path, file: str) -> None:
    write(project / file, CLIENT_FILES[file].replace("NAME", "Hyperloci_llm_Url"))
    assert load(home, project, **HOSTILE).llm_url is None


@pytest.mark.req("W5")
def test_a_client_file_of_a_folder_below_the_one_with_settings_is_read_too(home: Path, project: Path) -> None:
    (project / ".git").mkdir(exist_ok=True)
    write(project / ".hyperloci.toml", "watch = false\n")
    (project / "part").mkdir()
    write(project / "part" / ".mcp.json", '{"env": {"HYPERLOCI_LLM_URL": "x"}}')
    settings = load(home, project / "part", **HOSTILE)
    assert (settings.llm_url, settings.watch) == (None, False)


@pytest.mark.req("W5")
@pytest.mark.skipif(os.name != "posix", reason="devices are files")
def test_a_client_file_without_an_end_is_not_read(home: Path, project: Path) -> None:
    (project / ".mcp.json").symlink_to("/dev/zero")
    assert load(home, project, **HOSTILE).llm_url is None


@pytest.mark.req("W5")
def test_a_cloned_repository_may_not_move_the_clock(project: Path) -> None:
    moved = {"HYPERLOCI_CLOCK_OFFSET": "3e9"}
    assert not config.has_foreign_clock(moved, project)
    write(project / ".mcp.json", '{"env": {"HYPERLOCI_CLOCK_OFFSET": "3e9"}}')
    assert config.has_foreign_clock(moved, project) and not config.has_foreign_clock({}, project)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("watch", "TRUE", True),
        ("watch", "0", False),
        ("embedder", "off", False),
        ("capture_subagents", "on", True),
        ("exclude", os.pathsep.join(["*.log", "build"]), ("*.log", "build")),
        ("model", "some/model", "some/model"),
        ("rrf_weight_fts", "0.25", 0.25),
        ("rrf_k", " 12 ", 12),
        ("tools", "all", "all"),
        ("log_level", "debug", "debug"),
        ("inject_chars", "9500", 9_500),
        ("synchronous", "full", "full"),
    ],
)
def test_a_variable_is_read_as_what_its_setting_is(home: Path, name: str, value: str, expected: object) -> None:
    assert getattr(load(home, None, **{f"HYPERLOCI_{name.upper()}": value}), name) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("watch", "maybe"),
        ("rrf_k", "many"),
        ("rrf_k", "1.5"),
        ("rrf_k", "0"),
        ("rrf_k", "-60"),
        ("rrf_weight_fts", "nan"),
        ("rrf_weight_graph", "inf"),
        ("rrf_weight_vector", "-1"),
        ("decay_threshold", "1.01"),
        ("decay_rate_default", "-0.1"),
        ("intent_similarity_threshold", "2"),
        ("max_file_bytes", "0"),
        ("embedder_idle_seconds", "-1"),
        ("inject_chars", "-1"),
        ("inject_chars", "9501"),
        ("log_level", "LOUD"),
        ("profile", "nope"),
        ("context_token_budget", "0"),
        ("device", "tpu"),
        ("synchronous", "off"),
        ("tools", "some"),
        ("state_dir", "~no_such_user_at_all/x"),
    ],
)
def test_a_value_that_can_not_be_is_named(home: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        load(home, None, **{f"HYPERLOCI_{name.upper()}": value})


def test_a_wrong_value_is_told_with_its_source(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^environment: inject_chars=20000 must be between 0 and 9500\."):
        load(home, HYPERLOCI_INJECT_CHARS="20000")
    write(home / ".claude" / "hyperloci.toml", 'log_level = "LOUD"\n')
    with pytest.raises(ConfigurationError, match=r"hyperloci\.toml: log_level='LOUD' is unknown: use one of DEBUG, "):
        load(home)


def test_a_profile_may_be_ones_own_or_a_name_beside_a_model(home: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", '[profiles.mine]\ne7 = "some/model"\n')
    assert load(home, HYPERLOCI_PROFILE="mine").profile == "mine"
    assert load(home, HYPERLOCI_PROFILE="nope", HYPERLOCI_MODEL="some/model").profile == "nope"
    with pytest.raises(ConfigurationError, match="profile='nope' is unknown: use one of bundled, better, gpu, mine,"):
        load(home, HYPERLOCI_PROFILE="nope")


def test_a_settings_file_of_a_user_that_is_not_known_is_named(home: Path) -> None:
    with pytest.raises(ConfigurationError, match="~no_such_user_at_all/x: there is no such user"):
        load(home, HYPERLOCI_CONFIG="~no_such_user_at_all/x")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("rrf_k = true", "use a number"),
        ("rrf_k = 1.5", "use a whole number"),
        ("inject_chars = 'many'", "use a whole number"),
        ("decay_threshold = 'low'", "use a number"),
        ("rrf_k = [1]", "use a number"),
        ("rrf_weight_fts = {a = 1}", "use a number"),
        ("model = 5", "use a string"),
        ('device = ["cpu"]', "use a string"),
        ("exclude = 5", "use a list of strings"),
        ("exclude = [5]", "use a list of strings"),
        ("watch = 2", "use true or false"),
        ("database = 5", "database=5"),
    ],
)
def test_a_value_of_another_kind_is_refused(home: Path, line: str, complaint: str) -> None:
    write(home / ".claude" / "hyperloci.toml", line)
    with pytest.raises(ConfigurationError, match=complaint):
        load(home)


def test_numbers_in_a_file_may_be_whole_where_fractions_are_meant(home: Path) -> None:
    write(home / ".claude" / "hyperloci.toml", "rrf_weight_fts = 2\n")
    assert load(home).rrf_weight_fts == 2.0


def test_every_number_has_a_range() -> None:
    numbers = {field.name for field in fields(Settings) if field.type in ("int", "float")}
    assert numbers == set(RANGES)


def test_settings_do_not_change_once_they_are_made(settings: Settings) -> None:
    with pytest.raises(AttributeError):
        settings.rrf_k = 1  # type: ignore[misc]
    assert replace(settings, rrf_k=1).rrf_k == 1


def test_every_setting_is_described() -> None:
    described = " ".join((Settings.__doc__ or "").split("Attributes:")[1].split())
    assert [field.name for field in fields(Settings) if field.name not in described] == []


SCALARS: st.SearchStrategy[Any] = st.one_of(st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text()))


@hypothesis_settings(max_examples=examples(150))
@given(name=st.sampled_from([field.name for field in fields(Settings)]), value=SCALARS)
def test_any_value_is_taken_or_refused_by_name(name: str, value: Any) -> None:
    base = Settings(database=Path("/d"), state_dir=Path("/s"), runtime_dir=Path("/r"))
    try:
        config._apply_values(base, {name: value}, "file")
    except ConfigurationError as error:
        assert name in str(error)


def test_from_a_folder_of_a_repository_the_file_at_its_root_counts(home: Path, project: Path) -> None:
    folder = project / "src" / "deep"
    folder.mkdir(parents=True)
    write(project.parent / ".hyperloci.toml", "max_file_bytes = 1\n")
    write(project / ".hyperloci.toml", "max_file_bytes = 2\n")
    environ = {"HOME": str(home)}

    assert Settings.from_env(environ, folder).max_file_bytes == 1_000_000, "no repository: only the folder's own file"
    (project / ".git").mkdir()
    assert Settings.from_env(environ, folder).max_file_bytes == 2, "never a file above the repository"
    write(project / "src" / ".hyperloci.toml", "max_file_bytes = 3\n")
    assert Settings.from_env(environ, folder).max_file_bytes == 3, "the nearest"
