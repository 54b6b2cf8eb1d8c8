"""The public PHH and ACPC hands: all of them, with the exceptions that are known and no other."""

import gzip
import re
import tarfile
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from engine.policies import per_chip
from engine.verdict import judge
from events.evolve import replay
from events.types import Events
from formats.acpc.log import write as write_acpc
from formats.acpc.read import read as read_acpc
from formats.hand_records import hand_record
from formats.phh.documents import write as write_phh
from formats.phh.read import PhhHand
from formats.phh.read import read as read_phh
from formats.source import Refused, SourceFile, SourceHand
from tests.profiles import sized

SHARED = Path(__file__).parents[2].parent / "shared/data"
PHH, ACPC = SHARED / "phh", SHARED / "acpc"
pytestmark = pytest.mark.skipif(
    not (PHH.is_dir() and ACPC.is_dir()), reason=f"the public hands are not at {SHARED}"
)
HALF_CHIPS = {"102/0", "32/23", "91/43", "91/53"}


def verdicts(source: SourceFile) -> Counter[str]:
    found = Counter[str]()
    for hand in source.hands:
        assert isinstance(hand, SourceHand), hand
        events = hand_record(hand, "m/1")
        found[judge(hand.game, events).verdict] += 1
        if hand.nets is not None:
            assert hand.nets == nets(events)
    return found


def nets(events: Events) -> tuple[int, ...]:
    hand = replay(events)
    return tuple(now - was for was, now in zip(hand.start.stacks, hand.stacks, strict=True))


def pluribus(step: int) -> Iterator[tuple[str, PhhHand]]:
    with tarfile.open(PHH / "pluribus-visible.tar.gz") as archive:
        for member in islice(filter(tarfile.TarInfo.isfile, archive), 0, None, step):
            file = archive.extractfile(member)
            assert file is not None
            (hand,) = read_phh(file.read()).hands
            assert isinstance(hand, PhhHand)
            yield member.name.removeprefix("pluribus/").removesuffix(".phh"), hand


@pytest.mark.parametrize(
    ("step", "agree", "assuming"),
    [
        sized((24, 162, 3), (6, 638, 22)),
        pytest.param(1, 3847, 113, marks=pytest.mark.slow),
    ],
)
def test_pluribus_is_read_to_the_half_chip(step: int, agree: int, assuming: int) -> None:
    """Nothing but the hand itself says who shows first: that is assumed."""
    found = Counter[str]()
    halves = set()
    for name, hand in pluribus(step):
        events = hand_record(hand, "m/1")
        found[judge(hand.game, events).verdict] += 1
        assert hand.nets == nets(events)
        if hand.game.unit == "half chip":
            halves.add(name)
    assert Counter(agree=agree, assuming=assuming) == found
    assert halves == (HALF_CHIPS if step == 1 else halves & HALF_CHIPS)


def test_wsop_hands_agree() -> None:
    files = sorted((PHH / "wsop-2023-43-5").glob("*.phh"))
    found = Counter[str]()
    codes = Counter[str]()
    for file in files:
        source = read_phh(file)
        found += verdicts(source)
        codes.update(hand.game.name for hand in source.hands if isinstance(hand, SourceHand))
    assert Counter(agree=13, assuming=1) == found  # who shows first
    assert Counter({"phh-nt": 9, "phh-ft": 5}) == codes


def test_examples_agree_and_badugi_is_refused_by_its_code() -> None:
    assert Counter(agree=1) == verdicts(read_phh(PHH / "examples/dwan-ivey-2009.phh"))
    assert Counter(agree=8) == verdicts(read_phh(PHH / "examples/handhq-sample.phhs"))
    with pytest.raises(Refused, match="variant FB is fixed-limit badugi"):
        read_phh(PHH / "examples/alice-carol-wikipedia.phh")


def test_pokerkit_reads_public_hands_written_again_to_the_same_stacks() -> None:
    """But for hands that end in half chips: those are a matter of the table."""
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    files = [*sorted((PHH / "wsop-2023-43-5").glob("*.phh")), PHH / "examples/dwan-ivey-2009.phh"]
    told = [one for file in files for one in read_phh(file).hands]
    told += [hand for name, hand in pluribus(sized(160, 40)) if name not in HALF_CHIPS]
    for hand in told:
        assert isinstance(hand, PhhHand)
        events = hand_record(hand, "m/1")
        text = write_phh(hand.game, events, hand.note)
        (again,) = read_phh(text).hands
        assert isinstance(again, PhhHand)
        assert hand_record(again, "m/1")[1:] == events[1:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of our own fields
            peer = list(pokerkit.HandHistory.loads(text))[-1]
        assert list(replay(events).stacks) == [
            stack * per_chip(hand.game.unit) for stack in peer.stacks
        ]


@pytest.mark.parametrize(("name", "halves"), [("2p.limit", set()), ("3p.nolimit", {"100", "459"})])
def test_dealer_logs_agree_and_are_written_again_to_the_byte(name: str, halves: set[str]) -> None:
    text = (ACPC / f"{name}.h1000.r0.log").read_text()
    source = read_acpc(text)
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    records = [(hand.game, hand_record(hand, f"m/{hand.source_id}")) for hand in told]
    found = Counter(judge(game, events).verdict for game, events in records)
    assert Counter(agree=1000) == found
    assert [hand.nets for hand in told] == [nets(events) for _, events in records]
    odd = {hand.source_id for hand in told if any(net % 2 for net in hand.nets or ())}
    assert halves == odd
    assert text == "".join(write_acpc(records, source.note))


@pytest.mark.parametrize("name", ["2p.limit", "3p.nolimit"])
def test_pokerkit_reads_public_logs_written_again_to_the_same_results(name: str) -> None:
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    lines = (ACPC / f"{name}.h1000.r0.log").read_text().splitlines(keepends=True)
    states = [line for line in lines if line.startswith("STATE")][:100:2]
    source = read_acpc("".join([line for line in lines if line.startswith("#")] + states))
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    written = "".join(
        write_acpc([(one.game, hand_record(one, "m/1")) for one in told], source.note)
    )
    if name == "2p.limit":
        peer, stack = pokerkit.FixedLimitTexasHoldem((), True, 0, (5, 10), 10, 20), 10**6
    else:
        peer, stack = pokerkit.NoLimitTexasHoldem((), True, 0, (50, 100), 100), 20_000
    text = "".join(line for line in written.splitlines(True) if line.startswith("STATE"))
    peers = pokerkit.HandHistory.from_acpc_protocol(peer, stack, text, error_status=True)
    for hand, one in zip(told, peers, strict=True):
        assert hand.nets == tuple(2 * (left - stack) for left in list(one)[-1].stacks)


@pytest.mark.parametrize("hands", [sized(300, 1000), pytest.param(10_000, marks=pytest.mark.slow)])
def test_deepstack_agrees(hands: int) -> None:
    with gzip.open(ACPC / "deepstack-first10000.log.gz", "rt") as file:
        text = "".join(islice(file, hands))
    source = read_acpc(text)
    assert "deepstack" == source.dialect
    told = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    records = [(hand.game, hand_record(hand, f"m/{hand.source_id}")) for hand in told]
    verdicts = Counter(judge(game, events).verdict for game, events in records)
    assert Counter(assuming=hands) == verdicts  # no line names blinds or stacks
    assert not any(net % 2 for hand in told for net in hand.nets or ())
    written = "".join(write_acpc(records, source.note))
    assert re.sub(r" # [\d.]+\s*$", "", text, flags=re.MULTILINE).strip() == written.strip()
    if hands == 10_000:
        assert 100 == sum(not any(hand.nets or ()) for hand in told)
        assert 123 == sum(40_000 in (hand.nets or ()) for hand in told)
