"""When a hand was played: what each format says of it, kept as it is said and never guessed."""

import json
from datetime import date, time
from pathlib import Path

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.audit import audit
from engine.games import RULESETS
from events.codec import Unreadable, decode, encode
from events.notation import read, say
from events.types import Events, HandStarted
from formats import irc
from formats.hand_records import hand_record
from formats.ohh.read import read as read_ohh
from formats.phh.documents import write
from formats.phh.read import read as read_phh
from formats.pokerstars.read import read as read_pokerstars
from formats.registry import SITES
from formats.source import SourceFile, SourceHand
from formats.timestamps import timestamp, timestamp_in, utc_timestamp
from tests.formats.test_format_ggpoker import CASH as GG
from tests.formats.test_format_irc import HDB, PDB, ROSTER, made_month
from tests.formats.test_format_ohh import CASH as OHH
from tests.formats.test_format_pacific import CASH as PACIFIC
from tests.formats.test_format_phh import ONE
from tests.formats.test_format_pokerstars import CASH as STARS
from tests.formats.test_format_winamax import CASH as WINAMAX
from tests.http.clients import site_of
from tests.sessions import Captured, printed
from tests.store.test_event_columns import alike
from tests.test_assumed import OLD, START
from tests.trust.in_node import judged_in_node
from tests.trust.own_bundles import Draft, problem, verdict

WINTER = "2019-03-02T15:20:11-05:00"
SAID = {
    "2012/03/04 5:06:07 ET": "2012-03-04T05:06:07-05:00",
    "2012/07/04 5:06:07 ET": "2012-07-04T05:06:07-04:00",
    "2005/08/15 - 14:27:10 (ET)": "2005-08-15T14:27:10-04:00",
    "2016/12/27 9:42:32 CET [2016/12/27 3:42:32 ET]": "2016-12-27T09:42:32+01:00",
    "2016/07/27 9:42:32 CET [2016/07/27 3:42:32 ET]": "2016-07-27T09:42:32+02:00",
    "2011/07/04 15:00:00 BRT [2011/07/04 14:00:00 ET]": "2011-07-04T14:00:00-04:00",
    "2011/07/04 15:00:00 BRT": "2011-07-04T15:00:00",
    "2012/03/04 5:06:07": "2012-03-04T05:06:07",
    "2012/03/04": "2012-03-04",
    "2012/03/11 2:30:00 ET": "2012-03-11T02:30:00",  # never: the clocks went from 2 to 3
    "2012/11/04 1:30:00 ET": "2012-11-04T01:30:00",  # twice: they went back from 2 to 1
    "2012/02/30 5:06:07 ET": "",
    "2012/03/04 25:06:07 ET": "",
    "0000/03/04 5:06:07 ET": "",
    "yesterday": "",
    "": "",
}


def played(source: SourceFile) -> str:
    hand = next(iter(source.hands))
    assert isinstance(hand, SourceHand), hand
    start = hand_record(hand, "m/1")[0]
    assert isinstance(start, HandStarted)
    assert hand.played == start.played
    assert start == decode(encode(start))
    assert start == read(say(start))
    return hand.played


@pytest.mark.parametrize("said", SAID)
def test_pokerstars_says_its_zone(said: str) -> None:
    text = STARS.replace("2012/03/04 5:06:07 ET", said, 1)
    assert played(read_pokerstars(text)) == SAID[said]


@pytest.mark.parametrize("said", ["2025/08/10 02:21:00", "2025/02/30 02:21:00"])
def test_ggpoker_names_no_zone(said: str) -> None:
    text = GG.replace("2025/08/10 02:21:00", said, 1)
    assert played(read_pokerstars(text)) == ("2025-08-10T02:21:00" if "08" in said else "")


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("2017/07/14 02:40:00 UTC", "2017-07-14T02:40:00Z"),
        ("2017/01/14 02:40:00 UTC", "2017-01-14T02:40:00Z"),
        ("2017/01/14 02:40:00", "2017-01-14T02:40:00"),
        ("2017/13/14 02:40:00 UTC", ""),
    ],
)
def test_winamax_is_in_utc(said: str, when: str) -> None:
    site = next(one for one in SITES if one.name == "winamax")
    assert played(site.read(WINAMAX.replace("2017/07/14 02:40:00 UTC", said, 1))) == when


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ("27 10 2016 18:03:49", "2016-10-27T18:03:49"),
        ("27 01 2016 18:03:49", "2016-01-27T18:03:49"),
        ("10 27 2016 18:03:49", ""),
        ("27 10 2016 18:63:49", ""),
        ("soon", ""),
    ],
)
def test_888poker_names_no_zone(said: str, when: str) -> None:
    site = next(one for one in SITES if one.name == "pacific")
    assert played(site.read(PACIFIC.replace("27 10 2016 18:03:49", said, 1))) == when


@pytest.mark.parametrize(
    ("said", "when"),
    [
        ('"2024-03-14T12:00:00Z"', "2024-03-14T12:00:00Z"),
        ('"2024-07-14T12:00:00.125Z"', "2024-07-14T12:00:00Z"),
        ('"2024-07-14 12:00:00"', "2024-07-14T12:00:00Z"),
        ('"2024-07-14"', "2024-07-14"),
        ('"2024-07-14T12:00:00+02:00"', ""),
        ('"2024-07-34T12:00:00Z"', ""),
        ('"0000-07-14T12:00:00Z"', ""),
        ("17", ""),
        ("null", ""),
    ],
)
def test_an_open_hand_history_is_in_utc(said: str, when: str) -> None:
    assert played(read_ohh(OHH.replace('"2024-03-14T12:00:00Z"', said, 1))) == when


DAY = "year = 2019\nmonth = 3\nday = 2\n"
PHH = {
    DAY + 'time = 15:20:11\ntime_zone = "America/New_York"\n': WINTER,
    DAY.replace("3", "7") + 'time = 15:20:11.5\ntime_zone = "America/New_York"\n': (
        "2019-07-02T15:20:11-04:00"
    ),
    DAY + 'time = 15:20:11\ntime_zone = "Asia/Kolkata"\n': "2019-03-02T15:20:11+05:30",
    DAY + 'time = 15:20:11\ntime_zone_abbreviation = "UTC"\n': "2019-03-02T15:20:11Z",
    DAY + 'time = 15:20:11\ntime_zone_abbreviation = "CST"\n': "2019-03-02T15:20:11",
    DAY + "time = 15:20:11\n": "2019-03-02T15:20:11",
    DAY: "2019-03-02",
    'time = 15:20:11\ntime_zone = "America/New_York"\n': "",
    "year = 2019\n": "",
    "year = 2019\nmonth = 2\nday = 30\n": "",
    "year = 10000000000000000000000\nmonth = 2\nday = 3\n": "",
    'year = "soon"\nmonth = [2]\nday = 3\n': "",
}
for _zone in (
    "../../../etc/passwd",
    "localtime",
    "America",
    "America/",
    "/etc/localtime",
    "a/\\u0000",
):
    PHH[DAY + f'time = 15:20:11\ntime_zone = "{_zone}"\n'] = "2019-03-02T15:20:11"


@pytest.mark.parametrize("said", PHH)
def test_phh_names_a_zone_of_the_database(said: str) -> None:
    assert played(read_phh(ONE + said)) == PHH[said]


def test_an_hour_that_no_zone_has_and_years_of_local_mean_time() -> None:
    assert timestamp(date(1850, 1, 1), time(12), "America/New_York") == "1850-01-01T12:00:00"
    assert timestamp(date(1, 1, 1), time(0), "ET") == "0001-01-01T00:00:00"
    assert timestamp(date(9999, 12, 31), time(23, 59, 59), "ET") == "9999-12-31T23:59:59-05:00"
    assert ("", "") == (utc_timestamp(None), timestamp_in("12012/03/04 5:06:07 ET"))


def test_the_irc_database_counts_seconds(tmp_path: Path) -> None:
    def month(name: str, one: str) -> SourceFile:
        def now(text: str) -> str:
            rows = (line for line in text.splitlines(keepends=True) if "100 " in line[:8])
            return "".join(line.replace("100 ", f"{one} ", 1) for line in rows)

        pdb = {who: now(text) for who, text in PDB.items()}
        return irc.read(made_month(tmp_path / name, now(HDB), now(ROSTER), **pdb))

    assert played(month("winter", "791000000")) == "1995-01-25T02:13:20Z"
    assert played(month("summer", "805000000")) == "1995-07-06T03:06:40Z"
    assert played(month("small", "100")) == ""
    assert played(month("late", "1109842200")) == ""


def hand(said: str) -> Events:
    record = next(iter(play(RULESETS["site-nl"], "m", 1, "played", 3)))
    return at(record, said)


def at(record: Events, said: str) -> Events:
    start = record[0]
    assert isinstance(start, HandStarted)
    return (replace(start, played=said), *record[1:])


def test_a_hand_without_it_is_spelled_as_before() -> None:
    assert OLD == encode(START)
    start = replace(START, played=WINTER)
    assert OLD.replace(b',"players"', b',"played":"%b","players"' % WINTER.encode()) == encode(
        start
    )
    assert say(start).endswith(f"; played {WINTER}")
    assuming = replace(start, assumed=("stack 400",))
    assert assuming == read(say(assuming))


WRONG = ["", "soon", "2019-03-02\n", "2019-03-02T15:20", "2019-03-02T15:20:11+5", "2019/03/02", 7]


@pytest.mark.parametrize("wrong", WRONG)
def test_another_shape_is_refused_everywhere(wrong: str | int) -> None:
    draft = Draft(hand(""), "public")
    draft.lines[0]["played"] = wrong
    assert "cannot be its played" in problem(draft.files())
    said = (
        b"%d" % wrong if isinstance(wrong, int) else b'"%b"' % wrong.encode().replace(b"\n", b"\\n")
    )
    with pytest.raises(Unreadable):
        decode(OLD.replace(b',"players"', b',"played":%b,"players"' % said))


@pytest.mark.parametrize(
    "said", [WINTER, "2019-03-02T15:20:11Z", "2019-03-02T15:20:11", "2019-03-02"]
)
def test_a_bundle_tells_it_and_both_verifiers_read_it(said: str) -> None:
    draft = Draft(hand(said), "public")
    assert said == draft.lines[0]["played"]
    assert () == verdict(draft).problems
    assert verdict(draft) == judged_in_node(draft.files())


def test_columns_tell_it_and_hands_beside_it_say_nothing() -> None:
    records = list(play(RULESETS["site-nl"], "m", 3, "played", 3))
    first, second, third = records
    alike([first, second, third])
    alike([first, at(second, WINTER), third])
    alike([at(first, WINTER), at(second, "2019-03-02"), at(third, WINTER)])


def test_no_rule_asks_it() -> None:
    assert audit(RULESETS["site-nl"], hand(WINTER)) is None


@pytest.mark.parametrize(
    ("said", "again"),
    [
        (WINTER, WINTER),
        ("2019-03-02T15:20:11+02:00", "2019-03-02T15:20:11+02:00"),
        ("2019-03-02T15:20:11+05:30", "2019-03-02T09:50:11Z"),
        ("2019-03-02T15:20:11Z", "2019-03-02T15:20:11Z"),
        ("2019-03-02T15:20:11", "2019-03-02T15:20:11"),
        ("2019-03-02", "2019-03-02"),
        ("0001-01-01T00:00:00+05:30", ""),
        ("2019-03-02T15:20:11-99:99", ""),
        ("2019-02-30", ""),
        ("", ""),
    ],
)
def test_phh_is_written_with_it(said: str, again: str) -> None:
    text = write(RULESETS["site-nl"], hand(said))
    assert played(read_phh(text)) == again


def test_whoever_sees_an_imported_hand_is_told_it(tmp_path: Path, capsys: Captured) -> None:
    """At every door, beside the time of the import."""
    ledger, text = tmp_path / "ledger", tmp_path / "stars.txt"
    text.write_text(STARS)
    when, where = "2012-03-04T05:06:07-05:00", ("--ledger", str(ledger))
    printed(capsys, "import", str(text), "--match", "m", *where)
    assert f"; played {when}" in printed(capsys, "replay", "m/1", *where).splitlines()[0]
    asked = 'SELECT played, played::TIMESTAMPTZ AS moment, "at" > moment AS later FROM events'
    rows = printed(capsys, "sql", f"{asked} WHERE played IS NOT NULL", "--json", *where)
    assert [{"played": when, "moment": "2012-03-04T10:06:07.000Z", "later": True}] == json.loads(
        rows
    )["rows"]
    client = site_of(ledger).as_()
    hand = client.get("/api/v1/hands/m/1").json()
    assert when == hand["played"]
    assert hand["first"] > "2020"
    page = client.get("/hands/m/1").text
    assert f"played <b>{when}</b>, recorded <time" in page
