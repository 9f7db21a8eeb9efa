"""What a prompt brings up: `python -m bench prompts DATA_DIR [--json]`.

Stores each long chat of the BEAM set as the turns of a session, then submits prompts and counts with how many of them
anything would be injected: the chat's own questions (where it should be), another chat's questions (where it should
not) and everyday prompts (where it must not). By meaning with the bundled model, and by words without it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._shared import MarkdownTable, bench_settings, save_result
from bench.quality import EvaluationCorpus, load_beam, store_corpus
from hyperloci.clock import system_clock
from hyperloci.conversations.capture.prompt_context import PromptOccasion, build_prompt_context
from hyperloci.memory import Memory

EVERYDAY = """thanks | thank you, looks good | fix the typo | run the tests | commit this | commit and push | continue |
yes, do it | go ahead | ok | no, the other one | make it faster | why does this fail? | try again |
add a docstring to that function | rename this variable | what does this file do? | explain this function |
refactor this class to be simpler | can you clean this up | write unit tests for this module | add type hints |
update the readme | fix the lint errors | undo that | revert the last change | show me the diff | open a pull request |
what's next? | let's move on to the next step | the build is broken, fix it | remove the unused imports |
add error handling here | it still doesn't work | bump the version | use a list comprehension instead |
format the code | what changed since yesterday? | delete the old files | summarize what you did |
is this thread safe? | please review this code | make the button blue | add logging | how do I run this? |
install the dependencies | create a new branch | merge main into this branch | check the logs |
add a test for the empty case | split this function in two | move this to a separate file | the output looks wrong |
use the existing helper | add a comment explaining why | that's not what I asked for | stop | hello | good morning"""

OTHERS_EVERY = 6
"""Of the other chats' questions every sixth is asked: 300 in all."""


def count_injected(memory: Memory, prompts: Sequence[str]) -> list[int]:
    """Return how many memories each prompt would bring up."""
    return [len(build_prompt_context(memory.store, _make_occasion(memory, prompt), memory).ids) for prompt in prompts]


def _make_occasion(memory: Memory, prompt: str) -> PromptOccasion:
    return PromptOccasion(prompt=prompt, scope=memory.project.id, session_id="new", now=system_clock())


def measure_prompts(chats: Sequence[EvaluationCorpus], *, words_only: bool = False) -> dict[str, dict[str, float]]:
    """Return the share of prompts with which something is injected, by kind of prompt and of search."""
    counts: dict[str, dict[str, list[int]]] = {}
    for number, chat in enumerate(chats):
        others = [question.text for other in chats if other is not chat for question in other.questions]
        prompts = {
            "the chat's own questions": [question.text for question in chat.questions],
            "another chat's questions": others[number % OTHERS_EVERY :: OTHERS_EVERY],
            "everyday prompts": [" ".join(prompt.split()) for prompt in EVERYDAY.split("|")],
        }
        with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
            root = Path(folder) / "project"
            root.mkdir()
            with Memory.open(bench_settings(Path(folder), embedder=False), root) as memory:
                store_corpus(memory, chat, root)
                _count_prompts(counts, "by words", memory, prompts)
            if words_only:
                continue
            with Memory.open(bench_settings(Path(folder)), root) as memory:
                memory.embed_pending()
                with memory.keep_embedder_running():
                    _count_prompts(counts, "by meaning", memory, prompts)
    return {how: {kind: _share_of(found) for kind, found in kinds.items()} for how, kinds in counts.items()}


def _count_prompts(
    counts: dict[str, dict[str, list[int]]], how: str, memory: Memory, prompts: dict[str, list[str]]
) -> None:
    for kind, texts in prompts.items():
        counts.setdefault(how, {}).setdefault(kind, []).extend(count_injected(memory, texts))


def _share_of(found: Sequence[int]) -> float:
    return round(statistics.fmean(count > 0 for count in found), 3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds the evaluation sets")
    parser.add_argument("--words", action="store_true", help="by words alone, which takes seconds")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else")
    options = parser.parse_args()
    chats = [corpus for evaluation in load_beam(options.data / "beam") for corpus in evaluation.corpora]
    found = measure_prompts(chats, words_only=options.words)
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = MarkdownTable("prompts with which something is injected", *found)
    for kind in next(iter(found.values())):
        table.add(kind, *(shares[kind] for shares in found.values()))
    table.print()
    save_result("prompts", found)


if __name__ == "__main__":
    main()
