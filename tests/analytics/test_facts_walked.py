"""Facts of many hands at once are those of hands walked one by one, the engine asked each menu."""

from collections.abc import Iterable
from itertools import islice, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from msgspec.structs import replace

from analytics.decisions.replayed_hands import ReplayedHands
from analytics.projections.facts import SCHEMA, fact_rows, facts_projection
from analytics.replay.rules import Rulebook
from engine.game import Game, fingerprint
from engine.games import GAMES
from events import types as t
from events.ledger import Recorded
from events.types import Event, Events
from store.columns.codec import encoded_table
from store.folder.disk import RealDisk
from store.folder.manifest import Manifest
from store.log.streams import Leaf
from store.reader import Reader, Snapshot
from store.segments import sealing as compact
from store.segments.reading import files_of
from store.segments.sealed_segments import write_segment
from store.tables import projection
from store.tables.projection import ProjectionBuilder
from tests.analytics import walked_facts
from tests.analytics.held import forged
from tests.hands import RULESETS, seeded, some_rulesets, sources, walk
from tests.profiles import sized
from tests.store.sealed_hands import leaves as sealed
from tests.store.sealed_hands import of_games

SHARED = Path(__file__).parents[2].parent / "shared/data"
BY_MARK = {fingerprint(game): game for game in RULESETS.values()}
FORGED = sized(10, 30, 60)  # of each ruleset


def recorded(records: Iterable[Events]) -> list[Leaf]:
    """Each as the ledger would hold it."""
    return [
        Leaf(seq, tuple(Recorded(at, f"m/{seq}", at, 1, event) for at, event in enumerate(record)))
        for seq, record in enumerate(records)
    ]


def imported(corpus: str, ledger: Path) -> tuple[Snapshot, list[Leaf]]:
    """A ledger of real hands, and the first of them."""
    from api.main import main

    path = SHARED / corpus
    if not path.exists():
        pytest.skip(f"{path} is absent: its hands cannot be imported")
    main(["import", str(path), "--no-audit", "--ledger", str(ledger)])
    snapshot = Reader(ledger).snapshot()
    return snapshot, list(islice(snapshot.leaves(), 300))


def same(hands: list[Leaf], rules: walked_facts.Rules = BY_MARK.get) -> pa.Table:
    """Walked and at once: column by column, so that a failure says where."""
    walked = walked_facts.table_of(hands, rules)
    found = fact_rows(rules, ReplayedHands(encoded_table(hands)))
    assert walked.schema == found.schema
    assert walked["hand_seq"].to_pylist() == found["hand_seq"].to_pylist()
    for name in SCHEMA.names:
        assert walked[name].to_pylist() == found[name].to_pylist(), name
    return found


HANDS = sized(6, 12, 20)  # of each ruleset

# Clocks, faults, posts, dead blinds and voids are among random hands.


@some_rulesets
def test_random_hands_have_the_facts_that_walking_finds(game: Game) -> None:
    assert (
        same(recorded(seeded(game, f"walked {seed}").record for seed in range(HANDS))).num_rows
        > HANDS
    )


@given(source=sources)
def test_any_hand_has_the_facts_that_walking_finds(source: bytes) -> None:
    same(
        recorded(
            [walk(RULESETS["site-nl"], source).record, walk(GAMES["urcs-1998"], source).record]
        )
    )


@some_rulesets
def test_a_claim_against_the_rules_is_counted_as_it_was_recorded(game: Game) -> None:
    """Rules that nobody kept are no reason to count otherwise than the record does."""
    record = seeded(game, "walked forgery").record
    every = list(forged(game, record))
    same(recorded(every[:: max(1, len(every) // FORGED)]))


@pytest.mark.parametrize("game", ["site-fl", "site-nl", "urcs-1998"])
@pytest.mark.parametrize("reopen", ["sum", "full_raise", "always", "half_bet"])
def test_every_policy_of_a_menu_is_the_engines(game: str, reopen: Any) -> None:
    flags = product((False, True), repeat=3)
    caps = [
        (2, "raises", "round", "never"),
        (2, "bets", "round", "two_remain"),
        (1, "raises", "player", "never"),
        (1, "raises", "round", "round_starts_heads_up"),
        (None, "raises", "round", "never"),
    ]
    for (opens, check, responder), (cap, counts, scope, lift) in zip(
        flags, [*caps, *caps[:3]], strict=True
    ):
        ruled = replace(
            GAMES[game],
            reopen=reopen,
            raise_cap=cap,
            cap_counts=counts,
            cap_scope=scope,
            cap_lift=lift,
            short_open_reopens=opens,
            check_raise=check,
            raise_needs_responder=responder,
            short_raise="allowed" if opens else "forbidden",
        )
        hands = recorded(seeded(ruled, f"menu {n}").record for n in range(sized(2, 4, 6)))
        same(hands, {fingerprint(ruled): ruled}.get)


@pytest.mark.parametrize("game", ["auction-2024-mit", "site-fl", "urcs-1998"])
def test_without_the_ruleset_no_menu_is_known(game: str) -> None:
    same(recorded(seeded(GAMES[game], f"unknown {n}").record for n in range(12)), lambda mark: None)


def test_hands_of_all_games_and_records_between_them_are_told_in_their_order() -> None:
    given = sealed(of_games(*GAMES, count=4))
    found = same([*given[::2], *given[1::2]])
    assert len(GAMES) * 4 == len(set(found["hand_seq"].to_pylist()))


def test_chips_keep_their_64_bits() -> None:
    most = 2**53 - 1
    rich = replace(RULESETS["site-nl"], stack=most)
    found = same(recorded(seeded(rich, f"rich {n}").record for n in range(8)), lambda mark: rich)
    assert most == max(found["stack"].to_pylist())


# What does not add up.


def test_a_seat_that_is_not_there_takes_the_hand_out_and_no_other() -> None:
    records = [list(seeded(GAMES["swap-2022"], f"strange {n}").record) for n in range(30)]
    kinds: set[type[Event]] = set()
    for record in records[::2]:
        places = [
            at for at, it in enumerate(record) if hasattr(it, "seat") and type(it) not in kinds
        ]
        if places:
            kinds.add(type(record[places[0]]))
            record[places[0]] = replace(record[places[0]], seat=7)
    found = same(recorded(map(tuple, records)))
    assert {t.HoleDealt, t.BlindPosted} <= kinds
    assert 15 < len(set(found["hand_seq"].to_pylist())) < 30


# Whoever makes them.


def test_made_when_sealed_or_compacted_they_are_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "MANY", 200)  # rows: facts are made many times
    (tmp_path / "segments").mkdir()
    disk, closed = RealDisk(tmp_path), of_games("auction-2024-mit", "site-nl")
    one = facts_projection(lambda mark: None)
    with_facts = write_segment(disk, closed, (one,))
    without = write_segment(disk, closed, ())
    now = Manifest(0, "log/0", 0, with_facts.last_pos + 1, len(closed), (without,))
    (later,) = compact.rebuild(disk, now, (one,), at=1).segments
    assert with_facts.sha256["facts"] == later.sha256["facts"]
    files = files_of(disk)
    rows = files.rows(with_facts, "facts", 0)
    assert rows.equals(one.build(sealed(closed)).cast(rows.schema))


def test_row_groups_are_held_until_there_are_many() -> None:
    one = facts_projection(lambda mark: None)
    given = sealed(of_games("auction-2024"))
    builder = ProjectionBuilder((one,))
    halves = [encoded_table(given[:7]), encoded_table(given[7:])]
    assert [] == [found for half in halves for found in builder.add(half)]
    ((name, table),) = builder.flush()
    assert "facts" == name
    assert one.build(given).equals(table.combine_chunks())
    assert [] == list(builder.flush())


# Real hands.


@pytest.mark.parametrize(
    "corpus",
    [
        "mit/2024/dyneleee__pokerbots2024__08eb8d3a__gamelog.txt",
        "mit/made/2024/full-2024-ZPsi-Kieran.txt",
        "phh/wsop-2023-43-5",
        "pokerstars/hhsmithy",
        pytest.param("acpc/3p.nolimit.h1000.r0.log", marks=pytest.mark.slow),
        pytest.param("mit/made/2024", marks=pytest.mark.slow),
        pytest.param("mit/2022", marks=pytest.mark.slow),
        pytest.param("pokerstars/fpdb", marks=pytest.mark.slow),
    ],
)
def test_real_hands_have_the_facts_that_walking_finds(corpus: str, tmp_path: Path) -> None:
    snapshot, some = imported(corpus, tmp_path)
    one = facts_projection(snapshot.ruleset)
    rules = Rulebook(snapshot.ruleset).of
    assert walked_facts.table_of(some, rules).equals(one.build(some))
