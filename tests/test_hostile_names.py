"""Whatever outsiders are called: no command, text, page or bundle lets a name steer or forge."""

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from api.main import COMMANDS, main
from api.printable import PrintableText, printable, printable_json, printable_lines
from api.questions import declared
from store.reader import Reader
from tests.hostile import ATTACKS, FORGED, forged, made, match, players, steering
from tests.http.clients import site_of
from tests.processes import Popen
from tests.profiles import sized
from tests.sessions import Captured


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger of all these names."""
    return made(tmp_path_factory.mktemp("hostile") / "ledger")


@pytest.fixture(scope="module")
def client(ledger: Path) -> Iterator[TestClient]:
    """An auditor of it over HTTP."""
    with site_of(ledger).as_("auditor") as client:
        yield client


def ran(capsys: Captured, ledger: Path, *words: str) -> tuple[int, str, str]:
    """A command over the ledger: its code and both streams."""
    code = main([*words, "--ledger", str(ledger)])
    return (code, *capsys.readouterr())


def check(text: str, lines: str = "\n\t") -> None:
    """Nothing of it steers, and none of its lines is anybody's but ours."""
    assert [] == steering(text, lines)
    assert [] == forged(text)


EVERY: tuple[tuple[str, ...], ...] = (
    ("matches",),
    ("hands",),
    ("hands", "--facets"),
    ("stats",),
    ("bids", "--spots", "3"),
    ("swaps", "--spots", "3"),
    ("results", "--spots", "3"),
    ("ratings",),
    ("leagues",),
    ("counters",),
    ("fairness",),
    ("audit", "--all"),
    ("verify", "--all"),
    ("doctor",),
    ("games",),
    ("key", "list"),
    ("compact",),
    ("publish",),
    ("restored",),
    ("sql", "FROM players ORDER BY ALL"),
    ("sql", "FROM events WHERE coalesce(players, player) IS NOT NULL ORDER BY ALL"),
    (
        "sql",
        "SELECT 1 AS \"a\x1b[31m\u202e\", chr(27) || chr(155) || chr(10) || 'VERIFIED by nobody'",
    ),
    ("sql", "SELECT error('\x1b[2J' || chr(10) || 'VERIFIED by nobody')"),
)
NAMED: tuple[tuple[str, ...], ...] = (
    ("replay", "{hand}"),
    ("replay", "{hand}", "--at", "9"),
    ("audit", "{hand}"),
    ("audit", "{match}"),
    ("hands", "{match}"),
    ("stats", "{player}"),
    ("grid", "{player}"),
    ("opponent", "{player}"),
    ("compare", "{player}", "{rival}"),
    ("gate", "{player}", "{rival}"),
    ("bids", "{player}"),
    ("swaps", "--match", "{match}"),
    ("results", "{player}"),
    ("winnings", "{player}"),
    ("players",),
    ("player", "{player}"),
    ("history", "{player}"),
    ("counters", "--match", "{match}"),
    ("fairness", "{match}"),
    ("hud", "{match}"),
    ("standing", "{match}"),
    ("pairing", "{match}", "{player}", "{rival}"),
    # what is not there, is misspelt, or makes no sense
    ("replay", "no{match}/1"),
    ("audit", "no{match}/1"),
    ("hands", "no{match}"),
    ("hud", "no{match}"),
    ("hands", '"no{match}'),
    ("grid", "no{player}"),
    ("stats", "--as", "seat:no{player}"),
    ("sql", "no{player}"),
    ("export", "--to", "phh", "no{match}"),
    ("games", "no{match}"),
    ("play", "no{match}"),
    ("match", "no{match}", "no{player}"),
    ("import", "no{match}"),
    ("verify", "no{match}"),
    ("get", "/no{match}"),
    ("key", "create", "--scope", "no{match}"),
    ("key", "revoke", "no{match}"),
    ("monitor", "no{match}"),
    ("witness", "no{match}"),
    ("league", "run", "no{match}.toml"),
    ("push", "no{match}://bucket"),
    ("pull", "no{match}://bucket"),
    ("init", "--origin", "no{match}"),
    ("completion", "no{match}"),
    ("no{match}",),
    ("matches", "--no{match}"),
)
ELSEWHERE = {
    "demo": "deals its own hands under its own names",
    "man": "says only what the help says",
    "serve": "says only its address; what it serves is asked below",
}


def test_all_that_is_written_for_people_leaves_through_one_writer() -> None:
    """`say` of `api.cli.output`; of several lines it takes only a `PrintableText`."""
    allowed = {
        "api/cli/output.py",  # the writer, and tables that rich draws
        *("api/evidence/verify.py", "api/evidence/cosigning.py", "api/serving/server.py"),
    }
    found = {
        str(path)
        for path in Path("api").rglob("*.py")
        if re.search(r"click\.echo\(|(?<![\w.])print\(|console\.print\(", path.read_text("utf-8"))
    }
    assert allowed == found


def test_every_command_is_tried() -> None:
    tried = {words[0] for words in (*EVERY, *NAMED)}
    assert {*COMMANDS, *declared.question_names()} - tried == set(ELSEWHERE)


APART = sized(26, 12, 3)  # from `ci` on less than there are attacks: each command meets some
BOTH = [(words, drawn) for words in EVERY for drawn in (False, True)]
ONE = [(words, at % 2 == 1) for at, words in enumerate(EVERY)]
OTHER = [(words, not drawn) for words, drawn in ONE]


@pytest.mark.parametrize(
    ("words", "drawn"),
    sized(quick=ONE[::3] + ONE[1::3], ci=OTHER, slow=BOTH),
    ids=lambda it: " ".join(it)[:24] if isinstance(it, tuple) else ("pipe", "terminal")[it],
)
def test_no_list_lets_a_name_through(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    ledger: Path,
    words: tuple[str, ...],
    drawn: bool,
) -> None:
    if drawn:
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, err = ran(capsys, ledger, *words)
    assert code in (0, 1, 3, 6, 7), err
    assert out + err
    check(out)
    check(err)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_command_lets_the_name_that_it_is_given_through(
    capsys: Captured, ledger: Path, attack: str
) -> None:
    text = {"match": match(attack), "hand": f"{match(attack)}/2"}
    text |= dict(zip(("player", "rival"), players(attack), strict=True))
    place = list(ATTACKS).index(attack)
    for words in NAMED[place % APART :: APART]:
        given = [one.format(**text) if "{" in one else one for one in words]
        if any("\0" in one for one in given):
            continue  # no shell can say it
        try:
            _, out, err = ran(capsys, ledger, *given)
        except SystemExit as ended:
            out, err = "", str(ended)
        assert out + err, words
        check(out)
        check(err)
        assert "Traceback" not in err


def test_json_on_a_screen_steers_nothing_and_is_exact(capsys: Captured, ledger: Path) -> None:
    for words, key, field in (("matches", "matches", "match"), ("hands", "hands", "match")):
        _, out, _ = ran(capsys, ledger, words, "--json")
        check(out)
        told = {row[field] for row in json.loads(out)[key]}
        assert {match(attack) for attack in ATTACKS} <= told
    for attack in [*ATTACKS][:: sized(3, 2, 1)]:
        if "\n" in match(attack):
            continue  # no word of a command line has two lines
        _, out, _ = ran(capsys, ledger, "replay", f"{match(attack)}/2", "--json")
        check(out)
        assert list(players(attack)) == json.loads(out)["events"][0]["players"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_texts_over_http_are_printable(client: TestClient, attack: str) -> None:
    at = f"/api/v1/hands/{quote(match(attack), safe='')}/2"
    for where in (at, f"{at}/audit"):
        answer = client.get(where, params={"format": "txt"})
        if answer.status_code == 400:  # no address holds a control character
            assert [one for one in match(attack) if not one.isprintable()]
        else:
            assert answer.status_code == (200 if len(match(attack)) <= 200 else 422), answer.text
        check(answer.text)


SHAPES = {"svg", "title", "style", "foreignObject", "symbol", "path", "use"}
DRAWN = {*SHAPES, "div", "p", "span", "b", "i"}  # by the felt


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_picture_is_xml_in_which_no_name_is_more_than_a_word(
    client: TestClient, attack: str
) -> None:
    answer = client.get(f"/hands/{quote(match(attack), safe='')}/2/picture")
    if answer.status_code == 200:
        check(answer.text)
        found = ElementTree.fromstring(answer.content)
        tags = {one.tag.rpartition("}")[2] for one in found.iter()}
        assert tags <= DRAWN
        assert not [name for one in found.iter() for name in one.attrib if name.startswith("on")]
    else:
        assert answer.status_code in (400, 422), answer.text


class _Texts(HTMLParser):
    """Every text and every attribute that a browser would make of a page; not fields of forms."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        field = tag in ("input", "option")
        self.found += [value or "" for name, value in attrs if not (field and name == "value")]

    def handle_data(self, data: str) -> None:
        self.found.append(data)


PAGES = (
    *("/", "/matches", "/hands", "/players", "/live", "/fairness", "/games", "/leagues"),
    *("/matches/{match}", "/hands/{match}/2", "/hands/{match}/2/audit", "/hands/{match}/2/events"),
    *("/players/{player}", "/players/{player}/grid", "/players/{player}/winnings"),
    *("/players/{player}/bids", "/players/{player}/swaps", "/players/{player}/opponent"),
    *("/hands?q=no{match}", "/fairness?match={match}", "/players/no{player}", "/matches/no{match}"),
    *("/leagues/{match}", "/leagues/{match}/{player}/no{player}"),
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_pages_hold_no_control_and_no_tag_of_a_name(client: TestClient, attack: str) -> None:
    text = {"match": quote(match(attack), safe=""), "player": quote(players(attack)[0], safe="")}
    for where in PAGES[list(ATTACKS).index(attack) % APART :: APART]:
        answer = client.get(where.format(**text), headers={"Accept": "text/html"})
        assert answer.status_code in (200, 400, 403, 404, 414, 422, 431), (where, answer.text[:200])
        read = _Texts()
        read.feed(answer.text)
        for found in read.found:
            assert [] == steering(found, "\n\t"), (where, found[:200])
        assert "<script>alert" not in answer.text


def test_a_page_isolates_what_is_written_from_right_to_left(client: TestClient) -> None:
    style = client.get(re.findall(r'/static/style[^"]*css', client.get("/").text)[0]).text
    (rule,) = re.findall(r"([a-z, ]+)\{ unicode-bidi: isolate; \}", style)
    assert {"a", "b", "code", "span", "strong"} <= {one.strip() for one in rule.split(",")}


def test_a_form_sends_back_the_name_that_it_was_given(client: TestClient) -> None:
    filter_ = f'match="{match("an override")}"'
    body = client.get("/hands", params={"q": filter_}, headers={"Accept": "text/html"}).text
    (value,) = re.findall(r'id="q" name="q" value="([^"]*)"', body)
    assert filter_ == value.replace("&#34;", '"').replace("&gt;", ">").replace("&#39;", "'")


@pytest.mark.parametrize("attack", sized([*ATTACKS][::7], [*ATTACKS][1::3], [*ATTACKS]))
def test_bundles_hold_printable_reports_and_are_verified_in_printable_words(
    capsys: Captured, ledger: Path, attack: str, tmp_path: Path
) -> None:
    if "\n" in match(attack):
        pytest.skip("no word of a command line has two lines: such a hand is not found")
    bundle = tmp_path / "evidence.zip"
    code, out, err = ran(capsys, ledger, "audit", f"{match(attack)}/1", "--evidence", str(bundle))
    check(out)
    check(err)
    assert bundle.exists(), (code, err)
    with zipfile.ZipFile(bundle) as files:
        for name in files.namelist():
            if name.endswith(".txt"):
                check(files.read(name).decode())
        script = tmp_path / "verify.py"
        script.write_bytes(files.read("verify.py"))
    alone = subprocess.run(
        [sys.executable, "-I", script, bundle],
        capture_output=True,
        text=True,
        check=False,
    )
    for said in (alone.stdout, alone.stderr, *ran(capsys, ledger, "verify", str(bundle))[1:]):
        check(said, "\n")
        assert said.isascii()


DATA = [
    ("export", "--to", "csv", "--table", "players"),
    ("get", "/api/v1/matches"),
    ("export", "--to", "ndjson"),
    ("get", "/api/v1/players?format=ndjson"),
]


@pytest.mark.parametrize("words", sized(DATA[:1], DATA[:2], DATA), ids=" ".join)
def test_data_on_a_terminal_is_printable(ledger: Path, words: tuple[str, ...]) -> None:
    """In a process of its own, on a terminal of its own."""
    import os
    import pty

    ours, theirs = pty.openpty()
    code = "import sys; from api.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *words, "--ledger", str(ledger)]
    with os.fdopen(theirs, "wb", 0) as terminal:
        process = Popen(command, stdout=terminal, stderr=subprocess.DEVNULL)
    with process:
        said = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert process.returncode == 0
    text = said.decode().replace("\r\n", "\n")
    assert FORGED in text
    check(text)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_page_has_as_many_lines_as_it_was_given(attack: str) -> None:
    text = ATTACKS[attack]
    told = printable_lines(["begin", text, "end"])
    assert isinstance(told, PrintableText)
    assert ["begin", printable(text), "end"] == told.split("\n")[:-1] == told.splitlines()
    check(told)
    assert json.loads(printable_json(json.dumps(text, ensure_ascii=False))) == text


def test_accents_do_not_climb_over_other_lines() -> None:
    assert 4 == sum(one == "\u0301" for one in printable("a" + "\u0301" * 500))
    vietnamese = "Nguye\u0302\u0303n"
    assert vietnamese == printable(vietnamese)


def test_the_ledger_holds_every_name(ledger: Path) -> None:
    assert {match(attack) for attack in ATTACKS} == set(Reader(ledger).snapshot().matches())
