"""Settings: read once at the entry points and passed down.

Precedence, lowest first: the defaults below, the user's file (`~/.claude/hyperloci.toml`), the project's file
(`.hyperloci.toml` at its root; it may not move the database or name a model), environment variables.
`docs/configuration.md` describes each; `hyperloci doctor` shows the values in force.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError
from hyperloci.names import find_document_name, suggest_name
from hyperloci.setting_values import CHOICES, PROFILES, RANGES, convert_value, require_allowed, require_profile
from hyperloci.settings_files import find_chosen_by_files, find_project_file, read_toml
from hyperloci.system.data_paths import (
    CLOCK_VARIABLE,
    InstallationPaths,
    choose_runtime_dir,
    find_claude_dir,
    find_home,
    find_user_file,
)
from hyperloci.system.values import dataclass

_PROJECT_KEYS: Final = frozenset({"exclude", "max_file_bytes", "watch", "project"})
"""What a project's own file may set: a cloned repository must not choose a model, a device or where data goes. Its
`project` is a claim, not a setting."""

CLAIMS: Final = frozenset({"claimed_project", "project_faults", "exclude_fault"})
"""Fields that only a project's own file can set."""

_USERS_ALONE: Final = frozenset(
    {
        *("profile", "profiles", "model", "nli_model", "device", "embedding_dimensions"),
        *("consolidation", "llm_url", "llm_model", "llm_api_key", "claude_program", "claude_model"),
        *("claude_calls_per_day", "claude_chars_per_day"),
        *("decay_threshold", "decay_rate_default", "prune_cap", "cold_retention_days"),
        *("backups_daily", "backups_weekly", "backups_monthly"),
    }
)
"""What names a program, a model or an endpoint, and what makes all projects' memories go: it counts only if the user
set it, not where a client took the variable from a file of the project."""

_FILE_VARIABLES: Final = ("HYPERLOCI_CONFIG", "CLAUDE_CONFIG_DIR")
"""They say which file is the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a user may set. Paths are absolute; times are in the unit their name ends in.

    Attributes:
        database: the one SQLite file (SPEC-02.02, .03).
        state_dir: logs, locks, the hooks' spool and backups.
        runtime_dir: sockets; short, because a Unix socket's path may have 104 bytes at most.
        synchronous: `normal` survives a kill of any process; `full` survives a power cut too, at about half the speed.
        profile: which model sees which space (`bundled`, `better`, `gpu` or one of the user's own).
        model: a sentence-transformers model by name or folder for E1; None uses the profile's.
        nli_model: a natural-language-inference cross-encoder by name or folder, for contradictions; None: rules only.
        profiles: the user's own, by name: a table of space = model (`spaces.profile`).
        device: where the models run; `auto` takes cuda, then mps, then cpu.
        embedder: False keeps this installation on keywords and graph only.
        embedder_idle_seconds: the embedder exits after so long without a request.
        tools: `core` or `all` (tools contract).
        author: who the user is to others (`Ada Lovelace <ada@example.com>`); None takes what Git commits with, else the
            login name.
        project: the user's own name for the project; projects of one name share a memory.
        claimed_project: the name in the project's own file; it is only shown and suggested.
        project_faults: what is wrong with the project's own file, in words; wrong settings are ignored, so that a
            cloned repository can't switch the memory off.
        exclude_fault: the fault that makes the exclude patterns unreadable: nothing is indexed until it is corrected.
        exclude: extra gitignore-style patterns that are never indexed.
        max_file_bytes: larger files are skipped, with a reason.
        history_commits: how many commits of a project's history are stored, the newest; 0 is all.
        parse_seconds: processor time that reading one file may take (of more than 1 MB in proportion); else set aside.
        parse_memory_mb: memory that it may take, in megabytes; what needs more is set aside.
        watch: whether file and git watchers run.
        capture_subagents: whether hooks store what sub-agents do.
        inject_chars: how much SessionStart may inject, in characters; Claude Code cuts at 10,000.
        announce: whether the user is told in one line what was put before the assistant with a prompt.
        fusion: how the spaces' scores are joined: `calibrated`, or `rrf` (reciprocal ranks, B.06).
        ranking: what orders candidates of one kind: `learned` weights, or the `rule` of calibrated scores alone.
        rrf_k, rrf_weight_fts, rrf_weight_vector, rrf_weight_graph: reciprocal ranks (B.06, B.20).
        pipeline_recall, pipeline_scan, pipeline_fused: memories that the stages of strategy `pipeline` keep (E.06).
        decay_threshold, decay_rate_default: forgetting (B.11, B.20).
        context_token_budget: tokens of a context, half of it for a simple question, 1.5 times for a complex one (B.08).
        embedding_dimensions: how many dimensions E1's model must have; 0 is any (B.20).
        intent_similarity_threshold: how near an exemplar a question must be to take its intent (B.04, B.20).
        entity_enrichment_min_mentions, causal_inference_batch_size: maintenance (B.18, B.20).
        hot_chunks, hot_max_tokens: how much of a conversation's end stays as it is (C.01).
        defer_summarization: summarise a chunk when it is demoted, not when it is full (C.05).
        archive_cold_content: move the texts of cold chunks out of the database, into the archive beside it (C.01).
        cold_retention_days: archive files older than this are deleted; 0 keeps them for ever (C.01).
        log_level: of the file log, in upper or lower case.
        upkeep: whether servers run maintenance jobs while idle (consolidation, decay and others).
        prune_cap: memories that decay may forget in 24 hours, at most.
        backups_daily, backups_weekly, backups_monthly: how many days, weeks and months keep a backup; all 0 for none.
        consolidation: what makes facts of sessions (B.17): `heuristic`, `llm`, `claude` (the user's own Claude Code,
            run in the background), `host` (the assistant, when it is asked to) or `off`.
        llm_url, llm_model, llm_api_key: an OpenAI-compatible endpoint (`http://localhost:11434/v1`), for `llm`.
        llm_timeout_seconds: how long one answer of it may take.
        claude_program, claude_model: Claude Code's program and the model it is asked for, for `claude`.
        claude_calls_per_day, claude_chars_per_day: how often, and with how many characters, it is asked in a day.
        claude_timeout_seconds: how long one answer of it may take.
    """

    database: Path
    state_dir: Path
    runtime_dir: Path
    synchronous: str = "normal"
    profile: str = PROFILES[0]
    model: str | None = None
    nli_model: str | None = None
    profiles: Mapping[str, Any] = field(default_factory=dict)
    device: str = "auto"
    embedder: bool = True
    embedder_idle_seconds: int = 900
    tools: str = "core"
    author: str | None = None
    project: str | None = None
    claimed_project: str | None = None
    project_faults: tuple[str, ...] = ()
    exclude_fault: str | None = None
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = 1_000_000
    history_commits: int = 0
    parse_seconds: float = 10.0
    parse_memory_mb: int = 2_000
    watch: bool = True
    capture_subagents: bool = False
    inject_chars: int = 6_000
    announce: bool = True
    fusion: str = "calibrated"
    ranking: str = "learned"
    rrf_k: int = 60
    rrf_weight_fts: float = 1.0
    rrf_weight_vector: float = 1.0
    rrf_weight_graph: float = 1.0
    pipeline_recall: int = 10_000
    pipeline_scan: int = 1_000
    pipeline_fused: int = 100
    decay_threshold: float = 0.05
    decay_rate_default: float = 0.1
    context_token_budget: int = 2_000
    intent_similarity_threshold: float = 0.45
    entity_enrichment_min_mentions: int = 3
    causal_inference_batch_size: int = 50
    embedding_dimensions: int = 0
    hot_chunks: int = 2
    hot_max_tokens: int = 50_000
    defer_summarization: bool = True
    archive_cold_content: bool = True
    cold_retention_days: int = 0
    log_level: str = "INFO"
    upkeep: bool = True
    prune_cap: int = 200
    backups_daily: int = 3
    backups_weekly: int = 2
    backups_monthly: int = 1
    consolidation: str = "heuristic"
    llm_url: str | None = None
    llm_model: str | None = None
    llm_api_key: str | None = None
    llm_timeout_seconds: int = 120
    claude_program: str = "claude"
    claude_model: str = "haiku"
    claude_calls_per_day: int = 20
    claude_chars_per_day: int = 400_000
    claude_timeout_seconds: int = 180

    def __post_init__(self) -> None:
        for name in (*CHOICES, *RANGES):
            require_allowed(name, getattr(self, name))

    @property
    def models_dir(self) -> Path:
        """The folder of models that `hyperloci model add` took out of packages."""
        return self.state_dir / "models"

    @property
    def log_file(self) -> Path:
        """The file that every process of this installation logs to."""
        return self.state_dir / "hyperloci.log"

    @property
    def spool_dir(self) -> Path:
        """Where hooks leave what they could not write to a busy database: a folder of each database's own."""
        return Path(self.installation_paths.spool)

    @property
    def installation_paths(self) -> InstallationPaths:
        """Paths of the database's sockets and spool, as hooks find them without these settings."""
        return InstallationPaths(str(self.database), str(self.state_dir), str(self.runtime_dir))

    @property
    def backup_dir(self) -> Path:
        """Where backups before migrations and prunes are kept."""
        return self.state_dir / "backups"

    @property
    def is_usual_database(self) -> bool:
        """Whether the database is the one that an installation has unless told otherwise."""
        return (self.state_dir.parent / "rlm-memory.db").resolve() == self.database.resolve()

    @property
    def lock_dir(self) -> Path:
        """Folder of the locks that elect the owner of watchers and maintenance; the embedder's is beside its socket."""
        return self.state_dir / "locks"

    @classmethod
    def from_env(cls, environ: Mapping[str, str], project_root: Path | None = None) -> Settings:
        """Build the settings in force from files and environment.

        Args:
            environ: the environment's variables.
            project_root: the project's root, or a folder in it; None leaves its file out.

        Raises:
            ConfigurationError: the user's file does not parse, or one of its keys or variables is unknown or wrong.
        """
        return _read_settings(environ, project_root)

    @classmethod
    def from_usable(cls, environ: Mapping[str, str], project_root: Path | None = None) -> tuple[Settings, list[str]]:
        """Build the settings in force for who goes on without those whose value can't be used: hooks.

        Such a setting has its default. Returned with the settings is what is wrong with which.

        Raises:
            ConfigurationError: a file does not parse, a key is unknown, or what says whose memory it is can't be used.
        """
        faults: list[str] = []
        return _read_settings(environ, project_root, faults), faults


@dataclass(slots=True)
class _ProjectFile:
    """The settings that a project brings along, and what is wrong with them."""

    path: Path
    values: dict[str, Any]
    faults: list[str] = field(default_factory=list)
    exclude_fault: str | None = None

    @classmethod
    def read_file(cls, path: Path) -> _ProjectFile:
        try:
            return cls(path, read_toml(path))
        except ConfigurationError as error:
            return cls(path, {}, [str(error)], str(error))

    def apply_to(self, settings: Settings) -> Settings:
        """Return the settings with those of the file that a project may set and that can be used."""
        for name, value in self.values.items():
            try:
                settings = self._apply_one(settings, name, value)
            except ConfigurationError as error:
                self.faults.append(str(error))
                if name == "exclude":
                    self.exclude_fault = str(error)
        return replace(settings, project_faults=tuple(self.faults), exclude_fault=self.exclude_fault)

    def _apply_one(self, settings: Settings, name: str, value: Any) -> Settings:
        if name not in _PROJECT_KEYS:
            raise ConfigurationError(
                f"{self.path}: {name} may not be set by a project; it may set {', '.join(sorted(_PROJECT_KEYS))}."
            )
        if name == "project":
            return replace(settings, claimed_project=convert_value(name, value, None, str(self.path)))
        return _apply_values(settings, {name: value}, str(self.path))


def _read_settings(environ: Mapping[str, str], project_root: Path | None, faults: list[str] | None = None) -> Settings:
    """Build the settings in force; with `faults` what can't be used is added to them, and left out."""
    known = dict(environ)
    try:
        folder, users = Path(find_claude_dir(known)), Path(find_user_file(known))
    except ValueError as error:
        raise ConfigurationError(f"environment: {error}.") from error
    settings = Settings(
        database=folder / "rlm-memory.db",
        state_dir=folder / "hyperloci",
        runtime_dir=Path(choose_runtime_dir(known)),
    )
    from_file, from_environment = read_toml(users), _read_environment(environ)
    own = None
    if project_root is not None:
        own = _ProjectFile.read_file(find_project_file(project_root.absolute()))
        _drop_foreign(environ, project_root.absolute(), from_file, from_environment, own)
    settings = _apply_usable(settings, from_file, str(users), faults)
    if own is not None:
        settings = own.apply_to(settings)
    settings = _apply_usable(settings, from_environment, "environment", faults)
    try:
        require_profile(settings.profile, settings.profiles, settings.model)
    except ConfigurationError as error:
        if faults is None:
            raise
        faults.append(str(error))
        settings = replace(settings, profile=PROFILES[0])
    return settings


def has_foreign_clock(environ: Mapping[str, str], project_root: Path) -> bool:
    """Whether it is a file of the project that moves the clock: then all that fades would, in every project."""
    return bool(find_chosen_by_files(project_root.absolute(), {CLOCK_VARIABLE} & set(environ), find_home(environ)))


def _drop_foreign(
    environ: Mapping[str, str],
    folder: Path,
    from_file: dict[str, Any],
    from_environment: dict[str, str],
    own: _ProjectFile,
) -> None:
    """Take out what only the user may set and a file of the project did; its `project` is a claim."""
    guarded = (name_variable(name) for name in (*_USERS_ALONE, "project"))
    given = {name for name in (*guarded, *_FILE_VARIABLES, CLOCK_VARIABLE) if environ.get(name)}
    for variable in sorted(find_chosen_by_files(folder, given, find_home(environ))):
        if variable in _FILE_VARIABLES:
            for name in sorted((_USERS_ALONE | {"project"}) & set(from_file)):
                del from_file[name]
                own.faults.append(f"{name} does not count from a file that {variable} names in a file of the project.")
        elif variable == name_variable("project"):
            own.values["project"] = from_environment.pop("project")
        else:
            from_environment.pop(variable.removeprefix("HYPERLOCI_").lower(), None)
            own.faults.append(f"{variable} may not be set by a file of the project; it is ignored.")


_WHOSE: Final = frozenset({"database", "state_dir", "runtime_dir", "project"})
"""Settings that say whose memory it is: their default may be another's."""


def _apply_usable(settings: Settings, values: Mapping[str, Any], source: str, faults: list[str] | None) -> Settings:
    if faults is None:
        return _apply_values(settings, values, source)
    optional = {setting.name for setting in fields(Settings)} - CLAIMS - _WHOSE
    for name, value in values.items():
        try:
            settings = _apply_values(settings, {name: value}, source)
        except ConfigurationError as error:
            if name not in optional:
                raise
            faults.append(str(error))
    return settings


OTHER_NAMES: Final = {"database": "RLM_MEMORY_DB"}
"""Variables of settings that are not called as their setting."""


def name_variable(setting: str) -> str:
    """Return the name of a setting's variable."""
    return OTHER_NAMES.get(setting, f"HYPERLOCI_{setting.upper()}")


def _read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting in fields(Settings):
        if setting.name in CLAIMS:
            continue
        name = name_variable(setting.name)
        if environ.get(name):
            values[setting.name] = environ[name]
    return values


def _apply_values(settings: Settings, values: Mapping[str, Any], source: str) -> Settings:
    known = {setting.name for setting in fields(Settings)} - CLAIMS
    unknown = sorted(set(values) - known)
    if unknown:
        told = ", ".join(f"{name}{_hint_at(name, values[name], known)}" for name in unknown)
        raise ConfigurationError(f"{source}: unknown setting {told}.")
    changes = {name: convert_value(name, value, getattr(settings, name), source) for name, value in values.items()}
    try:
        return replace(settings, **changes)
    except ConfigurationError as error:
        raise ConfigurationError(f"{source}: {error}") from error


def _hint_at(name: str, value: Any, known: Collection[str]) -> str:
    """Return in brackets what is meant by an unknown setting, of a table by its first key that says so too."""
    hints = [suggest_name(key, known, groups=("settings",)) for key in (*_list_keys(value), name)]
    found = next((hint for hint in hints if hint), "")
    section = find_document_name(name, ("settings",)) if isinstance(value, dict) else None
    told = dict.fromkeys(part for part in (found, "" if section is None else section.describe()) if part)
    return f" ({'; '.join(told)})" if told else ""


def _list_keys(value: Any) -> list[str]:
    """Return the keys of a table and of the tables in it: the documents' settings stand in `memory.topology`."""
    if not isinstance(value, dict):
        return []
    return [key for name, item in value.items() for key in (*_list_keys(item), str(name))]
