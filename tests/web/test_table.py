"""A table without network or store: who may do what, what each is told, and that it is never too much."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tapete import Rng, State, make
from tapete.agents import load
from tapete.core import CHANCE, Game, Scene, TapeteError, Things
from tapete.core.story import Event, shared, witness
from tapete.web.making import continued
from tapete.web.table import AGENT, OPEN, PERSON, Options, Refused, Seat, Story, Table, clean_name
from tapete.web.thinking import Explainer, thought_json

HIDDEN = ["kuhn", "leduc", "dudo(6,2,2)", "domino(6,7)", "truco", "holdem", "holdem(players=4)", "doudizhu", "rps"]
UNIQUE = ("truco", "domino", "holdem")  # every card is there once, and its name is used for nothing else


def table(game: str, *owners: str, practice: bool = False, moves: str = "") -> Table:
    """A table; a seat whose owner is "random" has an agent, one with "" is open."""
    seats = [Seat(AGENT, "random") if o == "random" else Seat(PERSON, o, o) if o else Seat(OPEN) for o in owners]
    made = Table("name", make(game), seats, Options(practice=practice), maker=owners[0], invite="invite")
    made.replay(make(game).read(moves).history or [])
    return made


def refusal(call: Any, *arguments: Any) -> str:
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value.code


def test_only_the_one_whose_turn_it_is_moves_and_only_where_the_game_is() -> None:
    at = table("kuhn", "ana", "blas", moves="J Q")
    before = json.dumps(at.message("ana"))
    assert refusal(at.act, 1, 2, 0) == "turn"
    assert refusal(at.act, None, 2, 0) == "turn"
    assert refusal(at.act, 0, 1, 0) == "stale"
    for action in (2, -1, 10**30):
        with pytest.raises(TapeteError, match="can't be played"):
            at.act(0, 2, action)
    assert json.dumps(at.message("ana")) == before
    at.act(0, 2, 1)
    assert at.player == 1
    at.act(1, 3, 1)
    assert at.over
    assert at.state.returns() == [-2, 2]
    assert refusal(at.act, 0, 4, 0) == "over"


def test_nothing_is_dealt_before_everybody_is_there() -> None:
    at = table("kuhn", "ana", "")
    at.deal(Rng(1))
    assert (at.ply, at.player, at.complete) == (0, None, False)
    assert refusal(at.sit, 0, "blas", "Blas") == "taken"
    assert refusal(at.sit, 2, "blas", "Blas") == "taken"
    assert refusal(at.sit, -1, "blas", "Blas") == "taken"
    assert refusal(at.sit, 1, "ana", "Ana") == "seated"
    at.sit(1, "blas", "  Bl\nas\u202e ")
    at.deal(Rng(1))
    assert (at.ply, at.player, at.seats[1].name) == (2, 0, "Blas")
    assert at.message("ana")["scene"]["moves"]
    assert not at.message("blas")["scene"]["moves"]


def test_moves_of_an_open_table_are_not_offered() -> None:
    at = table("othello", "ana", "")
    assert at.message("ana")["scene"]["moves"] == []
    assert refusal(at.act, 0, 0, 19) == "turn"


def test_the_invitation_is_told_to_the_one_who_made_the_table_only() -> None:
    at = table("kuhn", "ana", "")
    assert at.message("ana")["invite"] == "invite"
    assert at.message("blas")["invite"] is None
    at.sit(1, "blas", "")
    assert at.message("ana")["invite"] is None


def test_owners_are_told_to_nobody() -> None:
    at = table("kuhn", "secret-ana", "secret-blas", moves="J Q bet bet")
    for seat in at.seats:
        seat.name = "x"
    assert all("secret" not in json.dumps(at.message(who)) for who in ("secret-ana", "secret-blas", "nobody"))


def test_undo_goes_back_to_the_own_last_decision_in_practice_only() -> None:
    moves = "J Q pass bet"
    assert table("kuhn", "ana", "random", moves=moves).undo_to(0) is None
    assert table("kuhn", "ana", "blas", practice=True, moves=moves).undo_to(0) is None
    at = table("kuhn", "ana", "random", practice=True, moves=moves)
    assert at.undo_to(None) is None
    assert at.undo_to(0) == 2
    at.rewind(2)
    assert str(at.state) == "kuhn: J Q"
    assert at.told(0) == at.told(None) == []
    assert [at.undo_to(0), at.counted] == [None, False]


def test_who_is_helped_is_not_counted_and_against_people_nobody_is() -> None:
    at = table("kuhn", "ana", "random", moves="J Q")
    assert refusal(at.help, 1) == "turn"
    assert at.help(0).actions() == [0, 1]
    assert at.counted
    assert not replace_helped(at).counted
    assert refusal(table("kuhn", "ana", "blas", moves="J Q").help, 0) == "help"
    assert table("kuhn", "ana", "blas", practice=True, moves="J Q").help(0)


def replace_helped(at: Table) -> Table:
    at.options.helped = True
    return at


def test_the_next_game_goes_on_with_the_same_people_and_their_totals() -> None:
    at = table("kuhn", "ana", "random", moves="J Q bet bet")
    assert at.message("ana")["totals"] == {"games": 1, "returns": [-2.0, 2.0]}
    after = continued(at, swap=True)
    assert [seat.owner for seat in after.seats] == ["", "ana"]
    assert after.message("ana")["totals"] == {"games": 1, "returns": [2.0, -2.0]}
    assert after.name != at.name
    same = continued(at, swap=False)
    assert (same.seat_of("ana"), same.before.returns) == (0, [-2.0, 2.0])


def test_the_story_is_told_as_the_seat_saw_it() -> None:
    at = table("rps", "ana", "blas")
    at.move(0)
    told = [at.message(who)["told"] for who in ("ana", "blas", "nobody")]
    assert [story[0]["text"] for story in told] == ["rock", None, None]
    at.move(1)
    assert at.message("blas")["told"][1]["text"] == "paper"


def test_spectators_see_backs_and_what_is_public() -> None:
    at = table("holdem", "ana", "blas", moves="As Kh 2d 3c call check 5c 6c 7c")
    scene = at.message("nobody")["scene"]
    faces = {(part["name"], part.get("owner")): part["faces"] for part in scene["parts"] if part["is"] == "things"}
    assert faces[("hand", 0)] == faces[("hand", 1)] == ("", "")
    assert sorted(faces[("board", None)]) == ["5c", "6c", "7c"]
    assert scene["moves"] == []
    assert scene["seat"] is None


def test_what_several_see_alike() -> None:
    def scene(*faces: str) -> Scene:
        return Scene(seat=0, player=0, parts=(Things(name="hand", kind="french", faces=faces, owner=0),))

    assert shared([scene("As", "", "Kh"), scene("As", "Qd", "2c")]).parts == scene("As", "", "").parts
    assert shared([scene("As"), scene()]).parts == ()


@pytest.mark.parametrize("name", ["", " a  b ", "x" * 40, "a\x00\u200b\ud800b", "<b>ñ</b>", "名" * 30])
def test_names_are_printable_and_short(name: str) -> None:
    clean = clean_name(name)
    assert len(clean) <= 24
    assert clean.isprintable()
    assert clean == clean.strip()
    clean.encode()  # no half characters


# Nothing leaks. What a seat is sent is compared, byte for byte, with what it would be sent in another world that it
# can't tell from the real one.


def in_another_world(at: Table, world: State, who: str) -> str:
    """The message that somebody would get if the cards lay otherwise."""
    real = at.state
    at.state = State(at.game, world.data, real.history)
    try:
        return json.dumps(at.message(who))
    finally:
        at.state = real


def check_message(at: Table, seat: int, world: State) -> None:
    sent = at.message(str(seat))
    assert in_another_world(at, world, str(seat)) == json.dumps(sent)
    if str(at.game).startswith(UNIQUE) and not at.over:
        del sent["told"]  # in which the cards of earlier hands are, too
        check_faces(at, seat, json.dumps(sent))


def check_faces(at: Table, seat: int, sent: str) -> None:
    """No name of a thing that lies face down for a seat is anywhere in what it gets."""
    seen = {(part.name, part.owner): part.faces for part in at.scene(seat).parts if isinstance(part, Things)}
    for part in at.state.scene().parts:
        if isinstance(part, Things) and not any(seen.get((part.name, part.owner), ())):
            assert not any(f'"{face}"' in sent for face in part.faces), (part, sent)


def check_told(real: State, action: int, seat: int, world: State, rng: Rng) -> int:
    """A move that leads to the same knowledge in both worlds is told in the same words; how often there was one."""
    told, known = witness(real, action, [seat]), real.copy().apply(action).infoset(seat)
    legal = world.actions()
    tried = {rng.choice(legal), action} & set(legal)
    same = [other for other in tried if world.copy().apply(other).infoset(seat) == known]
    assert all(as_told(witness(world, other, [seat])) == as_told(told) for other in same)
    return len(same)


def as_told(event: Event) -> Event | None:
    return event if event.seat is not None or event.news else None


def play_watched(game: str, seed: int, often: int = 1) -> tuple[int, int]:
    """A random game in which all that is sent is checked; how many messages and moves were."""
    rng = Rng(seed, game)
    at = table(game, *map(str, range(make(game).players)))
    messages = moves = 0
    while True:
        if at.state.player != CHANCE:  # nothing is sent while cards are dealt
            for seat in range(at.game.players):
                world = at.state.view(seat).sample(rng)
                check_message(at, seat, world)
                if rng.below(often) == 0:
                    assert in_another_world(at, world, "nobody") == json.dumps(at.message("nobody"))
                messages += 1
        if at.over:
            return messages, moves
        dealt = at.state.copy().deal(rng).history or []
        action = dealt[at.ply] if len(dealt) > at.ply else rng.choice(at.state.actions())
        for seat in range(at.game.players):
            moves += check_told(at.state.copy(), action, seat, at.state.view(seat).sample(rng), rng)
        at.move(action)


@pytest.mark.parametrize("game", HIDDEN)
def test_nothing_leaks(game: str) -> None:
    games = 40 if make(game).spec.longest < 30 else 1
    total = [play_watched(game, seed) for seed in range(games)]
    assert all(messages > 0 and moves > 0 for messages, moves in total)


@pytest.mark.parametrize("game", ["domino(6,7)", "truco", "holdem", "doudizhu"])
def test_the_order_in_which_cards_came_is_not_told(game: str) -> None:
    """Hands are sets: two cards of one hand dealt the other way round give the same state, and the same story."""
    rng, rules = Rng(3, game), make(game)
    state = rules.start()
    movers = []
    while not state.over and len(state.history or ()) < 100:
        movers.append(state.player)
        dealt = state.copy().deal(rng).history or []
        state.apply(dealt[len(movers) - 1] if state.player == CHANCE else rng.choice(state.actions()))
    history = state.history or []
    viewers = [*([seat] for seat in range(rules.players)), range(rules.players)]
    told = [Story(rules, seats).tell(history) for seats in viewers]
    swapped = [other for other in swaps(history, movers) if is_same_state(rules, other, state)]
    assert swapped
    for other in swapped[:: max(1, len(swapped) // 40)]:
        assert [Story(rules, seats).tell(other) for seats in viewers] == told


def swaps(history: list[int], movers: list[int]) -> Iterator[list[int]]:
    """The history with two neighbouring cards of chance exchanged, or two that are near each other."""
    for i in range(len(history)):
        for j in range(i + 1, min(i + 4, len(history))):
            if all(mover == CHANCE for mover in movers[i : j + 1]):
                other = list(history)
                other[i], other[j] = other[j], other[i]
                yield other


def is_same_state(rules: Game, history: list[int], state: State) -> bool:
    try:
        return rules.replay(history) == state
    except TapeteError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("game", ["kuhn", "leduc", "dudo(6,2,2)", "domino(6,7)", "truco", "holdem", "doudizhu", "rps"])
def test_nothing_leaks_in_a_thousand_games(game: str) -> None:
    total = [play_watched(game, 1000 + seed, often=4) for seed in range(1000)]
    messages, moves = map(sum, zip(*total, strict=True))
    print(f"\n{game}: {messages:,} messages and {moves:,} moves in 1,000 games, the same in both worlds")
    assert messages > 3000


def test_the_check_finds_a_leak() -> None:
    """A table that looks at the real state is caught."""

    class Leaky(Table):
        def message(self, owner: str, here: Any = ()) -> dict[str, Any]:
            return {**super().message(owner, here), "hint": self.state.scene().to_json()}

    at = table("leduc", "0", "1", moves="Js Qs")
    at.__class__ = Leaky
    world = make("leduc").read("Js Kh")
    with pytest.raises(AssertionError):
        check_message(at, 0, world)


@pytest.mark.parametrize("game", ["kuhn", "truco", "rps", "doudizhu"])
def test_thoughts_come_from_the_view(game: str) -> None:
    """The same in two worlds that the seat can't tell apart, with the same seed."""
    state = make(game).start().deal(Rng(5))
    seat = state.player
    world = state.view(seat).sample(Rng(6))
    sent = [
        thought_json(view, Explainer(make(game)).think(view, Rng(7)), by="")
        for view in (state.view(seat), world.view(seat))
    ]
    assert json.dumps(sent[0]) == json.dumps(sent[1])
    assert sum(move["share"] for move in sent[0]["moves"]) == pytest.approx(1)
    assert {move["action"] for move in sent[0]["moves"]} == set(state.actions())


def test_a_game_that_is_stored_and_replayed_tells_the_same() -> None:
    at = table("truco", "ana", "random")
    rng, policy = Rng(3), load("random", make("truco"))
    while not at.over and at.ply < 60:
        at.deal(rng)
        at.move(rng.choice(sorted(policy.think(at.state.view(at.state.player), rng).probabilities)))
    again = table("truco", "ana", "random")
    again.replay(at.state.history or [])
    for who in ("ana", "nobody"):
        assert again.message(who) == at.message(who)
