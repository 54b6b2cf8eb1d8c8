"""`/players`: everybody who played, and what all pages of one player have in common (`PlayerPage`).

Of those pages here lie `grid`, the 169 classes of hole cards, each a cell that leads to its hands;
`opponent`, what of his play stands out, with the hands to look at; and `compare`, two players or
two versions of a bot, side by side, picked there.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from analytics.opponents.report_measures import ALL_LOOKS, one_rival_look
from analytics.opponents.report_sections import OpponentSections
from analytics.replay.flags import STREETS
from analytics.sql import HandFilters, currencies, quoted
from analytics.statistics.catalogue import STATISTICS
from api.http.access import Access, Auth
from api.http.routes.questions import EncodedPathRoute
from api.pages.addresses import Addresses, Sort, sorted_list, table_order
from api.pages.site import page
from api.questions import opponent_report as reports
from api.questions import player_measures as counted
from api.questions.declared import grid as hole_cards
from api.questions.declared.compare import CompareParams, Comparison, comparison, filters_of, sheets
from api.questions.declared.grid import Cell
from api.questions.declared.players import QUESTION
from api.questions.filters_tree import CHECK_LOOK, COUNTS_WITH_K, COUNTS_WITH_N
from api.questions.filters_values import PlayerFilter, player_filter, quoted_name, ranges_text
from api.questions.player_measures import SeveralMoneys, Unanswerable, check_filters, match_titles
from api.questions.question import Sheet
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from odds.ranges import GRID

router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
Player = Annotated[str, Path(min_length=1, max_length=200)]
FilterText = Annotated[str | None, Query(max_length=300)]
TABS = (
    ("statistics", ""),
    ("grid", "grid"),
    ("winnings", "winnings"),
    ("bids", "bids"),
    ("swaps", "swaps"),
    ("opponent", "opponent"),
    ("compare", "compare"),
)
FEW = 30  # below so many opportunities a number is grey
PLAYERS_LISTED = 100  # players of a page
NAMES_MAX = 12  # other names of a player on his pages
FILTER_PARAMETERS = {"before": "as_of"}  # what a filter is called in an address, where that differs


class PlayerPage(NamedTuple):
    """A requested page of one player; filters that his form leaves empty are None."""

    request: Request
    ask: Access
    player: str
    filters: dict[str, Any]
    unit: str | None
    by_tag: str | None

    def viewed(self) -> AbstractContextManager[LedgerView]:
        """The ledger as the caller sees it, of hands that are played for the unit, its players
        as the tags call them that are asked for."""
        return self.ask.viewed(self.unit, self.by_tag)

    def hand_filters(self, viewed: LedgerView, **more: str | None) -> HandFilters:
        """The filters of the player's hands."""
        return counted.player_filters(viewed, self.player, **self.filters, **more)

    def response(self, template: str, tab: str, **context: Any) -> Response:
        """Respond with a page; the filters, and `going_on`, go on from tab to tab."""
        to = Addresses(self.request.query_params.get("as"))
        with self.ask.viewed() as viewed:
            units = currencies(viewed.units)
        with self.viewed() as viewed:
            named, finds = match_titles(viewed, self.player), self.player_filter(viewed)
            called = other_names(viewed, self.player)
        filters = {**self.query, **context.pop("going_on", {})}
        of_filters = {name: value for name, value in filters.items() if value}
        of_player: dict[str, Any] = {
            "player": self.player,
            "tab": tab,
            "tabs": TABS,
            "narrowed": {name: value or "" for name, value in filters.items()},
            "given": of_filters,
            "few": FEW,
            "did": COUNTS_WITH_K,
            "could": COUNTS_WITH_N,
            "units": units if len(units) > 1 else (),
            "titles": named,
            "named": quoted_name(self.player),
            "called": called,
            "finds": finds,
            "api_of": lambda *path, **query: to.api(
                "players", self.player, *path, **of_filters, **query
            ),
            "players": () if self.by_tag else (self.player,),
            "trail": (("Players", to.players(self.by_tag)),),
        }
        return page(self.request, self.ask, template, **of_player, **context)

    @property
    def query(self) -> dict[str, Any]:
        """The filters as an address has them."""
        filters = {FILTER_PARAMETERS.get(name, name): value for name, value in self.filters.items()}
        return {**filters, "unit": self.unit, "by_tag": self.by_tag}

    def player_filter(self, viewed: LedgerView) -> PlayerFilter:
        """The filter of the player's hands, under the same filters."""
        return player_filter(viewed, self.player, **self.filters, unit=self.unit)


def other_names(viewed: LedgerView, player: str) -> list[tuple[str, str | None, str]]:
    """The player's other names, by which tag: by each that matches say of him, and by his name."""
    rows = viewed.tags.to_pylist()
    his = [row for row in rows if viewed.name_of(row["match"], row["player"]) == player]
    names = sorted({row["player"] for row in his} if viewed.by_tag else ())
    tags = sorted({(row["tag"], row["value"]) for row in his})
    aliases: list[tuple[str, str | None, str]] = [("by his name", None, name) for name in names]
    return [*aliases, *((tag, tag, value) for tag, value in tags)][:NAMES_MAX]


def form_value(value: str | None) -> str | None:
    """A form's value; None of an empty field, which is no filter."""
    return value.strip() or None if value else None


async def _player_page(
    request: Request,
    ask: Auth,
    player: Player,
    vs: FilterText = None,
    match: FilterText = None,
    game: FilterText = None,
    hands: FilterText = None,
    as_of: FilterText = None,
    unit: FilterText = None,
    by_tag: FilterText = None,
    sort: Sort = None,
) -> PlayerPage:
    filters = {"vs": vs, "match": match, "game": game, "hands": hands, "before": as_of}
    cleaned = {name: form_value(value) for name, value in filters.items()}
    return PlayerPage(request, ask, player, cleaned, form_value(unit), form_value(by_tag))


RequestedPlayer = Annotated[PlayerPage, Depends(_player_page)]


@router.get("/players")
def players(
    request: Request,
    ask: Auth,
    after: Annotated[str | None, Query(max_length=500)] = None,
    by_tag: FilterText = None,
    sort: Sort = None,
) -> Response:
    """Everybody who played, by his name or as tags call him."""
    by_tag = form_value(by_tag)
    by = table_order(request, ("player", "hands", "net", "matches", "last_at"))
    query = {"by_tag": by_tag} if by_tag else {}
    with ask.viewed(by_tag=by_tag) as viewed:
        rows, following = sorted_list(QUESTION, ask, viewed, PLAYERS_LISTED, after, query, by)
        listed: dict[str, Any] = {
            "rows": [(row, player_filter(viewed, row.player)()) for row in rows],
            "units": currencies(viewed.units),
            "tags": sorted({*viewed.tags["tag"].to_pylist()}),
        }
    return page(
        request, ask, "players.html", **listed, following=following, order=by, by_tag=by_tag
    )


GridValue = Literal["acts", "vpip", "raise", "net", "n"]
TITLES = {
    "acts": "raised, called, neither",
    "vpip": "VPIP",
    "raise": "raised before the flop",
    "net": "mean net, big blinds",
    "n": "how often it came",
}
FULL_CELL_HANDS = 12  # times that a class came, from which on its cell is at its fullest


@router.get("/players/{player}/grid")
def grid(of: RequestedPlayer, show: GridValue = "acts") -> Response:
    """The 169 classes of hole cards, each a cell that leads to its hands."""
    with of.viewed() as viewed:
        answer = hole_cards.grid(
            viewed, hole_cards.GridParams(of.player, **of.filters), of.ask.watch
        )
    cells = {one.name: one for one in answer.cells}
    return of.response(
        "grid.html",
        "grid",
        going_on={"show": show},
        cells=[grid_cell(name, cells.get(name), show) for name in GRID],
        hands=answer.hands,
        known=answer.known,
        show=show,
        shows=list(TITLES.items()),
        kinds=shares_by_kind(answer.cells),
        full=FULL_CELL_HANDS,
    )


class ActionShares(NamedTuple):
    """How often a player could choose before the flop, and the shares that he raised and called;
    to straddle by choice is counted with calls."""

    n: int
    raised: float
    called: float


def action_shares(cells: Iterable[Cell]) -> ActionShares | None:
    """The shares of some classes together; None where he had no choice."""
    sums = [(cell.vpip_n, cell.pfr_k, cell.vpip_k) for cell in cells]
    n, raised, played = (sum(column) for column in zip(*sums, strict=True)) if sums else (0, 0, 0)
    return ActionShares(n, raised / n, (played - raised) / n) if n else None


def shares_by_kind(cells: Sequence[Cell]) -> list[tuple[str, ActionShares]]:
    """The shares of all classes, of pairs, of suited and of other ones."""
    parts = {
        "all": cells,
        "pairs": [cell for cell in cells if len(cell.name) == 2],
        "suited": [cell for cell in cells if cell.name.endswith("s")],
        "offsuit": [cell for cell in cells if cell.name.endswith("o")],
    }
    return [(name, found) for name, some in parts.items() if (found := action_shares(some))]


def grid_cell(name: str, cell: Cell | None, show: str) -> dict[str, Any]:
    """The text of a cell, how warm it is from 0 to 1, and how full; of acts, how it is divided."""
    if cell is None:
        return {"name": name, "hands": 0, "text": "", "warmth": 0.0, "full": 0.0, "acts": None}
    if show == "net":
        mean = cell.net_bb
        text = "" if mean is None else f"{mean:+.1f}".replace("-", "\N{MINUS SIGN}")
        warmth = 0.5 if mean is None else min(1.0, max(0.0, 0.5 + mean / 20))
    elif show == "n":
        text, warmth = str(cell.hands), 0.5
    else:
        k, n = (cell.pfr_k, cell.pfr_n) if show == "raise" else (cell.vpip_k, cell.vpip_n)
        text = f"{100 * k / n:.0f} %" if n else ""
        warmth = k / n if n else 0.0
    full = min(1.0, cell.hands / FULL_CELL_HANDS)
    row = {"name": name, "hands": cell.hands, "text": text, "warmth": warmth, "full": full}
    return {**row, "acts": action_shares([cell]) if show == "acts" else None}


WON_MAX = 4_000  # characters of a filter that name the hands after somebody had won
SPOTS_MAX = 200  # acts that were shown down, whose strength is counted
OPTION_NAMES = {"hands": "numbers"}  # what the command calls a filter, where that differs
ENDING_FILTERS = {
    "preflop": "player() & street=preflop",
    "flop": "player() & street=flop",
    "turn": "player() & street=turn",
    "river": "player() & street=river",
    "showdown": "player(showdown)",
}


@router.get("/players/{player}/opponent")
def opponent(of: RequestedPlayer) -> Response:
    """What stands out of a player's play, with the hands to look at."""
    query = {**of.filters, "unit": of.unit, "by-tag": of.by_tag}
    filters = {OPTION_NAMES.get(name, name): it for name, it in query.items() if it}
    options = "".join(f" --{name} {shlex.quote(it)}" for name, it in filters.items())
    context: dict[str, Any] = {"found": None, "why": None, "hands_max": reports.HANDS_MAX}
    context["command"] = f"muckrake opponent {shlex.quote(of.player)}{options}"
    with of.viewed() as viewed:
        params = reports.OpponentParams(of.player, spots=SPOTS_MAX, **of.filters)
        try:
            hands = counted.count_hands(viewed, params)
            finds = of.player_filter(viewed)
            endings = {name: finds.of_player(filter) for name, filter in ENDING_FILTERS.items()}
            context |= {"hands": hands, "endings": endings, "looks": ALL_LOOKS}
            if hands <= reports.HANDS_MAX:
                with closing(reports.opponent_sections(viewed, params, of.ask.watch)) as sections:
                    found = reports.report_of_sections(viewed, params, sections)
                    context |= _filters_of_counts(found, sections, finds, bool(viewed.by_tag))
                context |= {"found": found, "faults": fault_groups(found.faults)}
        except (NotInLedger, SeveralMoneys) as reason:
            context["why"] = reason
    return of.response("opponent.html", "opponent", **context)


def _filters_of_counts(
    report: reports.Report, sections: OpponentSections, finds: PlayerFilter, tagged: bool
) -> dict[str, Any]:
    """The filters that find the hands of each k and n. By name what can be asked so, and hand by
    hand what was counted by equities, of one who goes by a tag, or beside too many matches."""
    open_matches = undecided_filter(sections)

    def led(look: str, *, pays: bool) -> list[str]:
        name = one_rival_look(look) if pays and look.startswith("fold_") else look
        of_one_rival = look.startswith(CHECK_LOOK) and report.vs is not None
        if open_matches is None or name not in COUNTS_WITH_N or (of_one_rival and tagged):
            return [finds.of_hands(hands) for hands in sections.counted_hands(look, pays=pays)]
        count = quoted_name(f"{name}:{report.vs}" if of_one_rival else name)
        return [finds(f"{end}={count}", also=open_matches) for end in ("did", "could")]

    return {
        "too_many": open_matches is None,
        "paid": {one.look: led(one.look, pays=True) for one in report.leads.found},
        "led": {one.look: led(one.look, pays=False) for one in report.differences.found},
    }


def undecided_filter(sections: OpponentSections) -> str | None:
    """The filter of hands before somebody had won the match; None if it would be too long."""
    won = ranges_text(sections.decided_hands())
    if len(won) > WON_MAX:
        return None
    return f" & !hands={quoted_name(won)}" if won else ""


def fault_groups(every: Sequence[reports.Fault]) -> list[dict[str, Any]]:
    """Kinds of replies that could not be used, each with the newest hand and how often it came."""
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for one in every:
        cause = one.cause or one.kind
        kind = kinds.setdefault((one.step, cause), {"step": one.step, "cause": cause, "n": 0})
        kind["n"] += 1
        kind["hand"] = one.hand
    return sorted(kinds.values(), key=lambda kind: -int(kind["n"]))


PLAYERS_OFFERED = 12  # others that are one click away
SURE_P = 0.05  # below this Holm's p says that a statistic differs
_VERSION = re.compile(r"[-_. ]*v?[0-9][\w.-]*$")


@router.get("/players/{player}/compare")
def compare(
    of: RequestedPlayer,
    other: FilterText = None,
    match: Annotated[tuple[str, ...], Query(max_length=2)] = (),
    street: Literal["", "preflop", "flop", "turn", "river"] = "",
) -> Response:
    """Two players or two versions of a bot, side by side, picked there."""
    matches = tuple(name for one in match if (name := form_value(one)))
    of = of._replace(filters={**of.filters, "match": matches[0] if len(matches) == 1 else None})
    params: dict[str, Any] = {"other": form_value(other), "street": street or None}
    context = {**params, "answer": None, "why": None, "matches": matches, "streets": STREETS}
    with of.viewed() as viewed:
        check_filters(viewed, of.player)
        others = players_to_compare(viewed, of.player)
        if params["other"] is not None:
            sides = CompareParams(
                player=of.player,
                match=matches,
                unit=of.unit,
                **params,
                vs=of.filters["vs"],
                game=of.filters["game"],
            )
            try:
                answer = comparison(viewed, sides, of.ask.watch)
                context |= comparison_context(answer, sides, filters_of(viewed, sides))
            except (NotInLedger, Unanswerable) as reason:
                context["why"] = reason
    return of.response("compare.html", "compare", others=others, **context)


def players_to_compare(viewed: LedgerView, player: str) -> list[str]:
    """Players to compare with: his other versions by their names, then those who play most."""
    condition = f"starts_with(player, {quoted(_VERSION.sub('', player))})"
    rows = viewed.rows(
        f"SELECT player FROM facts WHERE player <> {quoted(player)} GROUP BY player"
        f" ORDER BY {condition} DESC, count(*) DESC, player LIMIT {PLAYERS_OFFERED}"
    )
    return [row["player"] for row in rows]


def comparison_context(
    answer: Comparison, params: CompareParams, finds: Sequence[PlayerFilter]
) -> dict[str, Any]:
    """The tables as a terminal has them, and what surely differs."""
    every = list(sheets(answer, params, finds))
    return {
        "answer": answer,
        "sheets": [one for one in every if isinstance(one, Sheet)],
        "notes": [one for one in every if not isinstance(one, Sheet)],
        "different": [
            STATISTICS[statistic.statistic].title
            for statistic in answer.statistics.values()
            if statistic.p_adjusted is not None and statistic.p_adjusted < SURE_P
        ],
    }
