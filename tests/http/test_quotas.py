"""Whoever has a key may fill neither disk nor queue with it; whoever has none sends nothing."""

import gzip
import io
import os
import shutil
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.http import uploads
from api.http.limits import Limits
from api.http.uploads import FILES_MAX
from api.jobs.jobs import ABANDONED_S, Jobs
from tests.http.clients import Site, over, site_of
from tests.http.test_jobs_import import log_of
from tests.profiles import sized

LONG = 10_000_000  # hands: nobody waits for them


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Any]:
    """Makes an application over an empty folder with these limits; its jobs are stopped."""
    made: list[Site] = []

    def site(**limits: int) -> Site:
        made.append(site_of(tmp_path / "ledger", limits=Limits(rate=0, **limits)))
        return made[0]

    yield site
    Jobs(made[0].folder).stop()


def refused(answer: Any, sentence: str) -> None:
    assert (429, "urn:muckrake:problem:too-many-requests") == (
        answer.status_code,
        answer.json()["type"],
    )
    assert sentence in answer.json()["detail"]
    assert int(answer.headers["retry-after"]) > 0


def rooms(site: Site) -> list[str]:
    """The folders of jobs that there are."""
    return [path.name for path in (site.folder / "jobs").glob("*") if path.name != "keys"]


def test_a_key_has_so_many_jobs_at_once_and_another_key_its_own(limited: Any) -> None:
    site = limited(key_jobs=2)
    wanted = {"game": "auction-2024-mit", "hands": LONG}
    writer, admin = site.as_("writer"), site.as_("admin")
    first = writer.post("/api/v1/matches", json=wanted, headers={"Idempotency-Key": "one"})
    second = writer.post("/api/v1/matches", json=wanted)
    assert (202, 202) == (first.status_code, second.status_code)
    sentence = "2 jobs of this key are at work or wait, and it may have no more"
    refused(writer.post("/api/v1/matches", json=wanted), sentence)
    refused(writer.post("/api/v1/imports", content=b"x"), sentence)
    again = writer.post("/api/v1/matches", json=wanted, headers={"Idempotency-Key": "one"})
    assert again.json()["id"] == first.json()["id"], "who comes again is told of his job"
    assert 202 == admin.post("/api/v1/matches", json={**wanted, "hands": 1}).status_code
    assert 200 == writer.delete(second.headers["location"]).status_code
    third = writer.post("/api/v1/matches", json={**wanted, "hands": 1})
    assert 202 == third.status_code, [third.json(), writer.get("/api/v1/jobs").json()]


def test_a_key_sends_so_many_bytes_a_day_and_restarts_change_nothing(limited: Any) -> None:
    log = log_of(20)
    site = limited(key_bytes=2 * len(log) + 10)
    writer = site.as_("writer")
    for name in ("one", "two"):
        begun = writer.post(f"/api/v1/imports?name={name}", content=log)
        assert 202 == begun.status_code
        over(writer, begun.headers["location"])
    sentence = f"a key may send {2 * len(log) + 10:,} bytes in a day: {2 * len(log):,} are counted"
    refused(writer.post("/api/v1/imports", content=log), sentence)
    pieces = (log[start : start + 500] for start in range(0, len(log), 500))
    refused(writer.post("/api/v1/imports", content=pieces), "this key has sent all it may in a day")
    assert 2 == len(rooms(site)), "nothing of what was refused is left"
    other = site_of(site.folder, limits=site.app.state.service.settings.limits)
    other.keys = site.keys
    refused(other.as_("writer").post("/api/v1/imports", content=log), sentence)
    assert 202 == site.as_("admin").post("/api/v1/imports", content=log).status_code


def test_a_key_has_so_many_hands_a_day(limited: Any) -> None:
    site = limited(key_hands=30)
    writer = site.as_("writer")

    def play(hands: int) -> Any:
        return writer.post("/api/v1/matches", json={"game": "auction-2024-mit", "hands": hands})

    over(writer, play(20).headers["location"])
    sentence = "a key may ask for 30 hands in a day: 20 are counted already, and this is 11"
    refused(play(11), sentence)
    begun = writer.post("/api/v1/imports", content=log_of(8))
    over(writer, begun.headers["location"])
    refused(play(10), "28 are counted already")
    assert 202 == play(2).status_code


def test_no_job_is_begun_that_leaves_the_ledger_no_room(
    limited: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = limited()
    writer = site.as_("writer")
    usage = shutil.disk_usage(site.folder.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100 << 20))
    for path, sent in (("matches", {"json": {"game": "site-nl"}}), ("imports", {"content": b"x"})):
        answer = writer.post(f"/api/v1/{path}", **sent)
        assert (507, "urn:muckrake:problem:no-room") == (answer.status_code, answer.json()["type"])
        assert "the disk of the ledger has 100 MiB left, and this wants 128" in answer.text
    assert 200 == writer.get("/healthz").status_code
    falling = iter((130 << 20, 127 << 20))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=next(falling)))
    pieces = (b"x" * (1 << 18) for _ in range(40))
    answer = writer.post("/api/v1/imports", content=pieces)
    assert (507, "urn:muckrake:problem:no-room") == (answer.status_code, answer.json()["type"])
    assert [] == rooms(site)
    assert next(falling, None) is None, "it is looked at while more comes"
    monkeypatch.undo()
    assert 202 == writer.post("/api/v1/imports", content=log_of(1)).status_code


def test_who_has_no_key_sends_nothing_to_the_disk(limited: Any) -> None:
    """He is refused before his body is read: no more of it is taken than came with the head."""
    site = limited()
    taken: list[int] = []

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            taken.append(1)
            yield b"x" * (1 << 20)

    for who in (None, "auditor", "lynx"):
        answer = site.as_(who).post("/api/v1/imports?name=x", content=b"x" * 1000)
        assert 403 == answer.status_code
        assert 403 == site.as_(who).post("/api/v1/matches", json={"game": "site-nl"}).status_code
    assert not (site.folder / "jobs").exists()


def archives() -> Iterator[tuple[str, bytes]]:
    """A megabyte or so that would be gigabytes, and names that lead elsewhere."""
    zeros = bytes(1 << 24)
    yield "a gzip file", gzip.compress(zeros)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("../../../etc/cron.d/x", zeros)
        zipped.writestr("/etc/passwd", b"x")
    yield "a zip archive", packed.getvalue()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        link = tarfile.TarInfo("x")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    yield "a tar archive", packed.getvalue()


def test_archives_are_named_and_not_unpacked(limited: Any) -> None:
    site = limited(key_jobs=0)
    writer = site.as_("writer")
    for what, content in archives():
        begun = writer.post("/api/v1/imports", content=content)
        told = over(writer, begun.headers["location"])
        assert "failed" == told["state"]
        assert what in told["detail"], told["detail"]
    sizes = sum(path.stat().st_size for path in site.folder.rglob("*") if path.is_file())
    assert sizes < 1 << 20, "nothing of it was unpacked, and nothing of it is left"


NAMES = {
    "../../../outside": "outside",
    "/etc/passwd": "passwd",
    "..\\..\\outside": "outside",
    ".hidden": "hidden",
    "..": "upload",
    "a\0b": "a-b",
    "x" * 3_000: "x" * 100,
    "new\nline\x1b[31m": "new-line-31m",
    "\u202egnp.txt": "gnp.txt",
    "-rf": "rf",
}


@pytest.mark.parametrize(("name", "plain"), NAMES.items(), ids=range(len(NAMES)))
def test_of_a_name_is_left_what_is_no_path(name: str, plain: str) -> None:
    assert plain == uploads._plain_file_name(name)


@pytest.mark.parametrize("name", sized(quick=("..",), ci=tuple(NAMES)))
def test_a_name_is_no_path_and_no_surprise(name: str, limited: Any) -> None:
    site = limited()
    writer = site.as_("writer")
    boundary = "b" * 20
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="f"; filename="'.encode()
    form = head + name.encode() + b'"\r\n\r\n' + log_of(1) + f"\r\n--{boundary}--\r\n".encode()
    sent = [
        writer.post("/api/v1/imports", params={"name": name}, content=log_of(1)),
        writer.post(
            "/api/v1/imports",
            content=form,
            headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
        ),
    ]
    assert not list(site.folder.parent.glob("outside*"))
    for answer in sent:
        if answer.status_code != 202:  # a control character in an address or a head is no text
            assert 400 == answer.status_code, answer.text
            continue
        (file,) = over(writer, answer.headers["location"])["result"]["files"]
        assert file["file"] in (NAMES[name], f"..{NAMES[name]}".lstrip("."))


def test_forms_that_are_torn_or_endless_leave_nothing(limited: Any) -> None:
    site = limited()
    writer = site.as_("writer")
    part = b'--bb\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nabc\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=bb"}
    for form, status in (
        (part, 400),
        (part[:-20], 400),
        (b"--bb\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n", 400),
        (b"--bb\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", 400),
        (b"no form at all", 400),
        (part * (FILES_MAX + 1) + b"--bb--\r\n", 413),
        (b'--bb\r\nContent-Disposition: form-data; name="f"\r\n\r\nabc\r\n--bb--\r\n', 422),
    ):
        answer = writer.post("/api/v1/imports", content=form, headers=kind)
        assert status == answer.status_code, (form[:100], answer.text)
        assert [] == rooms(site)


def test_what_a_killed_server_left_is_taken_away(limited: Any) -> None:
    """It counts as being sent for a little while, and then no more."""
    site = limited(key_jobs=1)
    jobs = Jobs(site.folder)
    client = site.as_("writer")
    owner = next(key.id for key in site.app.state.keys.all() if key.name == "writer")
    room = jobs.room(owner)
    (room / "upload/x").write_bytes(b"half of it")
    refused(client.post("/api/v1/imports", content=log_of(1)), "1 jobs of this key")
    old = time.time() - ABANDONED_S - 1
    for path in (room / "upload/x", room):
        os.utime(path, (old, old))
    assert 202 == client.post("/api/v1/imports", content=log_of(1)).status_code
    assert not room.exists()


@pytest.mark.parametrize(
    "folder", ["../elsewhere", "/bin", "..", ".", "a/b", "a\0b", "x" * 10_000, "$(id)", "sub\n"]
)
def test_a_bot_is_a_folder_that_the_operator_put_there(folder: str, tmp_path: Path) -> None:
    """No command comes from the wire: what a bot runs stands in its own folder, in `--bots`."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/commands.json").write_text('{"run": ["id"], "build": []}')
    bots = tmp_path / "bots"
    bots.mkdir()
    site = site_of(tmp_path / "ledger", bots=bots)
    wanted = {"game": "auction-2024-mit", "folders": [folder, folder]}
    assert 403 == site.as_().post("/api/v1/matches", json=wanted).status_code
    answer = site.as_("writer").post("/api/v1/matches", json=wanted)
    assert answer.status_code in (404, 422)
    extra = {**wanted, "commands": {"run": ["id"]}}
    assert 422 == site.as_("writer").post("/api/v1/matches", json=extra).status_code
    assert not (site.folder / "jobs").exists()
