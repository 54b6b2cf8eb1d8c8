"""The dealer binds himself first, hears the players then, and opens what the match allows."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from dealer.deck import NONCE_MAX, CommittedDecks, Committer, SeededDecks, deck_of_key, nonce_record
from engine.turn import ToDeal
from events.cards import Cards
from events.deck import committed, earlier, opened_key, unfit
from events.ledger import DeckChain, DeckSecrets
from events.match import DeckCommitted, DeckOpened, Match, NonceGiven
from store.proof.ledger_secrets import SecretFolder
from tests.trust.committed_matches import DecksInMemory

WHOLE = ToDeal(52, "hole", ())


class Table:
    """A match at its beginning: what was published, asked and kept, in order."""

    def __init__(self, *nonces: tuple[str, str | None], hands: int = 10, deals: int = 1) -> None:
        self.log: list[str] = []
        self.records: list[Match] = []
        self.kept = DecksInMemory(self.log)
        self._given = nonces or (("ursa", "one"), ("lynx", "two"))
        committer = Committer("m", self.kept, self._publish, self._nonces)
        self.decks = CommittedDecks("m", committer.chain, hands, deals)

    def _publish(self, records: tuple[Match, ...]) -> None:
        self.records.extend(records)
        self.log += [type(record).__name__ for record in records]

    def _nonces(self, commitment: str) -> Iterable[tuple[str, str | None]]:
        assert commitment in [r.commitment for r in self.records if isinstance(r, DeckCommitted)]
        self.log.append("asked")
        return self._given


def order(decks: CommittedDecks | SeededDecks, number: int) -> Cards:
    return decks.deck(number).deal(WHOLE).cards


def test_the_secret_is_kept_before_the_commitment_and_that_before_anybody_is_asked() -> None:
    table = Table()
    table.decks.deck(1)
    assert ["kept", "DeckCommitted", "asked", "NonceGiven", "NonceGiven"] == table.log
    (chain,) = table.kept.chains("m")
    (made,) = committed(table.records)
    assert made.commitment == earlier(bytes.fromhex(chain.secret), chain.hands).hex()
    assert (NonceGiven("ursa", "one", "player"), NonceGiven("lynx", "two", "player")) == made.nonces


def test_a_crash_while_the_commitment_is_written_leaves_the_secret(tmp_path: Path) -> None:
    """Published perhaps, perhaps not: in both cases the auditor can open it."""

    def full(records: tuple[Match, ...]) -> None:
        raise OSError("No space left on device")

    tmp_path.chmod(0o700)
    kept: DeckSecrets = SecretFolder(tmp_path)
    committer = Committer("m", kept, full, lambda commitment: pytest.fail("asked too soon"))
    with pytest.raises(OSError, match="No space"):
        CommittedDecks("m", committer.chain).deck(1)
    (chain,) = SecretFolder(tmp_path).chains("m")
    assert 32 == len(bytes.fromhex(chain.secret))


def test_a_secret_that_cannot_be_kept_commits_to_nothing() -> None:
    class Full(DecksInMemory):
        def keep(self, match: str, chain: DeckChain) -> None:
            raise OSError("No space left on device")

    said: list[Match] = []
    committer = Committer("m", Full(), said.extend, lambda commitment: ())
    with pytest.raises(OSError, match="No space"):
        CommittedDecks("m", committer.chain).deck(1)
    assert [] == said


def test_a_chain_that_runs_out_is_followed_by_another_with_new_nonces() -> None:
    table = Table(hands=3)
    for number in range(1, 8):
        table.decks.deck(number)
    assert [(1, 3), (4, 3), (7, 3)] == [(c.first, c.hands) for c in committed(table.records)]
    assert 3 == table.log.count("asked")
    assert 3 == len({chain.secret for chain in table.kept.chains("m")})


def test_no_deck_comes_twice() -> None:
    first, again = Table(hands=3), Table(hands=3)
    orders = [order(decks, n) for decks in (first.decks, again.decks) for n in range(1, 8)]
    assert 14 == len(set(orders))


def test_mirrored_hands_get_one_deck_and_no_chain_ends_between_them() -> None:
    table = Table(hands=3, deals=2)
    orders = [order(table.decks, number) for number in range(1, 9)]
    assert orders[::2] == orders[1::2]
    assert 4 == len(set(orders))
    assert [4, 4] == [one.hands for one in committed(table.records)]
    seeded = [order(SeededDecks("7", 2), number) for number in range(1, 9)]
    assert seeded[::2] == seeded[1::2]
    assert 4 == len(set(seeded))


@pytest.mark.parametrize("deals", [1, 2, 3])
def test_what_is_opened_recomputes_every_deck_up_to_it(deals: int) -> None:
    table = Table(hands=6, deals=deals)
    dealt = {number: order(table.decks, number) for number in range(1, 13)}
    opened = table.decks.opened(11, over=True)
    assert [6, 11] == [one.number for one in opened]
    for made, opening in zip(committed(table.records), opened, strict=True):
        assert unfit(made, opening) is None
        for number in range(made.first, opening.number + 1):
            base = number - (number - 1) % deals
            key = opened_key(opening, made.nonces, "m", base)
            assert dealt[number] == deck_of_key(key).deal(WHOLE).cards


def test_decks_are_opened_hand_by_hand_and_each_chain_to_its_end() -> None:
    table = Table(hands=4)
    found: list[int] = []
    for number in range(1, 11):
        table.decks.deck(number)
        if number != 4:  # two hands became durable together
            found += [one.number for one in table.decks.opened(number, over=False)]
    assert [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] == found
    assert () == table.decks.opened(10, over=True)


def test_a_deck_that_is_still_to_be_dealt_again_stays_closed() -> None:
    """Or the second player of a mirrored deal would know it."""
    table = Table(hands=6, deals=2)
    for number in range(1, 6):
        table.decks.deck(number)
    found = [table.decks.opened(number, over=False) for number in range(1, 6)]
    assert [[], [2], [], [4], []] == [[one.number for one in each] for each in found]
    assert [5] == [one.number for one in table.decks.opened(5, over=True)]


def test_decks_committed_to_for_another_process_are_the_same_decks() -> None:
    table = Table(hands=3)
    elsewhere = table.decks.committed(8)
    assert 3 == table.log.count("DeckCommitted")
    for number in range(1, 9):
        assert order(table.decks, number) == order(elsewhere, number)
    assert 3 == table.log.count("DeckCommitted")


def test_openings_are_secrets_that_lead_back_to_one_another() -> None:
    table = Table(hands=5)
    for number in range(1, 6):
        table.decks.deck(number)
    found = [one for n in range(1, 6) for one in table.decks.opened(n, over=False)]
    for sooner, later in pairwise(found):
        assert bytes.fromhex(sooner.secret) == earlier(bytes.fromhex(later.secret))
    assert DeckOpened(5, table.kept.chains("m")[0].secret) == found[-1]


@pytest.mark.parametrize("given", ["x", "correct horse battery staple", "a" * NONCE_MAX])
def test_a_players_nonce_stands_as_he_gave_it(given: str) -> None:
    assert NonceGiven("ann", given, "player") == nonce_record("ann", given)


@pytest.mark.parametrize("given", [None, "", "a" * (NONCE_MAX + 1), "tab\t", "naïve", "\ud800"])
def test_for_a_nonce_that_cannot_stand_one_is_drawn(given: str | None) -> None:
    drawn = nonce_record("ann", given)
    assert ("dealer", 64) == (drawn.drawn_by, len(drawn.nonce))
    assert drawn.nonce != nonce_record("ann", given).nonce
