"""Evidence and verification as a user asks for them."""

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from api.cli.output import OWN_KEY, WRONG
from api.cli.verify import known_keys_file
from api.evidence import verify as script
from api.main import main
from store.folder.disk import RealDisk
from store.proof.notary import last_checkpoint
from tests.sessions import printed, said, told
from tests.trust.own_bundles import Log

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("chosen")
VIEWS = ("public", "seat:random-0", "seat:random-1", "auditor")


def key_of(folder: Path) -> tuple[str, str]:
    """The ledger's own key, as somebody knows it who kept the ledger."""
    return "--key", str(folder / "keys")


def bundle(folder: Path, file: Path, view: str = "auditor", hand: str = "scrim/7") -> Path:
    assert main(["audit", hand, "--evidence", str(file), "--as", view]) == 0
    return file


# verify FILE


@pytest.mark.parametrize("view", VIEWS)
def test_evidence_is_verified_here_and_by_its_own_script(
    folder: Path, tmp_path: Path, capsys: Captured, view: str
) -> None:
    file = bundle(folder, tmp_path / "e.zip", view)
    capsys.readouterr()
    here = printed(capsys, "verify", str(file), *key_of(folder))
    with zipfile.ZipFile(file) as packed:
        packed.extractall(tmp_path / "alone")
    alone = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", *key_of(folder)],
        cwd=tmp_path / "alone",
        capture_output=True,
        text=True,
        check=True,
    )
    assert here.split() == alone.stdout.split()  # it folds its lines
    assert f"This bundle is for {view}" in here


def test_every_viewpoint_proves_the_same_root_and_leaf(folder: Path, tmp_path: Path) -> None:
    seen = set()
    for number, view in enumerate(VIEWS):
        with zipfile.ZipFile(bundle(folder, tmp_path / f"{number}.zip", view)) as packed:
            names = ("events.jsonl", "leaf.json", "receipt.tlog-proof", "ruleset.json")
            seen.add(tuple(packed.read(name) for name in names))
    assert 1 == len(seen)


def test_nobody_gets_more_openings_than_he_may_see(folder: Path, tmp_path: Path) -> None:
    opened = {}
    for number, view in enumerate(VIEWS):
        with zipfile.ZipFile(bundle(folder, tmp_path / f"{number}.zip", view)) as packed:
            told = json.loads(packed.read("openings.json"))["openings"]
            opened[view] = {(one["line"], one["field"]) for one in told}
            assert ("report.txt" in packed.namelist()) == (view == "auditor")
    public, one, other, auditor = (opened[view] for view in VIEWS)
    assert (set(), set()) == (public, one & other)
    assert one < auditor
    assert other < auditor


def test_a_bundle_for_somebody_prints_no_report(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    """What an audit prints names every card."""
    file = tmp_path / "e.zip"
    assert "" == printed(capsys, "audit", "scrim/7", "--evidence", str(file), "--as", "public")


def test_a_changed_bundle_is_refused(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    file = bundle(folder, tmp_path / "e.zip")
    file.write_bytes(file.read_bytes().replace(b'"amount":2', b'"amount":3'))
    capsys.readouterr()
    assert main(["verify", str(file)]) == 3
    assert "is not a whole zip file" in capsys.readouterr().out


def test_verdicts_of_bundles_are_told_to_programs(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = bundle(folder, tmp_path / "e.zip")
    capsys.readouterr()
    document = told(capsys, "verify", str(file), *key_of(folder))
    assert (True, [], str(file)) == (document["ok"], document["wrong"], document["file"])
    assert document["key_known"]
    assert document["proved"]


def test_an_open_match_opens_everything_to_everybody(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    words = ("site-nl", "--hands", "5", "--seed", "1", "--match", "open", "--dealing", "committed")
    assert main(["play", *words, "--disclosure", "open-after-match"]) == 0
    file = bundle(tmp_path, tmp_path / "e.zip", "public", "open/3")
    capsys.readouterr()
    text = printed(capsys, "verify", str(file), *key_of(tmp_path / "led"))
    opened, of = text.partition("This bundle is for public: ")[2].split(" ")[:3:2]
    assert opened == of
    with zipfile.ZipFile(file) as packed:
        assert "deck.json" in packed.namelist()


def test_a_sealed_committed_match_opens_its_deck_to_auditors_only(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    words = ("site-nl", "--hands", "5", "--seed", "1", "--match", "shut", "--dealing", "committed")
    assert main(["play", *words]) == 0
    for view in ("public", "seat:random-0", "auditor"):
        file = bundle(tmp_path, tmp_path / f"{view[-1]}.zip", view, "shut/3")
        assert main(["verify", str(file), *key_of(tmp_path / "led")]) == 0
        with zipfile.ZipFile(file) as packed:
            assert ("deck.json" in packed.namelist()) == (view == "auditor")


# verify --all


def test_a_whole_ledger_is_verified(folder: Path, capsys: Captured) -> None:
    document = told(capsys, "verify", "--all", *key_of(folder))
    assert (True, 2, 52, 52, 52) == (
        document["ok"],
        document["matches"],
        document["hands"],
        document["replayed"],
        document["balanced"],
    )
    text = printed(capsys, "verify", "--all", *key_of(folder))
    assert "2 matches, 52 hands" in text
    assert "signed by muckrake.local/" in text


def test_committed_decks_are_dealt_again(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    words = ("swap-2022", "--hands", "9", "--seed", "1", "--dealing", "committed")
    assert main(["play", *words]) == 0
    capsys.readouterr()
    assert 9 == told(capsys, "verify", "--all", *key_of(tmp_path / "led"))["decks"]


def test_the_ledger_must_begin_with_a_checkpoint_that_was_kept(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    words = ("auction-2024", "--hands", "5", "--seed", "1", "--match")
    assert main(["play", *words, "one"]) == 0
    shutil.copy(tmp_path / "led/tree/checkpoint", kept)
    assert main(["play", *words, "two"]) == 0
    assert main(["verify", "--all", *key_of(tmp_path / "led"), "--checkpoint", str(kept)]) == 0
    known = last_checkpoint(RealDisk(tmp_path / "led"))
    assert known is not None
    assert 14 == known.checkpoint.size
    capsys.readouterr()
    other = ("verify", "--all", "--checkpoint", str(kept), "--ledger", str(folder))
    assert main([*other]) == 3
    assert "of which no key is known" in capsys.readouterr().out


def test_findings_are_named_and_end_with_3(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "tree/checkpoint").write_text("nothing\n")
    assert main(["verify", "--all", "--ledger", str(copy)]) == 3
    assert "tree/checkpoint cannot be believed" in capsys.readouterr().out


# Keys.


def test_codes_are_those_of_the_verifier_in_a_bundle() -> None:
    assert (script.WRONG, script.OWN_KEY) == (WRONG, OWN_KEY)


def test_a_bundle_under_its_own_key_alone_is_told_apart(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = bundle(folder, tmp_path / "e.zip")
    capsys.readouterr()
    assert script.WARNING in printed(capsys, "verify", str(file), code=7)
    document = told(capsys, "verify", str(file), code=7)
    assert (True, False) == (document["ok"], document["key_known"])


def test_a_ledger_that_was_signed_anew_is_found_out(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The house writes its history again, under a key of its own: only a known key tells."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    assert main(["play", "auction-2024", "--hands", "5", "--seed", "2", "--match", "scrim"]) == 0
    capsys.readouterr()
    text = printed(capsys, "verify", "--all", code=7)
    assert "WARNING: nothing says whose key this is but the ledger's own folder" in text
    assert not told(capsys, "verify", "--all", code=7)["key_known"]
    text = printed(capsys, "verify", "--all", *key_of(folder), code=3)
    assert "and not by a key that you know" in text
    file = bundle(tmp_path / "led", tmp_path / "e.zip", "public", "scrim/3")
    capsys.readouterr()
    assert "which is no key that you know" in printed(
        capsys, "verify", str(file), *key_of(folder), code=3
    )


def test_who_knows_the_old_key_follows_its_statement_to_the_new_one(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "led"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    words = ("play", "auction-2024", "--hands", "3", "--seed", "1", "--match")
    assert main([*words, "before"]) == 0
    kept = tmp_path / "kept"
    shutil.copy(folder / "keys", kept)
    for number in (1, 2):
        assert main(["key", "replace"]) == 0
        assert main([*words, f"after{number}"]) == 0
    capsys.readouterr()
    printed(capsys, "verify", "--all", "--key", str(kept))
    (folder / "replaced" / "1").unlink()
    text = printed(capsys, "verify", "--all", "--key", str(kept), code=3)
    assert "and not by a key that you know" in text


def test_the_users_own_file_of_known_keys_is_asked(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = bundle(folder, tmp_path / "e.zip")
    kept = tmp_path / "known_keys"
    monkeypatch.setenv("MUCKRAKE_KNOWN_KEYS", str(kept))
    for words in (("verify", str(file)), ("verify", "--all")):
        kept.write_text("# nothing of this log\n" + Log(2, "elsewhere.example").key + "\n")
        printed(capsys, *words, code=7)
        kept.write_text((folder / "keys").read_text())
        printed(capsys, *words)
        kept.write_text(Log(2, (folder / "keys").read_text().partition("+")[0]).key + "\n")
        assert "key that you know" in printed(capsys, *words, code=3)


def test_the_users_own_file_lies_where_programs_keep_such(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MUCKRAKE_KNOWN_KEYS", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert tmp_path / "muckrake" / "known_keys" == known_keys_file()
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert Path.home() / ".config" / "muckrake" / "known_keys" == known_keys_file()


def test_an_unpacked_bundle_is_verified_as_the_zip_is(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = bundle(folder, tmp_path / "e.zip")
    with zipfile.ZipFile(file) as packed:
        packed.extractall(tmp_path / "alone")
    capsys.readouterr()
    words = key_of(folder)
    assert printed(capsys, "verify", str(file), *words) == printed(
        capsys, "verify", str(tmp_path / "alone"), *words
    )


# Misuse.


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 2, "name a bundle to verify, or the whole ledger with --all"),
        (("e.zip", "--all"), 2, "name a bundle to verify, or the whole ledger with --all"),
        (("e.zip", "--key", "x"), 2, '"x" is neither a public key nor a file of them'),
        (("nowhere.zip",), 1, "there is no file or folder nowhere.zip"),
        (("--all", "--ledger", "/nowhere"), 5, "there is no ledger in /nowhere"),
    ],
)
def test_verify_says_what_it_needs(
    capsys: Captured, words: tuple[str, ...], code: int, sentence: str
) -> None:
    assert sentence in said(capsys, code, "verify", *words)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("scrim/1", "scrim/2"), 2, "--evidence is of one hand"),
        (("--all",), 2, "--evidence is of one hand"),
        (("scrim/99",), 5, "there is no hand scrim/99"),
        (("scrim/1", "--as", "seat:nobody"), 4, "seat:nobody is no viewpoint here"),
    ],
)
def test_evidence_says_what_it_needs(
    capsys: Captured, tmp_path: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    file = tmp_path / "e.zip"
    assert sentence in said(capsys, code, "audit", *words, "--evidence", str(file))
    assert not file.exists()


def test_there_is_no_evidence_where_nothing_was_signed(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "tree/checkpoint").unlink()
    told = said(capsys, 1, "audit", "scrim/7", "--evidence", "e.zip", "--ledger", str(copy))
    assert "nothing was ever signed for in this ledger" in told


def test_there_is_no_evidence_without_the_secrets(
    folder: Path, tmp_path: Path, capsys: Captured
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / "private")
    told = said(capsys, 1, "audit", "scrim/7", "--evidence", "e.zip", "--ledger", str(copy))
    assert "holds no secrets: only who has them can open what is hidden" in told
    told = said(capsys, 1, "verify", "--all", "--ledger", str(copy))
    assert "nonce.key is not there: without it no digest can be made again" in told
