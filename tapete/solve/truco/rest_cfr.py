"""The rest of a hand of truco solved: CFR+ over the tree of `rest.py`, all types and lanes at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from tapete.core.compile import UINT64_PTR, ahead, compile_rule, helper
from tapete.core.contract import function_at
from tapete.core.records import at, opener
from tapete.games.truco.moves import NONE
from tapete.solve.truco.dominated import keep_alive
from tapete.solve.truco.rest import (
    _ENTRIES,
    _NODES,
    _REACH,
    _STRANGER,
    CHOICE,
    ENDED,
    LANES,
    LAST,
    LED,
    NODES,
    ONWARD,
    PAIR_OF,
    RAISE_CHOICE,
    RAISED,
    RANKS,
    REST,
    STAKE,
    THIRD,
    grow,
    lay_lanes,
    size_of,
    take_root,
)

open_rest = opener(REST)

NOTHING = float(np.finfo(np.float32).tiny)  # regrets that add up to less are none: one divided by them would overflow
TREMBLE = 0.01  # of the choices in a rest are any choice, so that there is an answer to what nobody should do


@helper
def match_regrets(regrets: Any, now: Any, size: int, n: int) -> None:
    """The strategy of this iteration, of two or three actions; even where there are no regrets."""
    even, kept, tremble = np.float32(1) / np.float32(n), np.float32(1 - TREMBLE), np.float32(TREMBLE) / np.float32(n)
    if n == 2:
        for i in range(size):
            total = regrets[i] + regrets[size + i]
            is_any = total >= np.float32(NOTHING)
            share = kept / total if is_any else np.float32(0)
            default = tremble if is_any else even
            now[i] = regrets[i] * share + default
            now[size + i] = regrets[size + i] * share + default
        return
    for i in range(size):
        total = regrets[i] + regrets[size + i] + regrets[2 * size + i]
        is_any = total >= np.float32(NOTHING)
        share = kept / total if is_any else np.float32(0)
        default = tremble if is_any else even
        now[i] = regrets[i] * share + default
        now[size + i] = regrets[size + i] * share + default
        now[2 * size + i] = regrets[2 * size + i] * share + default


@helper
def mend_choice(rest: Any, node: Any, size: int) -> None:
    """Who holds two equal cards has no HIGH one: what it got goes to LOW."""
    now, lanes = ahead(rest.now, node.entries), int(at(rest.stages, node.stage).lanes)
    for rank in range(RANKS):
        first = int(PAIR_OF[rank, rank]) * lanes
        for i in range(first, first + lanes):
            now[i] += now[size + i]
            now[size + i] = np.float32(0)


@helper
def match(rest: Any, node: Any) -> None:
    """The mover's strategy of this iteration."""
    size = size_of(rest, node, int(node.mover))
    match_regrets(ahead(rest.regrets, node.entries), ahead(rest.now, node.entries), size, int(node.actions))
    if node.kind == CHOICE:
        mend_choice(rest, node, size)


# Down: how likely a seat gets everywhere


@helper
def hand_on(source: Any, shares: Any, below: Any, size: int) -> bool:
    """The reach of a child; whether there is any."""
    for i in range(size):
        below[i] = source[i] * shares[i]
    for i in range(size):  # noqa: SIM110
        if below[i] > 0:
            return True
    return False


@helper
def play_choice(rest: Any, node: Any, seat: int, number: int) -> bool:
    """The mover's reach after his card of two, in all lanes of the child."""
    child, size = at(rest.nodes, number), size_of(rest, node, seat)
    stage, lanes = int(child.stage), int(at(rest.stages, child.stage).lanes)
    reach, now = ahead(rest.reach, node.reach[seat]), ahead(rest.now, node.entries)
    below = ahead(rest.reach, child.reach[seat])
    n, any_at_all = int(at(rest.stages, node.stage).lanes), False
    for lane in range(lanes):
        place = stage * LANES + lane
        rank, above = int(rest.led[place] if stage == LED else rest.followed[place]), int(rest.above[place])
        for card in range(RANKS):
            pair = int(PAIR_OF[rank, card]) * n + above
            share = reach[pair] * now[pair if rank <= card else size + pair]
            below[card * lanes + lane] = share
            any_at_all = any_at_all or share > 0
    return any_at_all


@helper
def copy_lanes(rest: Any, node: Any, seat: int, number: int) -> None:
    """The reach of the one who doesn't play, in all lanes of the child."""
    child = at(rest.nodes, number)
    stage, lanes, n = int(child.stage), int(at(rest.stages, child.stage).lanes), int(at(rest.stages, node.stage).lanes)
    reach, below = ahead(rest.reach, node.reach[seat]), ahead(rest.reach, child.reach[seat])
    above = ahead(rest.above, stage * LANES)
    for kind in range(at(rest.stages, child.stage).types[seat]):
        for lane in range(lanes):
            below[kind * lanes + lane] = reach[kind * n + above[lane]]


@helper
def spread(rest: Any, node: Any, seat: int, weight: float) -> None:
    """Hands the mover's reach on to the children of his node, and adds it to the average strategy."""
    size, now, alive = size_of(rest, node, seat), ahead(rest.now, node.entries), ahead(rest.alive, seat * NODES)
    reach, sums = ahead(rest.reach, node.reach[seat]), ahead(rest.sums, node.entries)
    for action in range(node.actions):
        shares, totals = ahead(now, size * action), ahead(sums, size * action)
        for i in range(size):
            totals[i] += np.float32(weight) * (reach[i] * shares[i])
    for i in range(3):
        number = int(node.children[i])
        if number == NONE:
            continue
        if node.kind == CHOICE and i != RAISED:
            alive[number] = play_choice(rest, node, seat, number)
        else:
            shares = ahead(now, size * (RAISE_CHOICE if node.kind == CHOICE else i))
            alive[number] = hand_on(reach, shares, ahead(rest.reach, at(rest.nodes, number).reach[seat]), size)
        if rest.used[_STRANGER] == 1 + seat:
            alive[number] = 1


@helper
def descend(rest: Any, seat: int, weight: float) -> None:
    """The reach of a seat everywhere, by its strategy of this iteration."""
    alive = ahead(rest.alive, seat * NODES)
    alive[0] = 1
    for number in range(rest.used[_NODES]):
        node = at(rest.nodes, number)
        if node.kind <= LAST:
            continue
        if alive[number] and node.mover == seat:
            spread(rest, node, seat, weight)
            continue
        for i in range(3):
            child = int(node.children[i])
            if child == NONE:
                continue
            alive[child] = alive[number]
            if alive[number] and at(rest.nodes, child).stage != node.stage:
                copy_lanes(rest, node, seat, child)


@helper
def meet(rest: Any) -> None:
    """Whom the other meets: the player, or the stranger who may sit in his place."""
    for i in range(rest.used[_REACH]):
        rest.met[i] = rest.reach[i] + rest.strange[i]


# Up: what it is worth


@helper
def last_stakes(rest: Any, node: Any, wins: Any, loses: Any, size: int) -> None:
    """What the follower of the last trick makes of winning and of losing cards, by the leader's card and lane.

    The follower sees the leader's card. With a winning one he raises; with a losing one he bluffs so often that the
    leader is indifferent, who calls so often that a bluff is worth nothing. If there are so few losing cards that all
    may bluff, the leader declines. Before, `wins` and `loses` have how likely the follower holds such cards.
    """
    follower, level = 1 - int(node.mover), int(node.level)
    sign = 1.0 if follower == 0 else -1.0
    won, lost = sign * rest.stakes[6 * follower + level], sign * rest.stakes[6 * (1 - follower) + level]
    if not node.raises:
        for i in range(size):
            wins[i], loses[i] = np.float32(won), np.float32(lost)
        return
    more, less = sign * rest.stakes[6 * follower + level + 1], sign * rest.stakes[6 * (1 - follower) + level + 1]
    calls = (won - lost) / (won - less)
    called, declined, given = np.float32(calls * more + (1 - calls) * won), np.float32(won), np.float32(lost)
    gain, price = np.float32(more - won), np.float32(won - less)
    for i in range(size):
        threat = wins[i] * gain
        declines = threat > 0 and loses[i] * price <= threat
        wins[i] = declined if declines else called
        loses[i] = declined if declines else given


@helper
def weigh_last(rest: Any, node: Any, ties_to: int, wins: Any, loses: Any) -> None:
    """How likely the follower holds a winning and a losing card, by the leader's card and lane."""
    leader, stage = int(node.mover), at(rest.stages, THIRD)
    lanes = int(stage.lanes)
    rows, reach = ahead(rest.weights, stage.weights[leader]), ahead(rest.met, node.reach[1 - leader])
    for i in range(RANKS * lanes):
        wins[i] = loses[i] = np.float32(0)
    for own in range(RANKS):
        share = ahead(reach, own * lanes)
        for card in range(RANKS):
            row = ahead(rows, (own * RANKS + card) * lanes)
            is_won = own > card or (own == card and ties_to != leader)
            into = ahead(wins if is_won else loses, card * lanes)
            for lane in range(lanes):
                into[lane] += share[lane] * row[lane]


@helper
def value_last(rest: Any, node: Any, seat: int, ties_to: int) -> None:
    """The value of laying the last cards; `ties_to` wins if they tie."""
    lanes, leader = int(at(rest.stages, THIRD).lanes), int(node.mover)
    size = RANKS * lanes
    wins, loses = rest.scratch, ahead(rest.scratch, RANKS * LANES)
    won, lost = ahead(rest.scratch, 2 * RANKS * LANES), ahead(rest.scratch, 3 * RANKS * LANES)
    value = ahead(rest.values, node.value)
    weigh_last(rest, node, ties_to, wins, loses)
    if seat == leader:
        for i in range(size):
            won[i], lost[i] = wins[i], loses[i]
        last_stakes(rest, node, wins, loses, size)
        for i in range(size):
            value[i] = -won[i] * wins[i] - lost[i] * loses[i]
        return
    last_stakes(rest, node, wins, loses, size)
    reach = ahead(rest.met, node.reach[leader])
    for i in range(size):
        won[i], lost[i], value[i] = reach[i] * wins[i], reach[i] * loses[i], np.float32(0)
    rows = ahead(rest.weights, at(rest.stages, THIRD).weights[seat])
    for card in range(RANKS):
        for own in range(RANKS):
            is_won = own > card or (own == card and ties_to == seat)
            gain = ahead(won if is_won else lost, card * lanes)
            row, into = ahead(rows, (card * RANKS + own) * lanes), ahead(value, own * lanes)
            for lane in range(lanes):
                into[lane] += gain[lane] * row[lane]


@helper
def value_stake(rest: Any, node: Any, seat: int) -> None:
    """The payoff, times how likely the other gets there, by type and lane."""
    stage, other, sign = at(rest.stages, node.stage), 1 - seat, 1.0 if seat == 0 else -1.0
    lanes, own, theirs = int(stage.lanes), int(stage.types[seat]), int(stage.types[other])
    rows, reach, value = (
        ahead(rest.weights, stage.weights[seat]), ahead(rest.met, node.reach[other]), ahead(rest.values, node.value)
    )  # fmt: skip
    payoffs = rest.scratch
    for lane in range(lanes):
        winner = int(node.winner if node.winner != NONE else rest.victor[lane])
        payoffs[lane] = np.float32(sign * rest.stakes[6 * winner + node.level])
    for i in range(own * lanes):
        value[i] = np.float32(0)
    for j in range(theirs):
        share = ahead(reach, j * lanes)
        if lanes == 1:
            row = ahead(rows, j * own)
            for i in range(own):
                value[i] += share[0] * row[i]
            continue
        for i in range(own):
            row, into = ahead(rows, (j * own + i) * lanes), ahead(value, i * lanes)
            for lane in range(lanes):
                into[lane] += share[lane] * row[lane]
    for i in range(own):
        for lane in range(lanes):
            value[i * lanes + lane] *= payoffs[lane]


@helper
def add_lanes(rest: Any, child: Any, seat: int, value: Any, lanes: int) -> None:
    """Adds a child's values to those of the lanes that they come from."""
    stage, part = at(rest.stages, child.stage), ahead(rest.values, child.value)
    n, above = int(stage.lanes), ahead(rest.above, int(child.stage) * LANES)
    for kind in range(stage.types[seat]):
        for lane in range(n):
            value[kind * lanes + above[lane]] += part[kind * n + lane]


@helper
def value_of_others(rest: Any, node: Any, seat: int) -> None:
    """Where the other decides, what his actions lead to adds up."""
    value, size = ahead(rest.values, node.value), size_of(rest, node, seat)
    alive = ahead(rest.alive, (1 - seat) * NODES)
    for i in range(size):
        value[i] = np.float32(0)
    for i in range(3):
        number = int(node.children[i])
        if number == NONE or not alive[number]:
            continue
        child = at(rest.nodes, number)
        if child.stage != node.stage:
            add_lanes(rest, child, seat, value, int(at(rest.stages, node.stage).lanes))
            continue
        part = ahead(rest.values, child.value)
        for k in range(size):
            value[k] += part[k]


@helper
def gather(rest: Any, node: Any, size: int) -> None:
    """What each of two cards leads to, by pair and lane, behind the node's own values."""
    low, high = ahead(rest.values, node.value + size), ahead(rest.values, node.value + 2 * size)
    n = int(at(rest.stages, node.stage).lanes)
    for i in range(size):
        low[i] = high[i] = np.float32(0)
    for onward in (ONWARD, ENDED):
        number = int(node.children[onward])
        if number == NONE:
            continue
        child = at(rest.nodes, number)
        stage, lanes, part = int(child.stage), int(at(rest.stages, child.stage).lanes), ahead(rest.values, child.value)
        for lane in range(lanes):
            place = stage * LANES + lane
            rank, above = int(rest.led[place] if stage == LED else rest.followed[place]), int(rest.above[place])
            for card in range(RANKS):
                into = low if rank <= card else high
                into[int(PAIR_OF[rank, card]) * n + above] = part[card * lanes + lane]
    for rank in range(RANKS):
        first = int(PAIR_OF[rank, rank]) * n
        for i in range(first, first + n):
            high[i] = low[i]


@helper
def update(regrets: Any, now: Any, value: Any, first: Any, second: Any, third: Any, size: int, n: int) -> None:
    """The value of what the mover does, and his regrets, which never sink below zero (CFR+)."""
    if n == 2:
        for i in range(size):
            mean = now[i] * first[i] + now[size + i] * second[i]
            value[i] = mean
            regrets[i] = max(regrets[i] + first[i] - mean, np.float32(0))
            regrets[size + i] = max(regrets[size + i] + second[i] - mean, np.float32(0))
        return
    for i in range(size):
        mean = now[i] * first[i] + now[size + i] * second[i] + now[2 * size + i] * third[i]
        value[i] = mean
        regrets[i] = max(regrets[i] + first[i] - mean, np.float32(0))
        regrets[size + i] = max(regrets[size + i] + second[i] - mean, np.float32(0))
        regrets[2 * size + i] = max(regrets[2 * size + i] + third[i] - mean, np.float32(0))


@helper
def learn(rest: Any, node: Any, seat: int) -> None:
    """Where the seat decides: its value and its regrets."""
    size, n = size_of(rest, node, seat), int(node.actions)
    value = ahead(rest.values, node.value)
    if node.kind == CHOICE:
        gather(rest, node, size)
        first, second = ahead(value, size), ahead(value, 2 * size)
    else:
        first = ahead(rest.values, at(rest.nodes, node.children[0]).value)
        second = ahead(rest.values, at(rest.nodes, node.children[1]).value)
    third = first if n == 2 else ahead(rest.values, at(rest.nodes, node.children[2]).value)
    update(ahead(rest.regrets, node.entries), ahead(rest.now, node.entries), value, first, second, third, size, n)
    match(rest, node)


@helper
def take_best(rest: Any, node: Any, seat: int) -> None:
    """Where the responder decides: every type takes the action that is worth most."""
    size, n, value = size_of(rest, node, seat), int(node.actions), ahead(rest.values, node.value)
    if node.kind == CHOICE:
        gather(rest, node, size)
    for action in range(n):
        if node.kind == CHOICE and action < 2:
            part = ahead(value, (1 + action) * size)
        else:
            part = ahead(rest.values, at(rest.nodes, node.children[action]).value)
        for i in range(size):
            value[i] = part[i] if action == 0 else max(value[i], part[i])


@helper
def ascend(rest: Any, seat: int, ties_to: int, responds: bool) -> None:
    """The values of a seat everywhere, from the leaves up; it learns, or responds as well as can be."""
    alive = ahead(rest.alive, (1 - seat) * NODES)
    for i in range(rest.used[_NODES]):
        number = rest.used[_NODES] - 1 - i
        if not alive[number]:
            continue
        node = at(rest.nodes, number)
        if node.kind == STAKE:
            value_stake(rest, node, seat)
        elif node.kind == LAST:
            value_last(rest, node, seat, ties_to)
        elif node.mover == seat and responds:
            take_best(rest, node, seat)
        elif node.mover == seat:
            learn(rest, node, seat)
        else:
            value_of_others(rest, node, seat)


@helper
def iterate(rest: Any, ties_to: int, iterations: int) -> None:
    """Alternating updates, and averages weighed by the square of the iteration; `ties_to` wins a last parda."""
    for i in range(rest.used[_ENTRIES]):
        rest.regrets[i] = rest.sums[i] = np.float32(0)
    for number in range(rest.used[_NODES]):
        node = at(rest.nodes, number)
        if node.kind > LAST:
            match(rest, node)
    for iteration in range(iterations + 1):  # the first only goes down
        for seat in range(2):
            if iteration > 0:
                ascend(rest, seat, ties_to, False)
            descend(rest, seat, float(iteration * iteration))
            meet(rest)


# These two by themselves: a player who calls them by their addresses is compiled in half the time.


def _plant(words: Any, first: int, leader: int, level: int, holder: int) -> None:
    """Grows the tree of joint weights that lie in the first stage; nobody is a stranger.

    :param words: the addresses of the arrays of a `Rest`.
    :param first: who has won the first trick, or TIE.
    :param leader: of the second.
    :param level: what the hand is worth, and `holder` may raise; NONE: both.
    """
    rest = open_rest(words)
    lay_lanes(rest, first, leader)
    take_root(rest, leader, level, holder)
    grow(rest, first, leader)
    for i in range(rest.used[_REACH]):
        rest.strange[i] = np.float32(0)


def _solve(words: Any, first: int, ties_to: int, iterations: int) -> None:
    """Solves the tree that was planted, for its stakes; `ties_to` wins a last parda."""
    rest = open_rest(words)
    iterate(rest, ties_to, iterations)
    keep_alive(rest, first)


_PLANT, _SOLVE = types.void(UINT64_PTR, *[types.int64] * 4), types.void(UINT64_PTR, *[types.int64] * 3)
plant, solve = compile_rule(_plant, _PLANT), compile_rule(_solve, _SOLVE)


@intrinsic  # type: ignore[untyped-decorator]
def open_planter(typing_context: Any, address: Any) -> Any:
    """`plant` at its address, inside a kernel."""
    function_type = types.FunctionType(_PLANT)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return function_at(context, builder, function_type, arguments[0])

    return function_type(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def open_solver(typing_context: Any, address: Any) -> Any:
    """`solve` at its address, inside a kernel."""
    function_type = types.FunctionType(_SOLVE)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return function_at(context, builder, function_type, arguments[0])

    return function_type(types.uint64), generate


@helper
def share_of(rest: Any, node: Any, kind: int, lane: int, action: int, trembles: float) -> float:
    """How often a type takes an action by the average strategy; where it never got there, by the last one.

    :param trembles: the share of any choices that is left out: TREMBLE where it plays, 0 where it is thought about.
        What is known of a seat leans on its trembles: who may hold only what wins is bluffed by who holds anything.
    """
    n, size, sums = int(node.actions), size_of(rest, node, int(node.mover)), rest.sums
    place = node.entries + kind * int(at(rest.stages, node.stage).lanes) + lane
    met = total = 0.0
    for i in range(n):
        met += sums[place + i * size]
    if met <= 0:
        return float(rest.now[place + action * size])
    left_out = met * trembles / n
    for i in range(n):
        total += max(sums[place + i * size] - left_out, 0.0)
    return max(sums[place + action * size] - left_out, 0.0) / total
