"""Files that are imported over HTTP: told file by file, done once, refused in words."""

import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from analytics.projections.facts import PROJECTION_NAMES
from api.jobs import work
from api.jobs.jobs import Job, Jobs, read_progress, replace_file
from api.jobs.requests import import_request
from api.main import main
from dealer.play import play
from engine.games import GAMES
from events.types import Events
from formats.mit.write import write as written
from store.folder.disk import now_ms
from store.reader import Reader
from tests.formats.raked_hands import raked_hand
from tests.http.clients import Site, over


def log_of(hands: int) -> bytes:
    records: list[Events] = list(play(GAMES["auction-2024-mit"], "scrim", hands, "7", 2))
    return written(records).encode()


def test_a_file_is_imported_as_it_is_and_again_without_effect(new: Site) -> None:
    writer, log = new.as_("writer"), log_of(30)
    for imported in (30, 0):
        begun = writer.post("/api/v1/imports?name=scrim.txt", content=log)
        assert 202 == begun.status_code
        told = over(writer, begun.headers["location"])
        (file,) = told["result"]["files"]
        assert ("scrim.txt", 30, imported) == (file["file"], file["hands"], file["imported"])
        assert file["match"] == told["match"]
        assert hashlib.sha256(log).hexdigest()[:12] != file["match"]
    assert 30 == len(list(Reader(new.folder).hands()))


def test_who_may_not_see_everything_does_not_learn_what_others_have_imported(new: Site) -> None:
    """Else he would try every hand that a sealed file could hold, and be told which is there."""
    new.keys["sender"] = new.app.state.keys.make(("matches:write",), "sender")[1]

    def sent(who: str, content: bytes, query: str = "") -> dict[str, Any]:
        client = new.as_(who)
        begun = client.post(f"/api/v1/imports{query}", content=content)
        (file,) = over(client, begun.headers["location"])["result"]["files"]
        return dict(file)

    theirs = sent("writer", log_of(3), "?match=secret")
    assert ("secret", 3) == (theirs["match"], theirs["imported"])
    for guess in (log_of(3), log_of(4)):
        named = sent("sender", guess, "?match=secret")
        assert "there is another match secret in the ledger already" == named["refused"]["reason"]
        for imported in (guess.count(b"Round #"), 0):
            own = sent("sender", guess)
            assert (imported, False) == (own["imported"], own["match"] == theirs["match"])


def test_a_name_over_http_is_for_one_file(new: Site) -> None:
    writer = new.as_("writer")
    files = [("file", (name, log_of(1))) for name in ("a.log", "b.log")]
    answer = writer.post("/api/v1/imports?match=scrim", files=files)
    assert (422, "match=scrim names one file, and 2 were sent") == (
        answer.status_code,
        answer.json()["detail"],
    )
    odd = writer.post("/api/v1/imports?match=a/b", content=log_of(1))
    assert 422 == odd.status_code
    assert "'a/b' cannot name a match" in odd.json()["detail"]


@pytest.mark.parametrize("audit", [True, False])
def test_an_import_leaves_to_compact_what_the_command_leaves(
    audit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.importing.import_writer.CLOSE_HANDS", 100)  # so that it is a segment
    monkeypatch.setattr("signal.signal", lambda *_: None)
    log = tmp_path / "scrim.txt"
    log.write_bytes(log_of(120))
    jobs = Jobs(tmp_path / "ledger")
    room = jobs.room()
    shutil.copy2(log, room / "upload")
    request = import_request(None, None, None, None, False, audit) | {"disclosure": "sealed"}
    replace_file(room / "job.json", Job(room.name, "import", "", 0, now_ms(), None, request))
    work.main(jobs.ledger, room.name)
    assert "done" == read_progress(room).state
    words = [] if audit else ["--no-audit"]
    assert 0 == main(["import", str(log), *words, "--ledger", str(tmp_path / "other")])
    (here,), (there,) = (
        [one.projections for one in Reader(folder).snapshot().parts().segments]
        for folder in (jobs.ledger, tmp_path / "other")
    )
    assert here == there
    assert ({*PROJECTION_NAMES} <= {*here}, not {*PROJECTION_NAMES} & {*here}) == (audit, not audit)


def test_a_file_that_is_sent_is_held_against_known_rakes(new: Site) -> None:
    writer = new.as_("writer")
    content = (raked_hand(1000, 50) + raked_hand(1400, 69)).encode()
    begun = writer.post("/api/v1/imports?rake=known", content=content)
    (one,) = over(writer, begun.headers["location"])["result"]["files"]
    assert (1, 1) == (one["assuming"], one["differ"])
    both = writer.post("/api/v1/imports?rake=known&set=rake_percent=5", content=content)
    assert (422, "known rakes are those of each hand's site: set no other rules") == (
        both.status_code,
        both.json()["detail"],
    )
    assert 422 == writer.post("/api/v1/imports?rake=mine", content=content).status_code


def test_files_of_a_form_are_imported_under_their_names(new: Site) -> None:
    writer = new.as_("writer")
    files = [
        ("file", ("../../one.log", log_of(3))),
        ("file", ("two.log", log_of(4))),
        ("file", ("two.log", b"no hand history at all\n")),
    ]
    begun = writer.post("/api/v1/imports?names=random-0=ursa&audit=false", files=files)
    told = over(writer, begun.headers["location"])
    files_told = {one["file"]: one for one in told["result"]["files"]}
    assert {"one.log": 3, "two.log": 4, "2-two.log": 0} == {
        name: one["imported"] for name, one in files_told.items()
    }
    assert files_told["2-two.log"]["refused"] is not None
    assert files_told["one.log"]["agree"] is None
    hand = Reader(new.folder).read(f"{files_told['one.log']['match']}/1")[0].event
    assert "ursa" in getattr(hand, "players", ())
    assert not list((new.folder / "jobs").glob("*/upload"))


def test_a_file_that_is_refused_is_a_job_that_failed(new: Site) -> None:
    writer = new.as_("writer")
    begun = writer.post("/api/v1/imports", content=b"nothing\n")
    told = over(writer, begun.headers["location"])
    assert "failed" == told["state"]
    assert told["detail"].startswith("line ")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/api/v1/imports?format=xls", "there is no format 'xls'"),
        ("/api/v1/imports?game=nix", "nix"),
        ("/api/v1/imports?set=stack", "'stack' sets nothing: write NAME=VALUE"),
        ("/api/v1/imports?game=swap-2022&set=stack=x", "stack of swap-2022 may be a whole"),
        ("/api/v1/imports?names=a", "'a' renames nobody: write OLD=NEW"),
        ("/api/v1/imports?strict=true&audit=false", "strict is about what an audit finds"),
    ],
)
def test_options_of_an_import_are_looked_at_first(path: str, sentence: str, new: Site) -> None:
    answer = new.as_("writer").post(path, content=log_of(1))
    assert 422 == answer.status_code
    assert sentence in answer.json()["detail"]


def test_an_empty_body_or_form_is_no_import_and_leaves_nothing(new: Site) -> None:
    writer = new.as_("writer")
    assert 422 == writer.post("/api/v1/imports", content=b"").status_code
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert 415 == writer.post("/api/v1/imports", content=b"a=b", headers=form).status_code
    broken = {"Content-Type": "multipart/form-data"}
    assert 400 == writer.post("/api/v1/imports", content=b"a", headers=broken).status_code
    assert [] == [one.name for one in (new.folder / "jobs").iterdir() if one.name != "keys"]
