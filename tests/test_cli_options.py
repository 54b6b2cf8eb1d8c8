"""One word means one thing at every command, and one thing has one word."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from api.cli.options import Option
from api.main import main
from docs.option_tables import Told, every_option, flag, takes
from tests.sessions import printed, said

Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Word:
    """What an option means, what stands behind it, and why some commands differ in that."""

    means: str
    takes: str = ""
    differs: str = ""


WORDS = {
    "--adjusted": Word("luck of run-outs is taken out"),
    "--after": Word(
        "a list begins behind this row", "HAND", "the row of a list of matches is a match"
    ),
    "--all": Word("everything there is, not a part that is named"),
    "--allow-origin": Word("a site whose scripts may read", "ORIGIN"),
    "--frame-origin": Word("a site that may frame some pages", "SITE"),
    "--as": Word("the viewpoint", "VIEW"),
    "--at": Word("the moment, an event's number", "N"),
    "--at-once": Word("the most connections", "N"),
    "--before": Word("the record as it stood before a hand", "HAND"),
    "--bid-min": Word("the smallest bid", "CHIPS"),
    "--bots": Word("our own bots at the table", "A,B,..."),
    "--bots-dir": Word("folders of bots that may be started", "DIR"),
    "--by": Word("what an answer is split by", "WORD"),
    "--by-tag": Word("players go by what a tag says", "TAG"),
    "--checkpoint": Word("a checkpoint that was kept", "FILE"),
    "--clock": Word("a bot's time for the whole match", "SECONDS"),
    "--dealing": Word("where decks come from", "WORD"),
    "--delay": Word("how much later the public sees", "SECONDS"),
    "--dialect": Word("which engine's log", "WORD"),
    "--disclosure": Word("who sees hidden cards afterwards", "WORD"),
    "--engine": Word("every hand by the engine"),
    "--every": Word("told after each so many hands", "N"),
    "--error": Word("how often a verdict may be wrong", "N"),
    "--evidence": Word("a bundle of evidence is written beside the answer", "FILE.zip"),
    "--expires": Word("when a key ends", "WHEN"),
    "--facets": Word("how many rows have what, instead of rows"),
    "--fail-if": Word("a verdict that is a failure", "WORD"),
    "--field": Word("all others counted as one"),
    "--format": Word(
        "the format of a foreign or a written file", "WORD", "get has what its route has: F"
    ),
    "--freeze-out": Word("played until one has it all"),
    "--game": Word("only hands of this ruleset", "GAME"),
    "--gamelog": Word("the log of the MIT engine, beside the answer", "FILE"),
    "--hands": Word("how many hands", "N"),
    "--host": Word("the address to listen at", "HOST"),
    "--install": Word("kept where the system finds it"),
    "--json": Word("one document"),
    "--key": Word("a log's public key", "KEY"),
    "--key-bytes": Word("bytes of one key in a day", "N"),
    "--key-hands": Word("hands of one key in a day", "N"),
    "--key-jobs": Word("jobs of one key at once", "N"),
    "--league": Word("only matches of this league", "LEAGUE"),
    "--ledger": Word("where the ledger is", "DIR"),
    "--limit": Word("the most rows", "N"),
    "--live": Word("under a real clock"),
    "--log": Word("a line for each request", "FILE"),
    "--logs": Word("what bots print", "DIR"),
    "--lossy": Word("leaves out what the format has no word for"),
    "--match": Word("the match: the one that is written, or the only one that is read", "MATCH"),
    "--matches": Word("how many matches", "N"),
    "--min-pot": Word("the smallest pot", "CHIPS"),
    "--mirror": Word("each deck once for each seat"),
    "--name": Word("what a new ledger, key, witness or bot is called", "NAME"),
    "--names": Word("other names for players", "A=x,B=y"),
    "--newest": Word("the last ones first"),
    "--news": Word("what happens at a live table", "WHAT:PLAYER@HAND"),
    "--no-audit": Word("hands are not judged"),
    "--numbers": Word("only hands of these numbers", "A-B"),
    "--on": Word("machines of Spark do the work", "SPARK"),
    "--open-bids": Word("the first bid is shown early"),
    "--order": Word("what hands are sorted by", "WORD"),
    "--out": Word("the file that the answer is written into", "FILE"),
    "--page": Word("the page that a browser opens", "PATH"),
    "--player": Word("only hands with this player", "P"),
    "--players": Word("how the names of files name players", "PATTERN"),
    "--points": Word("the most points of a graph", "N"),
    "--policy": Word("a tlog-policy", "FILE"),
    "--port": Word("the port to listen at", "N"),
    "--position": Word("only hands in this position", "WORD"),
    "--print": Word("hands in notation, too"),
    "--public-url": Word("where a proxy leads here from", "URL"),
    "--quiet": Word("no progress bar"),
    "--rake": Word("from where the rake of a hand is", "WORD"),
    "--rate": Word("what a caller may spend", "N"),
    "--ruleset": Word("the rules that hands are played or decided by", "GAME|FILE"),
    "--runouts": Word("how many run-outs are counted", "N|all"),
    "--scope": Word("what a key is good for", "SCOPE"),
    "--seats": Word("how many players", "N"),
    "--seed": Word("what decides cards", "SEED"),
    "--set": Word("a changed parameter", "NAME=VALUE"),
    "--show": Word("the number in a cell", "WORD"),
    "--showdown": Word("whether cards were shown"),
    "--skip-damaged": Word("hands that cannot be read are named, not fatal"),
    "--spots": Word("how many decisions are counted", "N|all"),
    "--spreadsheet": Word("no text is a formula"),
    "--state": Word("what a monitor keeps", "FILE"),
    "--street": Word("the street: a statistic's, or the last of a hand", "WORD"),
    "--strict": Word("less than full agreement is no success"),
    "--swapped": Word("whether a card was swapped"),
    "--table": Word("which table of an answer", "WORD"),
    "--tags": Word("what players are beside their names", "A=bot:x,version:2"),
    "--think-ms": Word("how long a bot of ours thinks", "MS"),
    "--turn": Word("how long a turn is", "SECONDS"),
    "--unit": Word("only hands played for this", "UNIT"),
    "--vs": Word("only hands that this rival was dealt in", "P"),
    "--watch": Word("goes on, and looks again this often", "SECONDS"),
    "--web": Word("in the browser"),
    "--witness": Word("the file outside the ledger that keeps its newest checkpoint", "FILE"),
    "--workers": Word("how many processes do the work", "N"),
}
SHARED = {  # what stands behind several options that mean different things
    **dict.fromkeys(("N", "N|all", "CHIPS", "SECONDS"), "amounts"),
    **dict.fromkeys(("FILE", "DIR"), "places on the disk: which one, the option says"),
    "HAND": "a list and a record both have a place behind or before a hand",
    "P": "at the table himself, or dealt in beside somebody",
    "WORD": "words that the help lists",
}
REUSED = {  # words that meant something else at a command, and are still taken there
    **dict.fromkeys(
        [
            (one, "--hands")
            for one in (
                *("stats", "grid", "history", "opponent"),
                *("bids", "swaps", "results", "winnings", "gate", "ratings"),
            )
        ],
        "a range, which is --numbers now",
    ),
    ("monitor", "--hands"): "all evidence, which is --all now",
    ("match", "--game"): "the rules, which are --ruleset now",
    ("import", "--game"): "the rules, which are --ruleset now",
    ("serve", "--bots"): "a folder, which is --bots-dir now",
    ("play", "--clock"): "one turn, which is --turn now",
    ("witness", "--log"): "a log's key, which is --key now",
}
NOT_ASKED = {  # questions that lack a filter which the others have
    **dict.fromkeys(
        [(one, word) for one in ("matches", "player", "players") for word in ("--match", "--game")],
        "its rows are matches, or tell them and rulesets apart",
    ),
    **dict.fromkeys(
        [(one, it) for one in ("leagues", "pairing", "standing") for it in ("--match", "--game")],
        "a league is its matches, which are of one ruleset",
    ),
    ("fairness", "--game"): "cards are dealt alike whatever is played",
}
NOT_TAKEN = {  # answers that lack an option which the others have
    ("games", "--as"): "everybody may see rulesets",
    ("verify", "--as"): "bytes are checked by somebody who has all of them",
    **dict.fromkeys(
        [("games", "--out"), ("games", "--format")], "a ruleset as a file is --json, for --ruleset"
    ),
    **dict.fromkeys(
        [("verify", "--out"), ("verify", "--format")], "a verdict and sentences, which are no table"
    ),
    **dict.fromkeys(
        [("replay", "--out"), ("replay", "--format")], "export writes the hand, in any format"
    ),
    ("sql", "--web"): "no page is asked in SQL",
}


def faults(options: Iterable[Told]) -> list[str]:
    """Where a command says with another word what the others say, or with a word of theirs what
    they do not."""
    found = []
    old = {it for _, other in every_option() for it in getattr(other, "formerly", ())}
    for command, one in options:
        name = flag(one)
        word, behind = WORDS.get(name), takes(one)
        if word is None:
            found.append(
                f"{command} {name}: an option means what one of WORDS means, or joins them"
            )
        elif behind != word.takes and not word.differs:
            found.append(f"{command} {name} takes {behind!r}, and elsewhere {word.takes!r}")
        if word is None and name in old:
            found.append(f"{command} {name}: this is an old word")
        owners = {it for it, owner in WORDS.items() if behind and owner.takes == behind} - {name}
        if owners and behind not in SHARED and not (word and word.differs):
            found.append(f"{command} {name}: {behind} stands behind {' '.join(owners)}")
        choices = one.type.choices if isinstance(one.type, click.Choice) else ()
        if {"csv", "parquet"} & set(choices) and name != "--format":
            found.append(f"{command} {name}: a format is --format")
    return found


def test_every_option_is_the_one_word_for_what_it_means() -> None:
    assert [] == faults(every_option())
    assert set(WORDS) == {flag(one) for _, one in every_option()}
    meanings = [word.means for word in WORDS.values()]
    assert sorted(set(meanings)) == sorted(meanings)


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        (click.Option(["--output"], metavar="FILE"), "joins them"),
        (click.Option(["--output"], metavar="FILE"), "old word"),
        (click.Option(["--viewpoint"], metavar="VIEW"), "VIEW stands behind --as"),
        (click.Option(["--kind"], type=click.Choice(["csv", "arrow"])), "a format is --format"),
        (click.Option(["--match"], is_flag=True), "takes '', and elsewhere 'MATCH'"),
    ],
)
def test_a_new_option_for_an_old_meaning_is_a_fault(option: click.Option, fault: str) -> None:
    assert any(fault in one for one in faults([("sql", option)]))


def test_an_old_word_is_no_word_of_another_command_unless_it_is_said_why() -> None:
    shown = {flag(one) for _, one in every_option()}
    formerly = [(command, it) for command, one in every_option() for it in _formerly(one)]
    assert {one for one in formerly if one[1] in shown} == set(REUSED)


def test_every_question_about_hands_has_the_same_filters() -> None:
    from api.questions import declared

    there = {(command, flag(one)) for command, one in every_option()}
    wanted = {(name, word) for name in declared.question_names() for word in ("--match", "--game")}
    assert wanted - there == set(NOT_ASKED)
    for word in ("--as", "--json", "--ledger", "--out", "--format", "--web"):
        assert {name for name in declared.question_names() if (name, word) not in there} == set()


def test_every_answer_about_a_ledger_is_asked_for_alike() -> None:
    there = {(command, flag(one)) for command, one in every_option()}
    words = ("--as", "--json", "--ledger", "--out", "--format", "--web")
    wanted = {
        (name, word) for name in ("audit", "games", "replay", "sql", "verify") for word in words
    }
    assert wanted - there == set(NOT_TAKEN)


def _formerly(option: click.Option) -> list[str]:
    return option.formerly if isinstance(option, Option) else []


@pytest.fixture(scope="module")
def scrim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options") / "ledger"
    words = ("play", "auction-2024", "--hands", "6", "--seed", "3", "--match")
    for match in ("scrim", "other"):
        assert main([*words, match, "--ledger", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (("export", "scrim", "--format", "ndjson"), ("export", "scrim", "--to", "ndjson")),
        (("stats", "--numbers", "1-3", "--json"), ("stats", "--hands", "1-3", "--json")),
        pytest.param(
            ("audit", "--all", "--workers", "1"),
            ("audit", "--all", "--jobs", "1"),
            marks=pytest.mark.ci,
        ),
    ],
)
def test_an_old_word_answers_as_the_new_one(
    scrim: Path, capsys: Captured, now: tuple[str, ...], before: tuple[str, ...]
) -> None:
    capsys.readouterr()
    answers = [printed(capsys, *words, "--ledger", str(scrim)) for words in (now, before)]
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize(
    "words",
    [("stats",), ("hands",), ("audit", "--all"), ("sql", "SELECT hand, board FROM hands")],
    ids=" ".join,
)
def test_a_table_is_a_file_by_the_name_of_out_or_by_format_and_else_on_stdout(
    scrim: Path, tmp_path: Path, capsys: Captured, words: tuple[str, ...]
) -> None:
    capsys.readouterr()
    asked = (*words, "--ledger", str(scrim))
    files = [tmp_path / name for name in ("new.csv", "old.csv", "named", "new.parquet")]
    new, old, named, parquet = map(str, files)
    for more in (("-o", new), ("--csv", old), ("--out", named, "--format", "csv"), ("-o", parquet)):
        assert printed(capsys, *asked, *more) == ""
    table = files[0].read_text()
    assert table.count("\n") > 1
    assert [table, table] == [one.read_text() for one in files[1:3]]
    assert files[3].read_bytes()[:4] == b"PAR1"
    assert table == printed(capsys, *asked, "--format", "csv").replace("\r\n", "\n")
    sentence = "--format says which format: csv, parquet; x.txt does not end in one"
    assert sentence in said(capsys, 2, *asked, "--out", str(tmp_path / "x.txt"))
    assert not (tmp_path / "x.txt").exists()


def test_a_match_is_audited_and_counted_alone(scrim: Path, capsys: Captured) -> None:
    capsys.readouterr()
    asked = ("--ledger", str(scrim))
    whole = printed(capsys, "audit", "--all", *asked).splitlines()
    one = printed(capsys, "audit", "--match", "scrim", *asked).splitlines()
    assert [line for line in whole if "other" not in line] == one
    assert len(one) == 2
    assert "there is no match nix" in said(capsys, 5, "audit", "--match", "nix", *asked)
    assert "name the hands to audit" in said(capsys, 2, "audit", "scrim/1", "--all", *asked)


def test_rules_are_a_name_or_a_file_wherever_they_decide(
    scrim: Path, tmp_path: Path, capsys: Captured
) -> None:
    capsys.readouterr()
    asked = ("scrim/1", "--ledger", str(scrim))
    file = tmp_path / "rules.json"
    file.write_text(printed(capsys, "games", "auction-2024-mit", "--json"))
    by_name = printed(capsys, "audit", "--ruleset", "auction-2024-mit", *asked)
    assert by_name == printed(capsys, "audit", "--ruleset", str(file), *asked)
    assert "auction-2024-mit" in by_name
    assert "no ruleset is called nix" in said(capsys, 5, "audit", "--ruleset", "nix", *asked)
