"""The scripts of a component are cut as code, and the rest of it at lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.text.chunking.chunker import chunk_file
from hyperloci.text.chunking.lines import LineIndex
from tests.support import examples

FUNCTION = """
import { fetchGauge } from "./api"

export function latest(gauge: string): number {
  const readings = fetchGauge(gauge)
  return readings[readings.length - 1].level
}
"""
MARKUP = "<template>\n  <p>{{ latest(gauge) }} centimetres above zero</p>\n</template>\n"


@pytest.mark.parametrize(
    ("path", "text", "languages"),
    [
        ("Gauge.vue", f'<script setup lang="ts">{FUNCTION}</script>\n\n{MARKUP}', ["typescript", "vue"]),
        ("Gauge.vue", f"{MARKUP}<script>{FUNCTION}</script>\n", ["vue", "javascript"]),
        ("Gauge.svelte", f'<script lang="ts">{FUNCTION}</script>\n{MARKUP}', ["typescript", "svelte"]),
        ("Gauge.astro", f"---{FUNCTION}---\n{MARKUP}", ["typescript", "astro"]),
    ],
)
def test_a_script_is_cut_by_its_syntax_in_its_language(path: str, text: str, languages: list[str]) -> None:
    chunks = chunk_file(path, text)
    assert list(dict.fromkeys(chunk.position.language for chunk in chunks)) == languages
    (function,) = (chunk for chunk in chunks if chunk.position.symbol == "latest")
    assert function.code is not None and function.code.calls == ("fetchGauge",)
    assert "".join(chunk.text for chunk in chunks).split() == text.split()


@pytest.mark.parametrize("text", ["<script>", "<script></script>", "---\nlet a = 1", "<p>", "---\n---\n<p>a</p>"])
@pytest.mark.parametrize("path", ["a.vue", "a.svelte", "a.astro"])
def test_nothing_of_an_unfinished_component_is_lost(path: str, text: str) -> None:
    assert "".join(chunk.text for chunk in chunk_file(path, text)).split() == text.split()


PIECES = st.lists(
    st.sampled_from(["<script>", '<script lang="ts">', "</script>", "---\n", FUNCTION, MARKUP, "é\n", "<", "\n" * 3]),
    max_size=12,
).map("".join)


@given(PIECES, st.sampled_from(["a.vue", "a.svelte", "a.astro"]))
@settings(max_examples=examples(60))
def test_chunks_of_a_component_are_slices_of_it_and_hold_all_of_it(text: str, path: str) -> None:
    chunks = chunk_file(path, text)
    assert "".join(chunk.text for chunk in chunks).split() == text.split()
    lines = LineIndex.from_text(text)
    for chunk in chunks:
        start, end = chunk.position.char_start or 0, chunk.position.char_end or 0
        assert chunk.text == text[start:end]
        assert (chunk.position.line_start, chunk.position.line_end) == lines.lines_of(start, end)
