"""Real PokerStars texts become told hands: how many agree with the rules, and why others do not."""

import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.verdict import judge
from events.evolve import replay
from formats.hand_records import hand_record
from formats.pokerstars.read import read
from formats.source import ImportRules, Refused, Skipped, SourceHand
from tests.profiles import sized

DATA = Path(__file__).parents[2].parent / "shared/data/pokerstars"


def _needs(folder: str) -> Path:
    path = DATA / folder
    if not path.exists():
        pytest.skip(f"{path} is absent: its hands cannot be read")
    return path


def _imported(texts: Iterator[bytes | Path]) -> tuple[Counter[str], Counter[str]]:
    """The verdicts on all hands of these texts, and why the others were left out."""
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for text in texts:
        try:
            hands = read(text).hands
        except Refused as refused:
            reasons[refused.reason] += 1
            continue
        for hand in hands:
            if isinstance(hand, Skipped):
                reasons[hand.reason] += 1
            else:
                verdicts[_balanced(hand)] += 1
    return verdicts, reasons


def _balanced(hand: SourceHand) -> str:
    """The verdict, once the record pays every seat and the house what the text says."""
    record = hand_record(hand, "h/1")
    end = replay(record)
    assert hand.rake == end.rake
    if hand.paid is not None:
        won = [
            sum(one.amount for one in hand.paid if one.seat == seat)
            for seat in range(len(hand.stacks))
        ]
        put_in = [
            before - after + back
            for before, after, back in zip(hand.stacks, end.stacks, won, strict=True)
        ]
        assert list(end.paid) == [paid - dead for paid, dead in zip(put_in, end.dead, strict=True)]
    return judge(hand.game, record).verdict


def test_every_holdem_hand_of_the_fpdb_texts_is_imported() -> None:
    """516 hands, and two that begin in the middle of a line."""
    verdicts, reasons = _imported(iter(sorted(_needs("fpdb").rglob("*.txt"))))
    assert {"agree": 452, "assuming": 48, "unknown": 10, "differ": 1} == verdicts
    assert {
        "6+ Hold'em No Limit is not hold'em of a kind we have rules for": 2,
        "Split Hold'em No Limit is not hold'em of a kind we have rules for": 1,
        "Omaha Pot Limit is not hold'em of a kind we have rules for": 3,
        "Omaha Hi/Lo Pot Limit is not hold'em of a kind we have rules for": 1,
        "the summary says that Player0 bet, the lines of play do not": 1,
        "the board was dealt more than once": 1,
        "the hand stops before its summary": 2,
    } == reasons


def test_every_holdem_hand_of_the_hhsmithy_texts_is_imported_or_named() -> None:
    """112 hands of hold'em: 108 read; one stops, two reach a cap, and of three the text is not
    the site's."""
    verdicts, reasons = _imported(iter(sorted(_needs("hhsmithy").rglob("*.txt"))))
    named = {why: count for why, count in reasons.items() if "is not hold'em" not in why}
    assert {"agree": 49, "assuming": 35, "unknown": 22, "differ": 2} == verdicts
    assert {
        "the hand stops before its summary": 1,
        "a bet has reached the cap of its table: no ruleset of ours knows one": 2,
        "115 put in and 25 given back are no pot of 50: the text does not balance": 1,
        'somebody without a seat plays: "Blahdieblah: posts big blind $0.16"': 1,
        "no PokerStars hand begins in this text": 1,
    } == named
    assert 13 == reasons.total() - sum(named.values())


def test_real_hands_are_held_against_the_table_of_rakes_and_never_fitted() -> None:
    """Two of them are of days and stakes for which a source vouches. One pays the rake of its row
    (4 %, fixed limit, 2012); the other is of Germany, where a quarter more is taken, 1.25 for 1."""
    verdicts, held = Counter[str](), list[str]()
    for text in (*_needs("fpdb").rglob("*.txt"), *_needs("hhsmithy").rglob("*.txt")):
        try:
            hands = list(read(text, rules=ImportRules(rake="known")).hands)
        except Refused:
            continue
        for hand in (one for one in hands if isinstance(one, SourceHand)):
            verdicts[_balanced(hand)] += 1
            held += [f"{hand.rake}: {one}" for one in hand.assumed if one.startswith("rake")]
    assert {"agree": 501, "assuming": 2, "unknown": 112, "differ": 4} == verdicts
    assert ["125: rake 5 % up to 100", "66: rake 4 % up to 80"] == sorted(
        one.partition(", as PokerStars takes of ")[0] for one in held
    )


def test_texts_of_other_sites_and_games_are_refused_or_left_out() -> None:
    texts = sorted(_needs("fpdb_gt").rglob("*.txt"))
    verdicts, reasons = _imported(iter(texts))
    assert {"agree": 1, "assuming": 1} == verdicts
    assert 2 == sum("is not hold'em" in why for why in reasons)
    assert len(texts) == 4 + sum(n for why, n in reasons.items() if "PokerStars" in why)


def test_pluribus_hands_told_as_text_agree_to_the_chip() -> None:
    packed = _needs("pluribus-visible.tar.gz")
    with tarfile.open(packed) as tar:
        members = [member for member in tar if member.isfile()][:: sized(10, 3, 1)]
        texts = (tar.extractfile(member) for member in members)
        verdicts, reasons = _imported(text.read() for text in texts if text is not None)
    assert {"agree": sized(345, 1472, 3960)} == verdicts
    assert {} == reasons
