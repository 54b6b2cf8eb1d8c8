"""Freeze-outs that are played over HTTP: to their end, as the game says or as it is asked for."""

from typing import Any

import pytest

from tests.http.clients import Site, over


@pytest.mark.parametrize(
    ("wanted", "game"),
    [
        ({"game": "urcs-1998"}, "urcs-1998"),
        ({"game": "site-nl", "freeze_out": True}, "site-nl.broke-leaves"),
    ],
)
def test_a_freeze_out_is_played_to_its_end(new: Site, wanted: dict[str, Any], game: str) -> None:
    writer = new.as_("writer")
    some = {"seats": 3, "bots": ["aggressive"], "seed": "5", "match": "f", "dealing": "seeded"}
    begun = writer.post("/api/v1/matches", json=some | wanted)
    told = over(writer, begun.headers["location"])
    assert ("done", None) == (told["state"], told["total"])
    result = told["result"]
    assert (game, f"{result['winner']} has it all") == (result["game"], result["reason"])
    assert 1 == result["places"][result["players"].index(result["winner"])]
    assert [2000, -1000, -1000] == sorted(result["nets"], reverse=True)


def test_what_has_new_stacks_every_hand_is_no_freeze_out(new: Site) -> None:
    wanted = {"game": "swap-2022", "freeze_out": True}
    answer = new.as_("writer").post("/api/v1/matches", json=wanted)
    assert 422 == answer.status_code
    assert "gives every hand new stacks: nobody can ever" in answer.json()["detail"]
