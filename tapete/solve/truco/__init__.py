"""Truco solved: an abstraction of its hands, walked by external sampling at all scores at once and paid in equity."""
