"""A month of the IRC database becomes told hands: letters on made-up hands, totals on real ones."""

import os
import random
import tarfile
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from engine.verdict import judge
from events.evolve import replay
from formats import irc
from formats.hand_records import hand_record
from formats.irc import read
from formats.source import Act, Refused, Skipped, SourceHand
from tests.profiles import sized

DATA = Path(__file__).parents[2].parent / "shared/data/irc/199504-visible.tar.gz"

HDB = """\
100   1   1  3  2/45    2/65    2/65    2/105    Qc Ks 8s Jh Tc
200   1   2  2  2/20    0/0     0/0      1/50     Td 9c Ad
300   1   3  3  0/0     0/0     0/0      1/20
400   1   4  3  2/20    2/20    2/20     2/20    Qc Ks 8s Jh Tc
"""
ROSTER = "100 3 a [b] c^\n200 2 [b] a\n300 3 a [b] c^\n400 3 a [b] lost\n"
PDB = {
    "a": """\
a 100 3 1 Bf   -  -  -  500   5   0
a 200 2 2 Bk   bf - -   495  20   0
a 300 3 3 cQ   -  - -   475  10  20
a 400 3 1 Bk   k  k k   465  10   0
""",
    "[b]": """\
[b] 100 3 2 Bc b  k  b  300  50  105 Ah 2d
[b] 200 2 1 Bc kr - -   360  30   50
[b] 300 3 1 BQ -  - -   380  10   0
[b] 400 3 2 Bk k  k k   390  10   20
""",
    "c^": """\
c^ 100 3 3 r   c  k  c   50  50   0 3c 3d
c^ 300 3 2 Q   -  - -   300   0   0
""",
}


def made_month(folder: Path, hdb: str = HDB, roster: str = ROSTER, **pdb: str) -> Path:
    """A folder of the database; line ends are mixed, as they are there."""
    (folder / "pdb").mkdir(parents=True)
    (folder / "hdb").write_bytes(hdb.replace("\n", "\r\n").encode("latin-1"))
    (folder / "hroster").write_bytes(roster.encode("latin-1"))
    for name, text in {**PDB, **pdb}.items():
        (folder / "pdb" / f"pdb.{name}").write_bytes(text.encode("latin-1"))
    return folder


def _verdict(hand: SourceHand) -> str:
    return judge(hand.game, hand_record(hand, "h/1")).verdict


def test_letters_become_choices_in_the_order_of_positions(tmp_path: Path) -> None:
    first, *_ = read(made_month(tmp_path)).hands
    assert isinstance(first, SourceHand)
    assert ("100", 1, 2) == (first.source_id, first.number, first.button)
    assert ("a", "[b]", "c^") == first.players
    acts = [item for item in first.items if isinstance(item, Act)]
    assert [
        Act(2, "raise", to=20),
        Act(0, "fold"),
        Act(1, "call"),
        Act(1, "raise", to=10),
        Act(2, "call"),
        Act(1, "check"),
        Act(2, "check"),
        Act(1, "raise", to=20),
        Act(2, "call"),
    ] == acts
    assert (-5, 55, -50) == first.nets
    assert "assuming" == _verdict(first)


def test_heads_up_the_seat_left_of_the_button_is_small_and_first_on_every_street(
    tmp_path: Path,
) -> None:
    _, second, *_ = read(made_month(tmp_path)).hands
    assert isinstance(second, SourceHand)
    assert ("[b]", "a") == second.players
    assert "assuming" == _verdict(second)


def test_a_bet_that_nobody_called_was_put_in_and_won(tmp_path: Path) -> None:
    _, second, *_ = read(made_month(tmp_path)).hands
    assert isinstance(second, SourceHand)
    end = replay(hand_record(second, "h/1"))
    assert (30, 20) == end.paid
    assert (20, -20) == second.nets


def test_a_single_blind_is_the_big_one_and_leaving_is_a_fold(tmp_path: Path) -> None:
    _, _, third, _ = read(made_month(tmp_path)).hands
    assert isinstance(third, SourceHand)
    assert third.dead_small
    assert ("[b]", "c^", "a") == third.players
    assert [Act(1, "fold"), Act(2, "call")] == [i for i in third.items if isinstance(i, Act)][:2]


def test_all_in_after_a_call_for_everything_is_a_note() -> None:
    now = irc._BettingState([10, 100])
    now.begin()
    now.put(1, 20)
    assert Act(0, "call") == now.act(0, "c", 10)
    assert now.act(0, "A", 10) is None


def test_a_hand_without_a_players_file_is_left_out(tmp_path: Path) -> None:
    *_, last = read(made_month(tmp_path)).hands
    assert Skipped(4, "hand 400 is not in a file of its player lost") == last


LEFT_OUT = [
    ({"hdb": HDB.replace("200   1", "90   1")}, 2, "hand 90 comes after 100: not in order of time"),
    ({"hdb": HDB.replace("Td 9c Ad", "Td 9c")}, 2, "the board has 2 cards"),
    ({"hdb": HDB.replace("Td 9c Ad", "Td 9c Xx")}, 2, "Xx is not a card"),
    ({"hdb": HDB.replace("200   1   2  2", "200   1   2  3")}, 2, "hroster names 2"),
    ({"hdb": HDB.replace("0/0     0/0      1/50", "0/0")}, 2, "this is no line of hdb"),
    ({"roster": ROSTER.replace("200 2 [b] a\n", "")}, 2, "hroster does not say who played"),
    ({"roster": ROSTER.replace("[b] a", "../a [b]")}, 2, "not in a file of its player ../a"),
    ({"a": PDB["a"].replace("a 200 2 2", "a 200 2 1")}, 2, "the positions in hand 200 are not"),
    ({"[b]": PDB["[b]"].replace("Bc kr", "c  kr")}, 2, "the blinds of hand 200 are not left"),
    ({"hdb": HDB.replace("1/50", "1/40")}, 2, "a pot of 40 in hdb, its players put in another"),
    (
        {"[b]": PDB["[b]"].replace("30   50\n", "30   50 Ah 2d 3c 4s\n")},
        2,
        "[b] shows 4 cards: this is Omaha",
    ),
    ({"a": PDB["a"].replace("  20   0", "  25   0")}, 2, "hand 200 does not balance"),
    ({"a": PDB["a"].replace("Bk   bf", "Bk   kf")}, 2, "the letters of hand 200 put in 20 for [b]"),
    ({"a": PDB["a"].replace("Bk   bf", "Bk   zf")}, 2, "a line of a cannot be read"),
    ({"a": PDB["a"].replace("495", "0")}, 2, "somebody plays hand 200 without chips"),
    ({"a": PDB["a"].replace("200 2 2", "200 9 2")}, 2, "the files do not agree how many play"),
]


@pytest.mark.parametrize(("files", "line", "reason"), LEFT_OUT, ids=[one[2] for one in LEFT_OUT])
def test_a_hand_that_the_files_do_not_tell_is_left_out(
    tmp_path: Path, files: dict[str, str], line: int, reason: str
) -> None:
    hands = list(read(made_month(tmp_path, **files)).hands)
    found = hands[line - 1]
    assert isinstance(found, Skipped)
    assert reason in found.reason
    assert isinstance(hands[0], SourceHand)


def test_a_folder_that_is_no_month_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="there is no hdb in it"):
        read(tmp_path)
    with pytest.raises(Refused, match="line 1: this is no line of hdb"):
        read(made_month(tmp_path / "other", hdb="Round #1, A (0), B (0)\n"))


def test_empty_lines_are_nothing(tmp_path: Path) -> None:
    plain = list(read(made_month(tmp_path / "1")).hands)
    spaced = read(made_month(tmp_path / "2", f"\n{HDB}\n", ROSTER.replace("\n", "\n\n"))).hands
    assert [one.line + 1 for one in plain] == [one.line for one in spaced]


def test_a_nickname_is_any_bytes_and_so_is_the_name_of_its_file(tmp_path: Path) -> None:
    """The files are called by the bytes of the nickname, whatever those are in."""
    made = made_month(tmp_path, HDB, ROSTER.replace(" a", " \xe9\xff"))
    text = PDB["a"].replace("a ", "\xe9\xff ").encode("latin-1")
    (tmp_path / "pdb" / os.fsdecode(b"pdb.\xe9\xff")).write_bytes(text)
    first, *_ = read(made).hands
    assert isinstance(first, SourceHand)
    assert ("\xe9\xff", "[b]", "c^") == first.players


def test_no_more_files_are_open_than_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(irc, "OPEN_MAX", 1)
    hands = list(read(made_month(tmp_path)).hands)
    assert 3 == sum(isinstance(hand, SourceHand) for hand in hands)


def test_mutated_files_are_read_or_left_out_and_nothing_else(tmp_path: Path) -> None:
    for seed in range(300):
        chance = random.Random(seed)
        texts = {"hdb": HDB, "roster": ROSTER, **PDB}
        for _ in range(chance.randint(1, 5)):
            name = chance.choice(list(texts))
            at = chance.randrange(len(texts[name]))
            new = chance.choice(" \n09-BkcbrfAQK/\0é")
            texts[name] = texts[name][:at] + new + texts[name][at + chance.randint(0, 1) :]
        try:
            for hand in read(made_month(tmp_path / str(seed), **texts)).hands:
                if isinstance(hand, SourceHand):
                    end = replay(hand_record(hand, "h/1"))
                    assert sum(hand.stacks) == sum(end.stacks)
        except (Refused, ValueError):
            pass


# The real month.


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> list[SourceHand | Skipped]:
    if not DATA.exists():
        pytest.skip(f"{DATA} is absent: its hands cannot be read")
    folder = tmp_path_factory.mktemp("irc")
    with tarfile.open(DATA) as packed:
        packed.extractall(folder)
    return [*islice(read(folder / "199504").hands, sized(1_000, None))]


ALL_IN = (797557949, 797575674, 797669462, 797883424, 797883673, 797884001)


@pytest.mark.ci
def test_the_letters_of_9982_hands_put_in_what_every_player_put_in(
    month: list[SourceHand | Skipped],
) -> None:
    left_out = [one.reason for one in month if isinstance(one, Skipped)]
    assert 9982 == len(month) - len(left_out)
    assert 12 == sum("is not in a file of its player" in why for why in left_out)
    for hand in ALL_IN:
        assert 1 == sum(f"the letters of hand {hand} put in" in why for why in left_out)
    assert 18 == len(left_out)


def test_the_first_thousand_hands_of_the_month_win_what_they_won(
    month: list[SourceHand | Skipped],
) -> None:
    assert {"assuming": 999, "differ": 1} == _verdicts(month[:1000])


@pytest.mark.slow
def test_every_hand_of_the_month_wins_what_it_won(month: list[SourceHand | Skipped]) -> None:
    """The others: seats that left out of turn or all at once, and raises beyond the cap."""
    assert {"assuming": 9950, "differ": 31, "unknown": 1} == _verdicts(month)


def _verdicts(hands: list[SourceHand | Skipped]) -> Counter[str]:
    found: Counter[str] = Counter()
    for hand in hands:
        if isinstance(hand, SourceHand):
            record = hand_record(hand, "h/1")
            start, end = hand.stacks, replay(record).stacks
            assert hand.nets == tuple(now - was for was, now in zip(start, end, strict=True))
            found[judge(hand.game, record).verdict] += 1
    return found
