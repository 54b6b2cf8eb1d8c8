"""The ledger's views for somebody who may not see everything: masks in SQL over the same tables.

A hidden number is null, a hidden text says `hidden`, and so does a hidden card; positions are left
out. What these views show is what `api.exporting.tables` makes of `RedactedEvents`: a test
holds them to it.

Masks stand in the SELECT of a view. A stranger's conditions never meet what is behind them: he asks
copies of what the views show (`store.sql.untrusted_query`).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from analytics.sql import quoted
from api.viewpoints.disclosure import FAULTS, LATER, announced_bids, found, opening
from api.viewpoints.redaction import NOTHING, Redactor, revealed
from api.viewpoints.viewer import Viewer
from events import types as t
from events.ledger import Record
from events.views import FIELDS, FLAGS, Secret
from store.columns import layout
from store.log.streams import Leaf
from store.reader import Snapshot
from store.sql.query import SECONDS, Query
from store.sql.views import NO_DISPLAY_NAMES, DisplayNames
from store.tables.projection import STANDARD, Projection

ODD = "NOT plain"


def auctions(query: "Redacted", rows: str) -> str:
    """Cards of others as they were shown, and why they bid only where a bid was open to him.

    A settlement that did not tell the bids as they were placed is rare: such a hand is made anew.
    """
    dealt = query.sees(t.HoleDealt, "cards")
    why = query.sees(t.BidPlaced, "origin")
    his = query.sees(t.BidPlaced, "origin", "rival")
    plain = f"""
        SELECT r.* REPLACE (
            CASE WHEN {dealt} THEN dealt END AS dealt,
            CASE WHEN stack = 0 THEN 'forced' WHEN {why} THEN origin END AS origin,
            CASE WHEN rival_stack = 0 THEN 'forced' WHEN {his} THEN rival_origin END
                AS rival_origin
        ) FROM ({rows}) AS r {query.own_seat_join()} WHERE plain
    """
    odd = query.rebuilt("auctions", ODD)
    named = "match || '/' || number AS hand"
    return f"{plain} UNION ALL BY NAME SELECT {named}, * REPLACE (TRUE AS plain) FROM {odd}"


def played(query: "Redacted", rows: str) -> str:
    """How many of another's cards were swapped is not known, but that there was none at risk."""
    spots = ", ".join(
        f"CASE WHEN {query.open()} THEN {name} END AS {name}" for name in ("spot", "why")
    )
    known = f"{query.sees(t.CardSwapped, 'new')} OR at_risk = 0"
    swapped = f"CASE WHEN {known} THEN swapped END AS swapped"
    return f"SELECT * REPLACE ({swapped}, {spots}) FROM ({rows})"


def risks(query: "Redacted", rows: str) -> str:
    """Whether a card changed is its holder's; what that was worth takes both hands."""
    return f"""
        SELECT * REPLACE (
            CASE WHEN {query.sees(t.CardSwapped, "new")} THEN changed END AS changed,
            CASE WHEN {query.open()} THEN spot END AS spot
        ) FROM ({rows})
    """


class Redacted(Query):
    """The views of a snapshot for the public or a seat."""

    tells_all = False

    def __init__(
        self,
        snapshot: Snapshot,
        viewer: Viewer,
        projections: Sequence[Projection] = STANDARD,
        *,
        seconds: float = SECONDS,
        only: frozenset[str] | None = None,
        called: DisplayNames = NO_DISPLAY_NAMES,
    ) -> None:
        self._viewer = viewer
        self._opened = opening(snapshot)
        self.seated = viewer.player is not None  # somewhere, perhaps
        self.at_table = "at_seat IS NOT NULL" if self.seated else "FALSE"
        super().__init__(snapshot, projections, seconds=seconds, only=only, called=called)

    def visible(self, name: str, rows: str) -> str:
        """The view as the viewer sees it, without hands for auditors alone."""
        if self._opened.withheld:
            withheld = f"number IS NOT NULL AND {self.among(self._opened.withheld)}"
            rows = f"SELECT * FROM ({rows}) WHERE NOT ({withheld})"
        return _VIEWS[name](self, rows)

    def rulesets(self) -> Sequence[str]:
        """Those of hands and matches that the viewer is told of: the ledger keeps others, too, of
        what he is told later or never."""
        query = Query(self.snapshot)
        try:
            names = query.add_table(pa.table({"match": sorted(self._opened.withheld)}))
            only = f"WHERE match NOT IN (FROM {names})" if self._opened.withheld else ""
            rows = query.rows(f"SELECT DISTINCT ruleset FROM hands {only}")
        finally:
            query.close()
        fingerprints = {row["ruleset"] for row in rows} | self._opened.rulesets
        return tuple(ruleset for ruleset in super().rulesets() if ruleset in fingerprints)

    @cached_property
    def faults(self) -> pa.Table:
        """Replies of others that were no bid: of a sealed one they tell that it counts as 0."""
        rows = found(self.snapshot, FAULTS)
        known = pa.array(sorted(self._opened.hands), pa.string())
        rows = rows.filter(pc.invert(pc.is_in(rows["match"], known)))
        if rows.num_rows and self._viewer.player is not None:
            rows = rows.join(self.seats, ["hand_seq", "seat"], join_type="left anti")
        return rows

    @cached_property
    def seats(self) -> pa.Table:
        """The hands that the viewer sits in, and at which seat."""
        return _seats(self.snapshot, self._viewer, slice(1))

    @cached_property
    def _namesakes(self) -> pa.Table:
        """The same of others at his tables who are called as he is."""
        return _seats(self.snapshot, self._viewer, slice(1, None))

    def own(self, column: str = "player") -> str:
        """Whether a row is about the viewer himself, and not about a namesake at his table."""
        name = self._viewer.player
        if name is None:
            return "FALSE"
        others = ""
        if self._namesakes.num_rows:
            place = "(hand_seq, seat)" if column == "player" else "hand_seq"
            rows = self._namesakes if column == "player" else self._namesakes.select(["hand_seq"])
            others = f" AND {place} NOT IN (FROM {self.add_table(rows, seq='hand_seq')})"
        return f"({column} = {quoted(name)}{_only(self._viewer)}{others})"

    @cached_property
    def _redactor(self) -> Redactor:
        """What it has read of a match it knows when another view is made anew."""
        return Redactor(self.snapshot, self._viewer)

    def rebuilt(self, name: str, only: str) -> str:
        """The rows of some hands in a view of ours, made anew from what the viewer sees of them."""
        (one,) = (projection for projection in self._projections if projection.name == name)
        query = Query(self.snapshot, (one,))
        try:
            hands = query.ask(f"SELECT DISTINCT hand_seq, hand FROM {name} WHERE {only}")
        finally:
            query.close()
        leaves = [
            revealed(self._redactor.see(Leaf(row["hand_seq"], self.snapshot.read(row["hand"]))))
            for row in hands.to_pylist()
            if self._redactor.may_know(row["hand"])
        ]
        return self.add_table(one.build(leaves), seq="hand_seq")

    def among(self, matches: frozenset[str]) -> str:
        """Whether a row is of one of these matches."""
        if not matches:
            return "FALSE"
        names = self.add_table(pa.table({"match": sorted(matches)}), match="match")
        return f"match IN (FROM {names})"

    def open(self) -> str:
        """Whether a row is of a match whose hands all may see."""
        return self.among(self._opened.hands)

    def open_records(self) -> str:
        """The same of records between hands: a match shows its own secrets when it has ended."""
        return self.among(self._opened.secrets)

    def sees(self, kind: type[Record], field: str, holder: str = "player") -> str:
        """Whether the viewer sees a secret of the events that a row is made of, whose holder is
        the player in this column; rows of bids need `own_seat_join`."""
        own = f"coalesce({self.own(holder)}, FALSE)"
        return _sees(FIELDS[kind].secret(field), self.open(), own, self.at_table)

    def own_seat_join(self) -> str:
        """A join by which `at_seat` is the viewer's seat in a row's hand, if he sits there."""
        if not self.seated:
            return ""
        rows = self.seats.rename_columns(["at_seq", "at_seat"])
        return f"LEFT JOIN {self.add_table(rows, seq='at_seq')} AS a ON at_seq = r.hand_seq"

    def shifted(self) -> tuple[str, str]:
        """`idx` as a viewer who does not see all counts it, and the join that this needs."""
        hidden, later = self.faults, found(self.snapshot, LATER)
        idx, joins = "idx", []
        if later.num_rows:
            begins = self.add_table(later.rename_columns(["begin_seq", "begin"]), seq="begin_seq")
            joins.append(f"LEFT JOIN {begins} ON begin_seq = r.hand_seq")
            idx += " - coalesce(begin, 0)"
        if hidden.num_rows:
            lists = hidden.group_by("hand_seq").aggregate([("idx", "list")])
            listed = self.add_table(lists.rename_columns(["gap_seq", "gaps"]), seq="gap_seq")
            joins.append(f"LEFT JOIN {listed} ON gap_seq = r.hand_seq")
            idx += " - coalesce(len(list_filter(gaps, lambda gap: gap < r.idx)), 0)"
        return f"CAST({idx} AS INTEGER) AS idx", " ".join(joins)


def _only(viewer: Viewer) -> str:
    """The matches in which a seat is the viewer's, as one more condition."""
    return f" AND match IN ({', '.join(map(quoted, viewer.matches))})" if viewer.matches else ""


def _seats(snapshot: Snapshot, viewer: Viewer, which: slice) -> pa.Table:
    """Hands of the viewer, and the first of the seats with his name there, or the others."""
    query = Query(snapshot)
    try:
        lists = query.rows("SELECT DISTINCT players FROM hands WHERE players IS NOT NULL")
        players = [row["players"] for row in lists]
        pairs = []
        for text in players:
            names = enumerate(msgspec.json.decode(text))
            pairs += [(text, seat) for seat, one in names if one == viewer.player][which]
        columns = {
            "names": pa.array([text for text, _ in pairs], pa.string()),
            "seat": pa.array([seat for _, seat in pairs], pa.int32()),
        }
        known = query.add_table(pa.table(columns))
        join = f"JOIN {known} ON names = players WHERE TRUE{_only(viewer)}"
        return query.ask(f"SELECT hand_seq, seat FROM hands {join}")
    finally:
        query.close()


def _hands(query: Redacted, rows: str) -> str:
    """Without positions, and with as many events as are seen."""
    replaced, join = "", ""
    if query.faults.num_rows:
        counted = query.faults.group_by("hand_seq").aggregate([("idx", "count")])
        less = query.add_table(counted.rename_columns(["less_seq", "less"]), seq="less_seq")
        replaced = "REPLACE (CAST(events - coalesce(less, 0) AS INTEGER) AS events)"
        join = f"LEFT JOIN {less} ON less_seq = r.hand_seq"
    return f"SELECT r.* EXCLUDE (first_pos, last_pos) {replaced} FROM ({rows}) AS r {join}"


def _players(query: Redacted, rows: str) -> str:
    """One's own cards, and those that were shown."""
    known = f"showed OR {query.sees(t.HoleDealt, 'cards')}"
    hole = f"CASE WHEN {known} THEN hole ELSE {_redacted('cards', 'hole')} END AS hole"
    return f"SELECT * REPLACE ({hole}) FROM ({rows})"


def _facts(query: Redacted, rows: str) -> str:
    """The class of hole cards is the only fact that is anybody's secret."""
    known = query.sees(t.HoleDealt, "cards")
    return f"SELECT * REPLACE (CASE WHEN {known} THEN cards END AS cards) FROM ({rows})"


def _swaps(query: Redacted, rows: str) -> str:
    """His own cards; of another seat, that a card was at risk, and the new card if it was shown."""
    idx, join = query.shifted()
    seen = {name: query.sees(t.CardSwapped, name) for name in ("old", "new", "changed")}
    return f"""
        SELECT r.* EXCLUDE ({", ".join(FLAGS)}) REPLACE (
            {idx},
            CASE WHEN {seen["old"]} THEN old ELSE 'hidden' END AS old,
            CASE WHEN {seen["new"]} THEN new ELSE 'hidden' END AS new,
            CASE WHEN {seen["changed"]} THEN changed END AS changed
        ) FROM ({rows}) AS r {join}
    """


def _bids(query: Redacted, rows: str) -> str:
    """Amounts as their settlement told them; before that, and why, as of the bid itself."""
    amount, idx, joins = _bidding(query)
    why = query.sees(t.BidPlaced, "origin")
    return f"""
        SELECT r.* REPLACE (
            {idx}, {amount} AS amount, CASE WHEN {why} THEN origin ELSE 'hidden' END AS origin
        ) FROM ({rows}) AS r {joins}
    """


def _decisions(query: Redacted, rows: str) -> str:
    """Cards and their strength as one's own or as shown; bids as `bids` has them. That nothing but
    0 could be bid, everybody sees."""
    amount, idx, joins = _bidding(query)
    held = f"{query.sees(t.HoleDealt, 'cards')} OR shown"
    cards = ", ".join(
        f"CASE WHEN {held} THEN {name} END AS {name}" for name in ("hole", "tenth", "made")
    )
    shown = f"action <> 'bid' OR stack = 0 OR {query.sees(t.BidPlaced, 'origin')}"
    return f"""
        SELECT r.* REPLACE (
            {idx}, {amount} AS amount, CASE WHEN {shown} THEN origin END AS origin, {cards}
        ) FROM ({rows}) AS r {joins}
    """


def _bidding(query: Redacted) -> tuple[str, str, str]:
    """The amount of a bid as it was settled or placed, its `idx`, and the joins that this needs."""
    idx, joins = query.shifted()
    joins += f" {query.own_seat_join()}"
    amount = "amount"
    others = announced_bids(query.snapshot)
    if others.num_rows:
        named = others.rename_columns(["odd_seq", "odd_idx", "settled", "odd"])
        odd = query.add_table(named, seq="odd_seq")
        joins += f" LEFT JOIN {odd} ON odd_seq = r.hand_seq AND odd_idx = r.idx"
        own = f"CASE WHEN {query.sees(t.BidPlaced, 'amount')} THEN amount END"
        amount = f"CASE WHEN settled THEN odd WHEN odd_seq IS NULL THEN amount ELSE {own} END"
    return amount, idx, joins


def _events(query: Redacted, rows: str) -> str:
    """Event by event as `events.views` sees them, those that are left in their new places."""
    idx, joins = query.shifted()
    joins += f" {query.own_seat_join()}"
    own = "r.seat = at_seat" if query.seated else "FALSE"
    where = ""
    if query.faults.num_rows:
        hidden = query.add_table(
            query.faults.select(["pos"]).rename_columns(["hidden"]), pos="hidden"
        )
        where = f"WHERE pos NOT IN (FROM {hidden})"
    columns = defaultdict[str, list[str]](list)
    cells, names = [], []
    for kind, field in FIELDS.items():
        forms = {one.name: one for one in layout.fields(kind)}
        of_kind = f"type = '{kind.__name__}'"
        unseen = []
        for secret in field.secrets:
            sees = _sees(secret, "is_open", "is_own", "is_seated")
            if secret.differ is None:
                column, form = forms[secret.field].column, forms[secret.field].form
                shut = f"NOT {sees} AND {column} IS NOT NULL"
                columns[column] += [f"WHEN {of_kind} AND {shut} THEN {_redacted(form, column)}"]
            else:
                shut = f"NOT {sees}"
                value = " <> ".join(forms[name].column for name in secret.differ)
                cells += [f"CASE WHEN {of_kind} AND {sees} THEN {value} END AS {secret.field}"]
            unseen += [f"CASE WHEN {shut} THEN '{secret.field}' END"]
        if unseen:
            names += [f"WHEN {of_kind} THEN nullif(concat_ws(' ', {', '.join(unseen)}), '')"]
    masks = [f"CASE {' '.join(it)} ELSE {name} END AS {name}" for name, it in columns.items()]
    return f"""
        SELECT * EXCLUDE (is_open, is_own, is_seated, pos, {", ".join(FLAGS)})
            REPLACE ({", ".join(masks)}),
            {", ".join([*cells, f"CASE {' '.join(names)} END AS redacted"])}
        FROM (
            SELECT r.* REPLACE ({idx}),
                CASE WHEN number IS NULL THEN {query.open_records()} ELSE {query.open()} END
                    AS is_open,
                coalesce({own}, FALSE) AS is_own, {query.at_table} AS is_seated
            FROM ({rows}) AS r {joins} {where}
        )
    """


def _sees(secret: Secret, is_open: str, own: str, at_table: str) -> str:
    """Whether a secret is seen, as `events.views.may_see` says it, in SQL."""
    known = [is_open]
    if secret.holder == "seat":
        known.append(own)
    if secret.sealed_by is not None:
        known.append(f"({at_table} AND NOT {secret.sealed_by})")
    if secret.revealed_by is not None:
        known.append(secret.revealed_by)
    return f"({' OR '.join(known)})"


def _redacted(form: layout.Form, column: str) -> str:
    """What stands in the place of a hidden value: as many words as there are cards, of two letters
    each; no number; a word."""
    if form == "cards":
        return f"rtrim(repeat('hidden ', CAST((length({column}) + 1) // 3 AS INTEGER)))"
    return "NULL" if form in NOTHING else "'hidden'"


_VIEWS: dict[str, Callable[[Redacted, str], str]] = {
    "hands": _hands,
    "events": _events,
    "players": _players,
    "bids": _bids,
    "swaps": _swaps,
    "pots": lambda query, rows: rows,  # they are paid in front of everybody
    "facts": _facts,
    "auctions": auctions,
    "played": played,
    "risks": risks,
    "decisions": _decisions,
}
