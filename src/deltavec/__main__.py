"""``python -m deltavec``: the same as ``deltavec``."""

from deltavec.cli import main

if __name__ == "__main__":  # a process that serves beside others imports this too
    main()
