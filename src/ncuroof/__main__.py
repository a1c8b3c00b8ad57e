"""Entry point of ``ncuroof`` and of ``python -m ncuroof``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its status."""
    from ncuroof.cli import run  # noqa: PLC0415  keeps `import ncuroof.__main__` free of typer

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
