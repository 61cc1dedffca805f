"""What is told of a move is a function of what a seat knows, in every game that is found."""

from __future__ import annotations

import pytest

from tapete import Rng, State, View, make
from tapete.core.names import playable
from tapete.core.story import Event, witness

MORE = ["goofspiel(4,sealed=true)", "goofspiel(3,players=3)", "holdem(players=4)", "doudizhu(bidding=true)", "ocp(5)"]
GAMES = [name for name in [*playable(), *MORE] if make(name).spec.hidden]
WORLDS = 3  # that are tried at each move
MOST_MOVES = 60  # of a game that are followed


def in_words(event: Event) -> Event | None:
    """Moves of chance that brought nothing about are told to nobody."""
    return event if event.seat is not None or event.news else None


def options(state: State, action: int, rng: Rng) -> set[int]:
    """The move that was made, where it can be, and some others."""
    legal = state.actions()
    return ({action} & set(legal)) | {rng.choice(legal) for _ in range(2)}


@pytest.mark.parametrize("name", GAMES)
def test_nothing_told_differs_between_worlds_that_a_seat_cannot_tell_apart(name: str) -> None:
    rng, state, compared = Rng("story", name), make(name).start(), 0
    for _ in range(MOST_MOVES):
        if state.over:
            state = make(name).start()
        action = rng.choice(state.actions())
        for seat in range(state.game.players):
            told = in_words(witness(state, action, [seat]))
            known = state.copy().apply(action).infoset(seat)
            for world in (state, *(state.view(seat).sample(rng) for _ in range(WORLDS))):
                for other in options(world, action, rng):
                    if world.copy().apply(other).infoset(seat) == known:
                        assert in_words(witness(world, other, [seat])) == told, str(state)
                        compared += 1
        state.apply(action)
    assert compared > MOST_MOVES


@pytest.mark.parametrize("name", GAMES)
def test_several_are_told_no_more_than_each_of_them(name: str) -> None:
    rng, state = Rng("together", name), make(name).start()
    seats = range(state.game.players)
    for _ in range(MOST_MOVES):
        if state.over:
            break
        action = rng.choice(state.actions())
        together, each = witness(state, action, seats), [witness(state, action, [seat]) for seat in seats]
        texts = {event.text for event in each}
        assert together.text == (texts.pop() if len(texts) == 1 else None)
        assert all(set(together.news) <= set(event.news) for event in each)
        state.apply(action)


def test_a_secret_is_kept_however_many_moves_there_are_and_where_there_is_only_one() -> None:
    state = make("goofspiel(2,sealed=true,prizes=ascending)").start()
    for name in ("blotto(5,3)", "rps"):
        choice = make(name).start()
        assert {witness(choice, action, [1]).text for action in choice.actions()} == {None}
    assert {witness(state, action, [1]).text for action in state.actions()} == {None}


def test_news_are_told_to_three_only_if_all_three_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {0: ["open", "for two"], 1: ["for two", "open"], 2: ["open", "for one"]}
    monkeypatch.setattr(View, "news", lambda self, before: known[self.seat])
    state = make("doudizhu").start().deal(Rng(1))
    for seats, told in (((0, 1, 2), ("open",)), ((0, 1), ("open", "for two")), ((2, 0, 1), ("open",))):
        assert witness(state, state.actions()[0], seats).news == told
