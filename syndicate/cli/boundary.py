"""Where every error of a command ends: one line on standard error and an exit code."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper

import click

from syndicate.errors import SyndicateError

PROBLEMS, USAGE, INTERRUPTED = 1, 2, 130
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What writing to a stream that is open already fails with; files that are opened by name have a `filename`."""


@dataclass(slots=True)
class Options:
    """What stands before the verb."""

    debug: bool = False


def run(command: click.Command, args: Sequence[str], prog_name: str) -> int:
    """Run a command to its exit code. No exception leaves, no traceback is shown unless `--debug` asks for it."""
    options = Options()
    if sys.stderr is None:  # closed by the caller, who wants to hear nothing
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        show_line("error: standard output is closed; give it a file, or /dev/null")
        return PROBLEMS
    _forgive_encodings()
    try:
        code = command.main(list(args), prog_name=prog_name, standalone_mode=False, obj=options)
        sys.stdout.flush()
    except click.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return PROBLEMS
    except Exception as error:
        if options.debug:
            traceback.print_exception(error)
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            _drop_stdout()
            show_line(f"error: standard output cannot be written: {(error.strerror or str(error)).lower()}")
            return PROBLEMS
        return _report(error, args)
    return code if isinstance(code, int) else 0


def _report(error: Exception, args: Sequence[str]) -> int:
    from syndicate.cli.problems import show_error
    from syndicate.cli.visible import one_line

    if isinstance(error, click.ClickException):
        show_line(_usage_line(error))
        return error.exit_code
    if isinstance(error, SyndicateError):
        show_error(error)
        return PROBLEMS
    what = one_line(f"{type(error).__name__}: {error}", 200)
    again = one_line(shlex.join(["syndicate", "--debug", *args]), 200)
    hint = "" if "--debug" in args else f", see where with: {again}"
    show_line(f"error: {what}; this is a bug in syndicate{hint}")
    return PROBLEMS


def show_traceback(error: Exception) -> None:
    """The traceback on standard error, when `--debug` stands before the verb that is running."""
    context = click.get_current_context(silent=True)
    options = context.find_object(Options) if context else None
    if options is not None and options.debug:
        traceback.print_exception(error)


def show_line(line: str) -> None:
    """One line on standard error."""
    click.echo(line, err=True)


def _usage_line(error: click.ClickException) -> str:
    from syndicate.cli.visible import one_line

    message = one_line(error.format_message(), 400).rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    help_hint = f" (see {context.command_path} --help)" if context else ""
    message = (message[:1].lower() + message[1:]).replace(". Did", "; did")
    return f"error: {message}{help_hint}"


def _forgive_encodings() -> None:
    """Print a replacement for what the terminal's encoding lacks, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_stdout() -> None:
    """Nobody takes any more: let the interpreter's last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
