"""The ten ways by which a record of poker has told what it should not: one test for each."""

import io
import json
import re
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi import FastAPI

from analytics.intervals import rounded
from api.viewpoints.viewer import Viewer
from events import types as t
from events.cards import DECK
from events.lines import commitment
from events.types import Events
from events.views import Public
from tests.asking.seen_ledgers import who
from tests.exports import start_of
from tests.http import ledgers
from tests.leaks.conftest import Pair
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import (
    AUCTION,
    EYES,
    LYNX,
    MIRRORED,
    PLAYED,
    RUNNING,
    SWAP,
    URSA,
    as_they_are,
)
from tests.profiles import sized
from tests.worlds import known_cards

CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")
OPENED = ("open", "after")  # kinds of matches that everybody may see whole
HANDS = {start_of(hand).hand: hand for one in PLAYED for hand in one.hands}
SHUT = {start_of(hand).hand for one in PLAYED if one.kind not in OPENED for hand in one.hands}


def asked(app: FastAPI, address: str, key: str | None = None) -> Any:
    """One document."""
    (answer,) = answers(app, [address], key)
    assert answer.status == 200, answer
    return json.loads(answer.body)


def never_shown(hand: Events) -> list[tuple[str, ...]]:
    """Hole cards that nobody showed, by seat."""
    shown = {event.seat for event in hand if isinstance(event, t.Shown)}
    return [e.cards for e in hand if isinstance(e, t.HoleDealt) and e.seat not in shown]


def test_1_a_hand_is_not_found_by_trying_every_hand(tmp_path: Path) -> None:
    """As in tests/trust/test_evidence_views.py, of all that the API publishes."""
    with as_they_are():
        app = door(ledgers.made(tmp_path / "ledger"))
        _, key = app.state.keys.make(("audit:read",), "auditor")
        address = "/api/v1/hands/auction/2/proof"
        told, whole = asked(app, address), asked(app, address, key)
        app.state.service.close()
    assert [] == told["openings"]
    secret = {(one["line"], one["field"]): one for one in whole["openings"]}
    hidden = 0
    for place, line in enumerate(map(json.loads, told["lines"])):
        if line["type"] == "HoleDealt" and line["cards"]["count"] == 2:
            digest, opening = line["cards"]["commitment"], secret[place, "cards"]
            assert commitment(bytes.fromhex(opening["nonce"]), opening["value"]) == digest
            for nonce in (b"", bytes(32)):
                guesses = (commitment(nonce, cards) for cards in permutations(DECK, 2))
                assert digest not in guesses
            hidden += 1
    assert hidden == 2


def test_2_filters_find_cards_only_where_they_are_seen(public: Pair) -> None:
    """A card that nobody showed is in no hand that a filter finds, nor in one it leaves out."""
    hidden = {
        name for name in SHUT if len(never_shown(HANDS[name])) == len(start_of(HANDS[name]).players)
    }

    def found(query: str, key: str | None = None) -> set[str]:
        rows = asked(public.apps[0], f"/api/v1/hands?q={query}&limit=1000", key)["data"]
        return {row["hand"] for row in rows} & hidden

    for rank in sized("A", "A9"):
        assert set() == found(f"hole={rank}?")
        assert found(f"hole={rank}?", public.auditor)
        assert len(found(f"!hole={rank}?")) in (0, len(hidden))
        counted = asked(public.apps[0], f"/api/v1/hands?q=hole={rank}?&facets=1")
        assert len(counted["data"]) == counted["facets"]["hands"]


def test_3_an_opponents_grid_is_of_what_he_showed(public: Pair, pair_of: Any) -> None:
    def known(app: FastAPI, player: str, key: str | None) -> int:
        cells = asked(app, f"/api/v1/players/{player}/grid", key)["cells"]
        rows = cells.values() if isinstance(cells, dict) else cells
        return sum(row["hands"] for row in rows)

    def seats(viewer: Viewer, player: str) -> int:
        """Of two cards that this viewer sees, or that everybody does."""
        count = 0
        for one in PLAYED:
            for hand in one.hands:
                shown = {e.seat for e in hand if isinstance(e, t.Shown)}
                mine = who(hand, viewer, one.name)
                for event in hand:
                    if (
                        isinstance(event, t.HoleDealt)
                        and start_of(hand).players[event.seat] == player
                    ):
                        own = getattr(mine, "seat", None) == event.seat
                        count += own or event.seat in shown or one.kind in OPENED
        return count

    seen = known(public.apps[0], LYNX, None)
    assert 0 < seen <= seats(Viewer(), LYNX)
    assert seen < known(public.apps[0], LYNX, public.auditor)
    player = pair_of("a player")
    assert known(player.apps[0], LYNX, player.key) <= seats(EYES["a player"].viewer, LYNX)
    assert known(player.apps[0], URSA, player.key) > known(public.apps[0], URSA, None)


def test_4_files_hold_nothing_hidden_in_statistics_or_dictionaries(public: Pair) -> None:
    """A column that is masked only when it is shown leaves its extremes in the file."""
    told = "\n".join(
        " ".join(event.cards)
        for name, hand in HANDS.items()
        for event in hand
        if isinstance(event, t.Shown | t.BoardDealt)
        or (isinstance(event, t.HoleDealt) and name not in SHUT)
    )
    held = {" ".join(cards) for name in SHUT for cards in never_shown(HANDS[name])}
    secret = {one for one in held if " " in one and one not in told}  # a single card is anywhere
    assert len(secret) > 30
    app = public.apps[0]
    for dataset in ("players", "events"):
        asked_for = [f"/api/v1/exports/{dataset}?format={kind}" for kind in ("parquet", "arrow")]
        file, stream = (one.body for one in answers(app, asked_for))
        whole = answers(app, asked_for, public.auditor)
        assert [one for one in secret if one.encode() in whole[1].body]  # they would be found so
        assert [] == [one for one in secret if one.encode() in stream or one.encode() in file]
        extremes = set()
        metadata = pq.ParquetFile(pa.BufferReader(file)).metadata
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                found = metadata.row_group(group).column(column).statistics
                if found is not None and found.has_min_max:
                    extremes |= {str(found.min), str(found.max)}
        assert extremes
        assert not secret & extremes
        rows = pq.read_table(pa.BufferReader(file))
        values = {str(one) for name in rows.column_names for one in rows[name].unique().to_pylist()}
        assert not secret & values


def test_5_what_is_kept_is_kept_by_viewpoint(pair_of: Any) -> None:
    player = pair_of("a player")
    app = player.apps[0]
    for address in (f"/api/v1/hands/closed-{AUCTION}/1/events", f"/hands/closed-{AUCTION}/1"):
        (nobody,), (seat,), (auditor,) = (
            answers(app, [address], key) for key in (None, player.key, player.auditor)
        )
        tags = {one.header("etag") for one in (nobody, seat, auditor)}
        assert len(tags) == 3
        for one in (seat, auditor):
            assert {"Authorization", "Cookie"} <= set((one.header("vary") or "").split(", "))
            assert "private" in (one.header("cache-control") or "")
            held = [("if-none-match", nobody.header("etag") or "")]
            assert [200] == [it.status for it in answers(app, [address], player.key, headers=held)]
    kept = {
        f"closed-{AUCTION}/1": "max-age=31536000, immutable",
        f"before-{AUCTION}/1": "no-cache",  # more of it is seen when its match has ended
        f"{RUNNING}/1": "no-cache",
    }
    for hand, expected in kept.items():
        (answer,) = answers(app, [f"/api/v1/hands/{hand}/events"])
        assert expected == answer.header("cache-control")


def test_6_ids_of_the_stream_have_no_gap_where_something_is_hidden(public: Pair) -> None:
    (here,), (there,) = (
        answers(app, ["/api/v1/stream?after=start&until=now"]) for app in public.apps
    )
    assert here == there
    gone = 0
    for name in (f"bare-{AUCTION}/1", f"closed-{AUCTION}/5", f"before-{AUCTION}/4"):
        ids = re.findall(rf"^id: {name}:(\d+)p$", here.body.decode(), re.MULTILINE)
        assert list(range(1, len(ids) + 1)) == [int(one) for one in ids]
        gone += len(HANDS[name]) - len(ids)
    assert gone == 5  # replies that were no bids


@pytest.mark.parametrize(
    ("there", "not_there"),
    [
        (f"/api/v1/hands/closed-{AUCTION}/1?as=seat:{LYNX}", f"/api/v1/hands/x/1?as=seat:{LYNX}"),
        (f"/api/v1/hands/closed-{AUCTION}/1?as=auditor", "/api/v1/hands/x/1?as=auditor"),
        (f"/api/v1/matches/closed-{AUCTION}/verify", "/api/v1/matches/x/verify"),
        (f"/api/v1/matches/closed-{AUCTION}/fairness", "/api/v1/matches/x/fairness"),
        (f"/api/v1/players/{LYNX}?as=auditor", "/api/v1/players/x?as=auditor"),
        (f"/api/v1/?as=seat:{LYNX}", "/api/v1/?as=seat:nobody"),
    ],
)
def test_7_who_is_refused_is_not_told_whether_it_exists(
    there: str, not_there: str, pair_of: Any
) -> None:
    for pair in (pair_of("public"), pair_of("a player")):
        one, other = answers(pair.apps[0], [there, not_there], pair.key)
        assert (403, 403) == (one.status, other.status)
        assert one.body == other.body.replace(b"seat:nobody", f"seat:{LYNX}".encode())


def test_7_nor_is_who_may_not_have_it_verified(pair_of: Any) -> None:
    asked_for = [f"/api/v1/matches/{name}/verify" for name in (f"closed-{AUCTION}", "x")]
    for pair in (pair_of("public"), pair_of("a player")):
        one, other = answers(pair.apps[0], asked_for, pair.key, "POST")
        assert 403 == one.status
        assert one == other


def test_8_nothing_hidden_is_in_frames_or_the_source_of_a_page(public: Pair) -> None:
    """The replayer draws what it is sent; that it does not draw a card is no secret kept."""
    looked = 0
    for name in sorted(one for one in SHUT if not one.startswith(MIRRORED))[:: sized(5, 1)]:
        hand, seen = HANDS[name], known_cards(HANDS[name], Public())
        pages = [f"/api/v1/hands/{name}/frames", f"/hands/{name}", f"/hands/{name}/events"]
        for answer in answers(public.apps[0], pages):
            assert answer.status == 200
            text = re.sub(r"<symbol.*?</symbol>", "", answer.body.decode(), flags=re.DOTALL)
            assert set(CARD.findall(text)) - {"As"} <= seen, name  # which is a word, too
        looked += bool(never_shown(hand))
    assert looked > sized(6, 10)
    (whole,) = answers(public.apps[0], [f"/api/v1/hands/closed-{AUCTION}/1/frames"], public.auditor)
    told = set(CARD.findall(whole.body.decode()))
    assert told - known_cards(HANDS[f"closed-{AUCTION}/1"], Public())


def test_9_nothing_is_derived_from_what_is_hidden(public: Pair) -> None:
    """A verdict, a made hand, the worth of a card and luck at a run-out each tell of cards."""
    app = public.apps[0]
    rows = asked(app, "/api/v1/hands?limit=1000")["data"]
    assert {None} == {row["verdict"] for row in rows if row["hand"] in SHUT}
    assert None not in {row["verdict"] for row in rows if row["hand"] not in SHUT}
    for name in (f"closed-{AUCTION}/1", f"closed-{SWAP}/2", "closed-site-nl/3"):
        for frame in asked(app, f"/api/v1/hands/{name}/frames")["frames"]:
            for seat in frame["seats"]:
                hidden = any(card == {"redacted": True} for card in seat["cards"])
                assert not (hidden and seat["made"])
        (refused,) = answers(app, [f"/api/v1/hands/{name}/audit"])
        assert refused.status == 403
    there = f"/api/v1/players/{LYNX}/winnings?match=closed-{AUCTION}&runouts=500"
    points = asked(app, there)
    assert points["adjusted"] <= sum(not never_shown(HANDS[one]) for one in SHUT if AUCTION in one)


def test_10_neither_log_nor_error_says_a_card_or_a_key(
    public: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    app = door(public.folders[0], logs=True)

    def fails() -> None:
        raise ValueError("he holds Ad Ah")

    app.add_api_route("/fails", fails)
    questions = (
        "SELECT CAST(hole AS INTEGER) FROM players",
        "SELECT CAST(cards AS INTEGER) FROM events WHERE type = 'HoleDealt'",
        "SELECT error(hole) FROM players",
    )
    refused = answers(app, [f"/api/v1/sql?q={one}" for one in questions])
    assert [] == [one for one in refused if one.status < 400]
    secret = {" ".join(cards) for name in SHUT for cards in never_shown(HANDS[name])}
    shown = {" ".join(e.cards) for hand in HANDS.values() for e in hand if isinstance(e, t.Shown)}
    shown |= {one for name in HANDS.keys() - SHUT for one in _pairs(HANDS[name])}
    for one in refused:
        assert not [it for it in secret - shown if it in one.body.decode()]
    addresses = [
        "/api/v1/hands?q=hole=AdAh",
        "/api/v1/hands?limit=1",
        f"/api/v1/hands/closed-{AUCTION}/1",
        f"/api/v1/hands/closed-{AUCTION}/1/proof",
        "/login?once=" + "t0ken" * 8,
        f"/hands/{public.auditor}/1",
        "/fails",
        *(f"/api/v1/sql?q={one}" for one in questions),
    ]
    told = answers(app, addresses, public.auditor)
    cursor = json.loads(told[1].body)["next_cursor"]
    answers(app, [f"/api/v1/hands?limit=1&cursor={cursor}"], public.auditor)
    assert told[6].status == 500
    assert b"Ad" not in told[6].body
    text = log.getvalue()
    assert len(addresses) < text.count("\n")
    assert [] == CARD.findall(text)
    for word in (public.auditor, public.auditor.rpartition("_")[2], "t0ken" * 8, cursor, "SELECT"):
        assert word not in text


def test_10_nor_do_metrics_say_how_long_an_answer_was_to_whom_more_is_told(public: Pair) -> None:
    """Packed or not, its length is another where other cards are."""
    asked_for = [f"/api/v1/hands/closed-{AUCTION}/{number}/frames" for number in (1, 2, 3)]
    told, sizes = [], []
    for folder in public.folders:
        app = door(folder)
        whole = answers(app, asked_for, public.auditor)
        sizes.append([len(one.body) for one in whole])
        answers(app, asked_for[:1])
        (metrics,) = answers(app, ["/metrics"])
        told.append([it for it in metrics.body.decode().splitlines() if "_seconds" not in it])
    assert sizes[0] != sizes[1]
    assert told[0] == told[1]
    (counted,) = (it for it in told[0] if it.startswith("muckrake_answer_bytes_total"))
    assert int(counted.rpartition(" ")[2]) > 0


def _pairs(hand: Events) -> set[str]:
    return {" ".join(event.cards) for event in hand if isinstance(event, t.HoleDealt)}


def test_nothing_has_no_sign() -> None:
    """A sum of fractions is a hair above or below nothing, by the order of threads: a page then
    said 0.00 to one request and −0.00 to the next, with another tag."""
    told = [repr(rounded(hair)) for hair in (1e-17, -1e-17, 0.0, -0.0)]
    assert ["0.0"] * 4 == told
    assert (-0.5, None, 3) == (rounded(-0.5), rounded(None), rounded(3))
