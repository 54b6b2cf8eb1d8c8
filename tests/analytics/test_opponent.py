"""An opponent report: laws between its parts, what stands out, and no hidden card in any number."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from analytics.opponents.leads import differences, leads
from analytics.opponents.opponent_tables import OpponentScope, opponent_tables
from analytics.opponents.report_measures import ALL_LOOKS, LOOKS, NUMBERS, STATISTIC_LOOKS
from analytics.opponents.report_sections import OpponentSections
from analytics.statistics.catalogue import STATISTICS
from api.main import main
from api.questions.declared.opponent import QUESTION
from api.questions.opponent_report import OpponentParams, match_lengths, opponent_sections, report
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import AUDITOR, Viewer, viewer_of
from dealer.deck import SeededDecks
from dealer.play import hand_records, plan, play
from engine.games import named
from events.ledger import Append
from events.types import Event, HandStarted, HoleDealt, Shown
from odds.batch import STANDARD
from odds.ranges import CLASSES, hands_of
from store.columns.codec import encoded_table
from store.ledger import open_ledger
from store.reader import Reader
from tests.analytics.auction_pages import RULES, leaf
from tests.analytics.walked_decisions import tenth
from tests.profiles import sized
from tests.sessions import Captured, printed, said, told

Hands = Sequence[tuple[Event, ...]]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches: of two different bots, and of a game of four."""
    made = tmp_path_factory.mktemp("opponents") / "ledger"
    for words in (
        ("auction-2024", "--hands", "120", "--bots", "random,tight", "--match", "scrim"),
        ("site-nl", "--hands", "40", "--seats", "4", "--match", "table"),
    ):
        assert main(["play", *words, "--seed", "7", "--ledger", str(made)]) == 0
    return made


@pytest.fixture(scope="module")
def undecided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of two different bots whose length nobody knows, so that nobody ever has won it."""
    planned = plan(named("auction-2024"), "scrim", 120, "7", ("random", "tight"))
    made = tmp_path_factory.mktemp("undecided") / "ledger"
    return _kept(made, list(hand_records(planned, SeededDecks("7"))))


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))


def _asked(
    here: Path, about: OpponentParams, view: str = "auditor"
) -> tuple[OpponentSections, LedgerView]:
    viewed = LedgerView(Reader(here).snapshot(), viewer_of(view))
    return opponent_sections(viewed, about), viewed


@pytest.fixture(scope="module")
def asked(here: Path) -> OpponentSections:
    """The report on one player, whom several tests look at."""
    return _asked(here, OpponentParams("random-0", spots=20))[0]


def test_tenths_of_strength_are_tenths_of_all_hands() -> None:
    counted = Counter[int | None]()
    for name in CLASSES:
        hole = hands_of(name)[0]
        counted[tenth(hole, STANDARD)] += len(hands_of(name))
    assert set(range(1, 11)) == set(counted)
    assert all(abs(hands - 132.6) <= 12 for hands in counted.values())
    assert (10, 1) == (tenth(("As", "Ah"), STANDARD), tenth(("3s", "2h"), STANDARD))


def test_every_choice_is_a_check_a_bet_a_call_a_raise_or_a_fold(asked: OpponentSections) -> None:
    counted = {one.statistic: one for one in asked.look_values()}
    for street in ("flop", "turn", "river"):
        free, bets = counted[f"check_{street}"], counted[f"bet_{street}"]
        assert free.n >= bets.n
        assert free.n >= (free.k or 0) + (bets.k or 0)  # the rest folded though he need not
        owed = [counted[f"{what}_{street}"] for what in ("call", "raise", "fold")]
        assert {owed[0].n} == {owed[0].n, owed[2].n}
        assert owed[0].n == sum(one.k or 0 for one in owed)


@pytest.mark.parametrize("by", ["position", "window", "match", "game", "locked"])
def test_parts_add_up_to_the_whole(asked: OpponentSections, by: Any) -> None:
    whole = {one.statistic: (one.k, one.n) for one in asked.look_values()}
    parts = list(asked.look_values(by))
    assert 1 < len({one.part for one in parts})
    for name, (k, n) in whole.items():
        mine = [one for one in parts if one.statistic == name]
        assert (k, n) == (sum(one.k or 0 for one in mine), sum(one.n for one in mine))
    hands = {row["part"]: row["hands"] for row in asked.hand_counts(by)}
    assert sum(hands.values()) == asked.hand_counts()[0]["hands"]
    assert set(hands) >= {one.part for one in asked.statistics(by) if one.n}


def test_hands_by_their_end_are_all_hands_three_times(asked: OpponentSections) -> None:
    ends = {row["ending"]: row for row in asked.ends()}
    for names in (("preflop", "flop", "turn", "river"), ("showdown", "he_folds", "others_fold")):
        mine = [ends[name] for name in names if name in ends]
        assert ends["all"]["hands"] == sum(row["hands"] for row in mine)
        assert round(ends["all"]["net"], 6) == round(sum(row["net"] for row in mine), 6)


def test_statistics_are_those_of_the_command_stats(here: Path, capsys: Captured) -> None:
    asked, _ = _asked(here, OpponentParams("random-0", vs="tight-1", spots=0))
    other = told(capsys, "stats", "random-0", "--vs", "tight-1")["players"][0]["stats"]
    mine = {one.statistic: (one.value, one.k, one.n) for one in asked.statistics()}
    assert {name: (it["value"], it["k"], it["n"]) for name, it in other.items()} == mine


def test_looks_of_statistics_count_as_the_statistics_do(asked: OpponentSections) -> None:
    known = {one.statistic: (one.k, one.n) for one in asked.statistics()}
    for row in asked.look_counts():
        if row["look"] in STATISTIC_LOOKS:
            assert known[row["look"]] == (row["k"], row["n"])


def test_what_stands_out_is_heaviest_first_and_names_its_hands(undecided: Path) -> None:
    asked, _ = _asked(undecided, OpponentParams("tight-1", vs="random-0", spots=0))
    ranked = differences(asked)
    found, compared = ranked.found, ranked.compared
    assert 10 < compared <= len(ALL_LOOKS)
    assert found
    assert sorted((one.weight for one in found), reverse=True) == [one.weight for one in found]
    done = {
        (row["look"], row["hand"]): row["done"]
        for row in asked._look_tables(None).rows(
            "SELECT look, hand, max(done) AS done FROM looks WHERE player = 'tight-1' GROUP BY ALL"
        )
    }
    for one in found:
        assert 0 < len(one.hands) <= 10
        assert not one.low <= 0 <= one.high
        assert {int(one.low > 0)} == {done[one.look, hand] for hand in one.hands}


def test_what_pays_names_hands_that_its_filter_finds(tmp_path: Path, capsys: Captured) -> None:
    planned = plan(named("auction-2024"), "scrim", 120, "7", ("tight", "aggressive"))
    ledger = ("--ledger", str(_kept(tmp_path, list(hand_records(planned, SeededDecks("7"))))))
    words = ("opponent", "tight-0", "--vs", "aggressive-1", "--match", "scrim", "--spots", "0")
    paying = told(capsys, *words, *ledger)["leads"]["found"]
    assert paying
    assert "pays\t" in printed(capsys, *words, *ledger)
    for one in paying[:: sized(3, 1)]:
        assert one["low"] > 0 < one["k"] / one["n"] - (one["breaks_even"] or 0)
        found = told(capsys, "hands", one["filter"], "--limit", "500", *ledger)
        assert set(one["hands"]) <= {hand["hand"] for hand in found["hands"]}


def test_two_alike_have_nothing_that_stands_out() -> None:
    hand = "auction-2024, button {}, stacks 400 400\n> {} folds"
    leaves = [leaf(at, hand.format(at % 2, at % 2)) for at in range(1, 81)]
    told_of = opponent_tables(
        [encoded_table(leaves)], RULES, OpponentScope("p0"), lambda rows, total: rows
    )
    ranked = differences(OpponentSections("p0", told_of))
    assert [] == ranked.found
    assert ranked.compared


def test_a_locked_win_is_told_with_the_hand_it_was_locked_in() -> None:
    """p0 wins 200 in hand one, folds from then on; 198 hands of blinds would cost him less."""
    shove = (
        "auction-2024, button 0, stacks 400 400\ndeal 0: As Ah, 1: 7c 2h, board: Qh 7s 2d 3c 4c\n"
        "> 0 raises to 200; 1 calls; 1 bids 0; 0 bids 0\n> 1 checks; 0 bets 200; 1 folds"
    )
    fold = "auction-2024, button {0}, stacks 400 400\n> {0} folds"
    walk = "auction-2024, button {1}, stacks 400 400\n> {1} raises to 6; 0 folds"
    leaves = [leaf(1, shove)]
    leaves += [leaf(at, (fold if at % 2 else walk).format(0, 1)) for at in range(2, 9)]
    asked = OpponentScope("p0", lengths={"m": 8})
    found = OpponentSections(
        "p0", opponent_tables([encoded_table(leaves)], RULES, asked, lambda rows, total: rows)
    )
    (lock,) = found.locks()
    assert ("m", "p0", 2, 200) == tuple(lock[it] for it in ("match", "player", "number", "lead"))
    assert 2 == lock["folds_from"]
    numbers = {one.statistic: (one.k, one.n) for one in found.numbers()}
    assert ((7, 8), (0, 8)) == (numbers["after_won"], numbers["after_lost"])
    hands = {row["part"]: row["hands"] for row in found.hand_counts("locked")}
    assert {"open": 1, "won": 7} == hands
    assert 7 == leads(found).left_out


def test_who_folds_once_he_has_won_is_not_told_as_a_folder() -> None:
    """p0 folds in no hand before the lock, and in every one after it; p1 never folds."""
    shove = (
        "auction-2024, button 0, stacks 400 400\ndeal 0: As Ah, 1: 7c 2h, board: Qh 7s 2d 3c 4c\n"
        "> 0 raises to 200; 1 calls; 1 bids 0; 0 bids 0\n> 1 checks; 0 bets 200; 1 folds"
    )
    limps = (
        "auction-2024, button {0}, stacks 400 400\ndeal 0: As Ah, 1: 7c 2h, "
        "board: Qh 7s 2d 3c 4c\n> {0} calls; {1} checks; {1} bids {2}; {0} bids {3}\n"
        "> {1} checks; {0} checks\n> {1} checks; {0} checks\n> {1} checks; {0} checks"
    )
    fold = "auction-2024, button {0}, stacks 400 400\n> {0} folds"
    walk = "auction-2024, button {1}, stacks 400 400\n> {1} calls; 0 checks; 0 bids 0; 1 bids 5\n"
    walk += "> 0 checks; 1 bets 2; 0 folds"
    leaves = []
    for at in range(1, 41):
        text = limps.format(0, 1, 5, 6) if at % 2 else limps.format(1, 0, 6, 5)
        leaves.append(leaf(at, text))
    leaves.append(leaf(41, shove))
    for at in range(42, 122):
        leaves.append(leaf(at, fold.format(0, 1) if at % 2 else walk.format(0, 1)))
    asked = OpponentScope("p0", lengths={"m": 121})
    found = OpponentSections(
        "p0", opponent_tables([encoded_table(leaves)], RULES, asked, lambda rows, total: rows)
    )
    told_of = leads(found)
    after = {lock["number"] for lock in found.locks()}
    assert {42} == after
    assert 80 == told_of.left_out
    assert [] == told_of.found
    assert not {"fold_preflop", "bid_nothing"} & {one.look for one in differences(found).found}
    (row,) = (one for one in found.look_counts() if one["look"] == "bid_nothing")
    assert (41, 81) == (row["k"], row["n"])  # the looks themselves count every hand


def test_a_match_is_as_long_as_it_was_or_as_its_ruleset_says(here: Path, tmp_path: Path) -> None:
    viewed = LedgerView(Reader(here).snapshot(), Viewer(AUDITOR))
    assert {"scrim": 120, "table": 40} == match_lengths(viewed)
    ledger = _kept(tmp_path, list(play(named("auction-2024"), "m", 3, "7", seats=2)))
    viewed = LedgerView(Reader(ledger).snapshot(), Viewer(AUDITOR))
    assert {} == match_lengths(viewed)  # nobody announced it


def test_time_is_known_of_hands_that_were_written_answer_by_answer(
    here: Path, tmp_path: Path
) -> None:
    words = ("auction-2024", "--hands", "3", "--seed", "7", "--live", "--think-ms", "5")
    assert main(["play", *words, "--match", "live", "--ledger", str(tmp_path)]) == 0
    asked, _ = _asked(tmp_path, OpponentParams("random-0", spots=0))
    numbers = {one.statistic: one for one in asked.numbers()}
    assert numbers["think_ms"].n > 0
    assert (numbers["think_max"].value or 0) >= (numbers["think_ms"].value or 0) > 0
    at_once, _ = _asked(here, OpponentParams("random-0", spots=0))
    assert 0 == {one.statistic: one.n for one in at_once.numbers()}["think_ms"]


# Who may see what.


def _kept(folder: Path, hands: Hands) -> Path:
    ledger, lock = open_ledger(folder, "a test")
    for events in hands:
        start = events[0]
        assert isinstance(start, HandStarted)
        ledger.append(Append(start.hand, 0, events, 1))
    ledger.close()
    lock.release()
    return folder


def _exchanged(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Another world: where nobody showed anything, each held what the other did."""
    dealt = [at for at, it in enumerate(events) if isinstance(it, HoleDealt)][:2]
    if any(isinstance(it, Shown) for it in events) or len(dealt) < 2:
        return events
    told_again = list(events)
    one, other = (events[at] for at in dealt)
    assert isinstance(one, HoleDealt)
    assert isinstance(other, HoleDealt)
    told_again[dealt[0]] = replace(one, cards=other.cards)
    told_again[dealt[1]] = replace(other, cards=one.cards)
    return tuple(told_again)


def test_hidden_cards_are_in_no_number_of_the_public(tmp_path: Path) -> None:
    """Two worlds that the public cannot tell apart get the same report; an auditor's differ."""
    hands = list(play(named("auction-2024"), "m", sized(12, 40, 60), "7", seats=2))
    worlds = (
        _kept(tmp_path / "one", hands),
        _kept(tmp_path / "other", [_exchanged(events) for events in hands]),
    )
    about = OpponentParams("random-0", vs="random-1", spots=None)

    one, other = (report(LedgerView(Reader(it).snapshot(), Viewer()), about) for it in worlds)
    assert one == other
    mixes = [_asked(it, replace(about, spots=0))[0].section("mix") for it in worlds]
    assert mixes[0] != mixes[1]


def test_the_public_knows_the_cards_that_were_shown(here: Path) -> None:
    public, _ = _asked(here, OpponentParams("random-0", match="scrim", spots=0), "public")
    every, _ = _asked(here, OpponentParams("random-0", match="scrim", spots=0))
    (seen,), (all_,) = public.hand_counts(), every.hand_counts()
    assert seen["hands"] == all_["hands"] == all_["known"]
    assert 0 < seen["known"] < seen["hands"]
    shown = [row for row in every.source.ends.to_pylist() if row["player"] == "random-0"]
    assert seen["known"] <= sum(row["how"] == "showdown" for row in shown)


def test_our_own_cards_are_known_to_us(here: Path) -> None:
    asked, _ = _asked(here, OpponentParams("random-0", match="scrim", spots=0), "seat:random-0")
    (dealt,) = asked.hand_counts()
    assert dealt["known"] == dealt["hands"]


# The command.


def test_the_document_holds_every_look_number_and_statistic(capsys: Captured) -> None:
    found = told(capsys, "opponent", "random-0", "--vs", "tight-1", "--spots", "5")
    assert ("auditor", "random-0", "tight-1") == (found["as"], found["player"], found["vs"])
    (part,) = found["parts"]
    assert list(LOOKS) == list(part["looks"])
    assert list(NUMBERS) == list(part["numbers"])
    assert set(STATISTICS) == set(part["statistics"])
    assert 5 == found["strength"]["counted"] < found["strength"]["acts"]
    assert {"mix", "sizes", "ends", "faults"} <= set(part)


def test_a_document_by_windows_has_a_part_each(capsys: Captured) -> None:
    found = told(
        capsys, "opponent", "random-0", "--match", "scrim", "--spots", "0", "--by", "window"
    )
    assert ["1", "101"] == [part["window"] for part in found["parts"]]
    assert [100, 20] == [part["hands"] for part in found["parts"]]


def test_a_person_is_told_table_after_table(capsys: Captured) -> None:
    out = printed(capsys, "opponent", "tight-1", "--vs", "random-0", "--spots", "5")
    for column in (
        "stands out",
        "value\t95 % interval",
        "cards before the flop",
        "bets of the pot",
        "random-0 folds",
    ):
        assert column in out


def test_parts_stand_side_by_side(capsys: Captured) -> None:
    out = printed(
        capsys, "opponent", "random-0", "--match", "scrim", "--spots", "0", "--by", "position"
    )
    assert out.splitlines()[0] == "what\tBB\tSB"
    assert out.splitlines()[1] == "hands\t60\t60"


def test_a_file_has_a_row_a_number(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "opponent.csv"
    printed(capsys, "opponent", "random-0", "--spots", "0", "--csv", str(file))
    rows = list(csv.DictReader(file.open()))
    assert [*LOOKS, *NUMBERS, *STATISTICS] == [row["statistic"] for row in rows]


def test_a_file_has_any_table_of_the_report(
    capsys: Captured, tmp_path: Path, undecided: Path
) -> None:
    """Row by row what the document has; hands of a tendency stand in one cell."""
    words = ("opponent", "random-0", "--spots", "0", "--ledger", str(undecided))
    found = told(capsys, *words, "--json")
    (part,) = found["parts"]
    said = {**part, **found, **{it: found[it]["found"] for it in ("leads", "differences")}}
    for table in sized(["differences"], ["differences"], [one.name for one in QUESTION.tables[1:]]):
        into = tmp_path / f"{table}.csv"
        printed(capsys, *words, "--table", table, "--csv", str(into))
        rows = list(csv.DictReader(into.open()))
        assert len(said[table]) == len(rows)
        for expected, row in zip(said[table], rows, strict=True):
            for name, value in expected.items():
                cell = " ".join(value) if name == "hands" and isinstance(value, list) else value
                assert ("" if cell is None else str(cell)) == row[name]
    assert said["differences"]
    assert said["ends"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("nobody",), 5, "nobody called nobody was dealt a hand"),
        (("random-0", "--vs", "random-0"), 2, "random-0 has no hands against himself"),
        (("tight-1", "--vs", "random-3"), 5, "tight-1 and random-3 were dealt no hand here"),
        (("random-0", "--match", "x"), 5, "there is no hand of match x"),
        (("random-0", "--as", "seat:x"), 4, "x has no seat in any hand here"),
        (("random-0", "--as", "x"), 2, "x is no viewpoint"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    words: tuple[str, ...], code: int, sentence: str, capsys: Captured
) -> None:
    assert sentence in said(capsys, code, "opponent", *words)
