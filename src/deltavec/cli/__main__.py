"""``python -m deltavec.cli``: the same as ``deltavec``."""

from deltavec.cli import main

main()
