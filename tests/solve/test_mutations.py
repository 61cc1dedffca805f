"""Mutation check: a planted error in any update line of the solvers is caught.

The modules are run as plain Python, their decorators and pointers replaced by stand-ins, so that a mutant need not be
compiled: `test_interpreted_modules_compute_the_same` says that this is the same code as the compiled one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapete.solve
from tapete.core import compile as compiler
from tapete.core import make
from tapete.solve import classes
from tapete.solve.cfr import CFR
from tapete.solve.linear import solve_form
from tapete.solve.public_tree import PublicTree
from tapete.solve.schemes import SCHEMES
from tapete.solve.sequence_form import SequenceForm
from tapete.solve.vector_cfr import VectorCFR
from tests.oracles.trees import NaiveCFR, grow, plans, pure_strategies, random_strategy, value
from tests.solve.test_cfr import expect_same
from tests.solve.test_vector_cfr import draw_regrets, expect_same_ledgers, places

MERGED = "dudo(3,1,2,one_round=true,win=0.5,lose=-0.25)"

FOLDER = Path(tapete.solve.__file__).parent
MODULES = (
    "regrets",
    "schemes",
    "response",
    "cfr",
    "leaves",
    "hands",
    "vector_response",
    "vector_cfr",
)  # those before are imported by those behind

# In which module, what stands there, and what is planted instead.
CFR_MUTANTS = [
    ("regrets", "total = regret + gain", "total = regret - gain"),
    ("regrets", "keep_positive if total > 0 else keep_negative", "keep_negative if total > 0 else keep_positive"),
    ("regrets", "kept = total * (", "kept = total / ("),
    ("regrets", "floor and kept < 0", "floor and kept > 0"),
    ("regrets", "(floor and kept < 0)", "False"),
    ("regrets", "abs(kept) < TINY", "abs(kept) > TINY"),
    ("regrets", "regret + last_gain", "regret - last_gain"),
    ("regrets", "expected if expected > 0", "expected if expected < 0"),
    ("regrets", "expected if expected > 0", "-expected if expected > 0"),
    ("schemes", "((t - 1) / t) ** self.gamma", "(t / (t + 1)) ** self.gamma"),
    ("schemes", "((t - 1) / t) ** self.gamma", "(t / np.maximum(t - 1, 1)) ** self.gamma"),
    (
        "schemes",
        "_discount(t, self.alpha), _discount(t, self.beta)",
        "_discount(t, self.beta), _discount(t, self.alpha)",
    ),
    ("schemes", "_discount(t, self.alpha), _discount(t,", "_discount(t - 1, self.alpha), _discount(t - 1,"),
    ("schemes", "grown / (grown + 1)", "1 / (grown + 1)"),
    ("schemes", 'Scheme("cfr+", math.inf, math.inf, 1', 'Scheme("cfr+", math.inf, math.inf, 0'),
    ("schemes", '"dcfr", 1.5, 0, 2', '"dcfr", 0, 1.5, 2'),
    ("schemes", '"pdcfr+", 2.3, 0, 5, floor=True, predictive=True', '"pdcfr+", 2.3, 0, 5, floor=True'),
    ("schemes", '"pcfr+", math.inf, math.inf, 2, floor=True', '"pcfr+", math.inf, math.inf, 2, floor=False'),
    ("cfr", "total += eagerness(", "total -= eagerness("),
    ("cfr", "ledger.plan[0] = 1.0", "ledger.plan[0] = -1.0"),
    ("cfr", "= reach * eagerness(", "= -reach * eagerness("),
    ("cfr", "= reach * eagerness(", "= eagerness("),
    ("cfr", "ledger.plan[a] = reach / (end - start)", "ledger.plan[a] = reach * (end - start)"),
    ("cfr", "total += payoffs.value[i] * plan", "total -= payoffs.value[i] * plan"),
    ("cfr", "payoffs.value[i] * plan[payoffs.column[i]]", "payoffs.value[i] / plan[payoffs.column[i]]"),
    ("cfr", "value += values[a] * eagerness(", "value -= values[a] * eagerness("),
    ("cfr", "value += values[a] / (end - start)", "value -= values[a] / (end - start)"),
    ("cfr", "values[plex.parent[infoset]] += value", "values[plex.parent[infoset]] -= value"),
    ("cfr", "gain = values[a] - value", "gain = value - values[a]"),
    ("cfr", "gain = values[a] - value", "gain = values[a] + value"),
    ("cfr", "gain, discounts[0], discounts[1]", "gain, discounts[1], discounts[0]"),
    ("cfr", "updated(ledger.regrets[a], gain,", "updated(ledger.regrets[a], -gain,"),
    ("cfr", "ledger.gains[a] = gain", "ledger.gains[a] = -gain"),
    ("cfr", "weights[t, 2] * ledger0.total + ledger0.plan", "weights[t, 2] * ledger0.total - ledger0.plan"),
    ("cfr", "weights[t, 2] * ledger1.total + ledger1.plan", "weights[t, 2] * ledger1.total - ledger1.plan"),
    ("cfr", "weights[t, 2] * ledger0.total + ledger0.plan", "ledger0.total + weights[t, 2] * ledger0.plan"),
    ("cfr", "weights[t, 2] * ledger1.total + ledger1.plan", "ledger1.total + ledger1.plan"),
    ("cfr", "_gradient(payoffs0, ledger1.plan, values0)", "_gradient(payoffs1, ledger0.plan, values0)"),
    ("cfr", "        if options.alternating:", "        if not options.alternating:"),
    ("cfr", "total[a] / whole if whole > 0", "-total[a] / whole if whole > 0"),
    ("cfr", "total[a] / whole if whole > 0", "total[a] / whole if whole < 0"),
    ("cfr", "plan[plex.parent[infoset]] * strategy[a]", "plan[plex.parent[infoset]] + strategy[a]"),
    ("cfr", "lower, upper = prove(forms[0], plans).lower", "lower, upper = prove(forms[1], plans).lower"),
    ("response", "self.upper - self.lower", "self.lower - self.upper"),
    ("response", "lower=-best_response(form, 1, plans[0])", "lower=best_response(form, 1, plans[0])"),
    ("response", "upper=best_response(form, 0, plans[1])", "upper=-best_response(form, 0, plans[1])"),
    ("response", "total += plan[row]", "total -= plan[row]"),
    ("response", "values[row] += payoffs.value[i]", "values[row] -= payoffs.value[i]"),
    ("response", "values[a] > values[best[infoset]]", "values[a] < values[best[infoset]]"),
    ("response", "values[plex.parent[infoset]] += values", "values[plex.parent[infoset]] -= values"),
    ("response", "plan[best[infoset]] = plan[plex.parent[infoset]]", "plan[best[infoset]] = 1.0"),
]
VECTOR_MUTANTS = [
    ("regrets", "total = regret + gain", "total = regret - gain"),
    ("regrets", "regret + last_gain", "regret - last_gain"),
    ("leaves", "-ordered[:, ::-1]", "ordered[:, ::-1]"),
    ("leaves", "-ordered[:, ::-1]", "-ordered[:, :]"),
    ("leaves", "cls._dense(-payoffs, groupings, 1)", "cls._dense(payoffs, groupings, 1)"),
    ("leaves", "cls._dense(payoffs.transpose(0, 2, 1), groupings, 0)", "cls._dense(payoffs, groupings, 0)"),
    ("leaves", "ahead(matrix, o * width)", "ahead(matrix, 0)"),
    ("leaves", "matrix[0, 1], matrix[0, 0], matrix[1, 0]", "matrix[1, 0], matrix[0, 0], matrix[0, 1]"),
    ("vector_cfr", "in (0, 1):\n                    self._update", "in (1, 0):\n                    self._update"),
    ("vector_cfr", "[chances.astype(np.float32)", "[-chances.astype(np.float32)"),
    (
        "vector_cfr",
        "self.ledgers[me], self.ledgers[1 - me]\n        update",
        "self.ledgers[1 - me], self.ledgers[me]\n        update",
    ),
    ("vector_cfr", "lower=-lower.result()", "lower=lower.result()"),
    ("vector_cfr", "upper=upper.result()", "upper=-upper.result()"),
    ("vector_cfr", "self._response, 0, high[0]", "self._response, 0, low[0]"),
    ("hands", "eager = eagerness(r[h], g[h])", "eager = eagerness(r[h], -g[h])"),
    (
        "hands",
        "o[h] = eager\n                total[h] += eager\n        else",
        "o[h] = eager\n                total[h] -= eager\n        else",
    ),
    (
        "hands",
        "o[h] = eager\n                total[h] += eager\n    share",
        "o[h] = eager\n                total[h] -= eager\n    share",
    ),
    ("hands", "even = one / actions", "even = one * actions"),
    ("hands", "one / total[h] if total[h] > TINY", "-one / total[h] if total[h] > TINY"),
    ("hands", "one / total[h] if total[h] > TINY", "one * total[h] if total[h] > TINY"),
    ("hands", "o[h] * total[h] if total[h] > 0", "o[h] / total[h] if total[h] > 0"),
    ("hands", "product = x[h] * y[h]\n        out[h]", "product = x[h] + y[h]\n        out[h]"),
    ("hands", "product = x[h] * y[h]\n        out[into", "product = x[h] + y[h]\n        out[into"),
    (
        "leaves",
        "lower * above + equal * theirs[h] + higher * below",
        "higher * above + equal * theirs[h] + lower * below",
    ),
    ("leaves", "lower * above + equal", "equal - lower * above"),
    ("leaves", "above -= theirs[h]", "above += theirs[h]"),
    ("leaves", "below += theirs[h]", "below -= theirs[h]"),
    ("leaves", "out[h] += reach * row[h]", "out[h] -= reach * row[h]"),
    ("hands", "out[h] += g[h]\n", "out[h] -= g[h]\n"),
    ("hands", "out[h] += g[h] * s[h]", "out[h] -= g[h] * s[h]"),
    ("hands", "out[h] += g[h] * s[h]", "out[h] += g[h] + s[h]"),
    ("hands", "max(out[h], g[h])", "min(out[h], g[h])"),
    ("vector_cfr", "updated(r[h], g[h] - mean[h],", "updated(r[h], mean[h] - g[h],"),
    ("vector_cfr", "updated(r[h], g[h] - mean[h],", "updated(r[h], g[h] + mean[h],"),
    ("vector_cfr", "rates.keep_positive, rates.keep_negative", "rates.keep_negative, rates.keep_positive"),
    ("vector_cfr", "keep_total * t[h] + here.mine[h] * s[h]", "keep_total * t[h] - here.mine[h] * s[h]"),
    ("vector_cfr", "= rates.keep_total * t[h] +", "= t[h] + rates.keep_total *"),
    ("vector_cfr", "keep_total * t[h] + here.mine[h] * s[h]", "keep_total * t[h] + s[h]"),
    ("vector_cfr", "last[h] = g[h] - mean[h]", "last[h] = mean[h] - g[h]"),
    ("hands", "out[into[h]] += product if", "out[into[h]] = product if"),
    ("hands", "out[into[h]] += x[h]", "out[into[h]] = x[h]"),
    ("hands", "out[h] = x[into[h]]", "out[h] = x[h]"),
    ("vector_cfr", "positive if r[i] > 0 else negative", "negative if r[i] > 0 else positive"),
    ("vector_cfr", "t[i] *= total", "pass"),
    ("vector_cfr", "total = np.float32(np.exp(lag.total[until] - lag.total[seen]))", "total = np.float32(1)"),
    ("vector_cfr", "update.lag.seen[node] = update.lag.now", "pass"),
    ("vector_cfr", "node, update.lag.now - 1)", "node, update.lag.now)"),
    ("vector_cfr", "return total == 0", "return total < 0.1"),
    ("vector_response", "elif best:\n            most", "elif not best:\n            most"),
]


def same(function: Any) -> Any:
    return function


# What the modules import from `tapete.core.compile`, for plain Python: a slice of an array is a pointer into it.
STAND_INS = {
    "helper": same,
    "kernel": lambda signature: same,
    "ahead": lambda array, n: array[n:],
    "first_of": same,
    "float32_ptr": same,
    "float64_ptr": same,
}


def planted(name: str, mutant: tuple[str, ...]) -> str:
    """The source of a module, with the error in it if it is that module's."""
    source = (FOLDER / f"{name}.py").read_text()
    if not mutant or mutant[0] != name:
        return source
    assert source.count(mutant[1]) == 1, f"{mutant[1]!r} is not once in {name}.py: plant something else"
    return source.replace(mutant[1], mutant[2])


def interpret(*mutant: str) -> SimpleNamespace:
    """The solvers as plain Python, with something planted in one of them: (module, what stands there, what instead)."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        stand_in = ModuleType("tapete.core.compile")
        vars(stand_in).update({**vars(compiler), **STAND_INS})
        patch.setitem(sys.modules, "tapete.core.compile", stand_in)
        patch.setattr("tapete.core.records.pointers", same)
        for name in MODULES:
            module = found[name] = ModuleType(f"tapete.solve.{name}")
            patch.setitem(sys.modules, module.__name__, module)
            exec(compile(planted(name, mutant), f"{name}.py, interpreted", "exec"), vars(module))
    return SimpleNamespace(**found)


@cache
def form_of(name: str) -> SequenceForm:
    return SequenceForm.of(make(name))


@cache
def exact_value(name: str) -> float:
    return solve_form(form_of(name)).value


@cache
def reference(algorithm: str, alternating: bool) -> list[NaiveCFR]:
    """What the papers say after one, two and three iterations."""
    found = []
    for iterations in (1, 2, 3):
        found.append(NaiveCFR(make("dudo(2,1,1)"), algorithm, alternating=alternating))
        found[-1].run(iterations)
    return found


@cache
def by_enumeration() -> tuple[Any, list[float], list[float]]:
    """A strategy of Kuhn, and what each pure strategy of either player gains against it."""
    root = grow(make("kuhn"))
    strategy = random_strategy(root, 5)
    gains = [[value(root, strategy | pure) for pure in pure_strategies(root, player)] for player in range(2)]
    return strategy, gains[0], gains[1]


def check_convergence(run: Any, name: str, iterations: int) -> None:
    """Known values inside the interval, which gets small."""
    for n in (0, iterations):
        run.run(n)
        proof = run.prove()
        assert proof.lower <= exact_value(name) + 1e-6
        assert proof.upper >= exact_value(name) - 1e-6
        assert proof.lower - 1e-6 <= proof.value <= proof.upper + 1e-6
    assert -1e-6 <= proof.exploitability < 0.02


def check_cfr(solvers: SimpleNamespace) -> None:
    """CFR over the sequence form: converges, does what the papers say, and its proofs are those of enumeration."""
    for algorithm, scheme in solvers.schemes.SCHEMES.items():
        for alternating in (True, False):
            run = solvers.cfr.CFR(form_of("dudo(2,1,1)"), scheme, alternating=alternating)
            for theirs in reference(algorithm, alternating):
                run.run(1)
                expect_same(run, theirs)
    for name in ("kuhn", "dudo(3,1,1)"):
        check_convergence(solvers.cfr.CFR(form_of(name), solvers.schemes.SCHEMES["dcfr"]), name, 60)
    strategy, gains, losses = by_enumeration()
    form = form_of("kuhn")
    both = plans(form, strategy)
    proof = solvers.response.prove(form, both)
    assert proof == pytest.approx((value(grow(make("kuhn")), strategy), min(losses), max(gains)), abs=1e-12)
    gain, plan = solvers.response.best_response(form, 0, both[1])
    assert gain == pytest.approx(solvers.response.prove(form, (plan, both[1])).value, abs=1e-12)
    low, high = (form_of(f"dudo(2,1,1,one_round=true,win={win},lose=-1.0)") for win in (0.5, 0.9))
    run = solvers.cfr.CFR(form_of("dudo(2,1,1,one_round=true,win=0.75,lose=-1.0)"), solvers.schemes.SCHEMES["cfr"])
    assert run.prove((low, high)).lower < run.prove().lower
    assert run.prove((low, high)).upper > run.prove().upper


def check_vector(solvers: SimpleNamespace, patch: pytest.MonkeyPatch) -> None:
    """CFR over the public tree: converges, and learns what the other engine does."""
    patch.setattr(classes, "LANES", 1)
    for large in (64, 2):  # matrices at the terminals; whose hand is higher
        patch.setattr(solvers.leaves, "LARGE", large)
        public, form = PublicTree.of(make("kuhn")), form_of("kuhn")
        where = [places(form, public, player) for player in range(2)]
        for algorithm, scheme in solvers.schemes.SCHEMES.items():
            one, two = CFR(form, SCHEMES[algorithm]), solvers.vector_cfr.VectorCFR(public, scheme, threads=1)
            assert (two.leaves[0].ordered.size > 0) == (large == 2)
            for _ in range(2):
                one.run(1)
                two.run(1)
                expect_same_ledgers(one, two, where, 1e-6)
                assert two.prove() == pytest.approx(one.prove(), abs=1e-6)
    patch.setattr(solvers.leaves, "LARGE", 64)
    public, form = PublicTree.of(make(MERGED)), form_of(MERGED)  # some hands are one, and some subtrees left out
    where = [places(form, public, player) for player in range(2)]
    one, two = CFR(form, SCHEMES["dcfr"]), solvers.vector_cfr.VectorCFR(public, solvers.schemes.SCHEMES["dcfr"])
    one.run(1)
    two.run(1)
    draw_regrets(one, two, where)
    for iterations in (4, 3):
        one.run(iterations)
        two.run(iterations)
        assert (two._seen < one.iterations).any()
        assert two.prove() == pytest.approx(one.prove(), abs=1e-5)
        expect_same_ledgers(one, two, where, 2e-5)
    for name, iterations in (("kuhn", 60), ("dudo(3,1,1)", 40)):
        public = PublicTree.of(make(name))
        run = solvers.vector_cfr.VectorCFR(public, solvers.schemes.SCHEMES["pcfr+"], threads=1)
        check_convergence(run, name, iterations)
    low, middle, high = (make(f"dudo(2,1,1,one_round=true,win={win},lose=-1.0)") for win in (0.5, 0.75, 0.9))
    run = solvers.vector_cfr.VectorCFR(PublicTree.of(middle), solvers.schemes.SCHEMES["cfr"], threads=1)
    assert run.prove((low, high)).lower < run.prove().lower
    assert run.prove((low, high)).upper > run.prove().upper


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mutant", CFR_MUTANTS, ids=lambda mutant: f"{mutant[0]}: {mutant[2]}")
def test_errors_in_cfr_are_caught(mutant):
    solvers = interpret(*mutant)
    with pytest.raises(Exception):  # noqa: B017
        check_cfr(solvers)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mutant", VECTOR_MUTANTS, ids=lambda mutant: f"{mutant[0]}: {mutant[2]}")
def test_errors_in_vector_cfr_are_caught(mutant, monkeypatch):
    solvers = interpret(*mutant)
    with pytest.raises(Exception):  # noqa: B017
        check_vector(solvers, monkeypatch)


def test_without_an_error_nothing_is_caught(monkeypatch):
    solvers = interpret()
    check_cfr(solvers)
    check_vector(solvers, monkeypatch)


@pytest.mark.parametrize("algorithm", SCHEMES)
def test_interpreted_modules_compute_the_same(algorithm, monkeypatch):
    """What the compiled ones do, but for rounding."""
    solvers = interpret()
    scheme = solvers.schemes.SCHEMES[algorithm]
    pairs: list[tuple[Callable[..., Any], Callable[..., Any], Any]] = [
        (CFR, solvers.cfr.CFR, form_of("dudo(3,1,1)")),
        (VectorCFR, solvers.vector_cfr.VectorCFR, PublicTree.of(make("dudo(2,1,1)"))),
    ]
    for compiled, interpreted, game in pairs:
        one, two = compiled(game, SCHEMES[algorithm]), interpreted(game, scheme)
        one.run(4)
        two.run(4)
        for name, array in one.arrays().items():
            assert array == pytest.approx(two.arrays()[name], rel=1e-5 if array.dtype == np.float32 else 1e-13), name
        assert one.prove() == pytest.approx(two.prove(), abs=1e-6)


COMPILED = """
import importlib, types, pytest
from tests.solve.test_mutations import MODULES, check_cfr, check_vector
solvers = types.SimpleNamespace(**{name: importlib.import_module(f"tapete.solve.{name}") for name in MODULES})
check_cfr(solvers)
check_vector(solvers, pytest.MonkeyPatch())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant", [(), CFR_MUTANTS[0], VECTOR_MUTANTS[-2]], ids=lambda mutant: mutant[2] if mutant else ""
)
def test_compiled_errors_are_caught_too(mutant, tmp_path):
    """A copy of the package, compiled with the error in it."""
    root = FOLDER.parents[1]
    for folder in ("tapete", "tests"):
        shutil.copytree(root / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.safetensors"))
    if mutant:
        (tmp_path / "tapete" / "solve" / f"{mutant[0]}.py").write_text(planted(mutant[0], mutant))
    done = subprocess.run([sys.executable, "-c", COMPILED], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode == 0) == (not mutant), done.stderr
    assert not mutant or "AssertionError" in done.stderr
