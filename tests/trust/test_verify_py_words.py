"""The command line of `verify.py`: which bundle it checks, which keys it believes, how it ends."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from api.evidence import verify as script
from api.evidence.bundle import zip_bytes
from events.types import BidPlaced, Shown
from tests.trust.own_bundles import ORIGIN, VERIFY, Draft, Files, Log, with_kinds

OTHER = Log(2)


def _draft(log: Log | None = None) -> Draft:
    draft = Draft(with_kinds("auction-2024", BidPlaced, Shown), "auditor")
    draft.log = log or Log()
    return draft


def _forged() -> Files:
    """A bundle of which a chip was changed."""
    files = _draft().files()
    record = files["events.jsonl"].replace(b'"amount":64', b'"amount":65')
    return {**files, "events.jsonl": record}


def _folder(path: Path, files: Files) -> Path:
    path.mkdir()
    for name, text in files.items():
        (path / name).write_bytes(text)
    return path


def _zip(path: Path, files: Files) -> Path:
    path.write_bytes(zip_bytes(files))
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """An unpacked bundle that is as it was signed."""
    return _folder(tmp_path / "good", _draft().files())


def _run(program: Path, *words: str | Path, cwd: Path = Path("/")) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "-I", "-S", program, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_it_judges_the_bundle_that_is_named_and_not_its_own_folder(
    good: Path, tmp_path: Path
) -> None:
    """The attack: it said of any bundle that all was well, because its own folder was."""
    program = good / "verify.py"
    assert 7 == _run(program)[0]
    for forged in (_zip(tmp_path / "forged.zip", _forged()), _folder(tmp_path / "bad", _forged())):
        code, told, _ = _run(program, forged)
        assert (3, "WRONG: events.jsonl was changed") == (code, told[:31])
        assert 0 != _run(program, forged, "--key", Log().key)[0]


@pytest.mark.parametrize("program", [VERIFY, "good"])
def test_a_trusted_copy_verifies_a_zip_and_a_folder(
    good: Path, tmp_path: Path, program: Path | str
) -> None:
    whole = _zip(tmp_path / "hand.zip", _draft().files())
    trusted = good / "verify.py" if program == "good" else VERIFY
    for bundle in (whole, good):
        code, told, said = _run(trusted, bundle, "--key", Log().key)
        assert (0, "") == (code, said)
        assert told.endswith(f"Signed by {Log().key}, a key that you know.\n")


def test_the_copy_in_the_bundle_is_not_run(tmp_path: Path) -> None:
    draft = _draft()
    files = draft.files()
    files["verify.py"] = b"print('OWNED')\n"
    del files["contents"]
    for bundle in (
        _zip(tmp_path / "hand.zip", draft.sealed(files)),
        _folder(tmp_path / "hand", draft.sealed(files)),
    ):
        code, told, _ = _run(VERIFY, bundle, "--key", Log().key)
        assert 0 == code
        assert "OWNED" not in told


def test_a_key_that_only_the_bundle_names_is_a_warning_and_a_code_of_its_own(good: Path) -> None:
    code, told, said = _run(VERIFY, good)
    assert (7, "") == (code, said)
    assert told.splitlines()[-1] == script.WARNING
    assert "say --key" in script.WARNING


def test_whoever_signs_everything_anew_is_found_out_by_the_key_that_is_known(
    tmp_path: Path,
) -> None:
    """The same name, another key: it holds in itself, and is not the log's."""
    forged = _folder(tmp_path / "forged", _draft(OTHER).files())
    code, told, _ = _run(VERIFY, forged, "--key", Log().key)
    assert 3 == code
    assert told == (
        f"WRONG: this is signed by {OTHER.key}, which is no key that you know;"
        f" of that log you know {Log().key}.\n"
    )


def test_a_log_of_another_name_is_none_that_is_known(tmp_path: Path) -> None:
    other = Log(3, "elsewhere.example")
    code, told, _ = _run(VERIFY, _folder(tmp_path / "e", _draft(other).files()), "--key", Log().key)
    expected = f"WRONG: this is signed by {other.key}, which is no key that you know.\n"
    assert (3, expected) == (code, told)


def test_known_keys_come_from_a_file_or_several(good: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_keys"
    known.write_text(f"# the club\n{OTHER.key}\r\n\n  {Log().key}\n")
    assert 0 == _run(VERIFY, good, "--key", known)[0]
    assert 0 == _run(VERIFY, f"--key={known}", good)[0]
    assert 0 == _run(VERIFY, good, "--key", OTHER.key, "--key", Log().key)[0]
    known.write_text(f"{OTHER.key}\n")
    assert 3 == _run(VERIFY, good, "--key", known)[0]


def test_a_key_is_read_before_a_file_of_its_name(good: Path, tmp_path: Path) -> None:
    """A file called like the key that is known must not be able to say another."""
    key = next(key for key in (Log(seed, "a.log").key for seed in range(99)) if "/" not in key)
    (tmp_path / key).write_text(f"{OTHER.key}\n")
    bundle = _folder(tmp_path / "e", _draft(OTHER).files())
    assert 3 == _run(VERIFY, bundle, "--key", key, cwd=tmp_path)[0]


MISUSE = {
    "an option that is not there": (
        ("--all",),
        'there is no option "--all": there are --key KEY, --policy FILE',
    ),
    "an option misspelled": (("--keys", "x"), 'there is no option "--keys"'),
    "two bundles": (("a.zip", "b.zip"), "one bundle is checked at a time, and 2 are named"),
    "no key after --key": (("a.zip", "--key"), "--key needs a public key, or a file of them"),
    "a key that is none": (
        ("--key", "nonsense"),
        '"nonsense" is neither a public key nor a file of them',
    ),
    "a key with another hash": (
        ("--key", Log().key.replace(Log().mark.hex(), "00000000")),
        "the key you know is damaged: its hash is not that of its name and key",
    ),
    "an empty file of keys": (("--key", "/dev/null"), "/dev/null holds no key"),
    "a file of something else": (("--key", str(VERIFY)), "line 2 is not one line NAME+HASH+KEY"),
}


@pytest.mark.parametrize(("words", "expected"), MISUSE.values(), ids=list(MISUSE))
def test_what_makes_no_sense_is_said_in_a_sentence_and_ends_with_2(
    words: tuple[str, ...], expected: str
) -> None:
    code, told, said = _run(VERIFY, *words)
    assert (2, "", 1) == (code, told, said.count("\n"))
    assert said.startswith("verify.py: ")
    assert expected in said


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_says_what_to_say_and_how_it_ends(word: str) -> None:
    code, told, _ = _run(VERIFY, word)
    assert 0 == code
    assert "python3 verify.py [PATH] [--key KEY]" in told
    assert {"0", "1", "2", "3", "7"} <= set(re.findall(r"\d+", told))


def test_what_is_not_there_cannot_be_checked() -> None:
    code, told, _ = _run(VERIFY, "/nowhere/hand.zip")
    assert (1, "NOT CHECKED: there is no file or folder /nowhere/hand.zip.\n") == (code, told)
    assert 1 == _run(VERIFY, "/dev/null")[0]


def test_what_is_no_zip_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "hand.zip").write_bytes(b"no zip at all, but long enough to be one")
    code, told, _ = _run(VERIFY, tmp_path / "hand.zip")
    expected = "WRONG: this is not a whole zip file: its last 22 bytes are not the end of a zip.\n"
    assert (3, expected) == (code, told)


@pytest.mark.parametrize("version", ["2", "17", "999999999"])
def test_a_bundle_of_a_later_version_needs_a_later_program(tmp_path: Path, version: str) -> None:
    draft = _draft()
    files = {**draft.files(), "future.bin": b"\x00"}
    files["contents"] = draft.log.note(f"muckrake evidence v{version}\n")
    code, told, _ = _run(VERIFY, _zip(tmp_path / "e.zip", files), "--key", Log().key)
    assert (1, 1) == (code, told.count("\n"))
    assert told == (
        f"NOT CHECKED: this bundle is of version {version}, and this verify.py knows no version"
        " after 1: take a newer one from somebody whom you trust.\n"
    )


@pytest.mark.parametrize("version", ["0", "01", "1.1", "x", ""])
def test_what_is_no_version_is_wrong(version: str) -> None:
    draft = _draft()
    text = draft.files()["contents"].decode().partition("\n\n")[0].partition("\n")[2]
    note = draft.log.note(f"muckrake evidence v{version}\n{text}\n")
    found = script.verify({**draft.files(), "contents": note})
    assert 3 == found.code
    assert "contents begins with" in found.problems[0]


def test_the_zip_is_judged_as_its_files_are(tmp_path: Path) -> None:
    """Packed by somebody else, with the names of folders: refused, and the folder is fine."""
    files = _draft().files()
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(f"hand/{name}", text)
    code, told, _ = _run(VERIFY, tmp_path / "e.zip")
    assert 3 == code
    assert '"hand/README.txt" is no name of a file: a bundle has no folders' in told
    assert ORIGIN in Log().key
