"""SQL over one snapshot for questions of our own, with a view for each table of the ledger.

Who tells less than everything (`api.viewpoints.masks`) says so (`tells_all`), and in `visible` how:
a mask around the SELECT of a table. Untrusted SQL never comes here (`untrusted_query.py`): it is
asked of copies of what these views show, by parts: a segment, or all rows that lie in none.

A view is made when a statement first names it: so a question about matches decodes no events of
the hot log. Before DuckDB reads a file its digest is compared, once as long as the file is the
same: what DuckDB makes of damage is anybody's guess.

Threads may ask at once, each in a session of its own (`sessions.py`): views are made once and shown
to a session that first needs them. A player's rows need no DuckDB (`about`).
"""

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from store.columns import layout
from store.columns.codec import encoded_table, event_table
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.streams import Leaf
from store.reader import Snapshot
from store.segments.parquet_files import FOLDER
from store.segments.reading import PlayerRows
from store.sql import views
from store.sql.guard import known_table_names, refused_errors
from store.sql.result_values import json_rows
from store.sql.sessions import Session, fetch_table, shared_engine
from store.sql.views import JoinedTable, PartMoved, TableSources, ViewPart, rows_digest
from store.tables.projection import STANDARD, EventRows, Projection, ProjectionBuilder

if TYPE_CHECKING:
    import duckdb

    from store.sql.sessions import Engine

SECONDS = 30.0
MEMORY = "1GB"
THREADS = 2
_ROWS = "<rows>"  # where a view's own rows will stand in the SELECT of its mask
AT_ONCE = 4  # questions; later ones wait for one of them
SHORT, REMEMBERED = 1 << 14, 256  # bytes of an answer that is remembered, and how many are
COMPUTED_VIEWS = (views.RULESETS, views.TAGS)  # views that are made of no table of the ledger


class _View(NamedTuple):
    """A view as it is made, and which segments have a file of their own for it."""

    sql: str
    segments: tuple[Segment, ...]


class Query:
    """The views `events` and one per projection, as of a snapshot; threads may share it.

    With `only`, of hands whose amounts count in one of these units; players as they are `called`.
    """

    tells_all = True

    def __init__(
        self,
        snapshot: Snapshot,
        projections: Sequence[Projection] = STANDARD,
        *,
        memory: str = MEMORY,
        seconds: float = SECONDS,
        only: frozenset[str] | None = None,
        called: views.DisplayNames = views.NO_DISPLAY_NAMES,
    ) -> None:
        self.snapshot = snapshot
        self._only, self._called = only, called
        self.views = ("events", *(projection.name for projection in projections), *COMPUTED_VIEWS)
        names = (one.name for one in projections if not one.private)
        self.public = ("events", *names, *COMPUTED_VIEWS)
        self._projections = tuple(projections)
        self._memory, self._seconds = memory, seconds
        self._turn = threading.RLock()
        self._places = threading.Semaphore(AT_ONCE)
        self._files = snapshot.live.files
        self._engine: Engine | None = None
        self._players: dict[tuple[str, str], PlayerRows] = {}
        self._answers: dict[str, pa.Table] = {}
        self._closed = False
        self._begin()

    def ask(
        self, sql: str, seconds: float | None = None, also: Mapping[str, pa.Table] | None = None
    ) -> pa.Table:
        """The answer as an Arrow table; refused if it takes longer.

        `also` are tables that this one question may name besides the views.
        """
        import duckdb

        seconds = self._seconds if seconds is None else seconds
        with refused_errors(self._memory, seconds):
            while True:
                with self.session() as session:
                    try:
                        self._show(session, sql)
                        with session.temporary_tables(also or {}):
                            answered = self._answer if also else self._remembered
                            return answered(session, sql, seconds)
                    except (duckdb.Error, OSError, Damaged):
                        if not self._retired(session.manifest_number):
                            raise

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as JSON takes it: times in RFC 3339, whole numbers whole."""
        return json_rows(self.ask(sql))

    def ready(self, view: str) -> None:
        """Find now what is wrong with a view, for an answer that begins before it is asked."""
        self.ask(f'SELECT 1 FROM "{view}" LIMIT 0')

    def close(self) -> None:
        """Let go of files and memory."""
        with self._turn:
            self._closed = True
            self._forget()

    @property
    def reads(self) -> bool:
        """Whether rows may be read without DuckDB: by who is told all, of all that has closed."""
        return self.tells_all and not (self._later or self._only or self._called)

    @property
    def units(self) -> set[str]:
        """The units that the amounts of these hands may have, as their rulesets say."""
        known, marks = self.snapshot.units(), self.rulesets()
        found = {unit for mark in marks if (unit := known.get(mark)) is not None}
        return found if self._only is None else found & self._only

    def about(self, name: str, player: str, names: Sequence[str]) -> pa.Table:
        """A player's rows of a table in order of closing, read without DuckDB (`reads`)."""
        assert self.reads
        while True:
            with self._turn:
                number = self._number
                if (name, player) not in self._players:
                    self._players = {(name, player): PlayerRows(self._files, name, player)}
                one = self._players[name, player]
            try:
                return one.rows(*self._sources(name), names)
            except (OSError, Damaged):
                if not self._retired(number):
                    raise

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for one question; views are shown to it as they are asked for."""
        with self._places:
            with self._turn:
                if self._engine is None:
                    self._engine = shared_engine(self._memory, THREADS)
                session = self._idle.pop() if self._idle else Session(self._engine, self._number)
            try:
                yield session
            except BaseException:
                session.close()  # of its answer there may be more to come
                raise
            with self._turn:
                if session.manifest_number == self._number and not self._closed:
                    self._idle.append(session)
                else:
                    session.close()

    def parts(self, name: str) -> tuple[ViewPart, ...]:
        """The rows of a view in parts, each as it can be asked for alone (`copy`)."""
        with self._turn:
            if name not in self._cut:
                try:
                    self._cut[name] = tuple(self._parted(name))
                except (OSError, Damaged):
                    if self._retired(self._number):
                        raise PartMoved from None
                    raise
            return self._cut[name]

    def check(self, part: ViewPart) -> None:
        """Check that the file of a part is as it was sealed; `PartMoved` if it is gone."""
        if part.segment is None:
            return
        try:
            self._files.check(part.segment, part.name)
        except (OSError, Damaged):
            if self._retired(part.number):
                raise PartMoved from None
            raise

    @contextmanager
    def reading(self, part: ViewPart) -> "Iterator[duckdb.DuckDBPyConnection]":
        """A connection for the SELECT of a part; `PartMoved` if its rows lie elsewhere by now."""
        import duckdb

        with refused_errors(self._memory, self._seconds), self.session() as session:
            try:
                with self._turn:
                    tables = {name: one.rows for name, one in self._joined_tables.items()}
                    session.register_tables(tables)
                yield session.con
            except (duckdb.Error, OSError, Damaged):
                if self._retired(session.manifest_number) or session.manifest_number != part.number:
                    raise PartMoved from None
                raise

    def _parted(self, name: str) -> Iterator[ViewPart]:
        if name in COMPUTED_VIEWS:
            rows = self._rows_of(name)
            yield ViewPart(
                name, rows, rows_digest(rows, self._joined_tables, None), self._number, None
            )
            return
        segments, tables = self._sources(name)
        masked = self._in_units(name, self.visible(name, _ROWS))

        def part(rows: str, segment: Segment | None, described: str) -> ViewPart:
            digest = rows_digest(f"{masked} {described}", self._joined_tables, segment)
            return ViewPart(name, masked.replace(_ROWS, rows), digest, self._number, segment)

        empty = self.add_table(tables[-1].schema.empty_table())
        for one in segments:
            end = min(one.last_seq + 1, self.snapshot.next_seq)
            rows = self._rows(name, [self._sealed(name, [one]), empty])
            yield part(rows, one, f"{one.sha256[name]} {end}")
        if not segments or any(rows.num_rows for rows in tables):
            rows = self._rows(name, [self.add_table(rows) for rows in tables])
            yield part(rows, None, rows)

    def visible(self, name: str, rows: str) -> str:
        """The SELECT behind a view, over the SELECT of all its rows."""
        return rows

    def _in_units(self, name: str, rows: str) -> str:
        """The rows of a view, and what their amounts count if it gives some; of a nonce no name."""
        if name != "events":
            rows = self._renamed(rows, self._sources(name).tables[-1].schema)
        if name not in views.UNIT_VIEWS and self._only is None:
            return rows
        known, odd = self.snapshot.units(), None
        if others := views.unusual_units(known):
            in_others = views.unusual_hands(self._files, self._sources("hands"), others)
            odd = self.add_table(in_others, seq="odd_seq")
        return views.with_units_sql(name, rows, known, odd, self._only)

    def add_table(self, rows: pa.Table, **of: str) -> str:
        """A table that a view may read and no statement can name.

        `seq`, `pos` or `match` names the column that says which rows of a view a row is about: of
        the others, no row of that table makes a difference to them.
        """
        name = f"_{secrets.token_hex(16)}"
        with self._turn:
            self._joined_tables[name] = JoinedTable(rows, of)
        return name

    def _remembered(self, session: Session, sql: str, seconds: float) -> pa.Table:
        """A short answer is given again; strangers, who may draw by chance, never ask here."""
        if sql not in self._answers:
            rows = self._answer(session, sql, seconds)
            if rows.nbytes > SHORT or len(self._answers) >= REMEMBERED:
                return rows
            self._answers[sql] = rows
        return self._answers[sql]

    def _answer(self, session: Session, sql: str, seconds: float) -> pa.Table:
        timer = threading.Timer(seconds, session.con.interrupt)
        timer.start()
        try:
            return fetch_table(session.con, sql)
        finally:
            timer.cancel()

    def _begin(self) -> None:
        """Take the files of now as what views are made of, and forget all views."""
        live = self.snapshot.live
        self._number = live.number
        self._parts = self.snapshot.parts()
        self._later = any(it.last_seq >= self.snapshot.next_seq for it in self._parts.segments)
        self._found: dict[str, TableSources] = {}
        self._hot: EventRows | None = None
        self._shown: dict[str, _View] = {}
        self._joined_tables: dict[str, JoinedTable] = {}
        self._cut: dict[str, tuple[ViewPart, ...]] = {}
        self._idle: list[Session] = []

    def _forget(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _show(self, session: Session, sql: str) -> None:
        """The views that a statement names; each of their files is as it was sealed."""
        names = known_table_names(session.con, sql)
        with self._turn:
            for name in self.views:
                if names is None or name in names:
                    if name not in self._shown:
                        self._shown[name] = self._made(name)
                    for segment in self._shown[name].segments:
                        self._files.check(segment, name)
            tables = {name: one.rows for name, one in self._joined_tables.items()}
            selects = {name: view.sql for name, view in self._shown.items()}
        session.register_tables(tables)
        named = {name: sql for name, sql in selects.items() if names is None or name in names}
        session.create_views(named)

    def _made(self, name: str) -> _View:
        """A view over all that closed: in which order rows come is for ORDER BY to say."""
        if name in COMPUTED_VIEWS:
            return _View(self._rows_of(name), ())
        have, made = self._sources(name)
        for segment in have:
            self._files.check(segment, name)  # binding a view reads footers
        parts = [self._sealed(name, have)] if have else []
        parts += [self.add_table(rows) for rows in made]
        return _View(self._in_units(name, self.visible(name, self._rows(name, parts))), have)

    def rulesets(self) -> Sequence[str]:
        """The fingerprints of the rulesets that are told of."""
        return self.snapshot.rulesets()

    def _rows_of(self, name: str) -> str:
        """The SELECT of a view that is made of no table of the ledger."""
        if name == views.TAGS:
            rows = self.add_table(views.tags_table(self.snapshot))
            return self._renamed(f"FROM {rows}", views.TAG_COLUMNS)
        return (
            f"FROM {self.add_table(views.rulesets_table(self.rulesets(), self.snapshot.ruleset))}"
        )

    def _renamed(self, rows: str, columns: pa.Schema) -> str:
        """The rows of a table of players, each as he is called."""
        if self._called and "player" in columns.names:
            names = self.add_table(views.names_table(self._called), match="of_match")
            rows = views.renamed_sql(rows, columns.names, names)
        return rows

    def _sources(self, name: str) -> TableSources:
        """The segments and tables that hold the rows of a table, found once."""
        with self._turn:
            sources = self._found.get(name) or self._find(name)
            return self._found.setdefault(name, sources)

    def _find(self, name: str) -> TableSources:
        live, (segments, closed) = self.snapshot.live, self._parts
        hot = [Leaf(one.hand_seq, one.recorded()) for one in closed]
        if name == "events":
            have = tuple(it for it in segments if it.schema in layout.READABLE_VERSIONS)
            made = [rows for it in segments if it not in have for rows in live.files.all_events(it)]
            made.append(event_table(hot) if hot else layout.SCHEMA.empty_table())
        else:
            one = self._projection(name)
            have = tuple(it for it in segments if self._files.is_current(one, it))
            lack = [it for it in segments if it not in have]
            builder = ProjectionBuilder((one,))
            groups = (rows for it in lack for rows in live.files.all_events(it))
            made = [found for rows in groups for _, found in builder.add(rows)]
            if self._hot is None:  # columns of what is not sealed serve all tables
                self._hot = EventRows(encoded_table(hot))
            made += [*(found for _, found in builder.flush()), one.from_rows(self._hot)]
        return TableSources(have, made)

    def _projection(self, name: str) -> Projection:
        return next(it for it in (*self._projections, *STANDARD) if it.name == name)

    def _rows(self, name: str, parts: Sequence[str]) -> str:
        """The SELECT of all rows of a table, as nobody is told them."""
        all_rows = " UNION ALL BY NAME ".join(f"SELECT * FROM {part}" for part in parts)
        only = [f"hand_seq < {self.snapshot.next_seq}"] if self._later else []
        only += ["number IS NOT NULL"] if name == "hands" else []
        where = f"WHERE {' AND '.join(only)}" if only else ""
        columns = layout.events_view_sql() if name == "events" else self._projection(name).view
        return f"SELECT {columns} FROM ({all_rows}) {where}"

    def _sealed(self, name: str, segments: Sequence[Segment]) -> str:
        files = [str(self.snapshot.live.disk.local(segment.files[name])) for segment in segments]
        return f"read_parquet([{', '.join(map(views.quoted, files))}], union_by_name = true)"

    def _retired(self, number: int) -> bool:
        """Whether segments went away under us: the snapshot then lives in newer files."""
        live = self.snapshot.live
        with self._turn:
            if number != self._number:
                return True  # another thread has found it
            names = {f"{FOLDER}/{name}" for name in live.disk.names(FOLDER)}
            named = (it for segment in self._parts.segments for it in segment.files.values())
            gone = [path for path in named if path not in names]
            if gone:
                live.retired(self._number, FileNotFoundError(2, "gone", gone[0]))
                self._forget()
                self._begin()
            return bool(gone)
