"""Every error ncuroof raises on purpose, and the exit status it leads to.

::

    NcuroofError                 exit 2
    ├── UsageError               options or arguments that do not fit together
    ├── ConfigError              [tool.ncuroof] or ncuroof.toml is wrong
    ├── InputError               a file that cannot be used; names file, finding and remedy
    │   ├── UnrecognisedError    no reader knows this kind of file
    │   ├── DamagedError         the right kind of file, but broken or cut
    │   └── NothingMeasuredError readable, but holds no profiled kernel
    ├── MissingBackendError      an optional package is needed and absent
    ├── SchemaError              a table does not have the promised columns
    ├── CollectError             `ncu` could not be run or refused to measure
    └── RegistryError            a rule, reader, reporter or data row of ncuroof is malformed

The command line turns these into one line on stderr and the exit status; anything else is a bug and keeps its
traceback.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2


class NcuroofError(Exception):
    """Root of all errors that are raised on purpose."""

    exit_code = EXIT_ERROR


class UsageError(NcuroofError):
    """Options or arguments that do not fit together."""


class ConfigError(NcuroofError):
    """The configuration file is wrong: names the file, the key and what is allowed there."""


class InputError(NcuroofError):
    """A file that cannot be used.

    Args:
        path: the file, as the user named it.
        found: what was found in it, as a clause ("text that begins with ...").
        remedy: what to do about it, as a sentence.
    """

    def __init__(self, path: str, found: str, remedy: str) -> None:
        self.path = path
        self.found = found
        self.remedy = remedy
        super().__init__(f"{path}: {found}. {remedy}")


class UnrecognisedError(InputError):
    """No reader knows this kind of file."""


class DamagedError(InputError):
    """The right kind of file, but broken or cut short."""


class NothingMeasuredError(InputError):
    """The file is readable but holds no profiled kernel."""


class MissingBackendError(NcuroofError):
    """An optional package is needed for what was asked, and is not installed."""


class SchemaError(NcuroofError):
    """A table does not have the promised columns; lists every fault at once."""


class CollectError(NcuroofError):
    """``ncu`` could not be run, or refused to measure."""


class RegistryError(NcuroofError):
    """A rule, reader, reporter or data row that ships with ncuroof is malformed (a packaging or programming fault)."""
