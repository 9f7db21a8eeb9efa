"""Libraries that another one names are loaded when they are used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from hyperloci.system.late_libraries import load_late

USER = """
import shelf
from shelf.tools.knives import Knife, Dull

try:
    from drawer import Fork
except ImportError:
    Fork = None

def cut(how):
    try:
        return Knife(how).cut()
    except Dull:
        return "dull"
"""

KNIVES = """
class Dull(Exception):
    pass

class Knife:
    steel = "blue"
    def __init__(self, how): self.how = how
    def cut(self): return self.how
"""


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in {
        "kitchen_user.py": USER,
        "shelf/__init__.py": "",
        "shelf/tools/__init__.py": "",
        "shelf/tools/knives.py": KNIVES,
        "drawer.py": "class Fork: pass",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("kitchen_user", "shelf", "drawer")]:
        del sys.modules[name]


@pytest.mark.usefixtures("kitchen")
def test_a_library_is_loaded_when_what_was_taken_from_it_is_used() -> None:
    with load_late(["shelf"]):
        user = importlib.import_module("kitchen_user")
    assert "shelf" not in sys.modules
    assert user.cut("thin") == "thin"
    assert "shelf.tools.knives" in sys.modules


@pytest.mark.usefixtures("kitchen")
def test_a_stand_in_answers_as_the_class_that_it_stands_for() -> None:
    with load_late(["shelf"]):
        user = importlib.import_module("kitchen_user")
    knives = importlib.import_module("shelf.tools.knives")
    assert user.Knife.steel == "blue"
    assert isinstance(knives.Knife("thin"), user.Knife)
    with pytest.raises(knives.Dull):
        raise user.Dull


@pytest.mark.usefixtures("kitchen")
def test_a_library_that_is_left_out_is_found_afterwards() -> None:
    with load_late(without=["drawer"]):
        user = importlib.import_module("kitchen_user")
    assert user.Fork is None
    assert importlib.import_module("drawer").Fork


@pytest.mark.usefixtures("kitchen")
def test_a_library_that_is_loaded_already_is_used_as_it_is() -> None:
    loaded = [importlib.import_module("shelf.tools.knives"), importlib.import_module("drawer")]
    with load_late(["shelf"], without=["drawer"]):
        user = importlib.import_module("kitchen_user")
    assert (user.Knife, user.Fork) == (loaded[0].Knife, loaded[1].Fork)
    assert all(sys.modules[module.__name__] is module for module in loaded)


@pytest.mark.usefixtures("kitchen")
def test_a_bare_package_runs_its_own_code_when_it_is_asked_for_a_name(tmp_path: Path) -> None:
    (tmp_path / "shelf/__init__.py").write_text("from shelf.tools.knives import Knife as Favourite\nmade = []\n")
    (tmp_path / "shelf/boards.py").write_text("wood = 'oak'\n")
    with load_late(bare=["shelf"]):
        boards = importlib.import_module("shelf.boards")
    assert boards.wood == "oak"
    assert "shelf.tools.knives" not in sys.modules
    shelf = importlib.import_module("shelf")
    shelf.made.append("a spoon")
    assert (shelf.Favourite("thin").cut(), shelf.made, shelf.boards) == ("thin", ["a spoon"], boards)
    with pytest.raises(AttributeError, match="ladder"):
        _ = shelf.ladder


@pytest.mark.usefixtures("kitchen")
def test_a_module_within_a_package_is_loaded_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "shelf/tools/__init__.py").write_text("wood = 'oak'\n")
    with load_late(["shelf.tools.knives"]):
        user = importlib.import_module("kitchen_user")
    tools = importlib.import_module("shelf.tools")
    assert (tools.wood, hasattr(tools, "knives"), "shelf.tools.knives" in sys.modules) == ("oak", False, False)
    assert user.cut("thin") == "thin"
    assert tools.knives is sys.modules["shelf.tools.knives"]


@pytest.mark.usefixtures("kitchen")
def test_pydantic_reads_a_union_of_stand_ins_as_one_of_the_classes_they_stand_for(tmp_path: Path) -> None:
    models = "import pydantic\nclass Fork(pydantic.BaseModel):\n    tines: int\n"
    (tmp_path / "drawer.py").write_text(models + "class Spoon(pydantic.BaseModel):\n    soup: str\n")
    (tmp_path / "kitchen_user.py").write_text("import drawer\nCutlery = drawer.Fork | drawer.Spoon\n")
    with load_late(["drawer"]):
        user = importlib.import_module("kitchen_user")
    assert "drawer" not in sys.modules
    read = TypeAdapter(user.Cutlery).validate_python({"soup": "leek"})
    assert isinstance(read, importlib.import_module("drawer").Spoon)
