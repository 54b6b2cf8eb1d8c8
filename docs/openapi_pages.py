"""The OpenAPI document as two pages of Markdown: the routes by tag, and the shapes they use."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def routes(document: Json, shapes_page: str) -> str:
    """Every operation: what it asks for and what it answers; shapes link to their page."""
    lines = ["# Every route of the HTTP API", "", document["info"]["description"].strip(), ""]
    for tag in document["tags"]:
        lines += [f"## {tag['name'].capitalize()}", "", tag["description"], ""]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation["tags"] == [tag["name"]]:
                    lines += [f"### `{method.upper()} {path}`", ""]
                    lines += _operation(operation, shapes_page)
    return "\n".join(lines) + "\n"


def shapes(document: Json) -> str:
    """Every shape of a request or an answer: its members, their types and meanings."""
    lines = ["# Every shape of the HTTP API", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += [f"({_anchor(name)})=", f"## {name}", "", _text(schema.get("description", "")), ""]
        members = schema.get("properties", {})
        required = schema.get("required", ())
        if members:
            lines += ["| member | type | meaning |", "|---|---|---|"]
        for member, its in members.items():
            optional = "" if member in required else " (may be absent)"
            means = _text(its.get("description", "")) + optional
            lines.append(f"| `{member}` | {_type(its, '')} | {means.strip()} |")
        if not members:
            lines.append(_type(schema, ""))
        lines.append("")
    return "\n".join(lines) + "\n"


def _operation(operation: Json, shapes_page: str) -> Iterator[str]:
    yield _text(operation["summary"]) + "."
    yield ""
    if "description" in operation:
        yield operation["description"].strip()
        yield ""
    if parameters := operation.get("parameters"):
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for one in parameters:
            name = f"`{one['name']}`" + (", required" if one.get("required") else "")
            told = _text(one.get("description", ""))
            yield f"| {name} | {one['in']} | {_type(one['schema'], shapes_page)} | {told} |"
        yield ""
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield from (f"Body, as `{kind}`: {_type(body.get('schema', {}), shapes_page)}", "")
    yield from ("| status | answer | as |", "|---|---|---|")
    for status, answer in operation["responses"].items():
        content = answer.get("content", {})
        sent = "; ".join(
            f"`{kind}` {_type(body['schema'], shapes_page)}" if body.get("schema") else f"`{kind}`"
            for kind, body in content.items()
        )
        yield f"| {status} | {_text(answer['description'])} | {sent} |"
    yield ""


def _type(schema: Json, page: str) -> str:
    """A type in a few words; one that has a name is a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}]({page}#{_anchor(name)})"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(one, page) for one in schema[key]))
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    kind = schema.get("type", "anything")
    if kind == "array":
        parts = schema.get("prefixItems") or [schema.get("items") or {}]
        return "list of " + ", ".join(_type(one, page) for one in parts)
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return "object, by name: " + _type(schema["additionalProperties"], page)
    words = " or ".join(kind) if isinstance(kind, list) else kind
    return f"{words} ({schema['format']})" if "format" in schema else words


def _anchor(name: str) -> str:
    return f"shape-{name.lower()}"


def _text(words: str) -> str:
    """On one line, in a cell of a table; no `<` begins a tag."""
    return " ".join(words.split()).replace("|", "\\|").replace("<", "&lt;")
