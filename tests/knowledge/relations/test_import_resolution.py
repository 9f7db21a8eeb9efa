"""Which file an import or a name means, by the paths of a project (D.03)."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import pytest

from hyperloci.knowledge.relations.import_resolution import ModuleIndex

Lookup = Callable[[ModuleIndex, int], object]

LOOKUPS: dict[str, tuple[str, Lookup]] = {
    "an imported Go package": (
        "pkg/{0}/a.go",
        lambda modules, number: modules.find_go_files(f"example.com/api/core/x{number}"),
    ),
    "a numbered document": (
        "docs/{0}/pep-{0:05}.md",
        lambda modules, number: modules.find_numbered("PEP", str(number)),
    ),
}
"""A path of many, and a question that is asked once for each of them."""


@pytest.mark.req("W1")
@pytest.mark.parametrize("name", LOOKUPS)
def test_a_look_up_takes_no_longer_among_many_files(name: str) -> None:
    path, look_up = LOOKUPS[name]

    def seconds(count: int) -> float:
        modules = ModuleIndex(path.format(number) for number in range(count))
        started = time.process_time()
        for number in range(count):
            look_up(modules, number)
        return time.process_time() - started

    shorter = min(seconds(250), seconds(251))
    # Sixteen times the files and the questions: what looks at each file for each question takes 256 times as long,
    # seconds. Some systems count this time in steps of 16 ms.
    assert seconds(4_000) < 64 * max(shorter, 0.005)


@pytest.mark.req("D.03")
def test_a_numbered_document_is_found_however_its_number_is_written() -> None:
    modules = ModuleIndex(["a/RFC-013-names.md", "rfc_0014.txt", "adr 7.md", "rfc130.md", "rfc-99-a.md", "b/RFC99.md"])

    assert modules.find_numbered("RFC", "13") == ["a/RFC-013-names.md"]
    assert modules.find_numbered("rfc", "14") == ["rfc_0014.txt"]
    assert modules.find_numbered("ADR", "7") == ["adr 7.md"]
    assert not modules.find_numbered("RFC", "1")
    assert sorted(modules.find_numbered("RFC", "99")) == ["b/RFC99.md", "rfc-99-a.md"]


@pytest.mark.req("D.03")
def test_a_go_import_means_the_only_folder_that_ends_as_it_does() -> None:
    modules = ModuleIndex(["a.go", "cmd/x/m.go", "net/x/n.go", "net/x/n_test.go", "net/y/o.go", "deep/net/z/p.go"])

    assert modules.find_go_files("example.com/app/net/x") == ("net/x/n.go",)
    assert modules.find_go_files("example.com/app/net/z") == ("deep/net/z/p.go",)
    assert modules.find_go_files("example.com/other/x") == ()
    assert modules.find_go_files("et/y") == ("net/y/o.go",)
    assert modules.find_go_files("example.com/app/et") == ()
    assert modules.find_go_files("fmt") == ()


@pytest.mark.req("W1")
def test_packages_in_packages_take_little_memory() -> None:
    names = [f"package{number:03}" for number in range(300)]
    modules = ModuleIndex("/".join((*names[:depth], "a.go")) for depth in range(300))
    tracemalloc.start()
    try:
        assert modules.find_go_files("example.com/package007/package008") == ("/".join((*names[:9], "a.go")),)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 8_000_000  # The paths of all of them are half a million characters, what those end with fifty.
