"""Wrong names, parameters, types, numbers and files, to every command and every loader.

A command says what is wrong in one line on standard error that begins with "tapete: ", exits with status 2, and leaves
files as they were. A loader raises a TapeteError of one line, and nothing else.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from safetensors.numpy import save
from typer import Typer

import tapete as package
from tapete import Record, Rng, TapeteError, make
from tapete.agents import load
from tapete.cli.app import app
from tapete.solve import Progress, Strategy, solve
from tapete.terminal.sitting import Sitting, saved_game
from tests.conftest import Done, Tapete
from tests.test_cli import TAPETE, run

WRONG_NAMES = [
    "",
    " ",
    "chess",
    "kuhn(",
    "kuhn)",
    "kuhn(3)",
    "(3)",
    "kuhn\nleduc",
    "ocp(0)",
    "ocp(-1)",
    "ocp(nan)",
    "ocp(1e9)",
    "ocp(3,3)",
    "ocp(cards=3,cards=3)",
    "ocp(deck=3)",
    "holdem(rake=nan)",
    "holdem(rake=inf)",
    "holdem(rake=-1)",
    "holdem(players=99999999999999999999)",
    "truco(mazo=perhaps)",
    "truco(points=16)",
    "dudo(6,1,1,win=0.5)",
    "domino(99,1)",
    "othello(size=5)",
    "othello(position=zzz)",
    "blotto(99,99)",
    "matrix",
    "matrix()",
    "matrix(/)",
    "matrix(/nowhere)",
    "matrix(/dev/null)",
    "matrix(/dev/zero)",
    "x" * 100_000,
    "ñandú\udcff",
    "matrix(\x00)",
]
HOSTILE = {
    "nothing": b"",
    "one brace": b"{",
    "random bytes": bytes(np.random.default_rng(1).integers(0, 256, 5000, dtype=np.uint8)),
    "zeros": bytes(10_000),
    "deep nesting": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "a long number": b'{"format": ' + b"9" * 5000 + b"}",
    "text": b"Hamlet, act one",
    "a list": b"[1, 2, 3]",
    "null": b"null",
    "a number": b"1e400",
    "a record of nothing": b"game: \nseats: \nmoves: \nreturns: \n",
    "a pickle": b"\x80\x04K\x01.",
    "too large": b" " * 5_000_000,
}


def one_line(error: TapeteError) -> None:
    assert str(error).strip()
    assert len(str(error).splitlines()) == 1


def refuses(done: Done) -> None:
    """What every command does with wrong input."""
    assert done.status == 2
    assert done.err.startswith("tapete: ")
    assert len(done.err.splitlines()) == 1, done.err
    assert len(done.err) < 1000
    assert "Traceback" not in done.out


# Commands.


def commands() -> dict[tuple[str, ...], Callable[..., None]]:
    """Every command, by the words that start it."""
    groups: dict[tuple[str, ...], Typer] = {(): app}
    groups |= {(group.name or "",): group.typer_instance for group in app.registered_groups if group.typer_instance}
    return {
        (*words, command.name or command.callback.__name__): command.callback
        for words, group in groups.items()
        for command in group.registered_commands
        if command.callback
    }


def numbers() -> Iterator[tuple[str, ...]]:
    """Every option that takes a number, behind the command that it belongs to."""
    for words, function in commands().items():
        for name, hint in get_type_hints(function, include_extras=True).items():
            kind, *about = get_args(hint) or (hint,)
            if {int, float} & {kind, *get_args(kind)}:
                (option,) = about
                yield *words, *(option.param_decls or [f"--{name}"])


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_unknown_options_and_words_are_refused(command: tuple[str, ...], tapete: Tapete) -> None:
    refuses(tapete(*command, "--nonsense"))
    refuses(tapete(*command, "a", "b", "c"))
    refuses(tapete(*command[:-1], "nonsense"))


@pytest.mark.parametrize("option", list(numbers()), ids=" ".join)
def test_an_option_refuses_what_is_no_number(option: tuple[str, ...], tapete: Tapete) -> None:
    *command, name = option
    game = ["kuhn"] if command[-1] in ("play", "solve") and "bench" not in command else []
    for value in ("", "x", "1,5", "0x10", "nan", "9" * 5000):
        refuses(tapete(*command, *game, name, value))
    refuses(tapete(*command, *game, name))
    if name != "--seed":
        for value in ("-1", "-inf", "-9" + "9" * 30):
            refuses(tapete(*command, *game, name, value))


@pytest.mark.parametrize("name", WRONG_NAMES, ids=lambda name: name[:30].encode("ascii", "backslashreplace").decode())
def test_a_wrong_name_of_a_game_is_refused(name: str, tapete: Tapete) -> None:
    with pytest.raises(TapeteError) as error:
        make(name)
    one_line(error.value)
    refuses(tapete("solve", name))
    if name.strip():  # without a name, play asks for one
        refuses(tapete("play", name))


@pytest.mark.parametrize("thing", [None, 3, 1.5, b"kuhn", ["kuhn"], make("kuhn")])
def test_what_is_no_text_is_no_name(thing: Any) -> None:
    for loader in (make, lambda thing: load(thing, make("kuhn"))):
        with pytest.raises(TapeteError) as error:
            loader(thing)
        one_line(error.value)


AGENTS = ["", "chess", "random(3)", "random(", "person(1)", "/", "nowhere.safetensors", ".safetensors", "x" * 5000]


@pytest.mark.parametrize("name", AGENTS, ids=lambda name: name[:20])
def test_a_wrong_name_of_an_agent_is_refused(name: str, tapete: Tapete, home: Path) -> None:
    with pytest.raises(TapeteError) as error:
        load(name, make("kuhn"))
    one_line(error.value)
    refuses(tapete("play", "kuhn", "--against", name))
    assert not list(home.rglob("*.json"))


def test_an_agent_without_a_solution_says_how_to_get_one(tapete: Tapete) -> None:
    done = tapete("play", "holdem", "--against", "equilibrium")
    refuses(done)
    assert "tapete solve 'holdem'" in done.err


@pytest.mark.parametrize("seat", ["2", "99", "-1"])
def test_a_seat_that_does_not_exist_is_refused(seat: str, tapete: Tapete) -> None:
    refuses(tapete("play", "kuhn", "--seat", seat))


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve",),
        ("solve", "kuhn", "--algorithm", "nonsense"),
        ("solve", "kuhn", "--until", "-1"),
        ("solve", "kuhn", "--until", "nan%"),
        ("solve", "battle"),
        ("solve", "doudizhu"),
        ("solve", "--show", "kuhn"),
        ("solve", "--show", "kuhn: J Q x"),
        ("solve", "--show", "kuhn: J"),
        ("solve", "--show", "kuhn: J Q pass pass"),
        ("solve", "--show", "chess: e4"),
        ("solve", "--show", "kuhn: J Q", "--save", "/nowhere"),
        ("solve", "--show", "kuhn: J Q", "--save", "/"),
        ("reproduce",),
        ("reproduce", "nonsense"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_solved_is_refused(arguments: tuple[str, ...], tapete: Tapete) -> None:
    refuses(tapete(*arguments))


def test_a_place_that_cannot_be_written_is_refused(
    tapete: Tapete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    refuses(tapete("play", "kuhn", stdin="q\n"))
    for place in ("file/below", "."):
        done = tapete("solve", "kuhn", "--iterations", "1", "--json", "--save", str(tmp_path / place))
        refuses(done)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_for_real_too() -> None:
    refuses(run("play", "chess"))
    done = subprocess.run([TAPETE, "play", b"kuhn\xff"], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr.count(b"\n"), b"Traceback" in done.stderr) == (2, 1, False)
    done = subprocess.run([TAPETE, "play", "kuhn"], input=HOSTILE["random bytes"], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b""), "whatever is typed, the game goes on"
    for redirect, status in (("<&-", 0), (">&-", 0), ("> /dev/full", 2)):
        done = subprocess.run(f"'{TAPETE}' play kuhn --new {redirect}", shell=True, capture_output=True, timeout=300)
        assert (done.returncode, len(done.stderr.splitlines())) == (status, status // 2), done.stderr


# States.


@pytest.mark.parametrize("game", ["kuhn", "truco", "doudizhu", "holdem", "dudo", "domino", "othello", "rps", "leduc"])
def test_what_is_no_move_changes_nothing(game: str) -> None:
    state = make(game).start()
    while not state.over and len(state.history or []) < 60:
        before, history, legal = state.data.copy(), list(state.history or []), state.actions()
        wrong: list[Any] = [-1, max(legal) + 1, 2**31, 2**63, -(2**70), 0.5, float(legal[0]), float("nan")]
        wrong += [None, b"", [], [legal[0]], np.array(legal), np.float64(legal[0]), object()]
        wrong += ["", " ", "\x00", "💥\n", "x" * 10_000]
        for action in wrong:
            with pytest.raises(TapeteError) as error:
                state.apply(action)
            one_line(error.value)
        for seat in (-1, state.game.players, 0.0, None, "0"):
            with pytest.raises(TapeteError):
                state.view(seat)  # type: ignore[arg-type]
        assert (state.data == before).all()
        assert state.history == history
        state.apply(np.int64(legal[-1]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["x", "J J", "J Q fold", "J Q pass pass pass", "leduc: Ks", "a: b: c", "J\x00", "K" * 9999]
)
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(TapeteError) as error:
        make("kuhn").read(text)
    one_line(error.value)


# Files.


def loaders(path: Path) -> list[Callable[[], Any]]:
    """Everything that reads a file."""
    return [
        lambda: Record.load(path).replay(),
        lambda: Sitting.load(path),
        lambda: Strategy.load(path),
        lambda: make(f"matrix({path})"),
        lambda: load(str(path), make("kuhn")),
    ]


def all_refuse(path: Path) -> None:
    for loader in loaders(path):
        with pytest.raises(TapeteError) as error:
            loader()
        one_line(error.value)


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_file_is_refused_by_all_loaders(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.safetensors"
    path.write_bytes(raw)
    all_refuse(path)
    assert path.read_bytes() == raw


def test_what_is_no_file_is_refused_by_all_loaders(tmp_path: Path) -> None:
    folder = tmp_path / "folder.safetensors"
    folder.mkdir()
    pipe = tmp_path / "pipe.safetensors"
    os.mkfifo(pipe)
    loop = tmp_path / "loop.safetensors"
    loop.symlink_to(loop)
    for path in (folder, pipe, loop, *(tmp_path / f"{name}.safetensors" for name in ("nowhere", "x" * 300, "a\nb"))):
        all_refuse(path)


def saved(game: str, moves: int, path: Path) -> bytes:
    """A game in the middle, as it is saved."""
    sitting = Sitting.begin(make(game), 0, "random", seed=7)
    rng = Rng(7, "moves")
    for _ in range(moves):
        sitting.state.deal(sitting.rng).apply(rng.choice(sitting.state.actions()))
    sitting.state.deal(sitting.rng)
    sitting.save(path)
    return path.read_bytes()


def test_a_saved_game_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    whole = saved("leduc", 2, path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(TapeteError) as error:
            Sitting.load(path)
        one_line(error.value)


def test_a_saved_game_with_a_changed_byte_is_refused_or_is_a_legal_game(tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    whole = saved("leduc", 2, path)
    rng = Rng("flip")
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.below(8)
        path.write_bytes(changed)
        try:
            sitting = Sitting.load(path)
        except TapeteError as error:
            one_line(error)
        else:
            state = sitting.state
            assert state == state.game.replay(state.history or [])
            assert sitting.rng.words.any()


def test_a_damaged_saved_game_is_refused_and_stays(tapete: Tapete) -> None:
    path = saved_game(make("truco"))
    assert tapete("play", "truco", "--seed", "1", stdin="q\n").status == 0
    whole = path.read_bytes()
    for raw in (whole[:-1], whole.replace(b"truco", b"chess"), *HOSTILE.values()):
        path.write_bytes(raw)
        done = tapete("play", "truco")
        refuses(done)
        assert "--new begins another" in done.err
        assert path.read_bytes() == raw
    path.write_bytes(whole.replace(b'"truco"', b'"kuhn"'))
    refuses(tapete("play", "truco"))
    assert tapete("play", "truco", "--new", stdin="q\n").status == 0


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"format": None},
        {"record": None},
        {"record": {}},
        {"rng": None},
        {"rng": {"keys": [], "words": [0, 0, 0, 0]}},
        {"rng": {"keys": [], "words": [1, 2, 3]}},
        {"rng": {"keys": [], "words": [1, 2, 3, -4]}},
        {"rng": {"keys": [], "words": [1, 2, 3, 2**64]}},
        {"rng": {"keys": [], "words": [1, 2, 3, 4.5]}},
        {"rng": {"keys": [], "words": [1, 2, 3, True]}},
        {"rng": {"keys": [], "words": "1234"}},
        {"rng": {"keys": 3, "words": [1, 2, 3, 4]}},
    ],
    ids=str,
)
def test_a_saved_game_with_a_wrong_part_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    data = json.loads(saved("kuhn", 1, path))
    path.write_text(json.dumps({**data, **change}))
    with pytest.raises(TapeteError) as error:
        Sitting.load(path)
    one_line(error.value)


@pytest.mark.parametrize(
    "seats", [[], ["person"], ["random", "random"], ["person", "chess"], ["person"] * 3, ["person", 3]]
)
def test_a_saved_game_with_wrong_seats_is_refused(seats: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    data = json.loads(saved("kuhn", 1, path))
    data["record"]["seats"] = seats
    path.write_text(json.dumps(data))
    with pytest.raises(TapeteError):
        Sitting.load(path)


def test_a_record_with_a_changed_byte_is_refused_or_is_a_legal_game(tmp_path: Path) -> None:
    rng = Rng("record")
    state = make("dudo(3,1,1)").start()
    while not state.deal(rng).over:
        state.apply(rng.choice(state.actions()))
    path = tmp_path / "record"
    for text in (json.dumps(state.record().to_json()), state.record().to_text()):
        raw = text.encode()
        for place in range(len(raw)):
            changed = bytearray(raw)
            changed[place] ^= 1 << rng.below(8)
            path.write_bytes(changed)
            try:
                again = Record.load(path).replay()
            except TapeteError as error:
                one_line(error)
            else:
                assert again == again.game.replay(again.history or [])


@pytest.mark.parametrize("returns", [[10**400], [float("nan")] * 2, [1e308, -1e308], [True], [[1]], "1", {}])
def test_a_record_with_wrong_payoffs_is_refused(returns: Any, tmp_path: Path) -> None:
    path = tmp_path / "record"
    data = make("kuhn").read("J Q pass pass").record().to_json()
    path.write_text(json.dumps({**data, "returns": returns}))
    with pytest.raises(TapeteError) as error:
        Record.load(path).replay()
    one_line(error.value)


# Solutions and checkpoints.


@pytest.fixture(scope="module")
def strategy(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a strategy."""
    path = tmp_path_factory.mktemp("strategy") / "kuhn.safetensors"
    solve(make("kuhn"), iterations=20, until=0, save=path)
    return path.read_bytes()


def refuses_strategy(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)
    for loader in (lambda: Strategy.load(path), lambda: load(str(path), make("kuhn"))):
        with pytest.raises(TapeteError) as error:
            loader()
        one_line(error.value)


def test_a_strategy_cut_anywhere_is_refused(strategy: bytes, tmp_path: Path) -> None:
    for length in range(len(strategy)):
        refuses_strategy(tmp_path / "cut.safetensors", strategy[:length])


def test_a_strategy_with_a_changed_byte_is_refused_or_plays(strategy: bytes, tmp_path: Path) -> None:
    path = tmp_path / "flip.safetensors"
    rng = Rng("strategy")
    view = make("kuhn").read("J Q").view(0)
    for place in range(len(strategy)):
        changed = bytearray(strategy)
        changed[place] ^= 1 << rng.below(8)
        path.write_bytes(changed)
        try:
            probabilities = load(str(path), make("kuhn")).think(view, rng).probabilities
        except TapeteError as error:
            one_line(error)
        else:
            assert set(probabilities) == {0, 1}
            assert sum(probabilities.values()) == pytest.approx(1)


def parts_of(strategy: bytes, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the metadata of a strategy."""
    (size,) = struct.unpack("<Q", strategy[:8])
    metadata = json.loads(strategy[8 : 8 + size])["__metadata__"]
    path = folder / "good.safetensors"
    path.write_bytes(strategy)
    found = Strategy.load(path)
    return {"keys": found.keys, "counts": found.counts, "probs": found.probs}, metadata


def test_a_strategy_with_wrong_arrays_is_refused(strategy: bytes, tmp_path: Path) -> None:
    arrays, metadata = parts_of(strategy, tmp_path)
    assert save(arrays, metadata)
    wrong: list[dict[str, Any]] = [
        {},
        {"keys": arrays["keys"]},
        {**arrays, "keys": arrays["keys"][::-1].copy()},
        {**arrays, "keys": arrays["keys"].astype(np.int64)},
        {**arrays, "keys": arrays["keys"].astype(np.float64)},
        {**arrays, "keys": arrays["keys"][:1]},
        {**arrays, "keys": arrays["keys"].reshape(-1, 1)},
        {**arrays, "keys": np.array(3, dtype=np.uint64)},
        {**arrays, "counts": np.zeros_like(arrays["counts"])},
        {**arrays, "counts": arrays["counts"].astype(np.int32)},
        {"keys": arrays["keys"], "counts": np.zeros_like(arrays["counts"]), "probs": arrays["probs"][:0]},
        {**arrays, "probs": arrays["probs"].astype(np.float16)},
        {**arrays, "probs": arrays["probs"][:-1]},
        {**arrays, "probs": arrays["probs"].reshape(2, -1)},
        {**arrays, "probs": np.full_like(arrays["probs"], np.nan)},
        {**arrays, "probs": np.full_like(arrays["probs"], np.inf)},
        {**arrays, "probs": -arrays["probs"]},
        {**arrays, "probs": np.zeros_like(arrays["probs"])},
    ]
    for change in wrong:
        refuses_strategy(tmp_path / "wrong.safetensors", save(change, metadata))


def test_a_strategy_with_a_wrong_header_is_refused(strategy: bytes, tmp_path: Path) -> None:
    arrays, metadata = parts_of(strategy, tmp_path)
    (key,) = metadata
    header = json.loads(metadata[key])
    texts = ["", "{", "[]", "null", "3", "[" * 100_000, "9" * 5000, "{}", json.dumps({**header, "format": "99"})]
    texts += [json.dumps({**header, "format": form}) for form in (None, 1, "", "2")]
    for text in texts:
        refuses_strategy(tmp_path / "wrong.safetensors", save(arrays, {key: text}))
    abouts: list[Any] = [None, 3, [], "about", {}, {"game": 3}, {"game": "leduc"}]
    for about in abouts:
        path = tmp_path / "about.safetensors"
        path.write_bytes(save(arrays, {key: json.dumps({**header, "about": about})}))
        with pytest.raises(TapeteError) as error:
            load(str(path), make("kuhn"))
        one_line(error.value)
    refuses_strategy(tmp_path / "wrong.safetensors", save(arrays, {}))


def test_a_header_that_lies_is_refused(strategy: bytes, tmp_path: Path) -> None:
    (size,) = struct.unpack("<Q", strategy[:8])
    head, data = json.loads(strategy[8 : 8 + size]), strategy[8 + size :]
    for length in (0, 1, size - 1, size + 1, 2**31, 2**63, 2**64 - 1):
        refuses_strategy(tmp_path / "lie.safetensors", struct.pack("<Q", length) + strategy[8:])
    lies: list[dict[str, Any]] = [{"dtype": dtype} for dtype in ("BF16", "F8_E4M3", "nonsense")]
    lies += [{"shape": shape} for shape in ([], [2**40], [-1], [2**63, 2**63])]
    lies += [{"data_offsets": offsets} for offsets in ([], [0, 2**60], [8, 0])]
    for name in ("keys", "counts", "probs"):
        for change in lies:
            lie = json.dumps({**head, name: {**head[name], **change}}).encode()
            refuses_strategy(tmp_path / "lie.safetensors", struct.pack("<Q", len(lie)) + lie + data)


def test_a_damaged_solution_in_the_store_is_refused_and_stays(strategy: bytes, tapete: Tapete, home: Path) -> None:
    assert tapete("solve", "kuhn", "--iterations", "1", "--json").status == 0
    (path,) = home.rglob("kuhn.safetensors")
    for raw in (strategy[:-1], *HOSTILE.values()):
        path.write_bytes(raw)
        refuses(tapete("play", "kuhn", "--against", "equilibrium"))
        refuses(tapete("solve", "--show", "kuhn: J Q"))
        assert path.read_bytes() == raw


def test_a_damaged_checkpoint_is_refused_and_stays(strategy: bytes, tapete: Tapete, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.iterations >= 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(make("kuhn"), until=0, checkpoint_every=0, save=tmp_path / "a.safetensors", watch=interrupt)
    (path,) = tmp_path.glob("*.checkpoint")
    whole = path.read_bytes()

    def resume() -> Done:
        return tapete("solve", "kuhn", "--resume", "--json", "--save", str(tmp_path / "a.safetensors"))

    for raw in (whole[:-1], whole[: len(whole) // 2], strategy, *HOSTILE.values(), *spoiled(whole)):
        path.write_bytes(raw)
        refuses(resume())
        assert path.read_bytes() == raw
    path.write_bytes(whole)
    assert resume().status == 0


def spoiled(checkpoint: bytes) -> Iterator[bytes]:
    """A checkpoint with arrays that don't fit, or numbers that no run could have."""
    from safetensors.numpy import load as read

    (size,) = struct.unpack("<Q", checkpoint[:8])
    metadata = json.loads(checkpoint[8 : 8 + size])["__metadata__"]
    arrays = read(checkpoint)
    for name, array in arrays.items():
        yield save({other: values for other, values in arrays.items() if other != name}, metadata)
        yield save({**arrays, name: array[:-1]}, metadata)
        yield save({**arrays, name: array.reshape(1, -1)}, metadata)
        if array.dtype.kind == "f":
            yield save({**arrays, name: np.full_like(array, np.nan)}, metadata)
    ((key, text),) = metadata.items()
    header = json.loads(text)
    for name in header:
        yield save(arrays, {key: json.dumps({other: value for other, value in header.items() if other != name})})
        for wrong in (None, "many", -1, float("nan"), 10**400):
            yield save(arrays, {key: json.dumps({**header, name: wrong})})


def test_the_package_has_its_names() -> None:
    assert issubclass(package.IllegalAction, package.TapeteError)
    assert issubclass(TapeteError, ValueError)
