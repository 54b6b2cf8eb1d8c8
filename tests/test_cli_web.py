"""`--web` opens the page of what the command would print."""

from pathlib import Path
from typing import Any

import pytest

from api.cli import serve
from api.main import main


@pytest.mark.parametrize(
    ("words", "page"),
    [
        (("replay", "scrim/7"), "/hands/scrim/7"),
        (("replay", "scrim/7", "--at", "12"), "/hands/scrim/7#12"),
        (("audit", "scrim/7", "--as", "public"), "/hands/scrim/7/audit?as=public"),
        (("audit", "--all"), "/"),
        (("matches",), "/matches"),
        (("hands",), "/hands"),
        (("hands", "pot>40 | walk"), "/hands?q=pot%3E40+%7C+walk"),
        (("hands", "walk", "--match", "a b"), "/hands?q=match%3D%22a+b%22+%26+%28walk%29"),
        (("stats",), "/players"),
        (("stats", "lynx", "--vs", "ursa"), "/players/lynx?vs=ursa"),
        (("grid", "lynx", "--show", "raise"), "/players/lynx/grid?show=raise"),
        (("bids", "a/b"), "/players/a%2Fb/bids"),
        (("swaps", "lynx", "--as", "seat:ursa"), "/players/lynx/swaps?as=seat%3Aursa"),
        (("opponent", "lynx"), "/players/lynx/opponent"),
        (
            ("bids", "lynx", "--numbers", "1-9", "--before", "m/3"),
            "/players/lynx/bids?hands=1-9&as_of=m%2F3",
        ),
        (("fairness",), "/fairness"),
        (("games",), "/games"),
        (("games", "auction-2024"), "/games/auction-2024"),
        (("verify", "--all"), "/verify"),
    ],
)
def test_the_page_of_what_was_asked_is_opened(
    words: tuple[str, ...], page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(serve.serve, "callback", lambda **given: opened.append(given))
    assert main([*words, "--web", "--ledger", str(tmp_path)]) == 0
    (given,) = opened
    assert (page, tmp_path, 0, True) == (
        given["page"],
        given["folder"],
        given["port"],
        given["opening"],
    )
    assert given["host"] == "127.0.0.1"


def test_a_page_is_asked_in_the_words_of_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--by` is `split` there."""
    opened: list[dict[str, Any]] = []
    monkeypatch.setattr(serve.serve, "callback", lambda **given: opened.append(given))
    assert main(["results", "lynx", "--by", "street", "--web", "--ledger", str(tmp_path)]) == 0
    assert "split=street" in opened[0]["page"]


def test_eyes_that_nobody_has_are_refused_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["matches", "--web", "--as", "king", "--ledger", str(tmp_path)]) == 2
    assert "king is no viewpoint" in capsys.readouterr().err
