"""Masks in SQL over the ledger's views, for viewers who may not see everything.

A hidden number is null, a hidden text says `hidden`, and so does a hidden card; positions are left
out. What these views show is what `api.exporting.redacted_tables` makes of `RedactedEvents`: a test
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
from api.viewpoints.redaction import HIDDEN_VALUES, Redactor, with_settled_bids
from api.viewpoints.viewer import Viewer
from api.viewpoints.withheld_events import FAULTS, LATER, announced_bids, open_matches, query_events
from events import types as t
from events.ledger import Record
from events.views import FIELDS, FLAGS, Secret
from store.columns import layout
from store.log.streams import Leaf
from store.reader import Snapshot
from store.sql.query import SECONDS, Query
from store.sql.views import NO_DISPLAY_NAMES, DisplayNames
from store.tables.projection import STANDARD, Projection

NOT_PLAIN = "NOT plain"


def mask_auctions(query: "MaskedQuery", rows: str) -> str:
    """Show cards of others as shown, and why they bid only where a bid was open to them.

    A settlement that did not tell the bids as they were placed is rare: such a hand is made anew.
    """
    dealt = query.sees_sql(t.HoleDealt, "cards")
    why = query.sees_sql(t.BidPlaced, "origin")
    his = query.sees_sql(t.BidPlaced, "origin", "rival")
    plain = f"""
        SELECT r.* REPLACE (
            CASE WHEN {dealt} THEN dealt END AS dealt,
            CASE WHEN stack = 0 THEN 'forced' WHEN {why} THEN origin END AS origin,
            CASE WHEN rival_stack = 0 THEN 'forced' WHEN {his} THEN rival_origin END
                AS rival_origin
        ) FROM ({rows}) AS r {query.own_seat_join()} WHERE plain
    """
    odd = query.rebuilt_table("auctions", NOT_PLAIN)
    named = "match || '/' || number AS hand"
    return f"{plain} UNION ALL BY NAME SELECT {named}, * REPLACE (TRUE AS plain) FROM {odd}"


def mask_played(query: "MaskedQuery", rows: str) -> str:
    """Hide how many of another's cards were swapped, but not that there was none at risk."""
    spots = ", ".join(
        f"CASE WHEN {query.is_open_sql()} THEN {name} END AS {name}" for name in ("spot", "why")
    )
    known = f"{query.sees_sql(t.CardSwapped, 'new')} OR at_risk = 0"
    swapped = f"CASE WHEN {known} THEN swapped END AS swapped"
    return f"SELECT * REPLACE ({swapped}, {spots}) FROM ({rows})"


def mask_risks(query: "MaskedQuery", rows: str) -> str:
    """Show whether a card changed to its holder alone; what that was worth takes both hands."""
    return f"""
        SELECT * REPLACE (
            CASE WHEN {query.sees_sql(t.CardSwapped, "new")} THEN changed END AS changed,
            CASE WHEN {query.is_open_sql()} THEN spot END AS spot
        ) FROM ({rows})
    """


class MaskedQuery(Query):
    """The masked views of a snapshot, for the public or a seat."""

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
        self._opened = open_matches(snapshot)
        self.seated = viewer.player is not None  # somewhere, perhaps
        self.at_table = "at_seat IS NOT NULL" if self.seated else "FALSE"
        super().__init__(snapshot, projections, seconds=seconds, only=only, called=called)

    def visible(self, name: str, rows: str) -> str:
        """A view's visible rows, without hands for auditors alone."""
        if self._opened.withheld:
            withheld = f"number IS NOT NULL AND {self.in_matches_sql(self._opened.withheld)}"
            rows = f"SELECT * FROM ({rows}) WHERE NOT ({withheld})"
        return _MASKS[name](self, rows)

    def rulesets(self) -> Sequence[str]:
        """The rulesets of hands and matches that the viewer may know: the ledger keeps others,
        too, of what becomes visible later or never."""
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
    def hidden_faults(self) -> pa.Table:
        """Replies of others that were no bid: of a sealed one they tell that it counts as 0."""
        rows = query_events(self.snapshot, FAULTS)
        known = pa.array(sorted(self._opened.hands), pa.string())
        rows = rows.filter(pc.invert(pc.is_in(rows["match"], known)))
        if rows.num_rows and self._viewer.player is not None:
            rows = rows.join(self.seats, ["hand_seq", "seat"], join_type="left anti")
        return rows

    @cached_property
    def seats(self) -> pa.Table:
        """The hands that the viewer sits in, and at which seat."""
        return _seats_of_viewer(self.snapshot, self._viewer, slice(1))

    @cached_property
    def _namesakes(self) -> pa.Table:
        """The hands and seats of others at the viewer's tables who have his name."""
        return _seats_of_viewer(self.snapshot, self._viewer, slice(1, None))

    def is_own_sql(self, column: str = "player") -> str:
        """SQL for that a row is about the viewer himself, and not about a namesake at his table."""
        name = self._viewer.player
        if name is None:
            return "FALSE"
        others = ""
        if self._namesakes.num_rows:
            place = "(hand_seq, seat)" if column == "player" else "hand_seq"
            rows = self._namesakes if column == "player" else self._namesakes.select(["hand_seq"])
            others = f" AND {place} NOT IN (FROM {self.add_table(rows, seq='hand_seq')})"
        return f"({column} = {quoted(name)}{_own_matches_sql(self._viewer)}{others})"

    @cached_property
    def _redactor(self) -> Redactor:
        """The redactor of rebuilt hands, which keeps what it has read of a match."""
        return Redactor(self.snapshot, self._viewer)

    def rebuilt_table(self, name: str, only: str) -> str:
        """A table of some hands' rows of a view, made anew from what the viewer sees of them."""
        (one,) = (projection for projection in self._projections if projection.name == name)
        query = Query(self.snapshot, (one,))
        try:
            hands = query.ask(f"SELECT DISTINCT hand_seq, hand FROM {name} WHERE {only}")
        finally:
            query.close()
        leaves = [
            with_settled_bids(
                self._redactor.redact(Leaf(row["hand_seq"], self.snapshot.read(row["hand"])))
            )
            for row in hands.to_pylist()
            if self._redactor.may_know(row["hand"])
        ]
        return self.add_table(one.build(leaves), seq="hand_seq")

    def in_matches_sql(self, matches: frozenset[str]) -> str:
        """SQL for that a row is of one of these matches."""
        if not matches:
            return "FALSE"
        names = self.add_table(pa.table({"match": sorted(matches)}), match="match")
        return f"match IN (FROM {names})"

    def is_open_sql(self) -> str:
        """SQL for that a row is of a match whose hands all may see."""
        return self.in_matches_sql(self._opened.hands)

    def is_open_record_sql(self) -> str:
        """SQL for that a row is a record of a match that shows its own secrets, as it has ended."""
        return self.in_matches_sql(self._opened.secrets)

    def sees_sql(self, kind: type[Record], field: str, holder: str = "player") -> str:
        """SQL for that the viewer sees a secret of a row's events, whose holder is the player in
        this column; rows of bids need `own_seat_join`."""
        own = f"coalesce({self.is_own_sql(holder)}, FALSE)"
        return _is_seen_sql(FIELDS[kind].secret(field), self.is_open_sql(), own, self.at_table)

    def own_seat_join(self) -> str:
        """A join by which `at_seat` is the viewer's seat in a row's hand, if he sits there."""
        if not self.seated:
            return ""
        rows = self.seats.rename_columns(["at_seq", "at_seat"])
        return f"LEFT JOIN {self.add_table(rows, seq='at_seq')} AS a ON at_seq = r.hand_seq"

    def visible_idx_sql(self) -> tuple[str, str]:
        """SQL of `idx` as a viewer who does not see all counts it, and the join that this needs."""
        hidden, later = self.hidden_faults, query_events(self.snapshot, LATER)
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


def _own_matches_sql(viewer: Viewer) -> str:
    """One more condition: the matches in which a seat is the viewer's."""
    return f" AND match IN ({', '.join(map(quoted, viewer.matches))})" if viewer.matches else ""


def _seats_of_viewer(snapshot: Snapshot, viewer: Viewer, which: slice) -> pa.Table:
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
        join = f"JOIN {known} ON names = players WHERE TRUE{_own_matches_sql(viewer)}"
        return query.ask(f"SELECT hand_seq, seat FROM hands {join}")
    finally:
        query.close()


def _mask_hands(query: MaskedQuery, rows: str) -> str:
    """Leave out positions, and count only the visible events."""
    replaced, join = "", ""
    if query.hidden_faults.num_rows:
        counted = query.hidden_faults.group_by("hand_seq").aggregate([("idx", "count")])
        less = query.add_table(counted.rename_columns(["less_seq", "less"]), seq="less_seq")
        replaced = "REPLACE (CAST(events - coalesce(less, 0) AS INTEGER) AS events)"
        join = f"LEFT JOIN {less} ON less_seq = r.hand_seq"
    return f"SELECT r.* EXCLUDE (first_pos, last_pos) {replaced} FROM ({rows}) AS r {join}"


def _mask_players(query: MaskedQuery, rows: str) -> str:
    """Show the viewer's own cards, and those that were shown."""
    known = f"showed OR {query.sees_sql(t.HoleDealt, 'cards')}"
    hole = f"CASE WHEN {known} THEN hole ELSE {_blank_sql('cards', 'hole')} END AS hole"
    return f"SELECT * REPLACE ({hole}) FROM ({rows})"


def _mask_facts(query: MaskedQuery, rows: str) -> str:
    """Hide the class of hole cards, the only fact that is anybody's secret."""
    known = query.sees_sql(t.HoleDealt, "cards")
    return f"SELECT * REPLACE (CASE WHEN {known} THEN cards END AS cards) FROM ({rows})"


def _mask_swaps(query: MaskedQuery, rows: str) -> str:
    """Show own cards; of others, that a card was at risk, and the new card if it was shown."""
    idx, join = query.visible_idx_sql()
    seen = {name: query.sees_sql(t.CardSwapped, name) for name in ("old", "new", "changed")}
    return f"""
        SELECT r.* EXCLUDE ({", ".join(FLAGS)}) REPLACE (
            {idx},
            CASE WHEN {seen["old"]} THEN old ELSE 'hidden' END AS old,
            CASE WHEN {seen["new"]} THEN new ELSE 'hidden' END AS new,
            CASE WHEN {seen["changed"]} THEN changed END AS changed
        ) FROM ({rows}) AS r {join}
    """


def _mask_bids(query: MaskedQuery, rows: str) -> str:
    """Show amounts as their settlement told them; before that, and why, as of the bid itself."""
    amount, idx, joins = _bid_sql(query)
    why = query.sees_sql(t.BidPlaced, "origin")
    return f"""
        SELECT r.* REPLACE (
            {idx}, {amount} AS amount, CASE WHEN {why} THEN origin ELSE 'hidden' END AS origin
        ) FROM ({rows}) AS r {joins}
    """


def _mask_decisions(query: MaskedQuery, rows: str) -> str:
    """Show cards and strength as own or as shown; bids as `bids` has them. That only 0 could be
    bid, everybody sees."""
    amount, idx, joins = _bid_sql(query)
    held = f"{query.sees_sql(t.HoleDealt, 'cards')} OR shown"
    cards = ", ".join(
        f"CASE WHEN {held} THEN {name} END AS {name}" for name in ("hole", "tenth", "made")
    )
    shown = f"action <> 'bid' OR stack = 0 OR {query.sees_sql(t.BidPlaced, 'origin')}"
    return f"""
        SELECT r.* REPLACE (
            {idx}, {amount} AS amount, CASE WHEN {shown} THEN origin END AS origin, {cards}
        ) FROM ({rows}) AS r {joins}
    """


def _bid_sql(query: MaskedQuery) -> tuple[str, str, str]:
    """SQL of a bid's amount as settled or placed, of its `idx`, and the joins that they need."""
    idx, joins = query.visible_idx_sql()
    joins += f" {query.own_seat_join()}"
    amount = "amount"
    others = announced_bids(query.snapshot)
    if others.num_rows:
        named = others.rename_columns(["odd_seq", "odd_idx", "settled", "odd"])
        odd = query.add_table(named, seq="odd_seq")
        joins += f" LEFT JOIN {odd} ON odd_seq = r.hand_seq AND odd_idx = r.idx"
        own = f"CASE WHEN {query.sees_sql(t.BidPlaced, 'amount')} THEN amount END"
        amount = f"CASE WHEN settled THEN odd WHEN odd_seq IS NULL THEN amount ELSE {own} END"
    return amount, idx, joins


def _mask_events(query: MaskedQuery, rows: str) -> str:
    """Show each event as `events.views` does, those that are left in their new places."""
    idx, joins = query.visible_idx_sql()
    joins += f" {query.own_seat_join()}"
    own = "r.seat = at_seat" if query.seated else "FALSE"
    where = ""
    if query.hidden_faults.num_rows:
        hidden = query.add_table(
            query.hidden_faults.select(["pos"]).rename_columns(["hidden"]), pos="hidden"
        )
        where = f"WHERE pos NOT IN (FROM {hidden})"
    columns = defaultdict[str, list[str]](list)
    cells, names = [], []
    for kind, field in FIELDS.items():
        forms = {one.name: one for one in layout.fields(kind)}
        of_kind = f"type = '{kind.__name__}'"
        unseen = []
        for secret in field.secrets:
            sees = _is_seen_sql(secret, "is_open", "is_own", "is_seated")
            if secret.differ is None:
                column, form = forms[secret.field].column, forms[secret.field].form
                shut = f"NOT {sees} AND {column} IS NOT NULL"
                columns[column] += [f"WHEN {of_kind} AND {shut} THEN {_blank_sql(form, column)}"]
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
                CASE WHEN number IS NULL THEN {query.is_open_record_sql()}
                    ELSE {query.is_open_sql()} END AS is_open,
                coalesce({own}, FALSE) AS is_own, {query.at_table} AS is_seated
            FROM ({rows}) AS r {joins} {where}
        )
    """


def _is_seen_sql(secret: Secret, is_open: str, own: str, at_table: str) -> str:
    """SQL for that a secret is seen, as `events.views.may_see` says it."""
    known = [is_open]
    if secret.holder == "seat":
        known.append(own)
    if secret.sealed_by is not None:
        known.append(f"({at_table} AND NOT {secret.sealed_by})")
    if secret.revealed_by is not None:
        known.append(secret.revealed_by)
    return f"({' OR '.join(known)})"


def _blank_sql(form: layout.Form, column: str) -> str:
    """SQL of the value instead of a hidden one: as many words as there are cards, of two letters
    each; no number; a word."""
    if form == "cards":
        return f"rtrim(repeat('hidden ', CAST((length({column}) + 1) // 3 AS INTEGER)))"
    return "NULL" if form in HIDDEN_VALUES else "'hidden'"


_MASKS: dict[str, Callable[[MaskedQuery, str], str]] = {
    "hands": _mask_hands,
    "events": _mask_events,
    "players": _mask_players,
    "bids": _mask_bids,
    "swaps": _mask_swaps,
    "pots": lambda query, rows: rows,  # they are paid in front of everybody
    "facts": _mask_facts,
    "auctions": mask_auctions,
    "played": mask_played,
    "risks": mask_risks,
    "decisions": _mask_decisions,
}
