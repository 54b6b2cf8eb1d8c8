"""Tags of players: kept with a match, in SQL, and what players go by in every question."""

import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import pyarrow as pa
import pytest
from httpx import QueryParams
from starlette.testclient import TestClient

from api.cluster import tasks as cluster
from api.main import main
from api.playing import recording as recordings
from api.playing.names import InvalidName, parse_tags, tagged_records
from api.playing.recording import ALL_PLAYED, Recording, finished_hand, seeded_start
from api.questions.filters_values import quoted_name
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events.match import Tagged
from store.ledger import open_ledger
from store.reader import Reader
from tests.foreign import gamelog
from tests.http.clients import over, site_of
from tests.profiles import in_turn, sized
from tests.sessions import Captured, kept, printed, said, told
from tests.wire.misfits import bot

GAME = GAMES["auction-2024"]
URSA, LYNX = "random-0", "random-1"
HANDS, VIEWS = 12, ("auditor", "public")
pytestmark = pytest.mark.usefixtures("jobs_are_forked")
ABOUT = ("stats", "swaps", "history", "grid", "opponent", "winnings", "results", "bids")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches of one name, which plays as version 1 and then as version 2; the first is
    sealed. A third match says nothing of its players."""
    folder = tmp_path_factory.mktemp("played") / "ledger"
    ledger, lock = open_ledger(folder, "a test", recordings.ledger_projections(folder))
    ledger.keep_ruleset(fingerprint(GAME), to_json(GAME))
    for number, match in enumerate(("first", "second", "plain"), 1):
        hands = list(play(GAME, match, HANDS, f"seed {number}", 2))
        start = seeded_start(match, hands[0], f"seed {number}", "sealed")
        who = {"A": URSA, "B": LYNX}
        tags = parse_tags([f"A=bot:bear,version:{number}", "B=bot:lynx"]) if number < 3 else {}
        recording = Recording(ledger, start, GAME, tagged_records(tags, who))
        recording.keep_all([*map(finished_hand, hands)])
        recording.end(ALL_PLAYED)
        if number == 1:
            ledger.seal()
    ledger.close()
    lock.release()
    return folder


@pytest.fixture(scope="module")
def client(played: Path) -> TestClient:
    """An auditor, who looks at its pages."""
    return site_of(played).as_("auditor")


@pytest.fixture(autouse=True)
def ledger(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it that may be changed, which commands look at."""
    folder = Path(shutil.copytree(played, tmp_path / "ledger"))
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


def test_tags_are_records_of_their_match_and_verified_with_it(
    capsys: Captured, ledger: Path
) -> None:
    start, *tags = kept(ledger, "second")[:4]
    assert (URSA, LYNX) == start.players
    assert [
        Tagged(URSA, "bot", "bear"),
        Tagged(URSA, "version", "2"),
        Tagged(LYNX, "bot", "lynx"),
    ] == tags
    first, *_, plain = told(capsys, "matches")["matches"]
    assert [f"{URSA} bot:bear", f"{URSA} version:1", f"{LYNX} bot:lynx"] == first["tags"]
    assert [] == plain["tags"]
    assert f"{URSA} version:1, {LYNX} bot:lynx" in printed(capsys, "matches")


@pytest.mark.parametrize("view", ["auditor", "public", f"seat:{URSA}"])
def test_everybody_reads_them_in_sql(capsys: Captured, view: str) -> None:
    asked = "SELECT match, player FROM tags WHERE tag = 'version' ORDER BY value"
    assert [["first", URSA], ["second", URSA]] == [
        line.split("\t") for line in printed(capsys, "sql", asked, "--as", view).splitlines()[1:]
    ]


@pytest.mark.parametrize(("question", "view"), in_turn(sized(ABOUT[:4], ABOUT[::3], ABOUT), VIEWS))
def test_a_question_by_tag_is_that_of_the_hands_of_whom_the_tag_calls_so(
    capsys: Captured, question: str, view: str
) -> None:
    """One match is that of version 1 alone, as of his name. For more, `quick` looks at pages."""
    words = ("--as", view, "--match", "first")
    by_name = told(capsys, question, URSA, *words)
    by_tag = told(capsys, question, "bear", *words, "--by-tag", "bot")
    if question == "bids":  # how many values were new, and not kept from the first question
        by_tag["counted"] = by_name["counted"]
    assert by_name == _renamed(by_tag, {"bear": URSA, "lynx": LYNX}, by_name)


TABS = ("", "/winnings", "/compare?other={}", "/bids", "/counters", "/grid", "/swaps", "/opponent")
LINK = re.compile(r'<a href="(/hands\?[^"]+)"[^>]*>([^<]+)</a>')


@pytest.mark.parametrize(("tab", "view"), in_turn(sized(TABS[:3], TABS[::3], TABS), VIEWS))
def test_a_page_by_tag_is_that_of_the_hands_of_whom_the_tag_calls_so(
    client: TestClient, tab: str, view: str
) -> None:
    """In one match that is a name: the pages differ by it alone, and their links find as much."""

    def page(player: str, other: str, by_tag: str | None) -> tuple[str, list[str]]:
        path = f"/players/{player}{tab.format(other)}"
        asked = {"match": "first", "as": view} | ({"by_tag": by_tag} if by_tag else {})
        answer = client.get(path, params=QueryParams(urlsplit(path).query).merge(asked))
        assert answer.status_code == 200, answer.text
        main = answer.text.partition('<main class="page" id="main">')[2].partition("<footer")[0]
        main = re.split("<h2>Against|<h2>With", main.partition("</header>")[2])[0]  # of all hands
        main = re.sub(r'<p class="quiet called">.*?</p>|<code class="cmd">.*?</code>', "", main)
        words = re.sub(r"<script.*?</script>|<[^>]+>", " ", main, flags=re.DOTALL)
        for name, same in ((player, "HE"), (other, "OTHER"), (URSA, "HE"), (LYNX, "OTHER")):
            words = re.sub(rf"\b{name}\b", same, words)
        return words.replace("--by-tag bot", ""), [unescape(href) for href, _ in LINK.findall(main)]

    (by_name, named), (by_tag, tagged) = page(URSA, LYNX, None), page("bear", "lynx", "bot")
    assert by_name.split() == by_tag.split()
    assert len(named) == len(tagged)
    step = max(1, len(named) // sized(1, 1, 4))
    for one, other in list(zip(named, tagged, strict=True))[::step]:
        assert "tag=bot:bear" in unquote(other).replace('"', "") or LYNX in one
        found = [
            re.search(r"<b>([^<]*) hands?</b>", client.get(href).text) for href in (one, other)
        ]
        assert found[0] is not None, one
        assert found[1] is not None, other
        assert found[0][1] == found[1][1], other


def test_pages_by_tag_are_found_from_those_by_name_and_keep_the_tag(client: TestClient) -> None:
    page = client.get(f"/players/{URSA}/winnings").text
    assert '<a href="/players/bear/winnings?by_tag=bot">bot bear</a>' in page
    assert '<a href="/players/2/winnings?by_tag=version">version 2</a>' in page
    page = client.get("/players/bear?by_tag=bot").text
    assert 'href="/players/bear/opponent?by_tag=bot"' in page
    assert f'<a href="/players/{URSA}">by his name {URSA}</a>' in page
    assert 'href="/api/v1/players/bear/stats?by_tag=bot"' in page
    assert 'href="/players/lynx?vs=' not in page
    roster = client.get("/players?by_tag=bot,version").text
    assert 'href="/players/bear%202?by_tag=bot%2Cversion"' in roster
    q = urlencode({"q": f"player(tag={quoted_name('bot:bear')} & tag={quoted_name('version:2')})"})
    assert f'href="/hands?{q}"' in roster
    own = urlencode({"q": f"{URSA}:(!tag=bot & !tag=version)"})
    assert f'href="/hands?{own}"' in roster
    refused = client.get("/players/bear/counters?by_tag=team")
    assert 404 == refused.status_code
    assert "no player has a tag team: tags here are bot, version" in refused.text


def test_a_page_by_tag_is_split_by_another_tag(ledger: Path) -> None:
    """Of two versions that met in one match each has its own part."""
    live, lock = open_ledger(ledger, "a test", recordings.ledger_projections(ledger))
    hands = list(play(GAME, "selves", HANDS, "seed", 2))
    tags = parse_tags(["A=bot:bear,version:1", "B=bot:bear,version:2"])
    recording = Recording(
        live,
        seeded_start("selves", hands[0], "seed", "sealed"),
        GAME,
        tagged_records(tags, {"A": URSA, "B": LYNX}),
    )
    recording.keep_all(list(map(finished_hand, hands)))
    recording.end(ALL_PLAYED)
    live.close()
    lock.release()
    client = site_of(ledger).as_("auditor")
    asked = {"by_tag": "bot", "split": "tag:version", "match": "selves"}
    page = client.get("/players/bear", params=asked).text
    links = [unquote(unescape(href)) for href, said in LINK.findall(page) if said == str(HANDS)]
    assert all(any(f'version:{number}"' in one for one in links) for number in (1, 2))
    asked = {"by_tag": "bot", "match": "selves"}
    (row,) = client.get("/api/v1/players/bear/stats", params=asked).json()["players"]
    assert 2 * HANDS == row["hands"]
    every = LINK.findall(client.get("/players/bear", params=asked).text)
    href, said = next(one for one in every if "could%3Dvpip" in one[0])
    assert int(said) > HANDS
    found = client.get(unescape(href)).text
    assert f"<b>{HANDS} hands</b>, counted <b>{said} times</b>" in found


@pytest.mark.parametrize("view", sized(VIEWS[1:], VIEWS))
def test_a_task_of_a_cluster_calls_players_by_tags_in_hands_of_a_unit(
    ledger: Path, view: str
) -> None:
    """What Spark counts is what its workers answer: facts of the hands and players asked for."""
    snapshot = Reader(ledger).snapshot()
    one = LedgerView(snapshot, viewer_of(view), frozenset({"chip"}), ("bot",))
    eyes = cluster.TaskViewer(view, one.only, one.by_tag)
    wanted = cluster.schema(one, "facts")
    rows = [
        it for task in cluster.tasks(snapshot) for it in cluster.rows(task, eyes, "facts", wanted)
    ]
    found = pa.Table.from_batches(rows, wanted)
    assert {"bear", "lynx", URSA, LYNX} == set(found["player"].to_pylist())
    assert 3 * 2 * HANDS == found.num_rows
    one.close()
    other = cluster.TaskViewer(view, frozenset({"cent"}))
    assert not [
        it for task in cluster.tasks(snapshot) for it in cluster.rows(task, other, "hands", HAND)
    ]


HAND = pa.schema([("hand_seq", pa.int64())])


def _renamed(told: Any, names: dict[str, str], like: Any) -> Any:
    """The same with other names; filters of hands call players by their names, so there is none."""
    if isinstance(told, dict):
        return {
            key: like[key] if key == "filter" else _renamed(one, names, like[key])
            for key, one in told.items()
        }
    if isinstance(told, list):
        return [_renamed(one, names, it) for one, it in zip(told, like, strict=True)]
    return names.get(told, told) if isinstance(told, str) else told


def test_two_versions_of_a_bot_are_compared_by_their_tags(capsys: Captured) -> None:
    by_match = told(capsys, "compare", URSA, URSA, "--match", "first", "--match", "second")
    by_tag = told(capsys, "compare", "bear 1", "bear 2", "--by-tag", "bot,version")
    assert by_match["statistics"] == by_tag["statistics"]


def test_who_has_no_such_tag_keeps_his_name(capsys: Captured) -> None:
    rows = told(capsys, "players", "--by-tag", "version")["players"]
    assert {"1": HANDS, "2": HANDS, URSA: HANDS, LYNX: 3 * HANDS} == {
        one["player"]: one["hands"] for one in rows
    }
    pairs = told(capsys, "ratings", "--by-tag", "bot")["pairs"]
    assert {("bear", "lynx"): 2, (URSA, LYNX): 1} == {
        (one["player"], one["other"]): one["matches"] for one in pairs
    }


@pytest.mark.parametrize("view", sized(VIEWS[:1], VIEWS))
def test_a_page_of_a_player_is_split_by_a_tag(client: TestClient, view: str) -> None:
    """Each version played one match: its column is that match's; a third match has no tag."""

    def columns(split: str, player: str = URSA) -> dict[str, list[str]]:
        page = client.get(f"/players/{player}", params={"split": split, "as": view}).text
        tables = re.findall(r'<table class="stats">.*?</table>', page, re.DOTALL)
        found: dict[str, list[str]] = {}
        for rows in (re.findall(r"<tr>(.*?)</tr>", one, re.DOTALL) for one in tables):
            heads = re.findall(r'<th class="n"><a[^>]*>(.*?)</a>', rows[0])
            for row in rows[1:]:
                for head, cell in zip(heads, re.findall(r"<td[^>]*>(.*?)</td>", row), strict=True):
                    found.setdefault(head, []).append(re.sub(r"</?a\b[^>]*>", "", cell))
        return found

    by_match = columns("match")
    assert {"first", "second", "plain"} == by_match.keys()
    names = {"first": "1", "second": "2", "plain": "untagged"}
    assert {names[match]: cells for match, cells in by_match.items()} == columns("tag:version")
    assert {"lynx", "untagged"} == columns("tag:bot", LYNX).keys()
    refused = client.get(f"/players/{LYNX}", params={"split": "tag:version"})
    assert 422 == refused.status_code
    assert "here is no split by tag:version: position, " in refused.text
    assert "window, tag:bot" in refused.text


def test_hands_are_found_by_tag(capsys: Captured) -> None:
    def found(filter: str) -> set[str]:
        return {one["hand"] for one in told(capsys, "hands", filter)["hands"]}

    assert {f"first/{number}" for number in range(1, HANDS + 1)} == found("tag=version:1")
    assert {f"plain/{number}" for number in range(1, HANDS + 1)} == found("!tag=bot:bear")
    won = found(f"match=second & {URSA}:net>0")
    assert won
    assert won == found("player(tag=version:2 & net>0)")
    assert set() == found("player(tag=bot:lynx & tag=version:1)")
    both = {one.partition("/")[0] for one in found("tag=version")}
    assert {"first", "second"} == both
    assert main_says(capsys, "tag=:1") == "after `tag=` there can stand TAG:VALUE or TAG, not `:`"


def main_says(capsys: Captured, filter: str) -> str:
    """What is wrong with a filter, without where."""
    assert 2 == main(["hands", filter])
    return capsys.readouterr().err.splitlines()[0].partition(": at ")[2].partition(": ")[2]


def test_a_tag_that_nobody_has_is_refused_with_those_there_are(capsys: Captured) -> None:
    sentence = said(capsys, 5, "stats", "--by-tag", "team")
    assert "no player has a tag team: tags here are bot, version" == sentence


@pytest.mark.parametrize(
    ("tags", "sentence"),
    [
        ("A", "'A' tags nobody: write PLAYER=TAG:VALUE, several tags with commas"),
        ("A=bot", "'A=bot' tags nobody"),
        ("C=bot:x", "nobody is called C here: there are A and B"),
        ("A=Bot:x", "'Bot:x' cannot be a tag"),
        ("A=bot:x y", "'bot:x y' cannot be a tag"),
        ("A=bot:x,bot:y", "A cannot be of bot x and y"),
        ("A=" + ",".join(f"t{one}:1" for one in range(21)), "A has 21 tags, and 20 can be kept"),
    ],
)
def test_tags_that_cannot_be_kept_are_misuse(
    capsys: Captured, tmp_path: Path, tags: str, sentence: str
) -> None:
    folder = str(bot(tmp_path, "bear").folder)
    assert sentence in said(capsys, 2, "match", folder, folder, "--tags", tags)


@pytest.mark.ci  # before, built-in bots are, below, and a bot that is added to a league
def test_bots_of_a_command_and_of_a_job_are_tagged_alike(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    folders = [str(bot(tmp_path / "bots", name).folder) for name in ("bear", "lynx")]
    words = ("--hands", "2", "--match", "here", "--tags", "A=bot:u,version:1", "--tags", "B=bot:l")
    printed(capsys, "match", *folders, *words)
    writer = site_of(ledger, bots=tmp_path / "bots").as_("writer")
    wanted: dict[str, Any] = {"game": "auction-2024-mit", "folders": ["bear", "lynx"], "hands": 2}
    tags = {"A": {"bot": "u", "version": "1"}, "B": {"bot": "l"}}
    asked = writer.post("/api/v1/matches", json={**wanted, "match": "there", "tags": tags})
    assert 202 == asked.status_code, asked.text
    assert "done" == over(writer, asked.headers["location"])["state"]
    here, there = (
        [one for one in kept(ledger, match) if isinstance(one, Tagged)]
        for match in ("here", "there")
    )
    assert here == there != []
    refused = writer.post("/api/v1/matches", json={**wanted, "tags": {"C": {"bot": "x"}}})
    assert (422, True) == (refused.status_code, "nobody is called C here" in refused.text)


def test_players_of_built_in_bots_are_tagged_by_a_command_and_by_a_job(
    capsys: Captured, ledger: Path
) -> None:
    words = ("play", "auction-2024", "--hands", "2", "--match", "here", "--tags")
    assert "nobody is called A here: there are random-0 and random-1" in said(
        capsys, 2, *words, "A=bot:x"
    )
    printed(capsys, *words, f"{URSA}=bot:bear,version:3")
    writer = site_of(ledger).as_("writer")
    wanted = {"game": "auction-2024", "hands": 2, "match": "there"}
    tags = {URSA: {"bot": "bear", "version": "3"}}
    asked = writer.post("/api/v1/matches", json={**wanted, "tags": tags})
    assert "done" == over(writer, asked.headers["location"])["state"]
    for match in ("here", "there"):
        tags_there = [one for one in kept(ledger, match) if isinstance(one, Tagged)]
        assert [Tagged(URSA, "bot", "bear"), Tagged(URSA, "version", "3")] == tags_there
    refused = writer.post("/api/v1/matches", json={**wanted, "tags": {"A": {"bot": "x"}}})
    assert (422, True) == (refused.status_code, "nobody is called A here" in refused.text)


def test_players_of_imported_files_are_tagged_by_the_names_that_they_get(
    capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Each in the matches that he plays in; the same file comes again as the same match."""
    log = gamelog(tmp_path / "one.txt", rounds=4, seed="1")
    words = ("import", str(log), "--names", f"{URSA}=ursa,{LYNX}=lynx", "--match", "read")
    tags = ("--tags", "ursa=bot:bear,version:4", "--tags", "nobody=bot:none")
    expected = [Tagged("ursa", "bot", "bear"), Tagged("ursa", "version", "4")]
    for _ in range(2):
        assert 0 == main([*words, *tags])
        told = capsys.readouterr().err
        assert "no player of these files is called nobody: his tags are not kept" in told
        assert expected == [one for one in kept(ledger, "read") if isinstance(one, Tagged)]
    rows = printed(capsys, "players", "--by-tag", "bot,version")
    assert "bear 4" in rows
    assert "'ursa' tags nobody" in said(capsys, 2, *words, "--tags", "ursa")


def test_a_job_of_an_import_tags_players(tmp_path: Path, ledger: Path) -> None:
    writer = site_of(ledger).as_("writer")
    log = gamelog(tmp_path / "one.txt", rounds=4, seed="1").read_bytes()
    sent = writer.post(f"/api/v1/imports?match=read&tags={URSA}=bot:bear,version:4", content=log)
    assert "done" == over(writer, sent.headers["location"])["state"]
    expected = [Tagged(URSA, "bot", "bear"), Tagged(URSA, "version", "4")]
    assert expected == [one for one in kept(ledger, "read") if isinstance(one, Tagged)]
    refused = writer.post("/api/v1/imports?tags=A=Bot:x", content=log)
    assert (422, True) == (refused.status_code, "cannot be a tag" in refused.text)


def test_a_name_of_a_player_who_is_not_there_is_no_ones_tag() -> None:
    with pytest.raises(InvalidName, match="nobody is called x here: there are A and B"):
        tagged_records({"x": {"bot": "y"}}, {"A": "a", "B": "b"})
