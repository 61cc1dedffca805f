"""Ten positions of Dou Dizhu from games of the network with itself, in which a beginner who follows the rules of thumb
knows what to do.

`POSITIONS` has the cards of the seats (17 each, and the landlord's three), the moves so far, and what is right.
"""

import pytest

from tapete import Rng, make
from tapete.agents import load
from tapete.games.doudizhu.endgame import endgame
from tests.oracles.open_cards import ends_with

GAME = make("doudizhu")


def bombs(moves):
    return {move for move in moves if move == "BR" or (len(move) == 4 and len(set(move)) == 1)}


def jokers(moves):
    return {move for move in moves if move in ("B", "R", "BR")}


# why; cards; moves so far; what is right, of what is legal
POSITIONS = {
    "the partner's two is not beaten by a joker": (
        "334556678899TJKAR 3566778TJQQKKAA22 34445789TTJJQKA2B 9Q2",
        "345678 pass 789TJQ 89TJQK pass pass 6 7 K A 2",
        lambda legal: legal - jokers(legal),
    ),
    "the partner's two is neither bombed nor beaten by a joker": (
        "3456888999TTTQKKA 344455669JJJJQAA2 33577778TQKA222BR 6QK",
        "345888999TTT JJJJ pass pass 3 K A 2",
        lambda legal: legal - jokers(legal) - bombs(legal),
    ),
    "no rocket on the first trick": (
        "45566679TTTJJJQA2 334456777889QKK22 345899TJQQKKAA2BR 38A",
        "3456789 pass",
        lambda legal: legal - bombs(legal),
    ),
    "the partner's pairs are not bombed": (
        "333444556679TTQ22 346788899TTQQKKKB 556789JJQKAAAA22R 7JJ",
        "556677 8899TT",
        lambda legal: legal - bombs(legal),
    ),
    "who can finish does, with a four and two solos": (
        "335555677799JQKAR 446889TJQKAAA2222 33446788TTTJQQKKB 69J",
        "66777 44AAA pass pass 89TJQK pass pass",
        lambda legal: {"682222"},
    ),
    "who can finish does, with a trio and a pair": (
        "3456888999TTTQKKA 344455669JJJJQAA2 33577778TQKA222BR 6QK",
        "345888999TTT JJJJ pass pass 3 K A 2 7777 pass pass 5 pass Q A pass pass T Q pass B pass pass Q pass pass"
        " 8 Q pass R pass pass",
        lambda legal: {"33222"},
    ),
    "the rocket is kept while the partner's straight lies on the table": (
        "33445678899TQQQA2 334555677789TJKKA 4668TTJJJKKAA22BR 9Q2",
        "3456789T 456789TJ",
        lambda legal: legal - bombs(legal),
    ),
    "no solo that can be beaten is led to a peasant who has one card": (
        "4555678889TQQK2BR 3334467779TTJJJKA 3456699JQQKKAAA22 8T2",
        "456789T pass pass 888K JJJA pass pass 44777 pass pass 3336 pass pass TT QQ 22 pass pass T K pass B pass pass",
        lambda legal: legal - {"5", "Q"},
    ),
    "a partner who sits next and has one card is led a solo that he is sure to beat": (
        "3345578TJJJKK222B 344466668899TQKKA 3557799TTJQQQAA2R 78A",
        "33 88 99 KK pass AA pass pass 55QQQ pass pass 3 T Q 2 B pass R pass pass 77 88 99 TT 22 pass pass"
        " 4JJJ 6666 pass pass",
        lambda legal: {"3", "4"},  # all fours and threes are seen
    ),
    "a landlord who has two cards left is stopped, and not by a low pair": (
        "334455779JQKKA222 3455678889TTTJAAA 46667899TJJQQQK2B K3R",
        "333J 5888 4QQQ 9KKK JAAA pass Q222 pass pass 44 TT pass pass 34567 pass pass T K A pass 2 R pass pass 55 pass",
        lambda legal: {"99", "JJ"},
    ),
}


def position(cards, moves):
    """The state after these moves."""
    *hands, open_cards = cards.split()
    state = GAME.start()
    for i in range(51):
        state.apply(hands[i % 3][i // 3])
    for card in [*open_cards, *moves.split()]:
        state.apply(card)
    return state


@pytest.mark.parametrize("agent", ["dmc", "dmc(200)"])  # by itself, and with a search that nobody would mind
@pytest.mark.parametrize("why", POSITIONS)
def test_it_does_what_a_beginner_knows(why, agent):
    cards, moves, is_right = POSITIONS[why]
    state = position(cards, moves)
    view = state.view(state.player)
    right = is_right({view.write(action) for action in view.actions()})
    said = load(agent, GAME).think(view, Rng(why)).probabilities
    move = view.write(max(said, key=lambda action: said[action]))
    assert move in right, f"{view}: {move} instead of {' or '.join(sorted(right))}"


def open_cards(view, worlds):
    """How often each move wins, from -1 to 1, where everybody sees all cards and makes no mistake."""
    end, won = endgame(most_cards=30, most_nodes=3_000_000), dict.fromkeys(map(view.write, view.actions()), 0.0)
    for i in range(worlds):
        world = view.sample(Rng("open cards", i))
        for move in won:
            won[move] += ends_with(end, world.copy().apply(move))[view.seat] / worlds
    return won


@pytest.mark.parametrize("why", list(POSITIONS)[-2:])  # few enough cards to try everything
def test_what_a_beginner_knows_is_so_with_open_cards(why):
    cards, moves, is_right = POSITIONS[why]
    view = (state := position(cards, moves)).view(state.player)
    won = open_cards(view, worlds=20)
    right = is_right(set(won))
    assert min(won[move] for move in right) == max(won.values())
    assert min(won[move] for move in set(won) - right) < max(won.values())
