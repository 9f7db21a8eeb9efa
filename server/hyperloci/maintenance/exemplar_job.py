"""Exemplar job: embeds the example questions of each intent (B.04)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperloci.jobs import MaintenanceContext


def embed_exemplars(context: MaintenanceContext) -> int:
    """Have the model in use see the exemplars, where it has not yet and an embedder is warm.

    One by one, and each as a question: a search waits for one of them at most, and a model that reads questions
    otherwise than memories reads them as it will read what they are compared with.

    Raises:
        NotReadyError, EmbedderError: the embedder went away meanwhile.
        UpkeepStoppedError: the process ends.
    """
    from hyperloci.retrieval.intent import list_exemplars
    from hyperloci.retrieval.intent_exemplars import has_current_vectors, store_vectors

    store, client = context.store, context.client
    model_id = store.vectors.get_model_in_use()
    if model_id is None or client is None or has_current_vectors(store, model_id) or not client.is_ready():
        return 0
    seen = []
    for text, _ in list_exemplars():
        question = client.embed_query_spaces(text)
        if question.model_id != model_id:
            return 0
        seen.append(question.dense["e1"])
        context.yield_to_others()
    import numpy as np

    with store.transaction():
        store_vectors(store, model_id, np.stack(seen))
    return 1
