"""The command line. One module of this package is one command; nothing else needs an edit to add one.

A command module has ``NAME`` (the sub-command), ``ORDER`` (its place in ``--help``) and ``command`` (a function with
typer parameters whose docstring is the help text; it returns the exit status). It imports the code it calls inside the
function, so that ``ncuroof --help`` stays light. Exceptions are turned into messages and exit statuses here, once.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ncuroof import __version__
from ncuroof.errors import EXIT_ERROR, EXIT_OK, NcuroofError
from ncuroof.registry import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _version(value: bool) -> None:
    if value:
        typer.echo(f"ncuroof {__version__}")
        raise typer.Exit


def _root(
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Read NVIDIA Nsight Compute results, place every kernel under its own roof, list what is wrong."""


def _exits(command: Callable[..., int]) -> Callable[..., None]:
    """A typer callback that leaves with the status its command returns."""

    @functools.wraps(command)
    def run_command(*args: Any, **kwargs: Any) -> None:  # noqa: ANN401  passes through whatever the command takes
        raise typer.Exit(command(*args, **kwargs))

    return run_command


def app() -> typer.Typer:
    """The assembled application."""
    application = typer.Typer(
        name="ncuroof",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback()(_root)
    modules = scan(__name__, {"NAME": str, "ORDER": int, "command": object}, unique=["NAME", "ORDER"])
    for module in sorted(modules, key=lambda m: m.ORDER):
        settings = getattr(module, "CONTEXT_SETTINGS", {})
        application.command(module.NAME, context_settings=settings)(_exits(module.command))
    return application


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the only place where an :class:`NcuroofError` becomes an exit status.

    Returns:
        0 done, 1 ``--fail-on`` reached, 2 unusable input or usage; a collected program's own status from ``collect``.
    """
    try:
        status = app()(args=list(arguments), prog_name="ncuroof", standalone_mode=False)
        sys.stdout.flush()
    except NcuroofError as error:
        typer.echo(f"error: {one_line(str(error))}", err=True)
        return error.exit_code
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        typer.echo("interrupted", err=True)
        return 130
    except OSError as error:
        return _output_failed(error)
    except Exception as error:
        if _is_usage_error(error):
            error.show()  # type: ignore[attr-defined]  # click's UsageError
            return EXIT_ERROR
        raise
    return status if isinstance(status, int) else EXIT_OK


def _output_failed(error: OSError) -> int:
    """The status when standard output is full or gone: what touches the user's files has messages of its own.

    A reader that has what it wanted (``| head``) is no failure.
    """
    if not isinstance(error, BrokenPipeError):
        typer.echo(f"error: cannot write the output ({error.strerror or error})", err=True)
    # Keep Python from failing once more when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_OK if isinstance(error, BrokenPipeError) else EXIT_ERROR


def _is_usage_error(error: Exception) -> bool:
    """Whether this is click's complaint about options; typer brings click along, under varying names."""
    return hasattr(error, "show") and hasattr(error, "exit_code") and hasattr(error, "format_message")


def printable(text: str) -> str:
    """``text`` with control characters made visible: names from reports must not drive a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in text)


def one_line(text: str) -> str:
    """``text`` with all control characters made visible, line ends too: for messages about hostile names."""
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
