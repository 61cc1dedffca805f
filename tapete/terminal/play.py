"""A person at the table, in a terminal: draws what the seat sees, asks for a move, and can stop and go on later."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from importlib import resources
from pathlib import Path

from rich.console import Console, Group
from rich.markdown import Markdown
from rich.text import Text

from tapete.agents import Policy, choose, load
from tapete.core import Board, Game, Place, Rng, Scene, State, TapeteError
from tapete.core.story import shared, witness
from tapete.terminal.draw import draw, flow, named
from tapete.terminal.sitting import PERSON, Sitting, saved_game

HELP = (
    "a number, or a move as it is written (its beginning is enough); h: hint, u: take the last move back, m: all moves,"
    " ?: the rules, q: stop here and go on another time"
)
ADVISER = "best"
CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # the lines that have scrolled away too
FEW = 3  # lines of moves that are always shown
HUNDREDS = 99  # more moves than this are rather typed as they are written


class Quit(Exception):
    """A person wants to stop."""


class Undo(Exception):
    """A person takes his last move back."""


def sit_down(sitting: Sitting, console: Console) -> None:
    """Plays one game after another, until a person has enough; a game left in the middle is saved."""
    path = saved_game(sitting.state.game)
    played, totals = 0, [0.0] * len(sitting.seats)
    while True:
        try:
            play(sitting, console, path)
        except Quit:
            sitting.save(path)
            console.print(Text(f"\nsaved; `tapete play '{sitting.state.game}'` goes on from here"), soft_wrap=True)
            return
        path.unlink(missing_ok=True)
        played += 1
        totals = [a + b for a, b in zip(totals, sitting.state.returns(), strict=True)]
        if played > 1:
            console.print(Text(f"after {played} games: {_payoffs(sitting, totals)}"))
        if not _wants_another(console):
            return
        sitting = sitting.again()


def play(sitting: Sitting, console: Console, path: Path) -> None:
    """Plays to the end, writing the game down before each move of a person; raises Quit where one stops."""
    game, people = sitting.state.game, sitting.people
    agents = _agents(sitting)
    take_turns = len(people) > 1 and game.spec.hidden  # at the screen, so that nobody sees what is not for him
    last = None
    try:
        while not sitting.state.deal(sitting.rng).over:
            seat = sitting.state.player
            if seat in agents:
                action = choose(agents[seat], sitting.state.view(seat), sitting.rng)
            else:
                if take_turns and seat != last:
                    _hand_over(console, sitting.names[seat])
                last = seat
                with suppress(TapeteError):
                    sitting.save(path)
                _show(console, sitting, [seat])
                try:
                    action = _ask(console, sitting)
                except Undo:
                    agents = _agents(sitting)  # they forget what they have seen since
                    continue
            sitting.state.apply(action)
    except (EOFError, KeyboardInterrupt):
        raise Quit from None
    finally:
        if take_turns:
            _clear(console)
    _show(console, sitting, people)
    console.print(Text(_result(sitting), style="bold"))


def _agents(sitting: Sitting) -> dict[int, Policy]:
    """Those who play with the person, by seat."""
    return {seat: load(name, sitting.state.game) for seat, name in enumerate(sitting.seats) if name != PERSON}


def _show(console: Console, sitting: Sitting, people: list[int]) -> None:
    """What happened, the table, and the moves that can be made."""
    state = sitting.state
    scene = _scene(state, people)
    mark = _mark(state)
    labels = _labels(scene, mark)
    title, told = _title(sitting, people), story(sitting, people, console.width)
    for boxes in (True, False):
        table = draw(scene, sitting.names, labels, width=console.width, boxes=boxes)
        room = console.height - len(console.render_lines(Group(title, *told, table))) - 2  # a line to ask, one below it
        if room >= (FEW if scene.moves else 0):
            break
    console.rule(title, align="left")
    console.print(*told, table, *_moves(scene, mark, console.width, max(room, FEW)), sep="\n")


def _title(sitting: Sitting, people: list[int]) -> Text:
    game = sitting.state.game
    who = "the end" if sitting.state.over else sitting.names[people[0]] if len(sitting.people) > 1 else ""
    return Text(f"{game.spec.title}{': ' if who else ''}{who}", style="bold")


def _scene(state: State, people: list[int]) -> Scene:
    """What these people see; of several, what all of them do."""
    return shared([state.view(person).scene() for person in people])


def story(sitting: Sitting, people: list[int], width: int) -> list[Text]:
    """What these people saw happen since one of them moved last, that move included."""
    history = sitting.state.history or []
    again = sitting.state.game.start()
    last = dict.fromkeys(people, 0)
    for i, action in enumerate(history):
        last[again.player] = i
        again.apply(action)
    begin = min(last[person] for person in people)
    again = sitting.state.game.replay(history[:begin])
    lines: list[Text] = []
    moves: list[Text] = []
    for action in history[begin:]:
        event = witness(again, action, people)
        again.apply(action)
        if event.seat is not None:
            name, move = sitting.names[event.seat], event.text or "chosen in secret"
            moves.append(Text.assemble((f"{name}: ", "dim"), move))
        if event.news:
            lines += [*flow(moves, width), *(Text(named(text, sitting.names), style="yellow") for text in event.news)]
            moves = []
    return [*lines, *flow(moves, width)]


def _mark(state: State) -> str:
    """What stands before the number of a move where a bare number may be a move: 33 can be a pair of threes."""
    is_needed = any(state.write(action).isdecimal() for action in state.actions())
    return "#" if is_needed or state.game.spec.max_actions > HUNDREDS else ""


def _labels(scene: Scene, mark: str) -> dict[Place, str]:
    """The numbers of the moves by where on the table they are made."""
    labels: dict[Place, list[str]] = {}
    for i, move in enumerate(scene.moves, start=1):
        if move.place:
            labels.setdefault(move.place, []).append(f"{mark}{i}")
    return {place: " ".join(numbers) for place, numbers in labels.items()}


def _moves(scene: Scene, mark: str, width: int, room: int) -> list[Text]:
    """The moves with their numbers, as many lines as there is room for; those that stand on a board are left out."""
    boards = {part.name for part in scene.parts if isinstance(part, Board)}
    items = [
        Text.assemble((f"{mark}{i}", "bold green"), " ", move.text)
        for i, move in enumerate(scene.moves, start=1)
        if not (move.place and move.place.part in boards)
    ]
    lines = flow(items, width)
    if len(lines) <= room:
        return lines
    return [*lines[: room - 1], Text(f"... {len(items)} in all: type one, or m to see them", style="dim")]


def _ask(console: Console, sitting: Sitting) -> int:
    """The move that a person types."""
    state = sitting.state
    moves = {state.write(action): action for action in state.actions()}
    mark = _mark(state)
    text = ""
    while True:
        before, text = text, _type(console, "your move (? for help): ")
        if text in moves:
            return moves[text]
        number = read_number(text.removeprefix(mark), len(moves))
        if number and (text.startswith(mark) or text == before):
            return list(moves.values())[number - 1]
        if text.lower() in ("q", "quit"):
            raise EOFError
        if text.lower() in ("h", "hint"):
            console.print(Text(_hint(sitting), style="cyan"))
            continue
        if text.lower() in ("u", "undo"):
            if len(sitting.people) == 1 and sitting.take_back():
                raise Undo
            console.print(Text("there is nothing that can be taken back", style="yellow"))
            continue
        if text.lower() in ("?", "help", "m"):
            _explain(console, state, text)
            continue
        begun = [move for move in moves if len(text) > 1 and move.startswith(text.lower())]
        if len(begun) == 1:
            return moves[begun[0]]
        with suppress(TapeteError):
            return state.read(text)
        console.print(Text(_unknown(text, list(moves), number), style="yellow"))


def _hint(sitting: Sitting) -> str:
    """What the strongest player there is would do with these cards; never where people play against each other."""
    if len(sitting.people) > 1:
        return "no help in a game against other people"
    state = sitting.state
    rng = Rng(*sitting.rng.keys, "hint", len(state.history or ()))  # the game itself goes on as it would have
    action = choose(load(ADVISER, state.game), state.view(state.player), rng)
    return f"{ADVISER} would play {state.write(action)}"


def read_number(text: str, most: int) -> int:
    """A number from 1 to `most`; 0 where the text is something else."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(most))
    return int(text) if is_number and int(text) <= most else 0


def _unknown(text: str, moves: list[str], number: int) -> str:
    """What to say to somebody who typed something else."""
    right = "type a number or a move as it is listed; ? tells the rules, q leaves"
    if not text:
        return right
    if number:
        right = f"type it again if you mean move {number}, {moves[number - 1]}"
    elif alike := [move for move in moves if text and sorted(move.lower()) == sorted(text.lower())]:
        right = f"did you mean {alike[0]}?"
    return f"{text[:40]!r} can't be played now; {right}"


def _explain(console: Console, state: State, what: str) -> None:
    """All moves, or the rules: these, on a terminal, a page at a time."""
    if what.lower() == "m":
        scene = replace(state.view(state.player).scene(), parts=())
        console.print(*_moves(scene, _mark(state), console.width, len(scene.moves)), sep="\n")
        return
    with console.pager() if console.is_terminal else nullcontext():
        console.print(Markdown(rules_text(state.game)))
    console.print(HELP, style="dim", highlight=False)


def _type(console: Console, prompt: str) -> str:
    """What a person types; repeated where it comes from a file and nobody has seen it."""
    text = console.input(Text(prompt, style="bold")).strip()
    if not sys.stdin.isatty():
        console.print(Text(text))
    return text


def _hand_over(console: Console, name: str) -> None:
    """Waits until the right person looks."""
    _clear(console)
    _type(console, f"{name} is next: press Enter when nobody else looks ")
    _clear(console)


def _clear(console: Console) -> None:
    """Empties the screen, and what has scrolled out of it."""
    if console.is_terminal:
        with suppress(OSError):  # nobody looks any more
            console.file.write(CLEAR)
            console.file.flush()


def _result(sitting: Sitting) -> str:
    """Who has won, in a word."""
    payoffs = sitting.state.returns()
    best = [name for name, payoff in zip(sitting.names, payoffs, strict=True) if payoff == max(payoffs)]
    if not sitting.state.game.spec.zero_sum:
        verdict = "payoffs"
    else:
        verdict = "a draw" if len(best) == len(payoffs) else f"{' and '.join(best)} won"
    return f"{verdict}: {_payoffs(sitting, payoffs)}"


def _payoffs(sitting: Sitting, payoffs: Sequence[float]) -> str:
    return ", ".join(f"{name} {payoff:+g}" for name, payoff in zip(sitting.names, payoffs, strict=True))


def _wants_another(console: Console) -> bool:
    """Asks, if there is somebody to ask."""
    if not (console.is_terminal and sys.stdin.isatty()):
        return False
    with suppress(EOFError, KeyboardInterrupt):
        return _type(console, "another game? Enter for yes, q for no: ").lower() in ("", "y", "yes")
    console.print()
    return False


def rules_text(game: Game) -> str:
    """The README of the game's folder."""
    return resources.files(game.package).joinpath("README.md").read_text()
