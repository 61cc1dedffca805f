"""What ships ready-made: networks that were trained and equilibria that were solved. `tapete shipped` shows them.

`manifest.toml` tells of every file what made it, how strong it is, how that was measured, its size and its checksum. A
file is compared with its checksum before it is used, once in a process. `strengths.toml` tells how strong opponents
were measured to be, as a person is told who chooses one.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tapete.core.errors import TapeteError
from tapete.core.files import version_of

FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Artefact:
    """What the manifest tells of a file."""

    made_by: str  # the command
    seed: str
    took: str  # how long that was
    versions: str  # of what it was made with
    strength: str  # a figure, with its interval
    measured_by: str  # the command that printed it
    bytes: int
    sha256: str
    note: str = ""  # what else there is to know
    config: dict[str, int | float | str | bool] = field(default_factory=dict)  # all knobs of the learner, if it had any


@cache
def manifest() -> dict[str, Artefact]:
    """All that ships, by where it is in this folder: "networks/othello/zero.safetensors"."""
    return {name: Artefact(**about) for name, about in tomllib.loads((FOLDER / "manifest.toml").read_text()).items()}


@cache
def strengths() -> dict[str, dict[str, str]]:
    """How strong opponents were measured to be, by game and by the text that names them."""
    return tomllib.loads((FOLDER / "strengths.toml").read_text())


def find(name: str) -> Path | None:
    """The file of that name in this folder, if it ships; refused where it is not the one that the manifest tells of."""
    artefact = manifest().get(name)
    if artefact is None:
        return None
    path = FOLDER / name
    if not path.is_file():
        raise TapeteError(f"{path} is missing; install tapete again")
    if _sha256(path, version_of(path)) != artefact.sha256:
        raise TapeteError(f"{path} is not the file that ships: its checksum is another; install tapete again")
    return path


@cache
def _sha256(path: Path, version: tuple[int, int, int]) -> str:
    """The checksum of a file, read once as long as it does not change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
