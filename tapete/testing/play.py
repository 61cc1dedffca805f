"""Random games, and every promise of the contract at each of their states."""

from __future__ import annotations

import json
import math
from collections import defaultdict

from tapete.core import calls
from tapete.core.contract import CHANCE, TERMINAL
from tapete.core.game import Game, State, View
from tapete.core.names import make
from tapete.core.record import Record
from tapete.core.rng import Rng
from tapete.core.scene import Scene
from tapete.testing.expect import expect, expect_frequencies
from tapete.testing.guards import after, check_memory, check_start, legal, redealt
from tapete.testing.knowledge import Memory, as_told
from tapete.testing.replay import check_replays

MANY = 40  # legal actions; of more, some are tried


def check_game(game: Game | str, *, games: int = 50, seed: int = 0) -> None:
    """Plays random games and checks every promise of the contract on the way.

    `games` are played with the slow checks of each state; a fifth as many are replayed in other worlds.
    """
    game = make(game) if isinstance(game, str) else game
    check_start(game)
    memory = Memory()
    for i in range(games):
        _check_playthrough(game, Rng(seed, "check", i), memory)
    _check_draws(game, Rng(seed, "draws"))
    check_replays(game, games=math.ceil(games / 5), seed=seed)


def _check_playthrough(game: Game, rng: Rng, memory: Memory) -> None:
    state = check_start(game)
    expect(state == game.start(), "start is not the same twice", state)
    seen: list[list[str]] = [[] for _ in range(game.players)]
    steps = 0
    while True:
        check_memory(state, rng)
        for seat in range(game.players):
            now = game.describe(state.data, seat)
            if not seen[seat] or seen[seat][-1] != now:
                seen[seat].append(now)
            memory.check_knowledge(state, seat, seen[seat])
            _check_seat(state, seat, rng, memory)
        _check_state(state, rng)
        if state.over:
            break
        expect(steps < game.spec.longest, f"longer than the {game.spec.longest} steps of the Spec", state)
        steps += 1
        action = random_action(state, rng)
        for seat in range(game.players):
            _check_move(state, action, seat, rng)
        state = after(state, action)
    _check_record(state)


def random_action(state: State, rng: Rng) -> int:
    """A move, or what chance does."""
    if state.player == CHANCE:
        outcome = int(calls.draw(state.game.rulebook, state.data, rng.words))
        expect(outcome in legal(state), f"draw gives {outcome}, which outcomes doesn't list", state)
        return outcome
    return rng.choice(legal(state))


def _check_record(state: State) -> None:
    record = state.record()
    expect(Record.from_text(record.to_text()) == record, "the record does not survive as text", state)
    expect(Record.from_json(json.loads(json.dumps(record.to_json()))) == record, "nor as JSON", state)
    expect(state.game.read(" ".join(record.moves)) == state, "the record does not replay to the same bytes", state)
    expect(state.game.read(str(state)) == state, "the state's text does not parse back", state)


def _check_state(state: State, rng: Rng) -> None:
    """The promises about the mover, the actions, the payoffs, and that asking changes nothing."""
    spec, before = state.game.spec, state.data.copy()
    player, actions, returns = state.player, state.actions(), state.returns()
    check_teams(state)
    if player == TERMINAL:
        low, high = spec.utility
        expect(all(math.isfinite(x) and low <= x <= high for x in returns), f"{returns} is out of bounds", state)
        expect(not spec.zero_sum or abs(sum(returns)) < 1e-9, f"{returns} is not zero-sum", state)
        return
    expect(returns == [0.0] * spec.players, "pays before it is over", state)
    expect(len(actions) > 0, "no legal action", state)
    expect(actions == sorted(set(actions)), "legal actions are not ascending and unique", state)
    if player == CHANCE:
        probs = [prob for _, prob in state.outcomes()]
        expect(min(probs) > 0 and abs(sum(probs) - 1) < 1e-9, "probabilities don't add up to 1", state)
    else:
        expect(0 <= actions[0] and actions[-1] < spec.actions, "action ids out of range", state)
    some = actions if len(actions) <= MANY else [rng.choice(actions) for _ in range(MANY)]
    for action in some:
        text = state.write(action)
        expect(text != "" and not any(c.isspace() for c in text), f"the notation {text!r} is not one word", state)
        if len(actions) <= MANY:
            expect(state.read(text) == action, f"the notation {text!r} reads back as another action", state)
    chosen = rng.choice(actions)
    expect(after(state, chosen) == state.copy().apply(chosen), "a copy does not behave as the original", state)
    expect(bool((state.data == before).all()), "asking about a state, or playing a copy, changed it", state)


def check_teams(state: State) -> None:
    """Teams are those of the Spec, all seats are in one when the game is over, and win or lose as one."""
    names = state.game.spec.teams
    expect(set(state.teams) <= {*names, ""}, f"{state.teams} are not teams of the Spec, {names}", state)
    if state.over:
        expect(not names or all(state.teams), "the game is over, and somebody has no team", state)
        signs = {(team, (pay > 0) - (pay < 0)) for team, pay in zip(state.teams, state.returns(), strict=bool(names))}
        expect(len(signs) == len(set(state.teams)), "some of a team win, others don't", state)


def _check_seat(state: State, seat: int, rng: Rng, memory: Memory) -> None:
    """The promises about what one seat may know: the same in every world that it can't tell from the real one."""
    game, view = state.game, state.view(seat)
    world, other = State(game, view._world, None), view.sample(rng)
    moves = legal(state) if state.player == seat else []
    shown = _shown(state, seat, moves)
    for each in (world, other):
        expect(each.infoset(seat) == state.infoset(seat), f"redeal changes what seat {seat} knows", state)
        expect(each.player == state.player, f"redeal for seat {seat} changes who moves", state)
        expect(each.returns() == state.returns(), f"redeal for seat {seat} changes the payoffs", state)
        expect(each.teams == state.teams, f"redeal for seat {seat} changes who plays together", state)
        same = state.player != seat or legal(each) == moves
        expect(same, f"legal actions of seat {seat} depend on what it can't know", state)
        for what, ours, theirs in zip(SHOWN, shown, _shown(each, seat, moves), strict=True):
            expect(ours == theirs, f"{what} what seat {seat} can't know", state)
    memory.check_view(state, view)
    memory.check_view(state, other.view(seat))
    json.dumps(view.scene().to_json())
    if state.player == seat:
        view.features()


SHOWN = ("describe tells", "the scene shows", "observe tells")


def _shown(state: State, seat: int, moves: list[int]) -> tuple[str, Scene, bytes]:
    """What a seat is shown of a state: in words, as a picture, and as numbers."""
    game, numbers = state.game, View(state.game, state.data, seat).observation()
    return game.describe(state.data, seat), game.scene(state.data, seat, moves), numbers.tobytes()


def _check_move(state: State, action: int, seat: int, rng: Rng) -> None:
    """What the seat gets of this move, and of others that it can't tell from it, here and in another world."""
    game, spec = state.game, state.game.spec
    before, end = state.view(seat), after(state, action)
    redealt(end, seat, rng)  # in watched memory, before a view is made without
    view = end.view(seat)
    expect(view.infoset == end.infoset(seat), f"redeal changes what seat {seat} knows", end)
    real = game.news(state.data, end.data)
    expect(view.news(before) == real, f"the news tell what seat {seat} can't know: {real}", state)
    story = as_told(state, action, before, view)
    for world in (state, before.sample(rng)):
        options = legal(world)
        if action in options and not before.is_secret and state.player >= 0:
            same_words = world.write(action) == state.write(action)
            expect(same_words, f"how a move is written tells what seat {seat} can't know", state)
        for other in sorted({action, rng.choice(options)} & set(options)):
            turn = after(world, other)
            if turn.infoset(seat) != end.infoset(seat):
                continue
            same_bytes = spec.hidden or turn == end
            expect(same_bytes, f"the Spec says hidden=False, but seat {seat} can't see what happens here", state)
            again = turn.view(seat)
            same_view = bool((again._world == view._world).all())
            expect(same_view, f"a world redealt for seat {seat} depends on what it can't know", end)
            there = as_told(world, other, world.view(seat), again)
            expect(there == story, f"seat {seat} is told {story} of a move that it can't tell from {there}", state)


def _check_draws(game: Game, rng: Rng, samples: int = 20_000) -> None:
    """`draw` follows the probabilities of `outcomes`, at the chance states of a random game."""
    state = game.start()
    tests = 0
    while not state.over and tests < 8:
        if state.player == CHANCE:
            outcomes = dict(state.outcomes())
            drawn: dict[int, int] = defaultdict(int)
            for _ in range(samples if len(outcomes) < 1000 else 0):
                drawn[int(calls.draw(game.rulebook, state.data, rng.words))] += 1
            expect(drawn.keys() <= outcomes.keys(), "draw gives an outcome that is not listed", state)
            expect_frequencies([drawn[key] for key in outcomes], list(outcomes.values()), "draw", state)
            tests += 1
        state.apply(random_action(state, rng))
