"""Fair measurement: matches with swapped seats on the same deals, tournaments, ratings, and their statistics."""

from tapete.arena.matches import Agent, Match, match
from tapete.arena.playing import Deal, Played, play
from tapete.arena.tournaments import Tournament, tournament

__all__ = ["Agent", "Deal", "Match", "Played", "Tournament", "match", "play", "tournament"]
