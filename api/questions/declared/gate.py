"""Whether a new bot is better than the old one, by a test that may be asked after every match.

It reads the deals in which both sat: a mirrored deck counts once. The exit code is 0 if the new one
is better, 1 if it is worse, 8 if that cannot be said yet. docs/leagues.md says how the test works,
and why asking often makes no error likelier.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct, field

from analytics.intervals import rounded
from analytics.player_comparison import Outcome, sequential_test
from analytics.sql import facts_sql, file_sql, quoted
from api.questions.luck import mirror_size_sql
from api.questions.player_measures import filters_of_params, money_of
from api.questions.question import (
    Before,
    ByTag,
    Cell,
    GameName,
    HandNumberRange,
    Match,
    Param,
    Question,
    Sheet,
    Table,
    Unit,
    unit_head,
)
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

UNDECIDED_CODE = 8


class GateParams(Struct, frozen=True, kw_only=True):
    """Parameters of `gate`: who is to be better than whom, in which hands, and how often that
    may be said wrongly."""

    player: Annotated[str, Param("A player's name, percent-encoded.", "NEW", argument=True)]
    other: Annotated[str, Param("Whom he is to be better than.", "OLD", argument=True)]
    match: Match = None
    game: GameName = None
    unit: Unit = None
    by_tag: ByTag = None
    hands: HandNumberRange = None
    before: Before = None
    error: Annotated[
        int,
        Param(
            "Of 100 players who are no better so many may be called better, and as many worse.",
            "N",
            least=1,
            most=50,
        ),
    ] = 5


class Verdict(Struct, frozen=True):
    """What was found, and out of how much."""

    verdict: Annotated[Outcome, Meta(description="what is said of the new one")]
    deals: Annotated[int, Meta(description="hands and mirrored decks in which both sat")]
    hands: Annotated[int, Meta(description="the hands of those")]
    decided: Annotated[int | None, Meta(description="after how many deals it was clear")]
    hand: Annotated[str | None, Meta(description="the last hand of that deal")]
    more: Annotated[int | None, Meta(description="about so many more deals, if it goes on so")]
    won_100: Annotated[
        float | None, Meta(title="a hundred", description="what the new one won a hundred hands")
    ]
    better: Annotated[float, Meta(description="the evidence that it is better")]
    worse: Annotated[float, Meta(description="the evidence that it is worse")]
    needed: Annotated[float, Meta(description="so much evidence settles it")]


class Gate(Struct, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.gate/1"):
    """The verdict on one player beside another."""

    viewpoint: str = field(name="as")
    player: str
    other: str
    unit: str | None
    error: int
    found: Verdict


def gate(viewed: LedgerView, params: GateParams, watch: ShowProgress) -> Gate:
    """The verdict on two players; two who never met are refused."""
    chosen = filters_of_params(viewed, params, vs=params.other)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    deals = mirror_size_sql(viewed, "c.match")
    both = (
        f"SELECT c.match, c.number, c.hand_seq, c.net, c.per_chip, o.net AS other_net, {deals} AS"
        " deals, p.stack, q.stack AS other_stack, t.total"
        f" FROM ({facts_sql(chosen, 'NULL')}) AS c"
        f" JOIN facts AS o ON o.hand_seq = c.hand_seq AND o.player = {quoted(params.other)}"
        " JOIN players AS p ON p.hand_seq = c.hand_seq AND p.seat = c.seat"
        " JOIN players AS q ON q.hand_seq = c.hand_seq AND q.seat = o.seat"
        " JOIN (SELECT hand_seq, sum(stack) AS total FROM players GROUP BY hand_seq) AS t"
        " ON t.hand_seq = c.hand_seq"
    )
    rows = viewed.rows(file_sql("gate_deals", both))
    if not rows:
        raise NotInLedger(f"{params.player} and {params.other} have no whole deal together here")
    error = params.error / 100
    ahead = np.array([row["ahead"] / row["most"] for row in rows])
    # A forged record may move what was not there.
    found = sequential_test(np.clip(ahead, -1.0, 1.0), error)
    last = None if found.decided is None else rows[found.decided - 1]
    hands = sum(row["hands"] for row in rows)
    known = all(row["won"] is not None for row in rows)
    verdict = Verdict(
        found.outcome,
        len(rows),
        hands,
        found.decided,
        None if last is None else f"{last['match']}/{last['last_number']}",
        found.more,
        rounded(100 * sum(row["won"] for row in rows) / hands) if known else None,
        float(f"{found.better:.6g}"),
        float(f"{found.worse:.6g}"),
        1 / error,
    )
    return Gate(
        viewpoint=viewed.viewer.view,
        player=params.player,
        other=params.other,
        unit=unit,
        error=params.error,
        found=verdict,
    )


def sheets(answer: Gate, params: Any) -> Iterator[Sheet | str]:
    """The verdict in a sentence, and what it is made of."""
    it = answer.found
    sentence = {
        "better": f"{answer.player} is better than {answer.other}",
        "worse": f"{answer.player} is worse than {answer.other}",
        "not yet": f"not yet clear whether {answer.player} is better or worse than {answer.other}",
    }[it.verdict]
    when = f", clear after deal {it.decided:,}" if it.decided else ""
    when += f", about {it.more:,} more deals if it goes on so" if it.more else ""
    cells = (
        f"{it.deals:,}",
        f"{it.hands:,}",
        "" if it.won_100 is None else f"{it.won_100:+,.1f}",
        f"{it.better:,.4g}",
        f"{it.worse:,.4g}",
        f"{it.needed:,.4g}",
    )
    yield Sheet(
        ("deals", "hands", "won a hundred", "for better", "for worse", "settles at"),
        [tuple(map(Cell, cells))],
        range(6),
        unit_head(sentence + when, answer.unit),
        f"at most {answer.error} of 100 players who are no better are ever called better, and as"
        " many no worse ones worse, however often this is asked",
    )


def exit_code(answer: Gate, params: GateParams) -> int:
    """The exit code of the command."""
    return {"better": 0, "worse": 1, "not yet": UNDECIDED_CODE}[answer.found.verdict]


QUESTION = Question(
    name="gate",
    text=__doc__,
    path="/players/{player}/gate",
    operation="player_gate",
    params=GateParams,
    answer=Gate,
    ask=gate,
    tables=(Table("verdict", Verdict, lambda answer: [answer.found]),),
    sheets=sheets,
    code=exit_code,
)
