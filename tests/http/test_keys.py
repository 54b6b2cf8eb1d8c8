"""Keys are made, known, refused and revoked by all processes of a ledger alike."""

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from api.cli.key import expiry
from api.http.credentials import InvalidKey, Keys
from tests.http.clients import Site
from tests.sessions import Captured, printed, said


def test_no_secret_is_kept(tmp_path: Path) -> None:
    key, spelled = Keys(tmp_path).make(("audit:read",), "mine")
    held = "".join(path.read_text() for path in (tmp_path / "private").iterdir())
    secret = spelled.split("_")[2]
    assert secret not in held
    assert key.hash in held
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "private").iterdir()}
    assert {0o600} == modes


def test_a_mistyped_key_is_refused_before_anything_is_looked_up(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    _, spelled = keys.make(("audit:read",))
    (tmp_path / "private" / "keys").unlink()
    for place in range(3, len(spelled)):
        wrong = spelled[:place] + ("0" if spelled[place] != "0" else "1") + spelled[place + 1 :]
        with pytest.raises(InvalidKey, match="cut or mistyped"):
            keys.find(wrong)
    with pytest.raises(InvalidKey, match="cut or mistyped"):
        keys.find(spelled[:-1])


def test_a_key_of_another_ledger_is_nobodys(tmp_path: Path) -> None:
    _, spelled = Keys(tmp_path / "one").make(("audit:read",))
    other = Keys(tmp_path / "other")
    other.make(("audit:read",))
    with pytest.raises(InvalidKey, match="another ledger"):
        other.find(spelled)


def test_another_process_knows_a_new_key_and_forgets_a_revoked_one(tmp_path: Path) -> None:
    here, there = Keys(tmp_path), Keys(tmp_path)
    key, spelled = here.make(("audit:read",))
    assert key == there.find(spelled)
    assert there.revoke(key.id)
    with pytest.raises(InvalidKey):
        here.find(spelled)
    assert not here.revoke(key.id)


def test_a_key_ends_when_its_time_is_over(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    key, spelled = keys.make(("audit:read",), expires=1_000)
    assert key == keys.find(spelled, now=999.9)
    with pytest.raises(InvalidKey, match="expired"):
        keys.find(spelled, now=1_000)


def test_processes_that_make_keys_at_once_lose_none(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    workers = [context.Process(target=_make_ten, args=(tmp_path,)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert 30 == len({key.id for key in Keys(tmp_path).all()})


def _make_ten(folder: Path) -> None:
    for number in range(10):
        Keys(folder).make(("hands:read",), str(number))


# The command line.


def test_the_command_makes_lists_and_revokes(tmp_path: Path, capsys: Captured) -> None:
    at = ("--ledger", str(tmp_path))
    words = ("key", "create", *at, "--scope", "audit:read", "--scope", "seat:lynx@scrim")
    spelled = printed(capsys, *words, "--name", "mine").strip()
    key = Keys(tmp_path).find(spelled)
    assert ("audit:read", "seat:lynx@scrim") == key.scopes
    listed = printed(capsys, "key", "list", *at)
    assert f"{key.id}\tmine\taudit:read seat:lynx@scrim\t" in listed
    assert spelled.split("_")[2] not in listed
    assert f"key {key.id} is revoked: it opens nothing from now on" == said(
        capsys, 0, "key", "revoke", key.id, *at
    )
    assert () == Keys(tmp_path).all()


def test_a_key_revokes_itself_by_its_spelling(tmp_path: Path, capsys: Captured) -> None:
    _, spelled = Keys(tmp_path).make(("audit:read",))
    said(capsys, 0, "key", "revoke", spelled, "--ledger", str(tmp_path))
    assert () == Keys(tmp_path).all()


def test_documents_for_programs(tmp_path: Path, capsys: Captured) -> None:
    at = ("--ledger", str(tmp_path), "--json")
    made = json.loads(printed(capsys, "key", "create", "--scope", "keys:admin", *at))
    assert "muckrake.key-create/1" == made.pop("schema")
    assert Keys(tmp_path).find(made.pop("key")).id == made["id"]
    assert [made] == json.loads(printed(capsys, "key", "list", *at))["keys"]
    assert {"schema": "muckrake.key-revoke/1", "id": made["id"]} == json.loads(
        printed(capsys, "key", "revoke", made["id"], *at)
    )


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("create", "--scope", "root"), 2, "there is no scope root: there are hands:read, "),
        (("create", "--scope", "seat:a@b@c"), 2, "there is no scope seat:a@b@c"),
        (("create", "--scope", "audit:read", "--expires", "soon"), 2, "soon is no time: say 12h"),
        (("create", "--scope", "audit:read", "--expires", "2020-01-01"), 2, "2020-01-01 is over"),
        (("revoke", "0123abcd"), 5, "there is no key 0123abcd: muckrake key list shows"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: tuple[str, ...], code: int, sentence: str, tmp_path: Path, capsys: Captured
) -> None:
    assert said(capsys, code, "key", *words, "--ledger", str(tmp_path)).startswith(sentence)


def test_where_there_is_no_ledger_there_is_no_key(tmp_path: Path, capsys: Captured) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert "there is no ledger in" in said(capsys, 5, "key", "list", "--ledger", nowhere)


@pytest.mark.parametrize(
    ("expires", "expected"), [("12h", 43_200), ("30d", 2_592_000), ("8w", 4_838_400)]
)
def test_how_long_a_key_lasts(expires: str, expected: int) -> None:
    assert expected == expiry(expires, 0.5)
    assert 1_801_353_600 == expiry("2027-01-31", 0.0)


# Over HTTP.


def test_a_key_made_over_http_opens_what_it_says(mine: Site) -> None:
    wanted = {"scopes": ["seat:lynx"], "name": "a bot", "expires_days": 3}
    made = mine.as_("admin").post("/api/v1/keys", json=wanted)
    assert 201 == made.status_code
    assert "no-store" == made.headers["cache-control"]
    bearer = {"Authorization": f"Bearer {made.json()['key']}"}
    shown = mine.as_().get("/api/v1/", headers=bearer).json()
    assert "seat:lynx" == shown["viewpoint"]["view"]
    listed = mine.as_("admin").get("/api/v1/keys")
    assert made.json()["key"].split("_")[2] not in listed.text
    assert 204 == mine.as_("admin").delete(f"/api/v1/keys/{made.json()['id']}").status_code
    assert 401 == mine.as_().get("/api/v1/", headers=bearer).status_code


def test_nobody_gives_what_he_has_not(mine: Site) -> None:
    _, spelled = mine.app.state.keys.make(("keys:admin", "seat:lynx"))
    bearer = {"Authorization": f"Bearer {spelled}"}
    for scope, status in (
        ("seat:lynx", 201),
        ("seat:lynx@auction", 201),
        ("keys:admin", 201),
        ("hands:read", 201),
        ("seat:ursa", 403),
        ("audit:read", 403),
        ("matches:write", 403),
    ):
        answer = mine.as_().post("/api/v1/keys", headers=bearer, json={"scopes": [scope]})
        assert (scope, status) == (scope, answer.status_code)


@pytest.mark.parametrize("who", [None, "auditor", "lynx", "writer"])
def test_keys_are_an_administrators(who: str | None, site: Site) -> None:
    assert 403 == site.as_(who).get("/api/v1/keys").status_code
    assert 403 == site.as_(who).post("/api/v1/keys", json={"scopes": ["x"]}).status_code
    assert 403 == site.as_(who).delete("/api/v1/keys/00000000").status_code


def test_the_server_looks_at_the_clock(mine: Site) -> None:
    _, spelled = mine.app.state.keys.make(("audit:read",), expires=int(time.time()) - 1)
    answer = mine.as_().get("/api/v1/", headers={"Authorization": f"Bearer {spelled}"})
    assert (401, True) == (answer.status_code, "expired" in answer.text)
