"""Every answer in JSON held to what `docs/openapi.json` says of it, and to nothing more.

The document lets a later version say more than this one. A test does not: a member that is told and
not written down, or written down and not told, is found where it is first answered.
"""

import re
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any
from urllib.parse import unquote

import httpx
import jsonschema_rs
import msgspec

from docs.openapi import PATH

DOCUMENT: dict[str, Any] = msgspec.json.decode(PATH.read_bytes())
JSON = ("application/json", "application/problem+json")
OUR_FAULT = 500
_OPEN = {"Problem"}  # a problem may have members of its own beside those of all


class Misshapen(AssertionError):
    """An answer that is not as the document says."""


def check(answer: httpx.Response) -> None:
    """Refuse an answer in JSON that has another shape than its operation's."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    asked = answer.request
    operation = operation_of(asked.method, asked.url.raw_path.partition(b"?")[0].decode())
    where = f"{asked.method} {asked.url}: {answer.status_code}"
    if operation is None or answer.status_code == OUR_FAULT:
        return
    if str(answer.status_code) not in operation["responses"]:
        raise Misshapen(f"{where}: this status is not in the document")
    if kind not in JSON or not answer.content:
        return
    told = operation["responses"][str(answer.status_code)].get("content", {}).get(kind)
    if told is None:
        if kind == JSON[0]:
            raise Misshapen(f"{where}: {kind} is not in the document")
        return
    validator = _validator(msgspec.json.encode(told["schema"]))
    for wrong in validator.iter_errors(msgspec.json.decode(answer.content)):
        place = "/".join(map(str, wrong.instance_path))
        raise Misshapen(f"{where}: {place}: {wrong.message[:500]}")


@cache
def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """What the document says of a request; nothing, if it is for a page."""
    for sent in (path, unquote(path)):  # some routes match before they decode, some after
        for pattern, methods in _PATHS:
            if pattern.fullmatch(sent):
                found: dict[str, Any] | None = methods.get(method.lower())
                return found
    return None


def _pattern(template: str) -> re.Pattern[str]:
    whole = re.sub(r"\\\{path\\\}", ".+", re.escape(template))
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", whole))


_PATHS = [(_pattern(template), methods) for template, methods in DOCUMENT["paths"].items()]


@cache
def _validator(schema: bytes) -> jsonschema_rs.Draft202012Validator:
    parts = {
        name: part if name in _OPEN else closed(part)
        for name, part in DOCUMENT["components"]["schemas"].items()
    }
    whole = {**closed(msgspec.json.decode(schema)), "components": {"schemas": parts}}
    return jsonschema_rs.Draft202012Validator(whole)


def closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same, without room for members that are not named."""
    found: dict[str, Any] = deepcopy(dict(schema))
    if "properties" in found:
        found.setdefault("additionalProperties", False)
    for name, part in found.items():
        if isinstance(part, dict) and name != "properties":
            found[name] = closed(part)
        elif name == "properties":
            found[name] = {member: closed(one) for member, one in part.items()}
        elif isinstance(part, list):
            found[name] = [closed(one) if isinstance(one, dict) else one for one in part]
    return found
