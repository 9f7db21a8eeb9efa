"""An embedder process with encoders of the tests' helpers; like the real one, it listens before it loads numpy."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from hyperloci.config import Settings
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import DrainQueue
from hyperloci.embedder.process.main import main


def stages(settings: Settings) -> Iterator[EncoderStage]:
    from tests.embedder import helpers

    found: Iterator[EncoderStage] = getattr(helpers, sys.argv[1])(settings)
    return found


def load_drain() -> DrainQueue:
    from tests.embedder.helpers import drain_lines

    return drain_lines


if __name__ == "__main__":
    main(stages, load_drain)
