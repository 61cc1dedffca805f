from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from tapete.core import Rng, TapeteError
from tapete.core.compile import WORDS, kernel, uint64_ptr
from tapete.core.rng import mix, next_u64

MASK = 2**64 - 1


def reference(words: list[int], n: int) -> list[int]:
    """xoshiro256++ as its authors write it, in whole numbers of Python."""

    def rotl(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & MASK

    s, out = list(words), []
    for _ in range(n):
        out.append((rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK)
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
    return out


@kernel("void(uint64[::1], uint64[::1])")
def _fill(words, out):
    for i in range(len(out)):
        out[i] = next_u64(uint64_ptr(words))


def test_the_generator_is_xoshiro256pp() -> None:
    out = np.zeros(1000, dtype=np.uint64)
    _fill(np.array([1, 2, 3, 4], dtype=np.uint64), out)
    assert out.tolist() == reference([1, 2, 3, 4], 1000)
    assert out[:3].tolist() == [41943041, 58720359, 3588806011781223]  # published with the reference implementation


def test_a_stream_is_named_by_its_keys() -> None:
    assert Rng(1, "deal").words.tolist() == Rng(1).spawn("deal").words.tolist()
    drawn = Rng(1)
    drawn.below(10)
    assert drawn.spawn(5).words.tolist() == Rng(1).spawn(5).words.tolist()
    names = [Rng(), Rng(0), Rng(1), Rng("1"), Rng(1, 0), Rng(10)]
    assert len({tuple(rng.words.tolist()) for rng in names}) == len(names)


@pytest.mark.parametrize("n", [2, 3, 10, 52])
def test_below_is_uniform(n: int) -> None:
    rng = Rng("uniform", n)
    counts = np.bincount([rng.below(n) for _ in range(20_000)], minlength=n)
    statistic = ((counts - 20_000 / n) ** 2 / (20_000 / n)).sum()
    assert len(counts) == n
    assert chi2.sf(statistic, n - 1) > 1e-6


def test_uniform_is_in_the_unit_interval() -> None:
    rng = Rng(3)
    numbers = [rng.uniform() for _ in range(10_000)]
    assert 0 <= min(numbers) < 0.01
    assert 0.99 < max(numbers) < 1
    assert abs(np.mean(numbers) - 0.5) < 0.02


@kernel("uint64(uint64, uint64, uint64)")
def _chain(a, b, c):
    return mix(mix(a, b), c)


def test_chained_keys_depend_on_the_order() -> None:
    keys = {_chain(a, b, c) for a in range(12) for b in range(12) for c in range(12)}
    assert len(keys) == 12**3
    assert WORDS.ndim == 1


def test_a_choice_is_any_of_the_items() -> None:
    rng = Rng("choice")
    counts = np.unique([rng.choice("abc") for _ in range(3000)], return_counts=True)[1]
    assert len(counts) == 3
    assert counts.min() > 900


def test_below_reaches_its_ends() -> None:
    rng = Rng("ends")
    large = 2**31 - 1
    drawn = [rng.below(large) for _ in range(2000)]
    assert 0 <= min(drawn) < large / 100
    assert large * 0.99 < max(drawn) < large
    assert {rng.below(1) for _ in range(20)} == {0}
    assert {rng.below(2) for _ in range(200)} == {0, 1}


def test_a_stream_tells_its_name() -> None:
    assert repr(Rng(1, "deal").spawn(3)) == "Rng(1, 'deal', 3)"
    assert eval(repr(Rng(1, "deal"))).words.tolist() == Rng(1, "deal").words.tolist()


@pytest.mark.parametrize("n", [0, -1, 1 << 31, 1 << 40])
def test_what_can_not_be_drawn_evenly_is_refused(n: int) -> None:
    with pytest.raises(TapeteError, match="can't draw below"):
        Rng(1).below(n)
    assert 0 <= Rng(1).below((1 << 31) - 1) < (1 << 31) - 1
