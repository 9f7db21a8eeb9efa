"""What the rules of consolidation keep of sessions, judged by what was asked about them later.

    python -m bench consolidation talks
    python -m bench consolidation beam FOLDER [--bound 0.6]

`talks` plays six sessions of work (`bench/_talks.py`) to the real Claude Code, whose program CLAUDE_E2E names, with a
scripted model behind it; the transcripts that it writes are read and consolidated. Without CLAUDE_E2E the same turns
are stored directly. `beam` takes a folder with BEAM's `docs_100K.jsonl` and `probes.jsonl`: conversations of some 240
messages, and questions about them with their answers.

An answer counts as contained in what was kept if at least `--bound` of its content words (stemmed, cut to five
characters, without stop words) stand in one single kept text. For questions about following a preference, which have
no answer, it is what the rubric asks an answer to show. The same is counted for as many randomly drawn sentences, for
sentences as long together as what was kept, and for every sentence of the conversation alone: the most there is to get.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from bench._shared import MarkdownTable, bench_settings, save_result
from bench._talks import TALKS, Block, ScriptedTalk
from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.conversations.capture.sessions import end_session
from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.conversations.consolidation.text_similarity import meaningful_words
from hyperloci.conversations.consolidation.turn_view import read_sentences
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.model.turn import Speaker, Turn

KINDS: Final = ("knowledge_update", "preference_following", "information_extraction")
TALK_BOUND: Final = 0.75
SEEDS: Final = 5
SCRIPTED_API: Final = Path(__file__).parents[1] / "tests" / "e2e" / "scripted_api.py"
RUN_SECONDS: Final = 120

_RUBRIC: Final = re.compile(r"^LLM response should (?:contain|state|mention)s?:? *", re.IGNORECASE)


def list_sentences(text: str) -> list[str]:
    """Return the sentences of a message."""
    return [sentence.text for sentence in read_sentences(text)]


def is_contained(answers: Iterable[str], texts: Sequence[frozenset[str]], bound: float) -> bool:
    """Tell whether one text holds so much of the words of one of the answers."""
    wanted = [asked for answer in answers if (asked := meaningful_words(answer))]
    return any(len(asked & text) / len(asked) >= bound for asked in wanted for text in texts)


def consolidate_session(memory: Memory, session_id: str) -> tuple[list[str], Counter[str]]:
    """End a session, consolidate it by the rules, and return what it left, and how many of each kind."""
    now = max(memory.store.sessions.list_recent(limit=1)[0].last_seen_at, system_clock()) + MS_PER_DAY
    with memory.store.transaction():
        end_session(memory.store, session_id, now=now)
    consolidation = Consolidation(memory.store, memory.settings, system_clock)
    for waiting in consolidation.list_pending():
        consolidation.consolidate(waiting)
    rows = memory.store.connection.execute(
        "SELECT n.content, n.subtype FROM nodes n JOIN sessions t ON t.key = n.session_key WHERE t.id = ?"
        " AND n.origin = 'extraction' AND n.type <> 'entity' AND n.deleted_at IS NULL AND n.valid_until IS NULL",
        (session_id,),
    ).fetchall()
    return [row[0] for row in rows], Counter(row[1] for row in rows)


# -- BEAM ------------------------------------------------------------------------------------------------------------


def measure_beam(folder: Path, bound: float) -> dict[str, Any]:
    """Return for each kind of probe how many answers each selection of sentences contains."""
    conversations: dict[str, list[dict[str, Any]]] = {}
    for line in (folder / "docs_100K.jsonl").read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        conversations.setdefault(message["conv"], []).append(message)
    probes = [json.loads(line) for line in (folder / "probes.jsonl").read_text(encoding="utf-8").splitlines()]
    probes = [probe for probe in probes if probe["kind"] in KINDS]
    started = time.perf_counter()
    kept, kinds = _consolidate_all(conversations)
    seconds = time.perf_counter() - started
    selections = _select_sentences(conversations, kept)
    answer: dict[str, Any] = {"bound": bound, "seconds": round(seconds, 1), "kinds": dict(kinds), "selections": {}}
    for name, draws in selections.items():
        counts = [_count_contained(probes, draw, bound) for draw in draws]
        answer["selections"][name] = {
            "texts": round(sum(sum(map(len, draw.values())) for draw in draws) / len(draws)),
            "characters": round(sum(sum(len(t) for ts in d.values() for t in ts) for d in draws) / len(draws)),
            **{kind: round(sum(count[kind] for count in counts) / len(counts), 1) for kind in KINDS},
        }
    answer["probes"] = dict(Counter(probe["kind"] for probe in probes))
    return answer


def _consolidate_all(conversations: dict[str, list[dict[str, Any]]]) -> tuple[dict[str, list[str]], Counter[str]]:
    kept, kinds = {}, Counter[str]()
    for name, messages in conversations.items():
        with tempfile.TemporaryDirectory() as folder:
            settings = bench_settings(Path(folder), embedder=False)
            with Memory.open(settings, Path(folder)) as memory:
                turns = [
                    Turn(
                        uuid=f"{name}-{message['id']}",
                        role=Speaker(message["role"]),
                        text=message["text"],
                        timestamp_ms=system_clock() + number,
                    )
                    for number, message in enumerate(messages)
                ]
                memory.add_turns(name, turns)
                kept[name], found = consolidate_session(memory, name)
                kinds += found
    return kept, kinds


def _select_sentences(
    conversations: dict[str, list[dict[str, Any]]], kept: dict[str, list[str]]
) -> dict[str, list[dict[str, list[str]]]]:
    everything = {
        name: [sentence for message in messages for sentence in list_sentences(message["text"])]
        for name, messages in conversations.items()
    }
    users = {
        name: [s for message in messages if message["role"] == "user" for s in list_sentences(message["text"])]
        for name, messages in conversations.items()
    }
    draws: dict[str, list[dict[str, list[str]]]] = {"kept": [kept], "as many at random": [], "as long at random": []}
    draws["as many of the user's at random"] = []
    for seed in range(SEEDS):
        chance = random.Random(seed)
        draws["as many at random"].append({n: chance.sample(ts, len(kept[n])) for n, ts in everything.items()})
        draws["as long at random"].append({n: _as_long(ts, kept[n], chance) for n, ts in everything.items()})
        draws["as many of the user's at random"].append(
            {n: chance.sample(ts, min(len(ts), len(kept[n]))) for n, ts in users.items()}
        )
    return {**draws, "every sentence": [everything]}


def _as_long(texts: Sequence[str], kept: Sequence[str], chance: random.Random) -> list[str]:
    room = sum(map(len, kept))
    drawn: list[str] = []
    for text in chance.sample(texts, len(texts)):
        if room < len(text):
            break
        drawn.append(text)
        room -= len(text)
    return drawn


def _count_contained(probes: Sequence[dict[str, Any]], texts: dict[str, list[str]], bound: float) -> Counter[str]:
    held = {name: [meaningful_words(text) for text in listed] for name, listed in texts.items()}
    return Counter(probe["kind"] for probe in probes if is_contained(_probe_answers(probe), held[probe["conv"]], bound))


def _probe_answers(probe: dict[str, Any]) -> list[str]:
    if probe["kind"] == "preference_following":
        return [_RUBRIC.sub("", rubric) for rubric in probe["rubric"]]
    return [probe["answer"]]


# -- sessions of work ------------------------------------------------------------------------------------------------


def measure_talks(program: str) -> dict[str, Any]:
    """Return for each session what was kept of what should be, and of what should not."""
    answer: dict[str, Any] = {"claude_code": bool(program), "talks": {}}
    for talk in TALKS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            settings = bench_settings(folder, embedder=False)
            transcript = _play_talk(program, talk, folder) if program else None
            project = folder / "project"
            project.mkdir(exist_ok=True)
            with Memory.open(settings, project) as memory:
                session_id = _store_talk(memory, talk, transcript)
                kept, kinds = consolidate_session(memory, session_id)
                told = [
                    row[0]
                    for row in memory.store.connection.execute(
                        "SELECT content FROM nodes WHERE subtype IN ('episode', 'action') ORDER BY seq"
                    )
                ]
            answer["talks"][talk.name] = {**_judge_talk(talk, kept, told), "kinds": dict(kinds), "kept": kept}
    return answer


def _judge_talk(talk: ScriptedTalk, kept: list[str], told: list[str]) -> dict[str, Any]:
    everything = [sentence for text in told for sentence in list_sentences(text)]
    held = [meaningful_words(text) for text in kept]
    chance = random.Random(1)
    drawn = [meaningful_words(text) for text in chance.sample(everything, min(len(everything), len(kept)))]
    missed = [keep for keep in talk.keep if not is_contained([keep], held, TALK_BOUND)]
    wanted = [meaningful_words(keep) for keep in talk.keep]
    useful = sum(any(len(want & text) / len(want) >= TALK_BOUND for want in wanted) for text in held)
    return {
        "wanted": len(talk.keep),
        "found": len(talk.keep) - len(missed),
        "at_random": sum(is_contained([keep], drawn, TALK_BOUND) for keep in talk.keep),
        "in_all": sum(
            is_contained([keep], [meaningful_words(text) for text in everything], TALK_BOUND) for keep in talk.keep
        ),
        "texts": len(kept),
        "useful": useful,
        "sentences": len(everything),
        "planted": sum(phrase.casefold() in text.casefold() for phrase in talk.never for text in kept),
        "missed": missed,
    }


def _store_talk(memory: Memory, talk: ScriptedTalk, transcript: Path | None) -> str:
    if transcript is None:
        memory.add_turns(talk.name, list(_talk_turns(talk)))
        return talk.name
    record = CaptureRecord(
        id="bench",
        kind=CaptureKind.TURNS,
        session_id=transcript.stem,
        project_id=memory.project.id,
        project_name=memory.project.name,
        project_root=str(memory.project.root),
        at=system_clock(),
        path=str(transcript),
    )
    memory.keep(record)
    return transcript.stem


def _talk_turns(talk: ScriptedTalk) -> Iterable[Turn]:
    number = 0
    for prompt, answers in talk.turns:
        said = [(Speaker.USER, prompt)]
        said += [(Speaker.ASSISTANT, block) for blocks in answers for block in blocks if isinstance(block, str)]
        for role, text in said:
            yield Turn(uuid=f"{talk.name}-{number}", role=role, text=text, timestamp_ms=system_clock() + number)
            number += 1


def _play_talk(program: str, talk: ScriptedTalk, folder: Path) -> Path:
    """Have a session with Claude Code, and return its transcript."""
    session_id = ""
    for number, (prompt, answers) in enumerate(talk.turns):
        script = folder / f"script-{number}.json"
        script.write_text(
            json.dumps([[_content_block(block) for block in blocks] for blocks in answers]), encoding="utf-8"
        )
        more = ["--resume", session_id] if session_id else []
        claude = [program, "-p", "--output-format", "json", "--allowedTools", "Bash(echo:*)", *more, "--", prompt]
        command = [
            sys.executable,
            str(SCRIPTED_API),
            str(script),
            str(folder / f"record-{number}.jsonl"),
            "--",
            *claude,
        ]
        (folder / "project").mkdir(exist_ok=True)
        done = subprocess.run(
            command,
            cwd=folder / "project",
            env=_talk_environment(folder),
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"Claude Code failed: {done.stdout[-500:]} {done.stderr[-500:]}")
        session_id = json.loads(done.stdout)["session_id"]
    return max((folder / "home" / ".claude" / "projects").rglob("*.jsonl"), key=lambda path: path.stat().st_size)


def _content_block(block: Block) -> dict[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    tool, arguments = block
    return {"type": "tool_use", "name": tool, "input": arguments}


def _talk_environment(folder: Path) -> dict[str, str]:
    home, temporary = folder / "home", folder / "tmp"
    for place in (home, temporary):
        place.mkdir(exist_ok=True)
    quiet = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "DISABLE_BUG_COMMAND")
    nonessential = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "CLAUDE_CODE_TMPDIR": str(temporary),
        "ANTHROPIC_API_KEY": "sk-ant-none-needed-offline",
        **dict.fromkeys((*quiet, *nonessential), "1"),
    }


def main() -> None:
    """Run one of the two, and print its table."""
    parser = argparse.ArgumentParser(prog="python -m bench consolidation", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["talks", "beam"])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--bound", type=float, default=0.6)
    arguments = parser.parse_args()
    if arguments.what == "beam":
        if arguments.folder is None:
            parser.error("beam needs the folder that holds docs_100K.jsonl and probes.jsonl")
        answer = measure_beam(arguments.folder, arguments.bound)
        _print_beam(answer)
    else:
        answer = measure_talks(os.environ.get("CLAUDE_E2E", ""))
        _print_talks(answer)
    save_result(f"consolidation-{arguments.what}", answer)


def _print_beam(answer: dict[str, Any]) -> None:
    print(f"bound {answer['bound']}; {answer['seconds']} s; kinds {answer['kinds']}")
    table = MarkdownTable("sentences", "texts", "characters", *KINDS)
    for name, row in answer["selections"].items():
        shares = [f"{row[kind]:g} of {answer['probes'][kind]}" for kind in KINDS]
        table.add(name, row["texts"], row["characters"], *shares)
    table.print()


def _print_talks(answer: dict[str, Any]) -> None:
    print("transcripts of Claude Code" if answer["claude_code"] else "the scripts themselves (CLAUDE_E2E is not set)")
    table = MarkdownTable(
        "session", "sentences", "kept", "useful", "found", "at random", "in all text", "planted text kept"
    )
    rows = answer["talks"]
    for name, row in rows.items():
        of = f"of {row['wanted']}"
        found, drawn, in_all = (f"{row[key]} {of}" for key in ("found", "at_random", "in_all"))
        table.add(name, row["sentences"], row["texts"], row["useful"], found, drawn, in_all, row["planted"])
    table.print()
    for name, row in rows.items():
        if row["missed"]:
            print(f"{name} missed: {'; '.join(row['missed'])}")


if __name__ == "__main__":
    main()
