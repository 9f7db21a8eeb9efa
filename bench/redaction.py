"""Measure the redactor: `python -m bench redaction [--json] [--against detect-secrets|kingfisher] [--rules FILE]`.

Prints recall by type of secret, the share of harmless texts that it changed, its speed on ordinary code, and what
importing it costs a hook. Then the forms of `redaction_forms.py`, in their parts: those that whoever mends the rules
may read, with what is missed, and those held out or closed, in figures only. `--against` puts another
detector on the same corpus, if it is installed; `--rules` makes samples of the rules in a TOML file as gitleaks has
one, and prints what is missed by rule.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench._pattern_samples import make_samples, read_rules
from bench.redaction_corpus import SEED, RedactionSample, harmless_samples, secret_samples
from bench.redaction_forms import Part, is_closed, is_held_out, look_alikes, secret_forms

Redactor = Callable[[str], str]

ROUNDS = 10
COMPARED_ROUNDS = 1
"""Rounds of the corpus with `--against`: some detectors take a minute for one."""
IMPORTS = 7
SPEED_BYTES = 2_000_000
COMPARED_SPEED_BYTES = 200_000
_IMPORT = "import time; t = time.process_time(); import {module}; print(time.process_time() - t)"


@dataclass(slots=True)
class RedactionReport:
    """What a redactor did on the corpus."""

    secrets: int = 0
    found: int = 0
    harmless: int = 0
    changed: int = 0
    by_kind: dict[str, tuple[int, int]] = field(default_factory=dict)
    missed: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    megabytes_per_second: float = 0.0
    import_ms: float = 0.0

    @property
    def recall(self) -> float:
        return self.found / self.secrets

    @property
    def false_positive_rate(self) -> float:
        return self.changed / self.harmless


def secret_survives(sample: RedactionSample, redacted: str) -> bool:
    """Tell whether half of the secret, in one piece, can still be read."""
    secret = sample.secret or ""
    half = max(4, len(secret) // 2)
    return any(secret[start : start + half] in redacted for start in range(0, len(secret) - half + 1))


def measure_redactor(
    redactor: Redactor, positive: Iterable[RedactionSample], negative: Iterable[RedactionSample]
) -> RedactionReport:
    """Run a redactor over labelled texts."""
    report = RedactionReport()
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for sample in positive:
        total[sample.kind] += 1
        if secret_survives(sample, redactor(sample.text)):
            missed[f"{sample.kind} in {sample.context}"] += 1
        else:
            found[sample.kind] += 1
    for sample in negative:
        report.harmless += 1
        if redactor(sample.text) != sample.text:
            report.changed += 1
            report.wrong.append(sample.text)
    report.secrets, report.found = sum(total.values()), sum(found.values())
    report.by_kind = {kind: (found[kind], total[kind]) for kind in total}
    report.missed = dict(missed)
    return report


def ordinary_texts(limit: int) -> list[str]:
    """Return pieces of the standard library as a chunker would cut them: 2,000 characters each."""
    texts: list[str] = []
    size = 0
    for path in sorted(Path(json.__file__).parent.parent.glob("*.py")):
        source = path.read_text(encoding="utf-8", errors="replace")
        texts += [source[start : start + 2000] for start in range(0, len(source), 2000)]
        size += len(source)
        if size > limit:
            break
    return texts


def measure_speed(redactor: Redactor, limit: int = SPEED_BYTES) -> float:
    """Return megabytes a second of processor time on ordinary texts."""
    texts = ordinary_texts(limit)
    began = time.process_time()
    for text in texts:
        redactor(text)
    return sum(map(len, texts)) / 1e6 / (time.process_time() - began)


def import_ms(module: str) -> float:
    """Return the median processor time to import a module in a fresh interpreter, in milliseconds."""
    command = [sys.executable, "-c", _IMPORT.format(module=module)]
    times = [float(subprocess.run(command, capture_output=True, check=True, text=True).stdout) for _ in range(IMPORTS)]
    return statistics.median(times) * 1000


def own_redactor() -> tuple[Redactor, str]:
    from hyperloci.text.sanitize.redaction import redact_secrets

    return (lambda text: redact_secrets(text).text), "hyperloci.text.sanitize.redaction"


def detect_secrets() -> tuple[Redactor, str]:
    scan = importlib.import_module("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")

    entered = contextlib.ExitStack()
    entered.enter_context(settings.default_settings())

    def redactor(text: str, _kept: contextlib.ExitStack = entered) -> str:
        values = [secret.secret_value for line in text.splitlines() for secret in scan.scan_line(line)]
        for value in filter(None, values):
            text = text.replace(value, "[redacted]")
        return text

    return redactor, "detect_secrets.core.scan"


def kingfisher_redactor() -> tuple[Redactor, str]:
    sdk = importlib.import_module("kingfisher_sdk")
    scanner = sdk.Scanner(sdk.Rules(), base64=False)

    def redactor(text: str) -> str:
        for finding in scanner.scan(text):
            text = text.replace(finding.secret, "[redacted]") if finding.visible else text
        return text

    return redactor, "kingfisher_sdk"


def show_forms(redactor: Redactor) -> None:
    """Print how many secrets of the forms are found: by name for the open ones, in figures for the others."""
    for part in Part:
        hidden = is_held_out if part is Part.FIRST else is_closed
        for kept in (False, True):
            report = measure_redactor(
                redactor,
                (sample for sample in secret_forms(part=part) if hidden(sample.kind) is kept),
                (sample for sample in look_alikes(part=part) if hidden(sample.kind) is kept),
            )
            show_part(f"{part}, {'closed' if kept else 'open'}", report, details=not kept)


def show_part(name: str, report: RedactionReport, *, details: bool) -> None:
    """Print the figures of a part of the forms; with `details`, what is missed and what is changed for no reason."""
    whole = sum(found == total for found, total in report.by_kind.values())
    print(f"\n{name}: {len(report.by_kind)}, {report.secrets} secrets")
    print(f"  recall               {report.recall:8.4f}, {whole} forms whole")
    print(f"  false positives      {report.false_positive_rate:8.4f} of {report.harmless}")
    if details:
        poor = {kind: counts for kind, counts in report.by_kind.items() if counts[0] < counts[1]}
        print("  missed", ", ".join(f"{kind} {found}/{total}" for kind, (found, total) in poor.items()))
        for text in dict.fromkeys(report.wrong):
            print(f"    changed {text!r}")


def show_rules(redactor: Redactor, path: Path) -> None:
    """Print how many samples of somebody else's rules are found, and the rules of which some are missed."""
    found: dict[str, tuple[int, int]] = {}
    for name, pattern in read_rules(path):
        rng = random.Random(f"{SEED} {name}")
        made = [
            RedactionSample(kind=name, context="rule", text=text, secret=secret)
            for text, secret in make_samples(pattern, rng, RULE_SAMPLES)
            if len(secret) >= RULE_SECRET
        ]
        if made:
            missed = sum(secret_survives(each, redactor(each.text)) for each in made)
            found[name] = (len(made) - missed, len(made))
    total = sum(count for _, count in found.values())
    whole = sum(each == count for each, count in found.values())
    print(f"\nrules of {path.name}: {len(found)}, {total} samples")
    print(f"  recall               {sum(each for each, _ in found.values()) / total:8.4f}, {whole} rules whole")
    print("  missed", ", ".join(f"{name} {each}/{count}" for name, (each, count) in found.items() if each < count))


RULE_SAMPLES = 20
"""Samples drawn of each rule."""
RULE_SECRET = 8
"""Characters of the shortest sample that counts: optional parts of a pattern make empty ones."""

CANDIDATES = {"hyperloci": own_redactor, "detect-secrets": detect_secrets, "kingfisher": kingfisher_redactor}


def print_report(name: str, report: RedactionReport, details: bool) -> None:
    print(f"\n{name}: {report.secrets} secrets, {report.harmless} harmless texts")
    print(f"  recall               {report.recall:8.4f}")
    print(f"  false positives      {report.false_positive_rate:8.4f}")
    print(f"  speed, MB/s          {report.megabytes_per_second:8.1f}")
    print(f"  import, ms           {report.import_ms:8.1f}")
    if not details:
        return
    print("  recall by type")
    for kind, (found, total) in sorted(report.by_kind.items(), key=lambda each: (each[1][0] / each[1][1], each[0])):
        print(f"    {kind:24} {found:4} of {total}")
    for place, count in report.missed.items():
        print(f"    missed {count} x {place}")
    for text in dict.fromkeys(report.wrong):
        print(f"    changed {text!r}")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.redaction", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--against", choices=sorted(CANDIDATES), action="append", default=[], help="another detector")
    parser.add_argument("--rules", type=Path, help="a TOML file of rules to make samples of")
    arguments = parser.parse_args(argv)
    reports: dict[str, RedactionReport] = {}
    rounds, limit = (COMPARED_ROUNDS, COMPARED_SPEED_BYTES) if arguments.against else (ROUNDS, SPEED_BYTES)
    for name in dict.fromkeys(["hyperloci", *arguments.against]):
        redactor, module = CANDIDATES[name]()
        report = measure_redactor(redactor, secret_samples(rounds), harmless_samples(rounds))
        report.megabytes_per_second, report.import_ms = measure_speed(redactor, limit), import_ms(module)
        reports[name] = report
    if arguments.json:
        numbers = {
            name: {**asdict(each), "recall": each.recall, "false_positive_rate": each.false_positive_rate}
            for name, each in reports.items()
        }
        print(json.dumps(numbers, indent=2))
    else:
        for name, report in reports.items():
            print_report(name, report, details=name == "hyperloci")
        show_forms(own_redactor()[0])
        if arguments.rules:
            show_rules(own_redactor()[0], arguments.rules)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
