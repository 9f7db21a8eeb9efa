"""Natural-language-inference model, if the user has set one: does one text contradict another (D.10)?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hyperloci.config import Settings
from hyperloci.embedder.models.sentence_transformer import find_safe_folder
from hyperloci.errors import BadRequestError, ConfigurationError

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

LABEL: Final = "contradiction"
"""How the configurations of such models name the class, in any case."""

_BATCH: Final = 16
_CPU: Final = "cpu"
"""A handful of pairs at a time: the accelerator's memory stays with the models that see everything."""


class NliModel:
    """A loaded cross-encoder with three classes, one of them a contradiction."""

    def __init__(self, model: CrossEncoder, contradiction: int) -> None:
        self._model = model
        self._contradiction = contradiction

    def contradiction(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each pair (premise, hypothesis) the probability that they contradict each other, 0..1."""
        import numpy as np
        import torch

        clean = [tuple(text.encode("utf-8", "replace").decode("utf-8") for text in pair) for pair in pairs]
        found = self._model.predict(
            clean,  # type: ignore[arg-type]
            batch_size=_BATCH,
            show_progress_bar=False,
            activation_fn=torch.nn.Softmax(dim=-1),
        )
        return [float(shares[self._contradiction]) for shares in np.atleast_2d(np.asarray(found))]


def load_nli_model(settings: Settings) -> NliModel:
    """Load the model that `nli_model` names: a folder, or a name in the Hub's cache or on the Hub itself.

    Raises:
        BadRequestError: none is named.
        ConfigurationError: it can't be loaded, or has no class `contradiction`.
    """
    name = settings.nli_model
    if name is None:
        raise BadRequestError("no inference model is configured: set nli_model to a cross-encoder's name or folder.")
    folder = find_safe_folder(name)
    from sentence_transformers import CrossEncoder

    try:
        model = CrossEncoder(
            str(folder),
            device=_CPU,
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        # Whatever a foreign configuration makes the library raise; all of it means that this model can't be used.
        raise ConfigurationError(f"nli_model={name!r} cannot be loaded from {folder}: {error}") from error
    labels = {str(label).lower(): int(number) for number, label in model.config.id2label.items()}
    if LABEL not in labels:
        known = ", ".join(sorted(labels))
        raise ConfigurationError(f"nli_model={name!r} has the classes {known}; one must be called {LABEL!r}.")
    return NliModel(model, labels[LABEL])
