"""Commands that look through other eyes print the same in two worlds, sentences on stderr too."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from api.cli.output import FORBIDDEN
from api.main import main
from tests.leaks.conftest import Pair
from tests.leaks.hidden_worlds import AUCTION, EYES, LYNX, RUNNING, SEALED_SEED, SWAP, URSA
from tests.profiles import sized

CLOSED, SWAPS, LATER = f"closed-{AUCTION}", f"closed-{SWAP}", f"before-{AUCTION}"
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("hands",),
    ("hands", "hole=A?", "--json"),
    ("hands", "!hole=A?", "--facets"),
    ("hands", f"{LYNX}:bid>3 | swapped", "--newest", "--limit", "2"),
    ("replay", f"{CLOSED}/1"),
    ("replay", f"{CLOSED}/5", "--json"),
    ("replay", f"{SWAPS}/2"),
    ("replay", f"{LATER}/4"),
    ("replay", f"{RUNNING}/1"),
    ("replay", f"{RUNNING}/1", "--at", "99"),
    ("replay", "bare-site-fl/2"),
    ("export", "--to", "csv"),
    ("export", "--to", "parquet"),
    ("export", "--to", "ndjson", "--table", "players"),
    ("export", "--to", "arrow", "--table", "bids"),
    ("export", CLOSED, "--to", "phh"),
    ("export", "closed-site-nl/3", "--to", "phh"),
    ("stats", "--json"),
    ("stats", LYNX, "--by", "match"),
    ("grid", LYNX),
    ("bids", LYNX, "--json"),
    ("swaps", LYNX, "--json"),
    ("opponent", LYNX, "--json"),
    ("compare", LYNX, URSA, "--json"),
    ("counters", "--json"),
    ("results", LYNX, "--adjusted"),
    ("results", LYNX, "--by", "swap"),
    ("sql", "SELECT hole, count(*) FROM players GROUP BY hole ORDER BY ALL"),
    ("sql", "SELECT count(*) FROM bids WHERE amount > 3"),
    ("sql", "SELECT CAST(hole AS INTEGER) FROM players WHERE hole LIKE 'A%'"),
    ("matches", "--json"),
    ("audit", f"{CLOSED}/1"),
    ("audit", f"{SWAPS}/2", "--json"),
    ("get", "hands?q=bid>=1"),
    ("get", f"hands/{CLOSED}/1/proof"),
)
DEAR = (  # half a second each, or some; their answers are the API's
    *("bids", "swaps", "opponent", "results"),
    *("stats", "grid", "compare", "counters", "history"),
)
DEAR_OF = sized(quick=(), ci=(), slow=("public",))
Said = pytest.CaptureFixture[bytes]


def said(home: Path, words: tuple[str, ...], view: str, capsys: Said) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr of a command beside its ledger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        code = main([*words, "--as", view, "--ledger", "ledger"])
    out, err = capsys.readouterr()
    return code, out, re.sub(rb", \d+\.\d s\b", b"", err)  # how long it took


@pytest.mark.parametrize("name", ["public", pytest.param("a player", marks=pytest.mark.slow)])
def test_a_command_prints_the_same_in_both_worlds(
    name: str, pair_of: Callable[[str], Pair], capsysbinary: Said
) -> None:
    pair, view = pair_of(name), EYES[name].viewer.view
    told = []
    done = 0
    for folder in pair.folders if DEAR_OF else ():  # `counted`: what nobody had counted before
        said(folder.parent, ("bids", LYNX), view, capsysbinary)
    for words in COMMANDS[:: sized(2, 1)]:
        if words[0] in DEAR and name not in DEAR_OF:
            continue
        here, there = (said(it.parent, words, view, capsysbinary) for it in pair.folders)
        assert b"Traceback" not in here[2]
        assert SEALED_SEED.encode() not in here[1] + here[2]
        done += here[0] == 0
        if here != there:
            told.append(words)
    assert [] == told
    assert done >= sized(9, 18, 20)


def test_an_auditor_is_told_of_both(public: Pair, capsysbinary: Said) -> None:
    """Else nothing here would prove anything."""
    for words in COMMANDS[:: sized(2, 1)]:
        if words[0] in ("replay", "sql", "export") and "99" not in words and "phh" not in words:
            here, there = (said(it.parent, words, "auditor", capsysbinary) for it in public.folders)
            assert here != there, words


def test_who_has_no_seat_is_told_what_nobody_is(public: Pair, capsysbinary: Said) -> None:
    """Of a hand that is there and of one that is not, the same but for its name."""
    home = public.folders[0].parent
    for view in (f"seat:{LYNX}", "seat:nobody"):
        code, out, err = said(home, ("replay", f"{LATER}/4"), view, capsysbinary)
        assert (FORBIDDEN, b"") == (code, out)
        assert b"bid" not in err
