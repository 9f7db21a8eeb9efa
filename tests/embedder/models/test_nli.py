"""An inference model by name, on a real tiny one that this test builds, through the embedder's socket."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hyperloci.config import Settings
from hyperloci.embedder.models.nli import load_nli_model
from hyperloci.embedder.process.engine import EmbedderEngine
from hyperloci.errors import BadRequestError, ConfigurationError, EmbedderError
from hyperloci.knowledge.contradictions.detector import ContradictionCandidate, ContradictionFinder
from hyperloci.model.answers import ContradictionKind
from hyperloci.model.kinds import Origin
from hyperloci.store import Store
from tests.embedder.helpers import drain_lines, serving, stages
from tests.embedder.models.test_sentence_transformer import WORDS
from tests.support import add

pytestmark = [pytest.mark.model, pytest.mark.req("D.10")]

PAIRS = [("the cache is red", "the cache is blue"), ("a dog runs", "a dog runs")]


def built(folder: Path, labels: dict[int, str]) -> Path:
    """Save a random classifier of two layers as sentence-transformers reads one."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(5)
    sizes = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        id2label=labels,
        label2id={label: number for number, label in labels.items()},
    )
    BertForSequenceClassification(sizes).save_pretrained(folder, safe_serialization=True)
    BertTokenizer(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nli") / "tiny-nli"
    return built(folder, {0: "ENTAILMENT", 1: "neutral", 2: "Contradiction"})


def make_engine(settings: Settings) -> EmbedderEngine:
    return EmbedderEngine(lambda: stages(settings), lambda: drain_lines, lambda: load_nli_model(settings))


def test_a_probability_is_that_of_the_class_called_contradiction(settings: Settings, tiny: Path) -> None:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    found = load_nli_model(replace(settings, nli_model=str(tiny))).contradiction(PAIRS)
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    batch = tokenizer([a for a, _ in PAIRS], [b for _, b in PAIRS], padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = torch.softmax(model(**batch).logits, dim=-1)[:, 2]
    assert found == pytest.approx(expected.tolist(), abs=1e-5)


def test_the_embedder_answers_for_pairs_in_their_order(settings: Settings, tiny: Path) -> None:
    configured = replace(settings, nli_model=str(tiny))
    with serving(configured, make_engine(configured)) as client:
        alone = [client.contradiction([pair], 60)[0] for pair in PAIRS]
        assert client.contradiction(PAIRS, 60) == pytest.approx(alone, abs=1e-5)
        assert client.contradiction([], 5) == []


def test_without_a_configured_model_it_says_so_and_the_rules_judge_alone(settings: Settings, store: Store) -> None:
    node = add(store, "The cache is red.", origin=Origin.TOOL)
    with serving(settings, make_engine(settings)) as client:
        with pytest.raises(BadRequestError, match="set nli_model"):
            client.contradiction(PAIRS)
        report = ContradictionFinder(store, client).find("The sky has clouds.", [ContradictionCandidate(node, 0.9)])
    assert (report.checked, report.contradictions) == (1, ())


def test_what_the_rules_do_not_settle_is_put_to_the_model(store: Store) -> None:
    class Sure:
        def contradiction(self, pairs: object) -> list[float]:
            return [0.9]

    node = add(store, "Deploys happen at dawn.", origin=Origin.TOOL)
    (found,) = (
        ContradictionFinder(store, Sure())
        .find("We ship at dusk only.", [ContradictionCandidate(node, 0.9)])
        .contradictions
    )
    assert (found.kind, found.score) == (ContradictionKind.NLI, 0.9)


def test_a_model_without_such_a_class_or_that_is_none_is_refused(settings: Settings, tmp_path: Path) -> None:
    other = built(tmp_path / "other", {0: "positive", 1: "negative"})
    with pytest.raises(ConfigurationError, match="has the classes negative, positive"):
        load_nli_model(replace(settings, nli_model=str(other)))
    (tmp_path / "empty").mkdir()
    with pytest.raises((ConfigurationError, EmbedderError)):
        load_nli_model(replace(settings, nli_model=str(tmp_path / "empty")))
