"""Drawing a scene with characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tapete.core import Board, Note, Place, Scene, Score, Things

SPANISH_SUITS = {"e": ("espadas", "cyan"), "b": ("bastos", "green"), "c": ("copas", "red"), "o": ("oros", "yellow")}
FRENCH_SUITS = {"s": ("♠", ""), "h": ("♥", "red"), "d": ("♦", "bright_blue"), "c": ("♣", "green")}
# Discs lie on felt of their own colour: on a bare terminal one can't know whether a black disc would be seen at all.
FELT = "#d6ecdf on #1c6b49"
NUMBER = "bold #ffe08a"  # of a move, on the felt
DISCS = {"black": ("●", "bold #000000"), "white": ("○", "bold #ffffff"), "": ("·", "")}
BACK = "▒▒"
GAP = "   "
MANY = 8  # things that lie face down: from here on they are counted
LABEL = 12  # columns, at least, before what is drawn

Labels = Mapping[Place, str]  # the numbers of the moves that are made on a thing or a square


def named(text: str, names: Sequence[str]) -> str:
    """A text of a game in which "seat 0" is who sits there."""
    return re.sub(r"\bseat (\d+)\b", lambda found: names[int(found[1])], text)


def flow(texts: Iterable[Text], width: int) -> list[Text]:
    """Texts one after another, as many in a line as there is room for."""
    lines: list[Text] = []
    for text in texts:
        if lines and len(lines[-1]) + len(GAP) + len(text) <= width:
            lines[-1].append(GAP).append_text(text)
        else:
            lines.append(text.copy())
    return lines


def draw(scene: Scene, names: Sequence[str], labels: Labels, *, width: int, boxes: bool = True) -> RenderableType:
    """The table: what lies in the middle, a line a seat, what is to be said, and what the seat that looks has."""
    things = [part for part in scene.parts if isinstance(part, Things)]
    own = next((part for part in things if part.owner is not None and part.owner == scene.seat), None)
    middle = [part for part in things if part.owner is None and part.faces]
    drawing: list[RenderableType] = [
        *(_board(part, labels, width) for part in scene.parts if isinstance(part, Board)),
        *(_row(part.name, part, {}, width, boxes and "" not in part.faces) for part in middle),
        *_seats(scene, names, own),
        *_notes(scene, names, width),
    ]
    if own and own.faces:
        drawing.append(_row(f"{names[own.owner or 0]}: {own.name}", own, labels, width, boxes))
    return Group(*drawing)


def _seats(scene: Scene, names: Sequence[str], own: Things | None) -> Iterator[RenderableType]:
    """A line a seat, a column for each kind of thing or number that seats have; an arrow shows who moves."""
    columns: dict[str, dict[int, Text]] = {}
    for part in scene.parts:
        if isinstance(part, Score):
            columns[part.name] = {seat: Text(f"{value:g}", justify="right") for seat, value in enumerate(part.values)}
        elif isinstance(part, Things) and part.owner is not None:
            columns.setdefault(part.name, {})[part.owner] = Text() if part is own else _line(part)
    columns = {name: cells for name, cells in columns.items() if any(cells.values())}
    if not columns:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", min_width=LABEL, no_wrap=True)
    for name in columns:
        table.add_column(name)
    for seat, name in enumerate(names):
        arrow = "▸ " if seat == scene.player else "  "
        table.add_row(Text(arrow + name), *(cells.get(seat, Text()) for cells in columns.values()))
    yield table


def _notes(scene: Scene, names: Sequence[str], width: int) -> list[Text]:
    """What is to be said."""
    notes = (part for part in scene.parts if isinstance(part, Note) and part.text)
    said = (Text.assemble((f"{named(note.name, names)}: ", "dim"), named(note.text, names)) for note in notes)
    return flow(said, width)


def _row(name: str, part: Things, labels: Labels, width: int, boxes: bool) -> RenderableType:
    """Things side by side, with their name before them."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", min_width=LABEL, vertical="middle", no_wrap=True)
    grid.add_column()
    room = width - max(len(name), LABEL) - 2
    grid.add_row(Text(name), _boxes(part, labels, room) if boxes else _line(part))
    return grid


def _line(part: Things) -> Text:
    """Things in a line."""
    if len(part.faces) >= MANY and not any(part.faces):
        return Text(f"{BACK} x {len(part.faces)}", style="dim")
    faces = [_face(part.kind, face) for face in part.faces]
    return Text("" if part.kind == "french" and all(len(face) == 1 for face in faces) else " ").join(faces)


def _boxes(part: Things, labels: Labels, room: int) -> Text:
    """Things in boxes, as many in a row as there is room for, and under them the numbers of their moves."""
    faces = [_face(part.kind, face) for face in part.faces]
    below = [labels.get(Place(part=part.name, index=i), "") for i in range(len(faces))]
    pad = " " if sum(len(face) + 4 for face in faces) <= room else ""
    if any(len(label) > len(face) + 2 + 2 * len(pad) for label, face in zip(below, faces, strict=True)):
        below = [""] * len(faces)
    rows: list[list[Text]] = []
    end = room
    for face, label in zip(faces, below, strict=True):
        inside = len(face) + 2 * len(pad)
        if end + inside + 2 > room:
            rows.append([Text(), Text(), Text(), Text()])
            end = 0
        end += inside + 2
        top, middle, bottom, numbers = rows[-1]
        top.append(f"┌{'─' * inside}┐")
        middle.append(f"│{pad}").append_text(face).append(f"{pad}│")
        bottom.append(f"└{'─' * inside}┘")
        numbers.append(f"{label:^{inside + 2}}", style="bold green")
    return Text("\n").join(line for row in rows for line in row if line.plain.strip())


def _face(kind: str, face: str) -> Text:
    """What is written on one thing."""
    if not face:
        return Text(BACK, style="dim")
    if kind == "spanish":
        name, colour = SPANISH_SUITS[face[-1]]
        return Text(f"{face[:-1]} {name}", style=colour)
    if kind == "french" and len(face) == 2 and face[1] in FRENCH_SUITS:
        sign, colour = FRENCH_SUITS[face[1]]
        return Text(face[0] + sign, style=colour)
    return Text(face.replace("-", "|") if kind == "domino" else face)


def _board(board: Board, labels: Labels, width: int) -> RenderableType:
    """A grid; on squares where a move can be made stands its number."""
    cells = [_square(board, i, labels.get(Place(part=board.name, index=i), "")) for i in range(len(board.cells))]
    across, down = len(board.columns), len(board.rows)
    widest = max(2, *(len(cell) for cell in cells))
    gap = 1 if board.kind == "disc" else 2
    if max(map(len, board.rows)) + sum(max(len(column), widest) + gap for column in board.columns) + gap > width:
        return Text(f"{board.name}: a table of {down} x {across}, wider than this window", style="dim")
    grid = Table(box=None, padding=(0, gap, 0, 0), header_style="dim")
    grid.add_column("", style="" if board.kind == "disc" else "dim")
    for column in board.columns:
        grid.add_column(Text(column), justify="center", min_width=widest)
    for i, row in enumerate(board.rows):
        grid.add_row(Text(row), *cells[i * across : (i + 1) * across], style=FELT if board.kind == "disc" else None)
    return grid


def _square(board: Board, index: int, label: str) -> Text:
    if label:
        return Text(label, style=NUMBER if board.kind == "disc" else "green")
    face = board.cells[index]
    sign, style = DISCS[face] if board.kind == "disc" else (face, "")
    return Text(sign, style="reverse" if index == board.last else style)
