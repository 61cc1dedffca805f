"""The command line: a module a command, found by folder.

Wrong input gets one line that says what is wrong and what would be right, and exit status 2.
"""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import sys
from typing import Any, NoReturn

import typer

from tapete.cli.app import STOPPED, app
from tapete.core import TapeteError

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

# Typer may bring its own copy of click, so the error is found by way of the one name that Typer exports.
UsageError: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "UsageError")


def main() -> None:
    """The entry point of `tapete`."""
    _mend_streams()
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
        if status == STOPPED:  # Typer makes this of Ctrl-C
            raise KeyboardInterrupt
    except UsageError as error:
        if not error.format_message():  # help was shown, because nothing was asked for
            raise SystemExit(2) from None
        _fail(f"{error.format_message().rstrip().rstrip('.')}; `{_command(error)} --help` tells how it goes")
    except TapeteError as error:
        _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        _fail("stopped", status=STOPPED)
    except BrokenPipeError:  # who read the output has seen enough
        _drop_output()
        raise SystemExit(0) from None
    except OSError as error:
        try:
            sys.stdout.flush()
        except OSError:  # it is what failed, and Python would try again at the end
            _drop_output()
        _fail(str(error))
    except MemoryError:
        _fail("there is not enough memory for this")
    raise SystemExit(status or 0)


def _command(error: Any) -> str:
    """The command that was written wrongly."""
    context = getattr(error, "ctx", None)
    names: list[str] = []
    while context and context.parent:  # the first one is `tapete`, however it was started
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(["tapete", *names])


def _mend_streams() -> None:
    """Closed ones become empty; what can't be read, or written where the signs of cards are missing, is replaced."""
    sys.stdin, sys.stdout = sys.stdin or open(os.devnull), sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """What was printed and nobody has read goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, status: int = 2) -> NoReturn:
    print(f"tapete: {' '.join(text.split())}", file=sys.stderr)
    raise SystemExit(status) from None
