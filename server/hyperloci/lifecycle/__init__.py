"""How the memory ages: tiers, decay, sessions, consolidation, upkeep."""
