"""The whole ledger verified: nothing that was signed for can be changed, moved or left out.

The forger here is the strongest there is: he can write to the folder, knows the format, and makes
every checksum right again. What he does not have is the signing key.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from events.types import Called, Event, Events, Folded, HandStarted, HoleDealt, PotSplit
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.proof.ledger_secrets import SecretFolder, Secrets
from store.proof.note import Signer
from store.proof.tree import Refuted
from store.reader import Reader
from store.tables.projection import STANDARD
from store.verify import Verified, Verifier
from tests.profiles import sized
from tests.store.small_hands import noted

pytestmark = pytest.mark.usefixtures("salted")
SECRETS = Secrets(bytes(range(32)), Signer("m.local/ledger", bytes(32)))
STRANGER = Secrets(SECRETS.nonces, Signer("m.local/ledger", bytes([1]) * 32))
HANDS = tuple(play(GAMES["auction-2024"], "m", 12, "verify"))
where_hands_lie = pytest.mark.parametrize("seal_hands", [5, 1000], ids=["sealed", "hot"])


def written(
    folder: Path,
    hands: Sequence[Events] = HANDS,
    seal_hands: int = 5,
    secrets: Secrets = SECRETS,
) -> Path:
    folder.mkdir(exist_ok=True)
    ledger = FileLedger(
        RealDisk(folder), STANDARD, seal_hands=seal_hands, secrets=secrets, clock=lambda: 0
    )
    ledger.append(noted(0, "a file"))
    for hand in hands:
        start = hand[0]
        assert isinstance(start, HandStarted)
        ledger.append(Append(start.hand, 0, hand, 1_000))
    ledger.close()
    return folder


def verified(folder: Path, older: bytes | None = None) -> Verified:
    verifier = Verifier(Reader(folder).snapshot(), SECRETS.nonces, older)
    for _ in verifier.leaves():
        pass
    return verifier.verified()


def sentences(folder: Path, older: bytes | None = None) -> list[str]:
    found = verified(folder, older)
    return [f"{one.where}: {one.sentence}" for one in found.wrong if not one.note]


def forged(tmp_path: Path, hands: Sequence[Events], seal_hands: int) -> list[str]:
    """What is found where the forger has put his own history under the signed checkpoint."""
    honest = written(tmp_path / "honest", seal_hands=seal_hands)
    forgery = written(tmp_path / "forged", hands, seal_hands)
    shutil.copy(honest / "tree/checkpoint", forgery / "tree/checkpoint")
    return sentences(forgery)


def changed(number: int, change: Callable[[Event], Event | None]) -> tuple[Events, ...]:
    """The history with one hand's events changed, or left out where nothing is given back."""
    told = tuple(new for event in HANDS[number] if (new := change(event)) is not None)
    assert told != HANDS[number]
    return (*HANDS[:number], told, *HANDS[number + 1 :])


def other_cards(event: Event) -> Event:
    """Of seat 0, which nobody saw."""
    if isinstance(event, HoleDealt) and event.seat == 0:
        return replace(event, cards=("2c", "2d"))
    return event


def other_winner(event: Event) -> Event:
    """A pot goes to the other seat."""
    if isinstance(event, PotSplit) and len(event.seats) == 1:
        return replace(event, seats=(1 - event.seats[0],))
    return event


def no_answer(event: Event) -> Event | None:
    return None if isinstance(event, Folded | Called) else event


@where_hands_lie
def test_an_honest_ledger_has_nothing_wrong(tmp_path: Path, seal_hands: int) -> None:
    found = verified(written(tmp_path / "a", seal_hands=seal_hands))
    assert (True, 1, 12, 13, 13) == (
        found.ok,
        found.matches,
        found.hands,
        found.digests,
        found.leaves,
    )
    assert (12, 12, 13) == (found.replayed, found.balanced, found.size)
    assert (SECRETS.signer.key.text(),) == found.signed_by
    assert found.commitments > 12 * 4


@where_hands_lie
@pytest.mark.parametrize(
    "hands",
    [
        pytest.param(HANDS[:-1], id="a dropped hand"),
        pytest.param((*HANDS[:3], HANDS[4], HANDS[3], *HANDS[5:]), id="reordered hands"),
        pytest.param(HANDS[1:], id="a dropped first hand"),
        pytest.param(changed(2, other_cards), id="other cards that nobody saw"),
        pytest.param(changed(0, no_answer), id="an action left out"),
        pytest.param(changed(1, other_winner), id="a pot for the other"),
    ],
)
def test_another_history_is_refused(
    tmp_path: Path, hands: tuple[Events, ...], seal_hands: int
) -> None:
    assert forged(tmp_path, hands, seal_hands)


def test_a_changed_hand_is_named_if_the_tree_is_the_signed_one(tmp_path: Path) -> None:
    """The forger changed the segment and its digests, and left the tree as it was signed."""
    honest = written(tmp_path / "honest")
    forgery = written(tmp_path / "forged", changed(2, other_cards))
    shutil.rmtree(forgery / "tree")
    shutil.copytree(honest / "tree", forgery / "tree")
    told = "its events are not the ones whose digest was signed"
    assert [f"m/3: {told}"] == sentences(forgery)


def test_a_history_signed_by_another_key_shows_that_key(tmp_path: Path) -> None:
    """Whoever has the folder can sign everything anew: the key is what an auditor compares."""
    found = verified(written(tmp_path / "a", HANDS[:-1], secrets=STRANGER))
    assert found.ok
    assert (STRANGER.signer.key.text(),) == found.signed_by != (SECRETS.signer.key.text(),)


def test_a_forked_history_does_not_begin_with_the_checkpoint_that_was_kept(tmp_path: Path) -> None:
    """The operator himself signed two histories; who has a checkpoint of one sees through it."""
    kept = (written(tmp_path / "one", HANDS[:6]) / "tree/checkpoint").read_bytes()
    fork = written(tmp_path / "two", (*HANDS[:5], *HANDS[6:]))
    told = "the first 7 closed streams are not those it was signed for"
    assert [f"the checkpoint that you kept: {told}"] == sentences(fork, kept)
    grown = written(tmp_path / "three")
    assert [] == sentences(grown, kept)


def test_a_ledger_that_shrank_is_told_by_the_checkpoint_that_was_kept(tmp_path: Path) -> None:
    kept = (written(tmp_path / "whole") / "tree/checkpoint").read_bytes()
    shrunk = written(tmp_path / "shrunk", HANDS[:4])
    told = "it was signed for 13 closed streams, and 5 are there: the end of the ledger is lost"
    assert [f"the checkpoint that you kept: {told}"] == sentences(shrunk, kept)


def test_a_checkpoint_of_a_stranger_is_no_checkpoint_to_keep(tmp_path: Path) -> None:
    strange = written(tmp_path / "strange", secrets=STRANGER) / "tree/checkpoint"
    (told,) = sentences(written(tmp_path / "a"), strange.read_bytes())
    assert "no known key has signed this" in told


@pytest.mark.parametrize("name", ["tree/0", "tree/checkpoint", "keys", "manifest.json", "log"])
def test_every_flipped_byte_of_a_small_ledger_is_found(tmp_path: Path, name: str) -> None:
    """Segments have a test of their own (test_damage.py): their digests are in the manifest."""
    honest = written(tmp_path / "a", HANDS[:4], seal_hands=2)
    path = next((honest / "log").iterdir()) if name == "log" else honest / name
    whole = path.read_bytes()
    missed = []
    for place in range(0, len(whole), max(1, len(whole) // sized(quick=25, ci=60, slow=400))):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        if not is_refused(honest):
            missed.append(place)
    assert [] == missed


def is_refused(folder: Path) -> bool:
    """By a sentence at opening, by a finding, or by the name of another key."""
    try:
        found = verified(folder)
    except (Damaged, Refuted):
        return True
    return not found.ok or found.signed_by != (SECRETS.signer.key.text(),)


def test_a_lost_nonce_secret_makes_every_digest_wrong(tmp_path: Path) -> None:
    honest = written(tmp_path / "a")
    verifier = Verifier(Reader(honest).snapshot(), bytes(32))
    for _ in verifier.leaves():
        pass
    assert not verifier.verified().ok


def test_secrets_are_not_in_what_is_published(tmp_path: Path) -> None:
    """Whoever has everything but `private/` has neither secret in it, in no spelling."""
    secrets = SecretFolder(tmp_path).secrets()
    seed = secrets.signer.spelled().strip().split(b"+", 4)[4]  # which may have a + in it
    written(tmp_path / "a", secrets=secrets)
    for path in (tmp_path / "a").rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        for secret in (secrets.nonces, secrets.nonces.hex().encode(), seed):
            assert secret not in data
