"""Files: all of one or nothing, on the disk before they get their names; what is wrong with one is told in a line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tapete.core import TapeteError
from tapete.core.arrays import read_arrays, read_format, write_arrays
from tapete.core.files import read_text, replacing, version_of
from tests.disk import watch_disk


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events, path = watch_disk(monkeypatch), tmp_path / "deep" / "x.safetensors"
    for number in range(2):
        write_arrays(path, {"a": np.arange(5)}, {"format": "x", "number": number})
        file, folder = path.stat().st_ino, path.parent.stat().st_ino
        assert events == [("disk", file), ("x.safetensors", file), ("disk", folder)]
        events.clear()
    assert read_arrays(path, "x")[1]["number"] == 1


def test_a_draft_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("old")

    def stop_in_the_middle() -> None:
        with replacing(path) as draft:
            draft.write_text("ne")
            assert draft.parent == path.parent, "a name can't be changed across file systems"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_in_the_middle()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]
    with replacing(path) as draft:
        draft.write_text("new")
    assert [file.read_text() for file in tmp_path.iterdir()] == ["new"]
    assert path.stat().st_mode & 0o777 == 0o644, "others may read it, as any file"


def test_a_file_that_changes_has_another_version(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("one")
    versions = [version_of(path), version_of(path)]
    assert versions[0] == versions[1]
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    (tmp_path / "y").write_text("two")
    os.replace(tmp_path / "y", path)
    os.utime(path, ns=times)
    versions.append(version_of(path))  # another file of the same size and time
    path.write_text("three")
    os.utime(path, ns=times)
    versions.append(version_of(path))  # the same file, longer
    os.utime(path, ns=(times[0], times[1] + 1))
    versions.append(version_of(path))
    assert len(set(versions)) == 4


def test_text_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes("señas".encode())
    assert read_text(path, 6) == "señas"
    with pytest.raises(TapeteError, match="too large: more than 5 bytes"):
        read_text(str(path), 5)
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert read_text(path, 6) == "abc", "the mark that some editors begin a file with is no text"
    path.write_bytes(b"a\xff")
    with pytest.raises(TapeteError, match="is not text"):
        read_text(path, 100)
    for nothing in (tmp_path, tmp_path / "y", Path("/dev/zero")):
        with pytest.raises(TapeteError, match="there is no file"):
            read_text(nothing, 100)


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x"
    arrays = {"a": np.array([[1.5, -0.0]]), "b": np.array([2**64 - 1], dtype=np.uint64), "c": np.zeros((0, 3), np.int8)}
    write_arrays(path, arrays, {"format": "some", "of": ["ñ", 1, None]})
    found, header = read_arrays(path, "some")
    assert header == {"format": "some", "of": ["ñ", 1, None]}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    assert read_format(path) == "some"
    with pytest.raises(TapeteError, match="has not the format 'other'"):
        read_arrays(path, "other")
