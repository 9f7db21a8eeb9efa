"""Pyramid jobs: the pyramid's background work (`jobs`).

Every server loads this module, so it loads the rest only when there is something to do.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.jobs import MaintenanceContext
from hyperloci.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperloci.conversations.pyramid.builder import PyramidBuilder
    from hyperloci.conversations.pyramid.sentence_ranking import Embed
    from hyperloci.conversations.pyramid.summary import Summariser
    from hyperloci.conversations.pyramid.themes import Rarity
    from hyperloci.embedder.client import EmbedderClient

logger = logging.getLogger(__name__)

EMBED_SECONDS: Final = 20.0
"""For the sentences of one chunk, at most 240 of them: 17 ms each on one core."""

KNOWN_TERMS: Final = 65_536


def build_pyramids(context: MaintenanceContext) -> int:
    """Cut, demote, summarise and archive all sessions; see the module `builder`."""
    return make_builder(context).advance_all()


def expire_archives(context: MaintenanceContext) -> int:
    """Delete archive files whose time is over."""
    return make_builder(context).expire_archives(context.believed_time())


def make_builder(context: MaintenanceContext) -> PyramidBuilder:
    """Return what builds pyramids; its summaries use vectors where an embedder is warm."""
    from hyperloci.conversations.pyramid.builder import PyramidBuilder
    from hyperloci.conversations.pyramid.summary import ExtractiveSummariser

    rarity = make_rarity(context.store)
    return PyramidBuilder(
        store=context.store,
        settings=context.settings,
        clock=context.clock,
        summarise=_make_model_summariser(context.settings) or ExtractiveSummariser(rarity, make_embed(context.client)),
        fallback=ExtractiveSummariser(rarity),
        yield_to_others=context.yield_to_others,
    )


def _make_model_summariser(settings: Settings) -> Summariser | None:
    """Return the strategy that asks a model, where the user set one; where it fails the rules stand in."""
    if settings.consolidation != "llm":
        return None
    from hyperloci.conversations.llm_client import ChatClient
    from hyperloci.conversations.pyramid.llm_summary import ModelSummariser

    try:
        return ModelSummariser(ChatClient(settings))
    except HyperlociError as error:
        logger.warning("summarising chunks without a language model: %s", error)
        return None


def make_embed(client: EmbedderClient | None) -> Embed | None:
    """Return what embeds sentences while an embedder is warm; None where embeddings are switched off."""
    if client is None:
        return None

    def embed(texts: Sequence[str]) -> NDArray[np.float32] | None:
        try:
            return client.embed(texts, EMBED_SECONDS) if client.is_ready() else None
        except HyperlociError:
            return None

    return embed


def make_rarity(store: Store) -> Rarity:
    """Return a function that gives the inverse document frequency of a term in a memory."""

    @functools.lru_cache(maxsize=KNOWN_TERMS)
    def rarity(term: str) -> float:
        total = store.keywords.count_texts()
        count = min(total, store.keyword_search.count_frequencies([term]).get(term, 0))
        return math.log(1 + (total - count + 0.5) / (count + 0.5))

    return rarity
