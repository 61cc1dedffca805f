"""The page of the study: tables as Markdown, and plots."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tapete.core.plots import picture
from tapete.studies.opentruco import TITLE, bluffs

PAPER_RANDOM, PAPER_SEARCH = 70, 65  # % of matches of the paper's best configuration after 10,000 episodes
Found = dict[str, Any]


def write(out: Path, found: Found) -> None:
    """README.md and the plots of the parts that are there."""
    lines = [f"# {TITLE}\n"]
    if "configurations" in found:
        plot_configurations(out, found["configurations"])
        lines += configurations(found["configurations"])
    if "table" in found:
        plot_learners(out, found["table"])
        lines += table(found["table"])
    if "bluffs" in found:
        for agent, told in found["bluffs"]["agents"].items():
            plot_bluffs(out / f"bluffs-{agent}.png", agent, told["rows"])
        lines += bluffing(found["bluffs"])
    (out / "README.md").write_text("\n".join(lines) + "\n")


def made(part: str, found: Found) -> str:
    """What made a part of the page."""
    quick = " --quick" if found["quick"] else ""
    return f"`tapete reproduce opentruco --row {part}{quick}`, {found['seconds']:,.0f} seconds, {found['cores']} cores."


def percent(share: float, low: float, high: float) -> str:
    """A share of matches with its interval."""
    return f"{100 * share:.1f} % ({100 * max(low, 0):.1f} to {100 * min(high, 1):.1f})"


def around(share: float, error: float) -> str:
    """The same from a standard error."""
    return percent(share, share - 1.96 * error, share + 1.96 * error)


def won(line: dict[str, float]) -> tuple[float, float]:
    """The share of matches won against random play, and its standard error: what was logged are payoffs of 1 and -1."""
    return (1 + line["against_random"]) / 2, line["error"] / 2


def configurations(found: Found) -> Iterator[str]:
    """NFSP on whole matches, theirs and ours."""
    yield "## NFSP, the paper's trainings\n"
    yield f"{made('configurations', found)} {found['matches']:,} matches a training. The paper"
    yield "varied the size of the hidden layers and eta, without telling the values, so those are ours. 95 % intervals,"
    yield f"{2 * found['random_matches']:,} matches against random play, {found['search_matches']} against the search."
    yield "The loss is the average policy's cross entropy.\n"
    yield "| configuration | loss, first | loss, last | against random | against IS-MCTS(100) | moves | seconds |"
    yield "|---|---|---|---|---|---|---|"
    yield f"| theirs, the best | | | {PAPER_RANDOM} % | {PAPER_SEARCH} % | | |"
    for name, curve in found["curves"].items():
        first, last = curve[0], curve[-1]
        yield (
            f"| {name} | {first['policy_loss']:.3f} | {last['policy_loss']:.3f} | {around(*won(last))} "
            f"| {around(last['against_search'], last['search_error'])} | {last['steps']:,} | {last['seconds']:,.0f} |"
        )
    yield "\n![Loss and matches won while NFSP learns](nfsp.png)\n"


def plot_configurations(out: Path, found: Found) -> None:
    """The paper's figures 2 to 5: loss, and matches won against both."""
    with picture(out / "nfsp.png", 3, size=(15, 4.5)) as (loss, random, search):
        for i, (name, curve) in enumerate(found["curves"].items()):
            style = {"label": name, "color": f"C{i}", "linestyle": ":" if "not shaped" in name else "-"}
            games = [line["games"] for line in curve]
            loss.plot(games, [line["policy_loss"] for line in curve], **style)
            random.plot(games, [100 * won(line)[0] for line in curve], **style)
            search.plot(games, [100 * line["against_search"] for line in curve], **style)
        loss.set(title="loss of the average policy", xlabel="matches", ylabel="nats")
        random.set(title="against random play", xlabel="matches", ylabel="% of matches won")
        search.set(title="against IS-MCTS(100)", xlabel="matches")
        for axis, theirs in ((random, PAPER_RANDOM), (search, PAPER_SEARCH)):
            axis.axhline(theirs, color="grey", linewidth=0.8, linestyle="--", label="the paper's best, at the end")
        random.legend(fontsize=7)


def table(found: Found) -> Iterator[str]:
    """What was trained, and everybody against everybody."""
    yield "## Other methods\n"
    yield f"{made('table', found)} All learners were trained on single hands from random scores, paid in the chance"
    yield "to win the match, and play whole matches with what they learned.\n"
    yield "| learner | hands | moves | seconds | against random | knobs |"
    yield "|---|---|---|---|---|---|"
    for name, entry in found["learned"].items():
        last = entry["curve"][-1]
        hands = f"{last['games']:,}" if "games" in last else "-"
        moves = f"{last.get('steps', last.get('nodes', 0)):,}"
        yield (
            f"| {name} | {hands} | {moves} | {last['seconds']:,.0f} | {around(*won(last))} "
            f"| `{' '.join(entry['settings'])}` |"
        )
    yield "\n![Matches won against random play while they learn](learners.png)\n"
    yield "Matches to 30 that the agent on the left won against the one above, %, with 95 % intervals; seats swapped on"
    yield "the same deals. The last column is how long it thinks about a move.\n"
    agents = found["agents"]
    yield f"| | {' | '.join(agents)} | ms |"
    yield "|---|" + "---|" * (len(agents) + 1)
    for agent in agents:
        yield f"| {agent} | {' | '.join(cell(found, agent, other) for other in agents)} | {pace(found, agent)} |"
    yield ""


def cell(found: Found, agent: str, other: str) -> str:
    """What an agent won against another one."""
    for pair in found["pairs"]:
        low, high = pair["interval"]
        if (pair["a"], pair["b"]) == (agent, other):
            return f"{100 * pair['share']:.1f} ({100 * low:.0f} to {100 * high:.0f})"
        if (pair["a"], pair["b"]) == (other, agent):
            return f"{100 - 100 * pair['share']:.1f} ({100 - 100 * high:.0f} to {100 - 100 * low:.0f})"
    return ""


def pace(found: Found, agent: str) -> str:
    """Milliseconds that an agent took for a move, all its matches alike."""
    times = [pair["milliseconds"][i] for pair in found["pairs"] for i, side in enumerate("ab") if pair[side] == agent]
    return f"{sum(times) / len(times):.2g}" if times else ""


def plot_learners(out: Path, found: Found) -> None:
    """Matches won against random play, by seconds."""
    with picture(out / "learners.png", size=(8, 4.5)) as axis:
        for name, entry in found["learned"].items():
            lines = [line for line in entry["curve"] if "against_random" in line]
            axis.plot([line["seconds"] for line in lines], [100 * won(line)[0] for line in lines], ".-", label=name)
        axis.set(xlabel="seconds of training", ylabel="% of matches won against random play")
        axis.legend()


def bluffing(found: Found) -> Iterator[str]:
    """Some numbers, and the plots."""
    agents = found["agents"]
    yield "## Bluffing\n"
    yield f"{made('bluffs', found)} {found['deals']:,} hands from each of five scores, an agent against itself."
    yield "Chances that it does this at 0-0 and 14-14; the strength of a hand is the share of hands"
    yield "that win less often than it does, when cards are played in any order.\n"
    yield f"| | {' | '.join(agents)} |"
    yield "|---|" + "---|" * len(agents)
    for line in next(iter(agents.values()))["headlines"]:
        shares = (told["headlines"][line] for told in agents.values())
        yield f"| {line} | {' | '.join('-' if share is None else f'{100 * share:.1f} %' for share in shares)} |"
    yield ""
    for agent in agents:
        yield f"![How {agent} calls and answers](bluffs-{agent}.png)\n"


def plot_bluffs(path: Path, agent: str, rows: Found) -> None:
    """Envido as mano, as pie, and answered; truco called and answered; the last card."""
    points = [_range(low, high) for low, high in zip(rows["points"], rows["points"][1:], strict=False)]
    tenths = [f"{100 * low:.0f}" for low in rows["strengths"][:-1]]
    with picture(path, 3, 2, size=(17, 9)) as ((mano, pie, answer), (truco, truco_answer, last)):
        for i, score in enumerate(bluffs.SCORES):
            for axis, key, labels in (
                (mano, f"envido, mano, {score}", points),
                (pie, f"envido, pie, {score}", points),
                (truco, f"truco, {score}", tenths),
            ):
                shares = [math.nan if share is None else 100 * share for share in rows[key]["call"]]
                axis.plot(labels, shares, ".-", color=f"C{i}", label=score)
        mano.set(title=f"{agent}: calls envido, mano", xlabel="envido points", ylabel="%", ylim=(-2, 102))
        pie.set(title="calls envido, pie", xlabel="envido points", ylim=(-2, 102))
        truco.set(title="calls truco in the hand", xlabel="hands that are weaker, %", ylabel="%", ylim=(-2, 102))
        truco.legend(fontsize=8, loc="upper left")
        _stack(answer, points, rows["envido answer, 0-0"])
        answer.set(title="answers an envido, 0-0", xlabel="envido points")
        _stack(truco_answer, tenths, rows["truco answer, 0-0"])
        truco_answer.set(title="answers truco, 0-0", xlabel="hands that are weaker, %")
        truco_answer.legend(fontsize=8, loc="lower right")
        _last(last, rows)
        for axis in (mano, pie, answer):
            axis.tick_params(axis="x", labelrotation=60)


def _range(low: int, high: int) -> str:
    return (
        f"{low}"
        if high == low + 1
        else f"{low} to {min(high, 20 if low < 20 else high) - 1}".replace("6 to 19", "6, 7")
    )


def _stack(axis: Any, labels: list[str], told: Found) -> None:
    """Declined, accepted, raised, one on top of the other; what is left answers truco with envido."""
    below = [0.0] * len(labels)
    for name, colour in (("decline", "C3"), ("accept", "C2"), ("call", "C1")):
        heights = [100 * (share or 0.0) for share in told[name]]
        axis.bar(labels, heights, bottom=below, color=colour, label="raise" if name == "call" else name)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    left = [100 - low if n else 0.0 for low, n in zip(below, told["n"], strict=True)]
    axis.bar(labels, left, bottom=below, color="C7", label="envido first")


def _last(axis: Any, rows: Found) -> None:
    """How often the last card is bet on, when it wins and when it loses, and how often such a bet is accepted."""
    bars = (("last card wins", "call", "bets, and wins"), ("last card loses", "call", "bets, and loses: a bluff"))
    for i, (key, chance, label) in enumerate((*bars, ("last answer", "accept", "accepts or raises"))):
        heights = [100 * (rows[f"{key}, {score}"][chance] or 0.0) for score in bluffs.SCORES]
        axis.bar([place + 0.27 * i for place in range(len(heights))], heights, 0.25, label=label)
    axis.set_xticks([place + 0.27 for place in range(len(bluffs.SCORES))], [*bluffs.SCORES], fontsize=8)
    axis.set(title="truco on the last card, the other's lies there", ylim=(0, 130))
    axis.legend(fontsize=8, loc="upper center", ncols=3)
