"""`/api/v1/fairness`: whether cards, swaps and bids are as chance alone would have them."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.answer import document, format_of, listed
from api.http.ask import AUDIT, Ask
from api.http.routes.named import Named
from api.http.routes.players import media
from api.problem import Problem
from api.questions import fairness as asking

router = APIRouter(prefix="/api/v1", tags=["fairness"], route_class=Named)
HANDS_MAX = 20_000  # every hand is read whole: of more, the command line does it
_KINDS = ("json", "csv")


@router.get(
    "/fairness",
    operation_id="fairness",
    summary="Every hand of the ledger beside what chance alone would have dealt",
    response_class=Response,
    responses=media(*_KINDS),
)
def fairness(request: Request, ask: Ask) -> Response:
    return _tested(request, ask, None)


@router.get(
    "/matches/{match}/fairness",
    operation_id="match_fairness",
    summary="The same of one match",
    response_class=Response,
    responses=media(*_KINDS),
)
def match_fairness(request: Request, ask: Ask, match: str) -> Response:
    return _tested(request, ask, match)


def _tested(request: Request, ask: Ask, match: str | None) -> Response:
    kind = format_of(request, _KINDS)
    ask.needs(AUDIT)
    if not ask.viewer.auditor:
        raise Problem("forbidden", f"fairness is for an auditor's eyes, not {ask.viewer.view}")
    ledger = ask.snapshot()
    hands = ledger.next_seq if match is None else sum(1 for _ in ledger.hands(match))
    if hands > HANDS_MAX:
        how = "muckrake fairness" + ("" if match is None else f" --match {match}")
        sentence = f"these are {hands} hands, and {HANDS_MAX} are tested here: {how} tests all"
        raise Problem("too-large", sentence, hands=hands, hands_max=HANDS_MAX)
    found = asking.dealt_fairly(ledger, ask.service.settings.folder, match)
    if kind == "csv":
        return listed(request, asking.rows(found), offered=("csv",))
    return document(request, {"schema": "muckrake.fairness/1", **asking.document(found)})
