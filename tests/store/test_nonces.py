"""No nonce is used twice: what is given away of one history opens nothing of another."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from events.ledger import Append
from events.lines import Opening, commitment, lines, openings
from events.types import BidPlaced, Event, HandEnded, HandStarted, HoleDealt
from events.views import Auditor
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.proof.ledger_secrets import (
    SALTS_FILE,
    SaltedSecret,
    Salts,
    Secrets,
    salts_of,
    secret_name,
    writer_salts,
)
from store.proof.note import Signer
from store.reader import Reader
from store.verify import Verifier

SECRETS = Secrets(bytes(range(32)), Signer("m.local/test", bytes(32)))
AT = 1_790_000_000_000
CARDS = ("As", "Kd")


def written(folder: Path) -> FileLedger:
    folder.mkdir(exist_ok=True)
    return FileLedger(RealDisk(folder), secrets=SECRETS)


def hand(number: int, *cards: str) -> Append:
    """A hand of `m`, whose second bid is 0 and hidden like all the rest."""
    stream = f"m/{number}"
    events: tuple[Event, ...] = (
        HandStarted(stream, "auction-2024", "0" * 16, 0, ("ursa", "lynx"), (400, 400)),
        HoleDealt(0, cards),
        HoleDealt(1, ("2c", "2d")),
        BidPlaced(0, 7, True),
        BidPlaced(1, 0, True),
        HandEnded(),
    )
    return Append(stream, 0, events, AT)


def leaves(folder: Path) -> Iterator[tuple[tuple[Opening, ...], list[Any]]]:
    """Of every leaf what an auditor opens, and its public lines."""
    salts = salts_of(RealDisk(folder), SECRETS.nonces)
    for leaf in Reader(folder).snapshot().leaves():
        nonces = salts.of(leaf.stream, leaf.hand_seq)
        told = [msgspec.json.decode(line) for line in lines(leaf.recorded, nonces)]
        yield openings(leaf.recorded, nonces, Auditor()), told


def verified(folder: Path) -> bool:
    verifier = Verifier(Reader(folder).snapshot(), SECRETS.nonces)
    for _ in verifier.leaves():
        pass
    return verifier.verified().ok


def test_after_a_restore_no_old_nonce_opens_anything_of_the_new_branch(tmp_path: Path) -> None:
    """The attack: the same match is played again with other cards, and old openings are tried."""
    now, copy = tmp_path / "now", tmp_path / "copy"
    ledger = written(now)
    ledger.append(hand(1, "7c", "2h"))
    ledger.close()
    shutil.copytree(now, copy)
    branches = []
    for folder, cards in ((now, CARDS), (copy, ("Qs", "Qh"))):
        ledger = written(folder)
        ledger.append(hand(2, *cards))
        ledger.close()
        assert verified(folder)
        branches.append(list(leaves(folder)))
    (before, (old, _)), (same, (new, told)) = branches
    assert before == same  # what both have in common was signed for, and stays
    values = {(one.line, one.field): one.value for one in old}
    alike = [one for one in new if values[one.line, one.field] == one.value]
    assert len(alike) == len(new) - 1  # all but the cards of one seat
    assert set() == {one.nonce for one in old} & {one.nonce for one in new}
    hidden = {one[field]["commitment"] for one in told for field in one if _is_hidden(one[field])}
    assert len(hidden) == len(new)
    assert set() == hidden & {
        commitment(one.nonce, other.value) for one in old for other in (*old, *new)
    }
    assert hidden == {commitment(one.nonce, one.value) for one in new}


def _is_hidden(value: Any) -> bool:
    return isinstance(value, dict) and "commitment" in value


def test_a_process_that_is_put_back_itself_has_other_nonces_for_other_values(
    tmp_path: Path,
) -> None:
    """A machine is restored with its memory: the salt is the same, the nonces are of the values."""
    disk = RealDisk(tmp_path)
    written(tmp_path).close()
    nonces = salts_of(disk, SECRETS.nonces).of("m/1", 0)
    assert nonces.of("m/1", 1, "cards", CARDS) != nonces.of("m/1", 1, "cards", ("Qs", "Qh"))


def test_what_version_one_made_is_verified_by_version_one(tmp_path: Path) -> None:
    """A ledger of before goes on: old leaves keep their bytes, new ones have a salt."""
    written(tmp_path).close()
    (tmp_path / SALTS_FILE).write_text(f"{secret_name(SECRETS.nonces)}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "store.proof.notary.writer_salts", lambda disk, secret, next_seq: Salts(secret)
        )
        ledger = written(tmp_path)
        ledger.append(hand(1, *CARDS))
        ledger.close()
    assert (tmp_path / SALTS_FILE).read_text() == f"{secret_name(SECRETS.nonces)}\n"
    old = list(leaves(tmp_path))
    assert old[0][0][0].nonce == SaltedSecret(SECRETS.nonces).of("m").of("m/1", 1, "cards", CARDS)
    ledger = written(tmp_path)
    ledger.append(hand(2, *CARDS))
    ledger.seal()
    ledger.append(hand(3, *CARDS))
    ledger.close()
    assert verified(tmp_path)
    assert old == list(leaves(tmp_path))[:1]
    assert [1] == list(salts_of(RealDisk(tmp_path), SECRETS.nonces).firsts)


def test_an_opening_in_which_nothing_closed_leaves_no_line(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    found = set()
    for _ in range(3):
        written(tmp_path).close()
        found.add(salts_of(disk, SECRETS.nonces).salts)
    assert 3 == len(found)  # drawn anew each time: the last one may have gone with a lost branch
    assert {1} == {len(salts) for salts in found}


def test_runs_of_another_opening_are_not_taken_in(tmp_path: Path) -> None:
    """Their digests were made with its salt."""
    from events.ledger import Conflict
    from store.segments.staged_batches import make_batch

    ledger = written(tmp_path)
    batch = make_batch(ledger.nonces, [hand(1, *CARDS)])
    ledger.close()
    ledger = written(tmp_path)
    with pytest.raises(Conflict, match="this run was not made for this ledger"):
        ledger.append_batches([batch])
    ledger.append_batches([make_batch(ledger.nonces, [hand(1, *CARDS)])])
    ledger.close()
    assert verified(tmp_path)


@pytest.mark.parametrize("text", ["0 1\n", "1 {0}\n0 {0}\n", "0 {0}\n0 {0}\n", "x\n"])
def test_salts_that_make_no_sense_are_damage(text: str, tmp_path: Path) -> None:
    written(tmp_path).close()
    told = f"{secret_name(SECRETS.nonces)}\n" + text.format("ab" * 32)
    (tmp_path / SALTS_FILE).write_text(told)
    with pytest.raises(Damaged, match=f"{SALTS_FILE} is not the name of a secret"):
        written(tmp_path)


def test_a_partly_restored_ledger_goes_on_from_what_is_there(tmp_path: Path) -> None:
    """Salts of leaves that are not there any more are nobody's."""
    written(tmp_path).close()
    disk = RealDisk(tmp_path)
    later = writer_salts(disk, SECRETS.nonces, 5)
    assert [0, 5] == list(later.firsts)
    assert [0, 3] == list(writer_salts(disk, SECRETS.nonces, 3).firsts)
