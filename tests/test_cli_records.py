"""Recorded hands through the command line: replayed for every viewpoint, judged again."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.main import main
from api.viewpoints.redaction import record_lines, replay_seen
from dealer.play import play
from events import types as t
from events.cards import DECK
from events.notation import read, say
from events.types import Events, HandStarted
from events.views import Auditor, Public, Seated, Viewpoint, see
from tests.hands import some_games
from tests.sessions import dealt, forged, name, printed, said, told

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("chosen")
CARDS = frozenset(DECK)


# replay


def test_an_auditor_reads_the_record_itself(capsys: Captured) -> None:
    for record in dealt()[:5]:
        text = printed(capsys, "replay", name(record))
        numbered = [line.strip().split("  ", 1) for line in text.splitlines()]
        assert [str(number) for number in range(len(record))] == [n for n, _ in numbered]
        assert record == tuple(read(line) for _, line in numbered)


def test_the_public_is_shown_what_is_hidden_as_hidden(capsys: Captured) -> None:
    text = printed(capsys, "replay", "scrim/1", "--as", "public")
    assert "0 is dealt [hidden hidden]\n" in text
    assert "1 is dealt [hidden hidden]\n" in text
    text = printed(capsys, "replay", "scrim/1", "--as", "seat:random-1")
    assert "0 is dealt [hidden hidden]\n" in text
    assert "1 is dealt [hidden hidden]\n" not in text


def test_the_table_after_an_event(capsys: Captured) -> None:
    """Worked out by hand: blinds of 1 and 2, cards for both, and the first to act has raised."""
    record = next(one for one in dealt() if isinstance(one[7], t.Raised))
    raised = record[7]
    assert isinstance(raised, t.Raised)
    start = record[0]
    assert isinstance(start, HandStarted)
    text = printed(capsys, "replay", name(record), "--at", "7", "--as", "public")
    event, _, street, board, pot, _, _, first, second = text.splitlines()
    assert event.strip() == f"7  {say(raised)}"
    assert [street.split(), board.split(), pot.split()] == [
        ["street", "preflop"],
        ["board"],
        ["pot", str(raised.to + 2)],
    ]
    raiser, other = (first, second) if raised.seat == 0 else (second, first)
    left = start.stacks[raised.seat] - raised.to
    assert raiser.split()[1:5] == [str(left), str(raised.to), "hidden", "hidden"]
    assert other.split()[2:] == ["2", "hidden", "hidden", "to", "act"]


def test_replay_as_json_holds_the_seen_events_and_the_table(capsys: Captured) -> None:
    (record, *_) = dealt()
    document = told(capsys, "replay", "scrim/1")
    assert (document["hand"], document["view"]) == ("scrim/1", "auditor")
    assert (document["at"], document["table"]) == (None, None)
    assert [type(event).__name__ for event in record] == [e["type"] for e in document["events"]]
    document = told(capsys, "replay", "scrim/1", "--at", "4", "--as", "seat:random-0")
    assert len(document["events"]) == 5
    hidden = {"redacted": True}
    mine, other = document["table"]["seats"]
    assert mine["cards"] == list(replay_seen(see(record[:5], Auditor())).hole[0])
    assert other["cards"] in ([], [hidden, hidden])
    assert set(document["table"]) == {
        "street",
        "board",
        "pot",
        "rake",
        "next",
        "over",
        "void",
        "seats",
    }


@some_games
def test_no_line_and_no_table_shows_a_card_that_was_not_seen(game: Any) -> None:
    """At every moment of a hand, to everybody at the table and beside it."""
    for record in play(game, "law", 2, "5"):
        seats = range(len(record[0].stacks))  # type: ignore[union-attr]
        eyes: list[Viewpoint] = [Public(), *(Seated(seat) for seat in seats)]
        for who in eyes:
            assert cards_told(record, who) <= cards_seen(record, who)


def cards_told(record: Events, who: Viewpoint) -> set[str]:
    """Every card that the doors show of a hand, in any line or table."""
    text = " ".join(record_lines(record, who))
    seen = see(record, who)
    for at in range(1, len(seen) + 1):
        hand = replay_seen(seen[:at])
        for cards in (*hand.hole, hand.board, hand.discards):
            text += " " + " ".join(cards)
    words = text.replace("[", " ").replace("]", " ").replace(",", " ").split()
    return {word for word in words if word in CARDS}


def cards_seen(record: Events, who: Viewpoint) -> set[str]:
    """The cards that came to this seat, lay on the board, or were shown or announced."""
    mine = who.seat if isinstance(who, Seated) else None
    cards: set[str] = set()
    for event in record:
        match event:
            case t.BoardDealt() | t.Tossed() | t.Shown() | t.Announced():
                cards.update(event.cards)
            case t.HoleDealt(seat=seat) if seat == mine:
                cards.update(event.cards)
            case t.CardSwapped(seat=seat) if seat == mine:
                cards.update((event.old, event.new))
            case _:
                pass
    return cards


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        (5, ("replay", "scrim/41"), "there is no hand scrim/41: muckrake hands lists those"),
        (5, ("replay", "scrim"), "there is no hand scrim: muckrake hands lists those there are"),
        (5, ("audit", "scrim/1", "nobody/1"), "there is no hand nobody/1"),
        (5, ("audit", "scrim/1", "--ruleset", "poker"), "no ruleset is called poker"),
        (4, ("replay", "scrim/1", "--as", "seat:lynx"), "seat:lynx is no viewpoint here: there"),
        (2, ("replay", "scrim/1", "--as", "king"), "king is no viewpoint: there are public, se"),
        (2, ("replay", "scrim/1", "--at", "-1"), "--at -1: scrim/1 has events 0 to "),
        (2, ("replay", "scrim/1", "--at", "99"), "--at 99: scrim/1 has events 0 to "),
        (4, ("audit", "--all", "--as", "public"), "only an auditor may, not public"),
        (4, ("sql", "SELECT 1", "--as", "seat:lynx"), "lynx has no seat in any hand here"),
        (2, ("audit",), "name the hands to audit, or a --match, or all with --all"),
        (
            2,
            ("audit", "--all", "scrim/1"),
            "name the hands to audit, or a --match, or all with --all",
        ),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_sentence(
    capsys: Captured, code: int, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(capsys, code, *words)


READING = [("matches",), ("hands",), ("replay", "a/1"), ("audit", "--all"), ("sql", "SELECT 1")]


@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_reading_makes_no_ledger(capsys: Captured, words: tuple[str, ...], tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    sentence = said(capsys, 5, *words, "--ledger", str(nowhere))
    assert sentence == f"there is no ledger in {nowhere}: muckrake play makes one"
    assert not nowhere.exists()


# audit


def test_named_hands_are_reported_in_full(capsys: Captured) -> None:
    text = printed(capsys, "audit", "scrim/1", "scrim/2")
    first, second = text.split("\nscrim/2   ")
    assert first.startswith("scrim/1   auction-2024   2 players, ")
    assert " verdict    " in first
    assert " verdict    " in second


def test_all_hands_are_counted_by_match_and_ruleset(capsys: Captured) -> None:
    header, scrim, pairs = printed(capsys, "audit", "--all").splitlines()
    assert header.split("\t")[:4] == ["match", "ruleset", "hands", "agree"]
    match, ruleset, hands, *counts = scrim.split("\t")
    assert (match, ruleset, hands) == ("scrim", "auction-2024", "40")
    assert sum(map(int, counts)) == 40
    assert pairs.split("\t")[:3] == ["pairs", "urcs-1998", "12"]


def test_audit_as_json(capsys: Captured) -> None:
    (one,) = told(capsys, "audit", "scrim/1")["hands"]
    about = ["hand", "ruleset", "verdict", "assumed", "moves", "at"]
    about += ["recorded", "decided", "readings"]
    assert list(one) == [*about, "pots", "showdown"]
    every = told(capsys, "audit", "--all")["hands"]
    assert [hand["hand"] for hand in every] == [
        *(f"scrim/{number}" for number in range(1, 41)),
        *(f"pairs/{number}" for number in range(1, 13)),
    ]
    assert one | {"pots": None, "showdown": None} == every[0]


def test_strict_is_only_about_contested_hands(capsys: Captured, tmp_path: Path) -> None:
    """In seed 1 a tie comes early, and the readings of a tie differ (A9)."""
    words = ("--ledger", str(tmp_path))
    assert main(["play", "auction-2024", "--hands", "60", "--seed", "1", *words]) == 0
    capsys.readouterr()
    every = told(capsys, "audit", "--all", *words)["hands"]
    contested = next(one["hand"] for one in every if one["verdict"] == "contested")
    agreed = next(one["hand"] for one in every if one["verdict"] == "agree")
    assert "CONTESTED" in printed(capsys, "audit", contested, *words)
    printed(capsys, "audit", contested, "--strict", *words, code=6)
    printed(capsys, "audit", agreed, "--strict", *words)
    printed(capsys, "audit", "--all", "--strict", *words, code=6)


def test_a_forged_hand_is_found_and_named(capsys: Captured, tmp_path: Path) -> None:
    first, second, *_ = dealt()
    start: Any = second[0]
    wrong = (replace(start, button=1 - start.button), *second[1:])
    words = forged(tmp_path, first, wrong)
    assert main(["audit", "--all", *words]) == 3
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split("\t")[2] == "2"
    assert err == "scrim/2 differs: muckrake audit scrim/2\n"
    assert "DIFFER: event " in printed(capsys, "audit", "scrim/1", "scrim/2", *words, code=3)
    _, two = told(capsys, "audit", "--all", "--strict", *words, code=3)["hands"]
    assert (two["verdict"], two["at"]) == ("differ", 1)


def test_a_hand_can_be_held_against_other_rules(capsys: Captured) -> None:
    text = printed(capsys, "audit", "scrim/1", "--ruleset", "auction-2024-mit")
    assert "auction-2024-mit (not declared)" in text
    (one,) = told(capsys, "audit", "scrim/1", "--ruleset", "auction-2024-mit")["hands"]
    assert one["ruleset"] == "auction-2024-mit"


def test_a_ruleset_that_is_not_here_is_named(capsys: Captured, tmp_path: Path) -> None:
    first, second, *_ = dealt()
    old: Events = (replace(second[0], ruleset="0123456789abcdef"), *second[1:])
    words = forged(tmp_path, first, old)
    unknown = "no ruleset here has this fingerprint; --ruleset holds it against another"
    sentence = said(capsys, 5, "audit", "scrim/2", *words)
    assert sentence == f"scrim/2 is of auction-2024 0123456789abcdef: {unknown}"
    assert main(["audit", "--all", *words]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith("scrim\tauction-2024\t1\t")
    assert err == f"1 hands are of auction-2024 0123456789abcdef: {unknown}\n"
    assert "AGREE" in printed(capsys, "audit", "scrim/2", "--ruleset", "auction-2024", *words)


def test_a_hand_that_is_not_over_cannot_be_judged(capsys: Captured, tmp_path: Path) -> None:
    first, second, *_ = dealt()
    words = forged(tmp_path, first, second[:6])
    assert said(capsys, 1, "audit", "scrim/2", *words) == (
        "scrim/2 is not over: it cannot be judged yet"
    )
    assert [one["hand"] for one in told(capsys, "audit", "--all", *words)["hands"]] == ["scrim/1"]
