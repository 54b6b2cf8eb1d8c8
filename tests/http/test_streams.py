"""An answer that is made while it is sent: in little memory, and let go of when nobody listens."""

import io
import json
import socket
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from fastapi import Request
from fastapi.responses import Response

from api.http.limits import Limits
from api.http.responses import IMMUTABLE, streaming_response
from api.http.routes.exports import table_response
from tests.http.clients import Site, site_of
from tests.http.served import PATIENCE_S, get, heard, said, served

KINDS = ("csv", "ndjson", "parquet", "arrow")


class Producer:
    """Chunks, how many were taken, and whether it was closed."""

    def __init__(self, count: int, size: int) -> None:
        self.count = count
        self.size = size
        self.taken = 0
        self.closed = threading.Event()

    def chunks(self) -> Iterator[bytes]:
        try:
            for _ in range(self.count):
                self.taken += 1
                yield b"x" * self.size
        finally:
            self.closed.set()


def serving(site: Site, producer: Producer) -> str:
    """A route that sends what the producer makes."""

    @site.app.get("/api/v1/test/stream")
    def stream(request: Request) -> Response:
        return streaming_response(
            request, producer.chunks(), "ndjson", cache=IMMUTABLE, filename="x.ndjson"
        )

    return "/api/v1/test/stream"


def test_every_chunk_arrives_and_the_producer_is_closed(mine: Site) -> None:
    producer = Producer(100, 1000)
    answer = mine.as_().get(serving(mine, producer))
    assert b"x" * 100_000 == answer.content
    assert producer.closed.is_set()
    assert "application/x-ndjson" == answer.headers["content-type"]
    assert IMMUTABLE == answer.headers["cache-control"]
    assert 'attachment; filename="x.ndjson"' == answer.headers["content-disposition"]


def test_whoever_asks_for_the_head_makes_nobody_work(mine: Site) -> None:
    producer = Producer(100, 1000)
    answer = mine.as_().head(serving(mine, producer))
    assert (200, b"", 0) == (answer.status_code, answer.content, producer.taken)
    assert "application/x-ndjson" == answer.headers["content-type"]


def test_a_producer_is_closed_when_its_reader_goes_away(mine: Site) -> None:
    producer = Producer(10**9, 1 << 16)
    path = serving(mine, producer)
    with served(mine.app) as port:
        with socket.create_connection(("127.0.0.1", port)) as talk:
            talk.sendall(get(path))
            assert talk.recv(1000)
        assert producer.closed.wait(PATIENCE_S)


def test_a_slow_reader_holds_nothing_up_and_nothing_back(mine: Site) -> None:
    """What he does not take is not made; meanwhile all others are answered at once."""
    producer = Producer(10**9, 1 << 20)
    path = serving(mine, producer)
    with served(mine.app) as port, socket.create_connection(("127.0.0.1", port)) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(get(path))
        slow.recv(100)
        for _ in range(20):
            assert said(port, get("/healthz")).startswith(b"HTTP/1.1 200")
        time.sleep(0.5)
        assert producer.taken < 40  # socket buffers on both sides, and no more


def test_who_takes_nothing_for_too_long_is_dropped(house: object, mine: Site) -> None:
    site = site_of(mine.folder, limits=Limits(rate=0, stall_s=0.3))
    producer = Producer(10**9, 1 << 20)
    path = serving(site, producer)
    with served(site.app) as port, socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(get(path))
        assert producer.closed.wait(PATIENCE_S)
        came = heard(slow)
        assert not came.endswith(b"0\r\n\r\n")


# Tables.


def groups(count: int = 3) -> Iterator[pa.Table]:
    """Row groups alike in their columns; the second name is not told."""
    for number in range(count):
        yield pa.table(
            {
                "hand": pa.array([f"scrim/{number}", 'a, "b"']),
                "net": pa.array([number, None], pa.int32()),
                "cards": pa.array([["As", "Kd"], None], pa.list_(pa.string())),
                "at": pa.array([1_790_000_000_000, None], pa.timestamp("ms", "UTC")),
            }
        )


def tables_at(site: Site, kind: str, made: Iterator[pa.Table]) -> bytes:
    @site.app.get("/api/v1/test/table")
    def table(request: Request) -> Response:
        return table_response(request, made, kind, "seat:lynx", "hands")

    return bytes(site.as_().get("/api/v1/test/table").content)


def flat(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Without lists, which CSV has not."""
    return (one.drop_columns(["cards"]) for one in tables)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_arrive_as_they_were(kind: str, mine: Site) -> None:
    made = flat(groups()) if kind == "csv" else groups()
    came = tables_at(mine, kind, made)
    expected = pa.concat_tables(flat(groups()) if kind == "csv" else groups())
    match kind:
        case "csv":
            assert expected.num_rows == pa.csv.read_csv(io.BytesIO(came)).num_rows
        case "ndjson":
            lines = [json.loads(line) for line in came.splitlines()]
            assert expected["net"].to_pylist() == [line["net"] for line in lines]
            assert {"at", "cards", "hand", "net"} == set(lines[0])
        case "parquet":
            file = pq.ParquetFile(io.BytesIO(came))
            assert 3 == file.num_row_groups
            assert expected.equals(file.read().cast(expected.schema))
        case _:
            read = pa.ipc.open_stream(came).read_all()
            assert expected.equals(read.replace_schema_metadata(None))
    if kind in ("parquet", "arrow"):
        schema = (
            pq.read_schema(io.BytesIO(came))
            if kind == "parquet"
            else pa.ipc.open_stream(came).schema
        )
        assert b"seat:lynx" == schema.metadata[b"muckrake.view"]
        assert b"hands" == schema.metadata[b"muckrake.table"]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_nothing_stands_under_a_null(kind: str, mine: Site) -> None:
    """Arrow keeps whatever bytes lie in a place that is null: here a bid that is a secret."""
    hidden = pa.array([77_777_777], pa.int32())
    covered = pa.Array.from_buffers(pa.int32(), 1, [pa.py_buffer(b"\x00"), hidden.buffers()[1]])
    assert covered.null_count == 1
    came = tables_at(mine, kind, iter([pa.table({"bid": covered})]))
    assert (77_777_777).to_bytes(4, "little") not in came


def test_a_table_is_made_a_row_group_at_a_time(mine: Site) -> None:
    """A reader that has taken little has made the ledger read little."""
    told = {"made": 0, "closed": 0}

    def many() -> Iterator[pa.Table]:
        try:
            for _ in range(10_000):
                told["made"] += 1
                yield pa.table({"n": pa.array(range(100_000))})
        finally:
            told["closed"] += 1

    @mine.app.get("/api/v1/test/many")
    def table(request: Request) -> Response:
        return table_response(request, many(), "arrow", "public", "hands")

    with served(mine.app) as port:
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(get("/api/v1/test/many"))
            slow.recv(100)
            time.sleep(0.5)
            assert told["made"] < 40
        until = time.monotonic() + PATIENCE_S
        while not told["closed"] and time.monotonic() < until:
            time.sleep(0.05)
    assert 1 == told["closed"]
