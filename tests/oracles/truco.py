"""An independent oracle of Truco Argentino, one against one, with or without flor: plain, slow, readable.

Written from the text of GAMES.md ("Truco Argentino, one against one, without flor") and section 3.1 of the OpenTruco
paper alone, to check a fast implementation against. Nothing here is shared with that implementation.

Actions: 0..39 play a card (as chance outcome: deal it), card = suit * 10 + index, suits bastos, copas, espadas, oros,
indices 0..9 for the ranks 1 2 3 4 5 6 7 10 11 12; 40 envido, 41 real envido, 42 falta envido, 43 raise truco,
44 quiero, 45 no quiero, 46 irse al mazo (only with mazo=True), 47 flor, 48 contraflor, 49 contraflor al resto (only
with flor=True).

Interpretations, where the text leaves room:

 1. "On one's turn" means: it is one's turn to play a card and no bet waits for an answer. The text itself sets it
    against "in reply" twice ("on one's turn ... and in reply to truco", "on his turn or directly in reply").
 2. Envido in reply to truco is possible only during the first trick, to truco proper (not to retruco or vale cuatro:
    raising has closed it), and only where no envido was called in this hand. It is possible also for mano who has
    already played his first card and is then asked truco by the other: the text asks only that it be the first trick
    (constant ENVIDO_AFTER_OWN_CARD; many tables forbid it).
 3. Any of envido, real envido, falta envido may be called in reply to truco, and the chain then goes on as usual.
    When it is resolved, the same seat that was asked truco answers it: quiero, no quiero or retruco.
 4. "Once a hand": once called, the chain is the only one of the hand, accepted or declined.
 5. The chains of the table are all there are: no third envido, no envido after real.
 6. The last call of a chain is the one that is accepted or declined; a declined chain pays the "no quiero" of the
    whole chain to the seat that made the last call.
 7. Raising directly in reply (retruco to truco, vale cuatro to retruco) accepts the call before it: the accepted level
    goes up to that of the call before, and a decline of the raise pays that level. So truco, retruco: level is 2.
 8. At level 1 either seat may call truco on his turn. Above it only the seat that accepted the last (by "quiero" or by
    a direct raise that was then accepted by the other: then it is the other, who accepted last).
 9. Truco may be called on one's turn at any time of the hand, the last card of the third trick included, and no matter
    whether the points could still matter. So may envido in the first trick.
10. A bet does not change whose turn it is to play a card.
11. The hand ends as soon as it is decided (after two tricks where these decide; the third is not played).
12. The winner of the second trick where the first was tied, or of the third where the first two were, wins the hand;
    first won by one, second by the other, third tied: the winner of the first.
13. Falta envido, 30 points: both below 15 before the envido is paid: the winner's score becomes 30. Otherwise, and
    always with 15 points: the winner scores `points` minus the score of the leader. Other values of `points`
    are refused. A declined falta pays as the table says.
14. Irse al mazo is possible "on one's turn" in the sense of 1, so not while truco waits either ("no quiero" does the
    same there, and cheaper); constant MAZO_IN_REPLY_TO_TRUCO. The other scores the accepted level, plus 1 if the envido
    could still have been called: first trick not over, truco not accepted, no envido called in this hand.
15. The match ends at once when the envido is paid and a seat reaches `points`, also where truco waits for its answer.
    No score goes beyond `points`: what a seat wins over it is not counted, in a single hand's payoff neither.
16. Between hands there is no state of its own: when a hand ends and the match goes on, the next hand is about to be
    dealt at once (all of the state is that of the new hand, mano has changed). At the end of the match (or of the
    single hand) everything stays as it stood when it ended, with the last points scored.
17. returns() is (0, 0) where the game is not over.
18. Observation, "blocked" is 1 only for the three reasons of the brief: resolved, truco accepted or raised, first trick
    over. An envido that waits has not been resolved: both flags 0. A match that ends in the first trick by a declined
    truco or by going to the mazo leaves the flags as they were.
19. A match (hand=False) may start from a given score too; seat 0 is mano in its first hand. Both must be below points.
20. consistent_hands: no inference from how the other played or bet, nor from the order of the deal. During the deal:
    every set of as many cards as the other has been dealt so far.

With buenas=True:

21. Only the winner of an accepted envido or flor shows his points. The other is known to have at most as many, and if
    he is mano, fewer (a tie would have been his).

With flor=True:

22. Who was dealt three cards of a suit says so at his first decision of the hand; nothing else is legal for him there.
    Who decides anything else at his first decision has therefore none, and both know it.
23. Flor takes the place of an envido that waits (nobody gets anything for that), and no envido can be called after it.
    A truco that waits is answered when the flor is settled.
24. The other says at once whether he has one too. If not, three points, and nothing else is learned about the flor.
25. If he has: quiero 4, no quiero (con flor me achico) 3 to the first; contraflor 6, and 4 if declined; contraflor al
    resto what a falta envido would be, and 4 if declined, or 6 after a contraflor.
26. A flor is worth 20 and the values of its three cards. Ties go to mano. Accepting shows both.
27. consistent_hands: flor known, no flor known, and the points shown or bounded.
"""

from copy import deepcopy
from itertools import combinations
from typing import Any

# Switches for the two places where tables differ (interpretations 2 and 14).
ENVIDO_AFTER_OWN_CARD = True
MAZO_IN_REPLY_TO_TRUCO = False

CHANCE = -1
OVER = -2

SUITS = ["bastos", "copas", "espadas", "oros"]
RANKS = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12]

ENVIDO = 40
REAL = 41
FALTA = 42
RAISE_TRUCO = 43
QUIERO = 44
NO_QUIERO = 45
MAZO = 46

FLOR = 47
CONTRAFLOR = 48
AL_RESTO = 49

LETTER = {ENVIDO: "E", REAL: "R", FALTA: "F"}

# What has been said of two flores: points if accepted, points if declined.
FLOR_CONTESTS = {
    (FLOR,): (4, 3),
    (FLOR, CONTRAFLOR): (6, 4),
    (FLOR, AL_RESTO): ("falta", 4),
    (FLOR, CONTRAFLOR, AL_RESTO): ("falta", 6),
}

# The chains of envido: points if accepted ("falta": see Truco._falta), points if declined.
CHAINS = {
    "E": (2, 1),
    "R": (3, 1),
    "F": ("falta", 1),
    "EE": (4, 2),
    "ER": (5, 2),
    "EF": ("falta", 2),
    "RF": ("falta", 3),
    "EER": (7, 4),
    "EEF": ("falta", 4),
    "ERF": ("falta", 5),
    "EERF": ("falta", 7),
}

TIE = 2  # the winner of a trick is 0, 1 or TIE

# The order of the cards, the strongest first; cards of the same line tie.
ORDER = [
    [(1, "espadas")],
    [(1, "bastos")],
    [(7, "espadas")],
    [(7, "oros")],
    [(3, "bastos"), (3, "copas"), (3, "espadas"), (3, "oros")],
    [(2, "bastos"), (2, "copas"), (2, "espadas"), (2, "oros")],
    [(1, "copas"), (1, "oros")],
    [(12, "bastos"), (12, "copas"), (12, "espadas"), (12, "oros")],
    [(11, "bastos"), (11, "copas"), (11, "espadas"), (11, "oros")],
    [(10, "bastos"), (10, "copas"), (10, "espadas"), (10, "oros")],
    [(7, "copas"), (7, "bastos")],
    [(6, "bastos"), (6, "copas"), (6, "espadas"), (6, "oros")],
    [(5, "bastos"), (5, "copas"), (5, "espadas"), (5, "oros")],
    [(4, "bastos"), (4, "copas"), (4, "espadas"), (4, "oros")],
]


def card_id(rank, suit):
    return SUITS.index(suit) * 10 + RANKS.index(rank)


def card_rank(card):
    return RANKS[card % 10]


def card_suit(card):
    return SUITS[card // 10]


def place(card):
    """Line of the card in ORDER: 0 is the strongest, 13 the weakest."""
    for line, cards in enumerate(ORDER):
        if (card_rank(card), card_suit(card)) in cards:
            return line
    raise ValueError(card)


def other(seat):
    return 1 - seat


class Truco:
    def __init__(self, points=30, mazo=False, hand=False, score=(0, 0), *, buenas=False, flor=False):
        if points not in (15, 30):
            raise ValueError("points must be 30 or 15")
        if not (0 <= score[0] < points and 0 <= score[1] < points):
            raise ValueError("the score must be from 0 to points - 1")
        self.points = points
        self.mazo = mazo
        self.hand = hand
        self.buenas = buenas
        self.flor = flor
        self.start = (score[0], score[1])
        self.score = (score[0], score[1])
        self.over = False
        self._new_hand(mano=0)

    def _new_hand(self, mano):
        self.mano = mano
        self.dealt: tuple[list[int], list[int]] = ([], [])  # the cards dealt to each seat, in order
        self.played = [[None, None], [None, None], [None, None]]  # played[trick][seat]
        self.winners = []  # of the finished tricks: 0, 1 or TIE
        self.leaders = []  # of the tricks begun
        self.to_play = None  # the seat whose turn it is to play a card
        # truco
        self.level = 1  # the accepted level
        self.last_accepted = None  # the seat that accepted the level, None at level 1
        self.truco_call: Any = None  # a level called that waits for its answer: 2, 3 or 4
        self.truco_caller = None
        # envido
        self.envido_calls = []  # 40, 41, 42 in order
        self.envido_caller = None  # the seat that made the last call
        self.envido_waits = False
        self.envido_resolved = False  # accepted or declined
        self.envido_shown: Any = None  # by seat; None: not shown
        # flor
        self.decided: set[int] = set()  # the seats that have made a decision
        self.flor_said: list[int] = []  # 47, 48, 49 in order
        self.flor_caller: Any = None  # the seat that said the last of them
        self.flor_waits = False
        self.flor_shown: Any = None  # by seat; None: not shown
        self.loser: Any = None  # of an accepted envido or flor

    # ------------------------------------------------------------------ what can be asked of the state

    @property
    def player(self):
        if self.over:
            return OVER
        if self._dealing():
            return CHANCE
        if self.flor_waits:
            return other(self.flor_caller)
        if self.envido_waits:  # the envido goes first, also before a truco that waits
            return other(self.envido_caller)
        if self.truco_call is not None:
            return other(self.truco_caller)
        return self.to_play

    @property
    def hands(self):
        return (self._unplayed(0), self._unplayed(1))

    def copy(self):
        return deepcopy(self)

    def returns(self):
        if not self.over:
            return (0.0, 0.0)
        if self.hand:
            won = [self.score[seat] - self.start[seat] for seat in (0, 1)]
            return (float(won[0] - won[1]), float(won[1] - won[0]))
        if self.score[0] >= self.points:
            return (1.0, -1.0)
        return (-1.0, 1.0)

    @staticmethod
    def envido_points(cards):
        cards = list(cards)
        best = 0
        # otherwise the highest card (figures 0)
        for card in cards:
            best = max(best, Truco._envido_value(card))
        # 20 plus the two best of a suit; with three of a suit the best pair is that of the best two
        for first, second in combinations(cards, 2):
            if card_suit(first) == card_suit(second):
                best = max(best, 20 + Truco._envido_value(first) + Truco._envido_value(second))
        return best

    @staticmethod
    def _envido_value(card):
        if card_rank(card) >= 10:
            return 0
        return card_rank(card)

    @staticmethod
    def has_flor(cards):
        return len(cards) == 3 and len({card_suit(card) for card in cards}) == 1

    @staticmethod
    def flor_points(cards):
        return 20 + sum(Truco._envido_value(card) for card in cards)

    def known_flor(self, seat):
        """True or False where both know whether the seat has a flor, otherwise None."""
        if not self.flor:
            return None
        if self.flor_said or seat in self.decided:  # the first flor is answered by the other at once
            return self.has_flor(self.dealt[seat])
        return None

    def _dealing(self):
        return len(self.dealt[0]) + len(self.dealt[1]) < 6

    def _unplayed(self, seat):
        played_by_seat = [trick[seat] for trick in self.played]
        return {card for card in self.dealt[seat] if card not in played_by_seat}

    def _first_trick(self):
        """The first trick is not over."""
        return len(self.winners) == 0

    def _envido_closed(self):
        """The envido can no longer be called (an envido that waits is not closed)."""
        if self.envido_resolved:
            return True
        if self.flor_said:
            return True
        if self.level >= 2:  # truco was accepted, or raised (which accepts it)
            return True
        return not self._first_trick()

    # ------------------------------------------------------------------ legal actions

    def actions(self):
        if self.over:
            return []
        if self._dealing():
            return [card for card in range(40) if card not in self.dealt[0] and card not in self.dealt[1]]
        first = self.flor and self.player not in self.decided and not self.flor_waits
        if first and self.has_flor(self.dealt[self.player]):
            return [FLOR]
        if self.flor_waits:
            following = [call for call in (CONTRAFLOR, AL_RESTO) if (*self.flor_said, call) in FLOR_CONTESTS]
            return [QUIERO, NO_QUIERO, *following]
        if self.envido_waits:
            return sorted(self._replies_to_envido())
        if self.truco_call is not None:
            return sorted(self._replies_to_truco())
        return sorted(self._actions_on_turn())

    def _replies_to_envido(self):
        # no truco and no mazo while an envido waits
        legal = [QUIERO, NO_QUIERO]
        legal += self._envido_calls_that_follow()
        return legal

    def _replies_to_truco(self):
        seat = other(self.truco_caller)
        legal = [QUIERO, NO_QUIERO]
        # directly in reply: retruco to truco, vale cuatro to retruco
        if self.truco_call < 4:
            legal.append(RAISE_TRUCO)
        # el envido está primero
        may_still = ENVIDO_AFTER_OWN_CARD or self.played[0][seat] is None
        if self.truco_call == 2 and self._may_open_envido() and may_still:
            legal += self._envido_calls_that_follow()
        if self.mazo and MAZO_IN_REPLY_TO_TRUCO:
            legal.append(MAZO)
        return legal

    def _actions_on_turn(self):
        seat = self.to_play
        legal = list(self._unplayed(seat))
        if self._may_open_envido():
            legal += self._envido_calls_that_follow()
        if self.level == 1 or (self.level < 4 and self.last_accepted == seat):  # truco: either seat
            legal.append(RAISE_TRUCO)
        if self.mazo:
            legal.append(MAZO)
        return legal

    def _may_open_envido(self):
        return len(self.envido_calls) == 0 and not self._envido_closed()

    def _chain(self):
        return "".join(LETTER[call] for call in self.envido_calls)

    def _envido_calls_that_follow(self):
        return [call for call in (ENVIDO, REAL, FALTA) if self._chain() + LETTER[call] in CHAINS]

    # ------------------------------------------------------------------ applying an action

    def apply(self, action):
        if action not in self.actions():
            raise ValueError(f"illegal action {action}, legal are {self.actions()}")
        seat = self.player
        if seat == CHANCE:
            self._deal(action)
            return
        self.decided.add(seat)
        if action in (FLOR, CONTRAFLOR, AL_RESTO):
            self._say_flor(seat, action)
        elif self.flor_waits:
            self._end_flor(seat, action)
        elif action < 40:
            self._play(seat, action)
        elif action in (ENVIDO, REAL, FALTA):
            self._call_envido(seat, action)
        elif action == RAISE_TRUCO:
            self._raise_truco(seat)
        elif action == QUIERO and self.envido_waits:
            self._accept_envido()
        elif action == NO_QUIERO and self.envido_waits:
            self._decline_envido()
        elif action == QUIERO:
            self._accept_truco(seat)
        elif action == NO_QUIERO:
            self._hand_won_by(self.truco_caller, self.level)
        elif action == MAZO:
            self._go_to_the_mazo(seat)

    def _deal(self, card):
        # alternately, starting with mano
        if len(self.dealt[self.mano]) == len(self.dealt[other(self.mano)]):
            self.dealt[self.mano].append(card)
        else:
            self.dealt[other(self.mano)].append(card)
        if not self._dealing():  # mano leads
            self.leaders.append(self.mano)
            self.to_play = self.mano

    def _play(self, seat, card):
        trick = len(self.winners)
        self.played[trick][seat] = card
        if self.played[trick][other(seat)] is None:
            self.to_play = other(seat)
            return
        # the trick is finished
        if place(self.played[trick][0]) < place(self.played[trick][1]):
            winner = 0
        elif place(self.played[trick][1]) < place(self.played[trick][0]):
            winner = 1
        else:
            winner = TIE
        self.winners.append(winner)
        hand_winner = self._hand_winner()
        if hand_winner is not None:
            self._hand_won_by(hand_winner, self.level)
            return
        # the winner leads the next; after a tie the same leader
        if winner == TIE:
            leader = self.leaders[trick]
        else:
            leader = winner
        self.leaders.append(leader)
        self.to_play = leader

    def _hand_winner(self):
        """0 or 1 where the finished tricks decide the hand, otherwise None."""
        if len(self.winners) == 1:
            return None
        if len(self.winners) == 2:
            first, second = self.winners
            if first == TIE and second == TIE:  # the third decides
                return None
            if first == TIE:  # first tied: the second decides
                return second
            if second == TIE:  # first won, second tied: the winner of the first
                return first
            if first == second:  # two tricks win the hand
                return first
            return None
        first, second, third = self.winners
        if first == TIE and second == TIE and third == TIE:  # all tied: mano
            return self.mano
        if first == TIE and second == TIE:  # first two tied: the third decides
            return third
        # here the first two were won by one seat each
        if third == TIE:  # first won, third tied: the winner of the first
            return first
        return third

    def _call_envido(self, seat, call):
        self.envido_calls.append(call)
        self.envido_caller = seat
        self.envido_waits = True

    def _accept_envido(self):
        self.envido_waits = False
        self.envido_resolved = True
        winner, self.envido_shown = self._compare(self.envido_points)
        worth = CHAINS[self._chain()][0]
        if worth == "falta":
            worth = self._falta(winner)
        self._score(winner, worth)

    def _compare(self, count):
        """The winner of an accepted envido or flor, and what is shown of it."""
        points = [count(self.dealt[0]), count(self.dealt[1])]
        if points[0] > points[1]:
            winner = 0
        elif points[1] > points[0]:
            winner = 1
        else:  # ties go to mano
            winner = self.mano
        self.loser = other(winner)
        if self.buenas:
            points[self.loser] = None
        return winner, (points[0], points[1])

    def _say_flor(self, seat, call):
        if self.envido_waits:  # it is forgotten
            self.envido_waits = False
            self.envido_calls = []
        self.flor_said.append(call)
        self.flor_caller = seat
        if self.has_flor(self.dealt[other(seat)]):
            self.flor_waits = True
        else:
            self._score(seat, 3)

    def _end_flor(self, seat, answer):
        self.flor_waits = False
        accepted, declined = FLOR_CONTESTS[tuple(self.flor_said)]
        if answer == NO_QUIERO:
            self._score(other(seat), declined)
            return
        winner, self.flor_shown = self._compare(self.flor_points)
        self._score(winner, self._falta(winner) if accepted == "falta" else accepted)

    def _falta(self, winner):
        if self.points == 30 and self.score[0] < 15 and self.score[1] < 15:
            return self.points - self.score[winner]  # both in malas: it wins the match
        return self.points - max(self.score)

    def _decline_envido(self):
        self.envido_waits = False
        self.envido_resolved = True
        self._score(self.envido_caller, CHAINS[self._chain()][1])

    def _raise_truco(self, seat):
        if self.truco_call is not None:  # directly in reply: accepts the call before
            self._accept_truco(seat)
        self.truco_call = self.level + 1
        self.truco_caller = seat

    def _accept_truco(self, seat):
        self.level = self.truco_call
        self.last_accepted = seat
        self.truco_call = None
        self.truco_caller = None

    def _go_to_the_mazo(self, seat):
        points = self.level
        if self._may_open_envido():  # the envido was still open and uncalled
            points += 1
        self._hand_won_by(other(seat), points)

    def _score(self, seat, points):
        score = list(self.score)
        score[seat] = min(score[seat] + points, self.points)
        self.score = (score[0], score[1])
        if self.score[seat] >= self.points:
            self.over = True

    def _hand_won_by(self, seat, points):
        self._score(seat, points)
        if self.over:
            return
        if self.hand:
            self.over = True
            return
        self._new_hand(mano=other(self.mano))

    # ------------------------------------------------------------------ information

    def observation(self, seat):
        """The 321 numbers of the paper, section 3.1.1, in its order."""
        numbers = []
        # observer: 2
        numbers += self._one_hot(seat, 2)
        # own cards not played: 40
        unplayed = self._unplayed(seat)
        numbers += [1.0 if card in unplayed else 0.0 for card in range(40)]
        # history of the tricks: 3 x 2 x 40
        for trick in range(3):
            for who in (0, 1):
                numbers += self._one_hot(self.played[trick][who], 40)
        # winners of the tricks: 3 x 3 (seat 0, seat 1, tie)
        for trick in range(3):
            if trick < len(self.winners):
                numbers += self._one_hot(self.winners[trick], 3)
            else:
                numbers += self._one_hot(None, 3)
        # leaders of the tricks: 3 x 2
        for trick in range(3):
            if trick < len(self.leaders):
                numbers += self._one_hot(self.leaders[trick], 2)
            else:
                numbers += self._one_hot(None, 2)
        # score: 2
        numbers += [self.score[0] / self.points, self.score[1] / self.points]
        # accepted level of truco: 4
        numbers += self._one_hot(self.level - 1, 4)
        # calls of envido: 4 x 3
        for position in range(4):
            if position < len(self.envido_calls):
                numbers += self._one_hot(self.envido_calls[position] - ENVIDO, 3)
            else:
                numbers += self._one_hot(None, 3)
        # envido resolved, blocked: 2
        flor_settled = bool(self.flor_said) and not self.flor_waits
        numbers.append(1.0 if self.envido_resolved or flor_settled else 0.0)
        numbers.append(1.0 if (self._envido_closed() and not self.flor_waits) or self.level > 1 else 0.0)
        # envido scores, own and other's: 2
        if len(self.dealt[seat]) == 3:
            numbers.append(self.envido_points(self.dealt[seat]) / 33)
        else:
            numbers.append(0.0)
        if self.envido_shown is not None:
            numbers.append((self.envido_shown[other(seat)] or 0) / 33)
        else:
            numbers.append(0.0)
        # mano: 2
        numbers += self._one_hot(self.mano, 2)
        assert len(numbers) == 321
        return numbers + self._more_numbers(seat)

    def _more_numbers(self, seat):
        """What the variants append."""
        numbers = []
        if self.buenas:
            bound = self._bound(other(seat))
            most = 38 if self.flor_shown is not None else 33
            numbers += [0.0, 0.0] if bound is None else [1.0, bound / most]
        if self.flor:
            for who in (0, 1):
                known = self.known_flor(who)
                numbers += self._one_hot(None if known is None else int(known), 2)
            contests = list(FLOR_CONTESTS)
            numbers += self._one_hot(contests.index(tuple(self.flor_said)) if self.flor_said else None, 4)
            own = self.dealt[seat]
            numbers.append(self.flor_points(own) / 38 if self.has_flor(own) else 0.0)
            shown = None if self.flor_shown is None else self.flor_shown[other(seat)]
            numbers.append(0.0 if shown is None else shown / 38)
        return numbers

    def _bound(self, seat):
        """The most points that the seat can have, where it has said "son buenas"."""
        shown = self.envido_shown or self.flor_shown
        if not self.buenas or shown is None or seat != self.loser:
            return None
        return shown[other(seat)] - 1 if seat == self.mano else shown[other(seat)]

    @staticmethod
    def _one_hot(index, size):
        numbers = [0.0] * size
        if index is not None:
            numbers[index] = 1.0
        return numbers

    def consistent_hands(self, seat):
        """Every set of unplayed cards that the other seat may hold, as far as `seat` knows."""
        rival = other(seat)
        rival_played = [trick[rival] for trick in self.played if trick[rival] is not None]
        unseen = [card for card in range(40) if card not in self.dealt[seat] and card not in rival_played]
        count = len(self.dealt[rival]) - len(rival_played)
        found = []
        for cards in combinations(unseen, count):
            if self._may_hold(rival, [*cards, *rival_played]):
                found.append(frozenset(cards))
        return found

    def _may_hold(self, seat, cards):
        """Whether the seat may have been dealt these cards, as far as both know."""
        if len(cards) < 3:
            return True
        known = self.known_flor(seat)
        if known is not None and known != self.has_flor(cards):
            return False
        bound = self._bound(seat)
        for shown, count in ((self.envido_shown, self.envido_points), (self.flor_shown, self.flor_points)):
            if shown is not None and shown[seat] is not None and count(cards) != shown[seat]:
                return False
            if shown is not None and bound is not None and count(cards) > bound:
                return False
        return True
