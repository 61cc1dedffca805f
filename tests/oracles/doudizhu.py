"""DouZero and RLCard, asked in our words: a move or a hand is its cards, lowest first, as `444K` or `pass`."""

from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from tapete.core.game import State
from tapete.games.doudizhu.cards import RANKS, text

DOUZERO_CARD = dict(zip(RANKS, [*range(3, 15), 17, 20, 30], strict=True))
DOUZERO_RANK = {card: rank for rank, card in DOUZERO_CARD.items()}
POSITIONS = ("landlord", "landlord_down", "landlord_up")  # in the order of our seats


def douzero_cards(cards: str) -> list[int]:
    """DouZero's cards."""
    return sorted(DOUZERO_CARD[card] for card in cards)


def douzero_word(move: list[int]) -> str:
    """A move of DouZero's in our words."""
    return "".join(DOUZERO_RANK[card] for card in move) or "pass"


def douzero_moves(hand: str, beat: str = "") -> set[str]:
    """What DouZero lets a hand lead, or play on a move."""
    from douzero.env.game import GameEnv

    env = GameEnv(None)
    env.acting_player_position = "landlord"
    env.info_sets["landlord"].player_hand_cards = douzero_cards(hand)
    env.card_play_action_seq = [douzero_cards(beat)] if beat else []
    return {douzero_word(move) for move in env.get_legal_card_play_actions()}


def rlcard_cards(cards: str) -> Iterator[Any]:
    """RLCard's cards, each rank with as many suits as are needed."""
    from rlcard.games.base import Card

    seen: Counter[str] = Counter()
    for card in cards:
        yield Card(card + "J", "") if card in "BR" else Card("SHDC"[seen[card]], card)
        seen[card] += 1


def rlcard_moves(hand: str, beat: str = "") -> set[str]:
    """What RLCard lets a hand lead, or play on a move."""
    from rlcard.games.doudizhu.judger import DoudizhuJudger
    from rlcard.games.doudizhu.utils import get_gt_cards

    if not beat:
        return DoudizhuJudger.playable_cards_from_hand(hand)
    player = SimpleNamespace(current_hand=list(rlcard_cards(hand)))
    return set(get_gt_cards(player, SimpleNamespace(played_cards=beat)))


def douzero_env(state: State) -> Any:
    """DouZero's environment at the beginning of play, with the same cards."""
    from douzero.env.env import Env

    s = state.game.record(state.data)
    env = Env("adp")
    env._env.reset()
    cards = {position: douzero_cards(text(hand)) for position, hand in zip(POSITIONS, s["hand"], strict=True)}
    env._env.card_play_init({**cards, "three_landlord_cards": douzero_cards(text(s["open"]))})
    env.infoset = env._game_infoset
    return env


def rlcard_game(state: State) -> Any:
    """RLCard's game at the beginning of play, with the same cards."""
    from rlcard.games.doudizhu import Game

    class Shuffler:
        """Puts the deck into the order in which it is to be dealt."""

        def shuffle(self, deck: list[Any]) -> None:
            s = state.game.record(state.data)
            landlord = text(s["hand"][0] - s["open"])
            deck[:] = rlcard_cards(landlord + text(s["hand"][1]) + text(s["hand"][2]) + text(s["open"]))

    game = Game()
    game.np_random = Shuffler()
    game.init_game()
    return game
