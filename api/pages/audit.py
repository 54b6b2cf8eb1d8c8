"""`/hands/M/N/audit`: a hand judged, as a court would write it down; no script is on this page."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.integrity import integrity
from api.pages.of_hand import of_hand
from api.pages.ruling import explained
from api.pages.site import page
from api.questions.frames import spoken
from api.questions.judged import NoRules, judged
from api.report import ruling
from api.viewpoints.sight import Sight
from api.viewpoints.wanted import Unfinished
from engine.verdict import Report
from events.notation import say

router = APIRouter(include_in_schema=False)
UNSEEN = "a card that this viewpoint may not see could change who is paid"


@router.get("/hands/{match}/{number}/audit")
def audit(
    request: Request, ask: Ask, match: str, number: str, ruleset: str | None = None
) -> Response:
    with ask.viewed() as viewed:
        sight = viewed.sight(f"{match}/{number}")
        context = of_hand(request, ask, viewed, sight, "audit")
        try:
            found = judged(viewed.snapshot, sight, ruleset)
        except (Unfinished, NoRules) as reason:
            return page(request, ask, "audit_none.html", reason=str(reason), **context)
        proof = integrity(viewed, sight)
    context |= {
        "report": found.report,
        "declared": found.report.ruleset == context["start"].game,
        "sentence": _sentence(found.report, sight),
        "moot": moot(found.report),
        "parting": _parting(found.report, sight),
        "told": explained(sight, found),
        "proof": proof,
    }
    return page(request, ask, "audit.html", **context)


def _sentence(report: Report, sight: Sight) -> str:
    """The ruling, without its name."""
    if report.verdict == "unknown" and not sight.open:
        return UNSEEN
    return ruling(report).partition(": ")[2]


def moot(report: Report) -> int:
    """The most that any other reading would give to somebody else."""
    paid = report.decided or ()
    others = (zip(other.nets, paid, strict=True) for other in report.readings)
    return max((sum(max(a - b, 0) for a, b in each) for each in others), default=0)


def _parting(report: Report, sight: Sight) -> dict[str, str | int] | None:
    """Where rules and record part ways: the event as it is seen, and what the rules say to it."""
    found = report.divergence
    if found is None:
        return None
    there = found.at < len(sight.ones)
    decided = "nothing more" if found.decided is None else say(found.decided)
    return {
        "at": found.at,
        "recorded": spoken(sight.ones[found.at], whole=sight.open) if there else "nothing more",
        "decided": decided if found.refusal is None else found.refusal,
    }
