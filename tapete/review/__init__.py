"""What decisions of a finished game were worth, judged from what the seat could know."""

from tapete.review.choices import Choice, choices
from tapete.review.judgement import Judge, Judgement
from tapete.review.judges import Strongest, judge_of
from tapete.review.marks import MARKS, Decision, accuracy, decide, stake_of

__all__ = [
    "MARKS",
    "Choice",
    "Decision",
    "Judge",
    "Judgement",
    "Strongest",
    "accuracy",
    "choices",
    "decide",
    "judge_of",
    "stake_of",
]
