"""`python -m hyperloci`."""

from hyperloci.cli import main

main()
