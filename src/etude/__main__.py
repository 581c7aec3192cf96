"""``python -m etude`` is the ``etude`` command."""

from etude.cli import main

if __name__ == "__main__":
    main()
