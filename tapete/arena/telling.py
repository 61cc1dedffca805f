"""Results in words: what `tapete match` prints and a notebook shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapete.arena.teams import TeamResult

if TYPE_CHECKING:
    from tapete.arena.matches import Match


def match_facts(result: Match) -> list[tuple[str, str]]:
    """What came of a match, a line each; the first says what was played."""
    (a, b), spec = result.agents, result.game.spec
    wins, draws, losses = result.results
    low, high = result.interval
    least, most = result.mean_interval
    a_thinks, b_thinks = result.milliseconds
    share = "wins" if spec.players == 2 or (spec.teams and len(result.lineups) == 2) else "wins over a seat"
    deals = f"{len(result.shares):,} deal{'s' * (len(result.shares) > 1)}"
    played = f"{len(result.games):,} games on {deals}"
    facts = [
        ("match", f"{result.game}: {a} against {b}, {played}"),
        (share, f"{100 * result.win_share:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f}"),
        ("games", f"{wins:,} won, {draws:,} drawn, {losses:,} lost; {result.different:,} different"),
        ("payoff a game", f"{result.mean:+.4g}, 95 % interval {least:+.4g} to {most:+.4g}"),
        *((f"as {team}", _of_team(won)) for team, won in result.teams().items()),
    ]
    if result.games[0].luck:
        least, most = result.corrected_interval
        facts.append(("less luck", f"{result.corrected_mean:+.4g}, 95 % interval {least:+.4g} to {most:+.4g}"))
    by_luck = f"p = {result.share_p:.2g} if wins were even, p = {result.p:.2g} if payoffs were"
    facts += [("by luck alone", by_luck), ("a move takes", f"{a_thinks:.3g} ms and {b_thinks:.3g} ms")]
    return facts + [("mind", warning) for warning in result.warnings]


def _of_team(won: TeamResult) -> str:
    """What was won as a team, in words."""
    low, high = won.wp_interval
    least, most = won.adp_interval
    wins = f"WP {100 * won.wp:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f}"
    return f"{wins}; ADP {won.adp:+.3f}, {least:+.3f} to {most:+.3f} ({won.games:,} games)"
