"""Train the cross-encoder that reads two statements together: does the older one still hold, given the newer?

    python -m bench train_cross_encoder [--write] [--epochs 4] [--rank 32] [--test PAIRS.jsonl ...]

Starts from the bundled model and learns from pairs of statements (`statement_pairs.jsonl`,
`statement_contrasts.jsonl`), from pairs drawn by chance or of one project that hold side by side, and from projects in
which people change their minds (`changed_minds*.jsonl` that were written apart from sessions). Sessions are not learned
from: they show what it does to whole projects. `--write` stores what it differs by from the bundled model, as matrices
of low rank, in `server/hyperloci/embedder/models/data`. `--test` scores other pairs by what is stored; of
`statement_contrasts_unread.jsonl` nothing was chosen. On two cores it takes half an hour; other machines round
otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score
from torch.nn.utils import parametrize
from transformers import AutoModel

from bench.train_contradictions import DATA, load_peaceful_pairs, load_statement_pairs
from hyperloci.conversations.consolidation.replacement.surroundings import join_answer
from hyperloci.embedder.models import cross_encoder
from hyperloci.embedder.models.bert import HIDDEN
from hyperloci.embedder.models.bundled import find_model_folder, read_tokenizer
from hyperloci.embedder.models.cross_encoder import REPLACEMENT_ADAPTER, Adapter, load_cross_encoder

FOLDER: Final = Path(__file__).parent / "data"
CHANGES: Final = tuple(
    FOLDER / name for name in ("changed_minds.jsonl", "changed_minds_answered.jsonl", "changed_minds_told.jsonl")
)

CHANCE_SHARE: Final = 0.25
"""Share of the pairs beside which one drawn by chance is learned from: such are easy."""

UNLIKE: Final = 3
"""Statements that hold on, beside each new one: drawn by chance, rather such as share a word."""

UNANSWERED: Final = 0.25
"""Share of what is said in a project that is read without the assistant's answer."""

REFINED: Final = 0.4
"""What a change in part counts as an end."""

BATCH: Final = 32
PEAK_RATE: Final = 5e-5
HEAD_RATE: Final = 5e-4
ALARMS: Final = 0.08
"""False alarms at which the share that is found is told."""

RANK: Final = 32

PARAMETRIZED: Final = ".parametrizations."
ORIGINAL: Final = ".original"
"""In the names of weights that learn as products of low rank."""

WIDTH_STEP: Final = 8
"""Rows are filled up to a multiple of so many tokens: every shape costs the library a preparation."""


@dataclass(frozen=True, slots=True)
class Example:
    """An older and a newer text, how far the older one no longer holds (0..1), and how much it counts."""

    old: str
    new: str
    ends: float
    weight: float = 1.0


class LowRankChange(torch.nn.Module):
    """What a weight differs by: the product of two matrices, which learn in its place."""

    def __init__(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> None:
        super().__init__()
        self.left = torch.nn.Parameter(torch.from_numpy(left))
        self.right = torch.nn.Parameter(torch.from_numpy(right))

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the changed weight."""
        return weight + self.left @ self.right


class TrainedModel(torch.nn.Module):
    """The bundled model, and what makes one number of its states."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = AutoModel.from_pretrained(find_model_folder())
        self.first = torch.nn.Linear(2 * HIDDEN, cross_encoder.HEAD_WIDTH)
        self.last = torch.nn.Linear(cross_encoder.HEAD_WIDTH, 1)
        self.dropout = torch.nn.Dropout(0.1)
        for parameter in self.bert.embeddings.parameters():
            # The table of words is half of the model, and is shared with it.
            parameter.requires_grad = False

    def load_adapter(self, path: Path) -> None:
        """Take the weights that an adapter makes of the bundled model's, and learn on in its matrices of low rank."""
        adapter, modules = Adapter.from_file(path), dict(self.bert.named_modules())
        for name, value in self.bert.state_dict().items():
            left, right = (adapter.changes.get(f"{name}{side}") for side in (cross_encoder.LEFT, cross_encoder.RIGHT))
            module, _, kind = name.rpartition(".")
            if left is not None and right is not None:
                parametrize.register_parametrization(modules[module], kind, LowRankChange(left, right))
            elif name in adapter.changes:
                value += torch.from_numpy(adapter.changes[name])
        for name, parameter in self.bert.named_parameters():
            parameter.requires_grad = name.startswith("encoder.") and not name.endswith(ORIGINAL)
        for name, layer in (("first", self.first), ("last", self.last)):
            layer.load_state_dict({key: torch.from_numpy(adapter.head[f"{name}.{key}"]) for key in ("weight", "bias")})

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the log-odds of each row."""
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        states, kept = states.float(), mask.unsqueeze(-1)
        mean = (states * kept).sum(1) / kept.sum(1)
        inner = torch.nn.functional.gelu(self.first(torch.cat([states[:, 0], mean], -1)))
        return torch.as_tensor(self.last(self.dropout(inner)).squeeze(-1))


def list_statement_examples() -> list[Example]:
    """Return the pairs of statements, some drawn by chance, and some that hold side by side."""
    draw = random.Random(0)
    pairs = [pair for path in DATA for pair in load_statement_pairs(path)]
    examples = [Example(pair.old, pair.new, float(pair.contradicts)) for pair in pairs]
    for pair in pairs:
        other = draw.choice(pairs)
        if draw.random() < CHANCE_SHARE and other.old != pair.old:
            examples.append(Example(pair.old, other.new, 0.0, 0.5))
    calm = [pair for pair in load_peaceful_pairs(unread=False) if pair.kind == "together"]
    return examples + [Example(pair.old, pair.new, 0.0, 0.7) for pair in calm]


def list_change_examples() -> list[Example]:
    """Return what is said in projects beside what holds there: what it ends, and some that it does not."""
    draw = random.Random(1)
    examples = []
    for line in (line for path in CHANGES for line in path.read_text("utf-8").splitlines()):
        project = json.loads(line)
        for told in project["new"]:
            answer = "" if draw.random() < UNANSWERED else told.get("reply") or ""
            about = told.get("about")
            new = join_answer(f"{about} → {told['text']}" if about else told["text"], answer)
            ends = {"replaces": 1.0, "withdraws": 1.0, "refines": REFINED}.get(told["how"], 0.0)
            examples += [Example(project["living"][at], new, ends) for at in told["replaces"]]
            others = [text for at, text in enumerate(project["living"]) if at not in told["replaces"]]
            words = set(new.lower().split())
            draw.shuffle(others)
            others.sort(key=lambda text: -len(words & set(text.lower().split())))
            near = others[: UNLIKE - 1] + draw.sample(others[UNLIKE - 1 :], min(1, len(others[UNLIKE - 1 :])))
            examples += [Example(text, new, 0.0) for text in near]
    return examples


def make_batches(tokens: Sequence[Sequence[int]], draw: random.Random) -> Iterator[list[int]]:
    """Yield the places of texts, those of like length together, in no order."""
    places = list(range(len(tokens)))
    draw.shuffle(places)
    for start in range(0, len(places), 16 * BATCH):
        some = sorted(places[start : start + 16 * BATCH], key=lambda at: len(tokens[at]))
        parts = [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
        draw.shuffle(parts)
        yield from parts


def pad_rows(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids with zeros behind the shorter ones, and which are none."""
    width = WIDTH_STEP * -(-max(map(len, rows)) // WIDTH_STEP)
    ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return ids, mask


def train(
    examples: Sequence[Example], epochs: int, *, onward_from: Path | None = None, rate: float = PEAK_RATE
) -> TrainedModel:
    """Return a model that learned from examples; its progress is told.

    Args:
        examples: what to learn from.
        epochs: how often.
        onward_from: an adapter whose weights it starts from; None for the bundled model's.
        rate: of learning, at its peak.
    """
    torch.manual_seed(0)
    draw, model = random.Random(0), TrainedModel()
    if onward_from is not None:
        model.load_adapter(onward_from)
    encoded = read_tokenizer(find_model_folder(), cross_encoder.MAX_TOKENS).encode_batch(
        [(one.old, one.new) for one in examples]
    )
    tokens = [one.ids for one in encoded]
    model.train()
    trained = [parameter for parameter in model.bert.parameters() if parameter.requires_grad]
    head = [*model.first.parameters(), *model.last.parameters()]
    rates = [rate, HEAD_RATE]
    optimiser = torch.optim.AdamW([{"params": trained}, {"params": head}], lr=rate, weight_decay=0.01)
    steps = epochs * (len(examples) // BATCH + 1 + len(examples) // (16 * BATCH))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rates, total_steps=steps, pct_start=0.1)
    started = time.monotonic()
    for epoch in range(epochs):
        losses = []
        for count, places in enumerate(make_batches(tokens, draw)):
            wanted = torch.tensor([examples[at].ends for at in places])
            weight = torch.tensor([examples[at].weight for at in places])
            odds = model(*pad_rows([tokens[at] for at in places]))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, wanted, weight)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
            if count % 100 == 0:
                spent = time.monotonic() - started
                print(f"epoch {epoch + 1}, {count * BATCH:,} of {len(examples):,}, {spent:.0f} s", flush=True)
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.3f}", flush=True)
    return model


def score_examples(model: TrainedModel, examples: Sequence[Example]) -> NDArray[np.float64]:
    """Return the log-odds of each example."""
    tokenizer = read_tokenizer(find_model_folder(), cross_encoder.MAX_TOKENS)
    tokens = [one.ids for one in tokenizer.encode_batch([(one.old, one.new) for one in examples])]
    odds = np.zeros(len(tokens))
    model.eval()
    with torch.no_grad():
        for places in make_batches(tokens, random.Random(0)):
            odds[places] = model(*pad_rows([tokens[at] for at in places])).numpy()
    return odds


def find_adapter(model: TrainedModel, rank: int) -> dict[str, torch.Tensor]:
    """Return what a model differs by from the bundled one: matrices as products of low rank, all else as it is.

    Matrices that learned as such products stay what they are.
    """
    before = AutoModel.from_pretrained(find_model_folder()).state_dict()
    adapter = {}
    for name, value in model.bert.state_dict().items():
        if PARAMETRIZED in name:
            for side in (cross_encoder.LEFT, cross_encoder.RIGHT):
                if name.endswith(f".0{side}"):
                    adapter[name.replace(PARAMETRIZED, ".").removesuffix(f".0{side}") + side] = value
            continue
        change = value - before[name]
        if not name.startswith("encoder.") or not change.any():
            continue
        if change.dim() == 1:
            adapter[name] = change
            continue
        left, sizes, right = torch.linalg.svd(change, full_matrices=False)
        root = sizes[:rank].sqrt()
        adapter[f"{name}{cross_encoder.LEFT}"] = left[:, :rank] * root
        adapter[f"{name}{cross_encoder.RIGHT}"] = root[:, None] * right[:rank]
    for name, layer in (("first", model.first), ("last", model.last)):
        adapter[f"{name}.weight"], adapter[f"{name}.bias"] = layer.weight.detach(), layer.bias.detach()
    return {name: value.half().contiguous() for name, value in adapter.items()}


def measure(scores: NDArray[np.float64], ends: NDArray[np.bool_]) -> str:
    """Return the area under the curve, and how much is found at the false alarms allowed."""
    gate = np.quantile(scores[~ends], 1 - ALARMS)
    return f"area {roc_auc_score(ends, scores):.3f}, found at {ALARMS:.0%} alarms {(scores[ends] > gate).mean():.3f}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="train, and write the adapter into the package")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rank", type=int, default=RANK, help="of the matrices that are stored")
    parser.add_argument("--keep", type=Path, help="a file that keeps the whole model, to try other ranks")
    parser.add_argument("--test", type=Path, nargs="*", default=[], help="pairs that are scored by what is stored")
    options = parser.parse_args()
    if options.write:
        examples = [*list_statement_examples(), *list_change_examples()]
        if options.keep is not None and options.keep.exists():
            model = TrainedModel()
            model.load_state_dict(torch.load(options.keep))
        else:
            model = train(examples, options.epochs)
        if options.keep is not None:
            torch.save(model.state_dict(), options.keep)
        REPLACEMENT_ADAPTER.parent.mkdir(exist_ok=True)
        save_file(find_adapter(model, options.rank), REPLACEMENT_ADAPTER)
        print(f"{len(examples):,} examples; {REPLACEMENT_ADAPTER.stat().st_size:,} bytes")
    for path in options.test:
        pairs = load_statement_pairs(path)
        scores = load_cross_encoder(REPLACEMENT_ADAPTER).score_pairs([(pair.old, pair.new) for pair in pairs])
        print(path.name, measure(np.array(scores), np.array([pair.contradicts for pair in pairs])))


if __name__ == "__main__":
    main()
