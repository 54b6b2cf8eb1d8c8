"""`/api/v1/log/...`: the tree over all that has closed, as C2SP tlog-tiles serves one.

It is for everybody and opens nothing: who keeps checkpoints can hold this ledger to them.
"""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.http.answer import FOREVER, content_types, document, format_of, sent
from api.http.ask import Ask
from api.problem import Problem
from api.questions.proof import Tree
from store.proof.note import to_base64
from store.proof.tree import Refuted

router = APIRouter(prefix="/api/v1/log", tags=["log"], default_response_class=Response)


@router.get(
    "/checkpoint",
    operation_id="checkpoint",
    summary="The newest signed checkpoint: how large the tree is, and its root",
    description="A C2SP tlog-checkpoint. Keep it: later the ledger can be held to it.",
    responses=content_types("txt"),
)
def checkpoint(request: Request, ask: Ask) -> Response:
    return sent(request, Tree(ask.snapshot()).note, "txt")


@router.get(
    "/key",
    operation_id="log_key",
    summary="The public keys that have signed for this ledger, the newest last",
    description="Compare it with the one that you know from somewhere else: docs/trust.md.",
    responses=content_types("txt"),
)
def key(request: Request, ask: Ask) -> Response:
    keys = Tree(ask.snapshot()).keys
    return sent(request, "".join(f"{one.text()}\n" for one in keys).encode(), "txt")


@router.get(
    "/tile/entries/{path:path}",
    operation_id="entries",
    summary="The leaves behind a tile of level 0: up to 256 entries",
    description="Each is two bytes of length, then the leaf: which record it is, and the digest of"
    " its public lines. The SHA-256 of a zero byte and a leaf is its hash in the tile.",
    responses=content_types("tile"),
)
def entries(
    request: Request,
    ask: Ask,
    path: Annotated[str, Path(max_length=80, examples=["000.p/9"])],
) -> Response:
    return _tile(request, Tree(ask.snapshot()).entries, path)


@router.get(
    "/tile/{path:path}",
    operation_id="tile",
    summary="A tile of the tree: up to 256 hashes of one level",
    description="`0/x001/067` is full, `0/067.p/9` has the first 9 hashes. Neither ever changes.",
    responses=content_types("tile"),
)
def tile(
    request: Request,
    ask: Ask,
    path: Annotated[str, Path(max_length=80, examples=["0/000.p/9"])],
) -> Response:
    return _tile(request, Tree(ask.snapshot()).tile, path)


def _tile(request: Request, read: Callable[[str], bytes], path: str) -> Response:
    try:
        content = read(path)
    except Refuted as reason:
        raise Problem("not-found", str(reason)) from None
    return sent(request, content, "tile", cache=FOREVER)


@router.get(
    "/consistency",
    operation_id="consistency",
    summary="The proof that the tree only grew from one size to another",
    description="As text it is the body that a C2SP witness is sent: the old size, the proof, and"
    " the newest checkpoint.",
    responses=content_types("json", "txt"),
)
def consistency(
    request: Request,
    ask: Ask,
    old: Annotated[int, Query(alias="from", ge=0, lt=2**63, description="A size it had once.")],
    new: Annotated[
        int | None,
        Query(alias="to", ge=0, lt=2**63, description="A later size; else the newest signed for."),
    ] = None,
) -> Response:
    kind = format_of(request, ("json", "txt"))
    tree = Tree(ask.snapshot())
    try:
        grown = tree.grown(old, tree.size if new is None else new)
    except Refuted as reason:
        raise Problem("invalid", str(reason)) from None
    if kind == "json":
        ends = {"from": (grown.old, grown.old_root), "to": (grown.new, grown.new_root)}
        heads = {name: {"size": size, "root": to_base64(it)} for name, (size, it) in ends.items()}
        return document(request, {**heads, "proof": list(map(to_base64, grown.proof))})
    if grown.new != tree.size:
        raise Problem("not-acceptable", f"as text it ends in the checkpoint of {tree.size} leaves")
    head = "".join(f"{line}\n" for line in (f"old {old}", *map(to_base64, grown.proof), ""))
    return sent(request, head.encode() + tree.note, "txt")
