"""Drawing a scene with characters."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tapete.core import Board, Note, Scene, Score, Things

SPANISH_SUITS = {"e": ("espadas", "cyan"), "b": ("bastos", "green"), "c": ("copas", "red"), "o": ("oros", "yellow")}
FRENCH_SUITS = {"s": ("♠", "white"), "h": ("♥", "red"), "d": ("♦", "bright_blue"), "c": ("♣", "green")}
DISCS = {"black": ("●", "bold"), "white": ("○", "bold"), "": ("·", "dim")}
BACK = "▒▒"


def draw(scene: Scene, names: tuple[str, ...]) -> RenderableType:
    """The parts of a scene, one under the other."""
    return Group(*(line for part in scene.parts for line in _part(part, names, scene)))


def _part(part: Things | Board | Score | Note, names: tuple[str, ...], scene: Scene) -> Iterator[RenderableType]:
    if isinstance(part, Things):
        owner = "" if part.owner is None else f"{names[part.owner]}: "
        yield Text(f"{owner}{part.name}", style="dim")
        if part.faces:
            yield _row([_face(part.kind, face) for face in part.faces])
    elif isinstance(part, Board):
        yield _board(part, {move.place.index for move in scene.moves if move.place and move.place.part == part.name})
    elif isinstance(part, Score):
        values = "   ".join(f"{name} {value:g}" for name, value in zip(names, part.values, strict=True))
        yield Text.assemble((f"{part.name}: ", "dim"), values)
    elif part.text:
        yield Text.assemble((f"{part.name}: ", "dim"), part.text)


def _face(kind: str, face: str) -> Text:
    """What is written on one thing."""
    if not face:
        return Text(BACK, style="dim")
    if kind == "spanish":
        name, colour = SPANISH_SUITS[face[-1]]
        return Text(f"{face[:-1]} {name}", style=colour)
    if kind == "french" and face[-1] in FRENCH_SUITS and len(face) == 2:
        sign, colour = FRENCH_SUITS[face[-1]]
        return Text(face[0] + sign, style=colour)
    return Text(face.replace("-", "│") if kind == "domino" else face)


def _row(faces: list[Text]) -> Text:
    """Faces in boxes, side by side."""
    top, middle, bottom = Text(), Text(), Text()
    for face in faces:
        top.append(f"┌{'─' * (len(face) + 2)}┐")
        middle.append("│ ").append_text(face).append(" │")
        bottom.append(f"└{'─' * (len(face) + 2)}┘")
    return Text("\n").join([top, middle, bottom])


def _board(board: Board, playable: set[int]) -> RenderableType:
    grid = Table(box=None, padding=(0, 1 if board.kind == "disc" else 2), show_header=True, header_style="dim")
    grid.add_column("", style="dim")
    for column in board.columns:
        grid.add_column(column, justify="center")
    width = len(board.columns)
    for i, row in enumerate(board.rows):
        cells = range(i * width, (i + 1) * width)
        grid.add_row(row, *(_cell(board, cell, cell in playable) for cell in cells))
    return grid


def _cell(board: Board, cell: int, playable: bool) -> Text:
    face = board.cells[cell]
    if board.kind != "disc":
        return Text(face)
    sign, style = DISCS[face]
    if playable:
        sign, style = "+", "green"
    return Text(sign, style=f"{style} reverse" if cell == board.last else style)
