"""Whether cards, swaps, bids and decks are as chance alone would have them.

One test a row, judged together; for an auditor, and the command ends with code 3 if one fails.
Every hand is read whole, so it takes its time: 10,000 hands need some seconds. Decks that were
dealt mirrored, or from a seed that came before, are counted once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from analytics import fairness as chance_tests
from analytics.auctions.sniffing import pair_tests
from analytics.fairness import dealt_hands
from analytics.luck.equity_cache import equity_cache
from analytics.projections.auctions import AUCTIONS
from analytics.projections.equity import RunOut, luck_rows
from analytics.projections.facts import played_projection, risks_projection
from analytics.replay.rules import Rulebook
from analytics.sql import quoted
from api.evidence.bundle import DeckChecks
from api.problem import Problem
from api.questions.player_measures import p_text
from api.questions.question import Cell, Match, Question, Sheet, Table
from api.viewpoints.hand_selection import NotInLedger, Selection
from api.viewpoints.hand_selection import leaves as read
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress, without_progress
from events.ledger import is_match
from events.match import MatchStarted
from store.columns.codec import Row
from store.folder.disk import cache_folder
from store.log.streams import Leaf, split_stream
from store.proof.ledger_secrets import SecretFolder
from store.reader import Snapshot


def repeated_seed_matches(ledger: Snapshot) -> set[str]:
    """The matches dealt from a seed that an earlier match had: they have no shuffles of their
    own."""
    seeds: set[str] = set()
    found = set()
    for match in ledger.matches():
        for recorded in ledger.read(match):
            if isinstance(recorded.event, MatchStarted) and recorded.event.dealing == "seeded":
                seed = recorded.event.seed or match
                if seed in seeds:
                    found.add(match)
                seeds.add(seed)
    return found


def hands_per_deck(ledger: Snapshot) -> dict[str, int]:
    """In how many hands in a row each match deals the same deck: more than one is mirrored."""
    found = {}
    for match in ledger.matches():
        for recorded in ledger.read(match):
            if isinstance(recorded.event, MatchStarted):
                found[match] = recorded.event.deals
    return found


HANDS_MAX = 20_000  # that are read while somebody waits
RUNOUTS_MAX = 2_000  # hands closed with cards to come, evenly spread, whose equity is counted


class FairnessParams(Struct, frozen=True):
    """Parameters of `fairness`: all hands, or those of a match."""

    match: Match = None


class Tested(Struct, frozen=True, rename={"p_adjusted": "counted"}):
    """A test of chance; there is no p where there were too few hands."""

    name: Annotated[str, Meta(title="test")]
    about: Annotated[str, Meta(title="of")]
    n: int
    needed: Annotated[int, Meta(description="how many it takes")]
    statistic: float | None
    freedom: int | None
    p: float | None
    p_adjusted: Annotated[float | None, Meta(description="p among all tests made")]
    effect: Annotated[float | None, Meta(description="the least it would have seen")]
    unit: Annotated[str, Meta(description="of that effect")]
    verdict: str


class Decks(Struct, frozen=True):
    """Counts of hands whose decks were committed to: all must be what was dealt."""

    checked: int
    wrong: list[str]


class Fairness(Struct, frozen=True, tag_field="schema", tag="muckrake.fairness/1"):
    """The tests, how hands were dealt, what had to be left out, and which decks are wrong."""

    hands: int
    dealing: dict[str, int]
    left_out: dict[str, int]
    repeated: list[str]
    decks: Decks
    tests: list[Tested]


def fairness(
    viewed: LedgerView, params: FairnessParams, watch: ShowProgress = without_progress
) -> Fairness:
    """Test all hands of the ledger, or of one match; a deck that was dealt twice counts once."""
    ledger, match = viewed.snapshot, params.match
    if match is not None and next(ledger.hands(match), None) is None:
        raise NotInLedger(f"there is no match {match}: muckrake matches lists those there are")
    every = (leaf for leaf in read(ledger, Selection(match)) if not is_match(leaf.stream))
    leaves = list(watch(every, "reading hands", count_hands_of(viewed, match)))
    if not leaves:
        raise NotInLedger("no hand was played here")
    again = repeated_seed_matches(ledger) if match is None else set()
    fresh = [leaf for leaf in leaves if split_stream(leaf.stream)[0] not in again]
    dealt = dealt_hands(fresh, hands_per_deck(ledger))
    tests = [
        *chance_tests.card_tests(dealt.hands),
        chance_tests.run_out_test(_run_outs(ledger, fresh, watch)),
        *chance_tests.swap_tests(risks_projection(ledger.ruleset).build(fresh).to_pylist()),
        *chance_tests.bid_tests(pair_tests(AUCTIONS.build(fresh))),
    ]
    tested = [
        Tested(**asdict(test), verdict=test.verdict) for test in chance_tests.with_holm(tests)
    ]
    # Hands beside the decks that were committed to.
    decks_kept = DeckChecks(ledger, SecretFolder(ledger.live.folder))
    found = [(leaf.stream, decks_kept.problem(leaf)) for leaf in leaves]
    wrong = [f"{hand}: {sentence}" for hand, sentence in found if sentence]
    decks = Decks(decks_kept.checked + len(wrong), wrong)
    # How many hands were dealt how: from a seed, from committed decks, or somewhere else.
    dealing: Counter[str] = Counter()
    for name, hands in Counter(split_stream(leaf.stream)[0] for leaf in leaves).items():
        events = (recorded.event for recorded in ledger.read(name))
        kinds = (event.dealing for event in events if isinstance(event, MatchStarted))
        dealing[next(kinds, "not told")] += hands
    how = dict(sorted(dealing.items()))
    return Fairness(len(leaves), how, dealt.left_out, sorted(again), decks, tested)


def count_hands_of(viewed: LedgerView, match: str | None) -> int:
    """The number of hands of a match, or of all matches; records of a match are no hands."""
    of = "" if match is None else f" WHERE match = {quoted(match)}"
    (counted,) = viewed.rows(f"SELECT count(*) AS n FROM hands{of}")
    return int(counted["n"])


def check_size(viewed: LedgerView, params: FairnessParams) -> None:
    """Refuse more hands than a request may test."""
    match = params.match
    hands = count_hands_of(viewed, match)
    if hands > HANDS_MAX:
        how = "muckrake fairness" + ("" if match is None else f" --match {match}")
        sentence = f"these are {hands} hands, and {HANDS_MAX} are tested here: {how} tests all"
        raise Problem("too-large", sentence, hands=hands, hands_max=HANDS_MAX)


def _run_outs(ledger: Snapshot, leaves: Sequence[Leaf], watch: ShowProgress) -> Iterator[Row]:
    """What some hands that closed with cards to come were worth when they did."""
    table = played_projection(ledger.ruleset).build(leaves)
    rows = table.filter(table["may_close"]).to_pylist()
    shut = [list(group) for _, group in groupby(rows, itemgetter("hand_seq"))]
    count = min(RUNOUTS_MAX, len(shut))
    some = [shut[at * len(shut) // count] for at in range(count)]
    rules, known = Rulebook(ledger.ruleset), equity_cache(cache_folder())
    for hand in watch(some, "counting run-outs", count):
        first = hand[0] | {"hand": f"{hand[0]['match']}/{hand[0]['number']}"}
        if first["spot"] is not None:
            spot = msgspec.json.decode(first["spot"], type=RunOut)
            for row, luck in zip(hand, luck_rows(first, spot, rules, known.worth), strict=False):
                yield row | luck


def sheets(answer: Fairness, params: FairnessParams) -> Iterator[Sheet | str]:
    """A line for each test, and what may not be concluded."""
    lines = []
    for test in answer.tests:
        freedom = "" if test.freedom is None else f" ({test.freedom})"
        texts = (
            test.name,
            test.about,
            f"{test.n:,}",
            "" if test.statistic is None else f"{test.statistic:.3g}{freedom}",
            p_text(test.p, 3),
            p_text(test.p_adjusted, 3),
            "" if test.effect is None else f"{test.effect:.3g} {test.unit}",
            test.verdict,
        )
        lines.append([Cell(text, test.p is None) for text in texts])
    how = ", ".join(f"{count:,} {kind}" for kind, count in answer.dealing.items())
    tests = sum(test.p is not None for test in answer.tests)
    foot = f"{tests} tests judged together (Holm, 1 %); seen four times in five: `would see`"
    columns = ("test", "of", "n", "statistic", "p", "p of all", "would see", "")
    yield Sheet(columns, lines, range(2, 6), f"{answer.hands:,} hands: {how}", foot)
    if checked := answer.decks.checked:
        right = checked - len(answer.decks.wrong)
        yield f"committed decks: {right} of {checked} hands are what was committed to"
    for kind, count in answer.left_out.items():
        yield f"{count} matches without all {kind} cards: left out of tests of those"
    if answer.repeated:
        yield f"left out, dealt from a seed that another match had: {', '.join(answer.repeated)}"
    if answer.dealing.get("seeded"):
        yield "seeded decks are a simulation: whatever stands here, it is no claim of fairness"


def failure_sentence(answer: Fairness) -> str | None:
    """The sentence on what chance would not explain, and on decks that are not what was
    committed to."""
    failed = [
        f"{test.name} ({test.about})" for test in answer.tests if test.verdict == "NOT CHANCE"
    ]
    found = [*failed, *answer.decks.wrong[:3]]
    return f"not as chance would have it: {', '.join(found)}" if found else None


QUESTION = Question(
    name="fairness",
    text=__doc__,
    path="/fairness",
    operation="fairness",
    also=(("/matches/{match}/fairness", "match_fairness"),),
    params=FairnessParams,
    answer=Fairness,
    ask=fairness,
    tables=(Table("tests", Tested),),
    sheets=sheets,
    check_size=check_size,
    auditor=True,
    command_error=failure_sentence,
    page="/fairness",
    page_parameters=("match",),
    facts=False,
)
