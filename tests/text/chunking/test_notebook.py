"""A notebook's cells are cut as the document and the code that they are, and nothing but their sources is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.indexing.file_reader import FreshChunk, chunk_bytes
from hyperloci.model.chunk import ChunkKind
from hyperloci.text.chunking.notebook import read_notebook
from tests.support import examples

WORDS = (
    "These words explain at some length what is done below, so that they are a chunk of their own and need no other."
)
IMAGE = "iVBORw0KGgo" * 30
LOAD = 'def load(path):\n    """Read the readings of a gauge."""\n    return pd.read_csv(path, parse_dates=["time"])\n'


def markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n".join(lines).splitlines(keepends=True)}


def code(source: str, **more: Any) -> dict[str, Any]:
    output = {"output_type": "display_data", "data": {"image/png": IMAGE, "text/plain": ["an output's words"]}}
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": [output], **more}


def write(*cells: dict[str, Any], language: str | None = None, indent: int | None = 1) -> bytes:
    metadata = {} if language is None else {"kernelspec": {"language": language, "name": "k"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}, indent=indent).encode()


def cut(data: bytes) -> tuple[FreshChunk, ...]:
    return chunk_bytes("notebooks/gauge.ipynb", data)


def test_text_is_a_document_and_code_is_code_each_with_its_headings_and_its_cell() -> None:
    chunks = cut(write(markdown("# Gauges", "", WORDS), markdown("## Load", "", WORDS), code(LOAD)))
    assert [(item.chunk.kind, item.chunk.position.language, item.title) for item in chunks] == [
        (ChunkKind.MARKDOWN, "markdown", "gauge > Gauges > cell 1"),
        (ChunkKind.MARKDOWN, "markdown", "gauge > Gauges > Load > cell 2"),
        (ChunkKind.CODE, "python", "gauge > Gauges > Load > load > cell 3"),
    ]
    function = chunks[2].chunk
    assert function.position.symbol == "load"
    assert function.position.section_path == ("Gauges", "Load")
    assert function.code is not None and function.code.docstring == "Read the readings of a gauge."


def test_a_heading_holds_until_one_of_its_level_whatever_stands_between() -> None:
    chunks = cut(
        write(
            markdown("# A", "", WORDS),
            markdown("## B", "", WORDS),
            code(LOAD),
            markdown(WORDS),
            code(LOAD),
            markdown("## C", "", WORDS),
            markdown("# D", "", WORDS),
        )
    )
    assert [item.chunk.position.section_path for item in chunks] == [
        ("A",),
        ("A", "B"),
        ("A", "B"),
        ("A", "B"),
        ("A", "B"),
        ("A", "C"),
        ("D",),
    ]


def test_outputs_attachments_and_embedded_images_are_not_read() -> None:
    picture = markdown("# Plot", f"![plot](data:image/png;base64,{IMAGE})", WORDS)
    chunks = cut(write({**picture, "attachments": {"a.png": {"image/png": IMAGE}}}, code(LOAD)))
    everything = "\n".join(item.chunk.text for item in chunks)
    assert WORDS in everything and "![plot](data:image/png;base64,...)" in everything
    assert "iVBORw0KGgo" not in everything and "an output's words" not in everything


@pytest.mark.parametrize("indent", [1, None])
def test_lines_are_those_of_the_file(indent: int | None) -> None:
    data = write(markdown("# Gauges", "", WORDS), code("import pandas as pd\n\n\n" + LOAD), indent=indent)
    lines = data.decode().split("\n")
    for item in cut(data):
        start, end = item.chunk.position.line_start, item.chunk.position.line_end
        assert start is not None and end is not None
        assert json.dumps(item.chunk.text.split("\n")[0])[1:-1] in lines[start - 1]
        assert json.dumps(item.chunk.text.rstrip().split("\n")[-1])[1:-1] in lines[end - 1]


def test_small_cells_go_with_their_neighbours_and_say_so() -> None:
    chunks = cut(
        write(
            markdown("# Gauges"),
            code("import os"),
            code("import sys"),
            code(LOAD),
            code("load('a.csv')"),
            markdown("That is all."),
        )
    )
    assert [(item.chunk.kind, item.title) for item in chunks] == [
        (ChunkKind.CODE, "gauge > Gauges > load > cells 1 to 5"),
        (ChunkKind.MARKDOWN, "gauge > Gauges > cell 6"),
    ]
    assert chunks[0].chunk.text.startswith("# Gauges\n\nimport os\n\nimport sys\n\ndef load")


@pytest.mark.parametrize(
    ("language", "source", "found", "symbol"),
    [
        (None, LOAD, "python", "load"),
        ("python", "%matplotlib inline\n!pip install pandas\n" + LOAD, "python", "load"),
        ("python", "%%time\n" + LOAD, "python", "load"),
        ("python", "%%bash\nbuild() {\n  make all\n}\n", "bash", "build"),
        ("R", "load <- function(path) read.csv(path)\n", "r", None),
        ("C++17", "int add(int a, int b) {\n  return a + b;\n}\n", "cpp", "add"),
        ("typescript", "function add(a: number): number {\n  return a;\n}\n", "typescript", "add"),
    ],
)
def test_code_is_in_its_kernels_language_or_its_own(
    language: str | None, source: str, found: str, symbol: str | None
) -> None:
    (item,) = cut(write(code(source), language=language))
    assert (item.chunk.position.language, item.chunk.position.symbol) == (found, symbol)
    assert item.chunk.text == source.rstrip()


def test_format_3_has_its_cells_in_worksheets_and_headings_of_their_own() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Load"]},
        {"cell_type": "markdown", "source": [WORDS]},
        {"cell_type": "code", "language": "python", "input": LOAD.splitlines(keepends=True), "outputs": []},
    ]
    data = json.dumps({"metadata": {}, "nbformat": 3, "worksheets": [{"metadata": {}, "cells": cells}]})
    assert [item.title for item in cut(data.encode())] == [
        "gauge > Load > cells 1 to 2",
        "gauge > Load > load > cell 3",
    ]


def test_secrets_and_private_blocks_across_cells_are_out_and_later_cells_keep_their_numbers() -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    data = write(
        markdown("# A", "", WORDS, "", "<private>"),
        code("nobodys_business = 1\n"),
        markdown("</private>"),
        code(LOAD + f'TOKEN = "{token}"\n'),
    )
    chunks = cut(data)
    everything = "\n".join(item.chunk.text for item in chunks)
    assert token not in everything and "nobodys_business" not in everything
    assert chunks[-1].title == "gauge > A > load > cell 4"
    line = chunks[-1].chunk.position.line_end
    assert line is not None and "TOKEN" in data.decode().split("\n")[line - 1]


@pytest.mark.parametrize("torn", ['{"cells": [{"cell_type": "code", "sou', '{"cells": 3}', "<<<<<<< HEAD\n{}", "[]"])
def test_what_is_no_notebook_is_told(torn: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        read_notebook(torn)


def test_a_notebook_without_a_word_has_no_chunk() -> None:
    assert cut(write(markdown(" "), code("\n"))) == ()
    assert cut(b'{"metadata": {}, "nbformat": 4}') == ()


cells = st.builds(
    lambda kind, source, spread: {
        "cell_type": kind,
        "source": source.splitlines(keepends=True) if spread else source,
        "outputs": [{"text": "an output"}],
    },
    st.sampled_from(["markdown", "code", "raw"]),
    st.lists(
        st.sampled_from(
            ["# One\n", "## Two\n", WORDS + "\n", LOAD, "x = 1\n", "%time f()\n", "é = 'ü'\n", "\n", "\r\n"]
        ),
        max_size=60,
    ).map("".join),
    st.booleans(),
)


@given(st.lists(cells, max_size=8))
@settings(max_examples=examples(60))
def test_every_word_of_every_cell_is_in_a_chunk_that_names_the_cell(given: list[dict[str, Any]]) -> None:
    chunks = cut(write(*given))
    for number, cell in enumerate(given, start=1):
        for word in set("".join(cell["source"]).split()):
            assert any(word in item.chunk.text and _names_cell(item.title, number) for item in chunks)
    assert all(len(item.chunk.text) <= 4_000 and item.chunk.text.strip() for item in chunks)


def _names_cell(title: str, number: int) -> bool:
    numbers = [int(word) for word in title.rpartition(" > ")[2].split() if word.isdigit()]
    return numbers[0] <= number <= numbers[-1]
