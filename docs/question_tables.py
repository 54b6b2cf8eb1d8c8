"""The questions as docs/cli.md and docs/questions.md tell them: documents, columns of tables."""

import msgspec

from api.http.routes.questions import formats
from api.questions.declared import every
from api.questions.question import API, fields, title


def answers() -> str:
    """A row a question: the document, who is asked, and what is in it."""
    lines = ["| document | command | route, and its formats | members |", "|---|---|---|---|"]
    for one in every():
        members = ", ".join(f"`{it.encode_name}`" for it in msgspec.structs.fields(one.answer))
        route = f"`{API}{one.path}`: {', '.join(formats(one))}"
        lines.append(f"| `{one.schema}` | `{one.name}` | {route} | {members} |")
    return "\n".join(lines)


def tables() -> str:
    """Every table of every question, column by column."""
    found = []
    for one in every():
        for table in one.tables:
            head = f"### {one.name}" + (f", {table.name}" if len(one.tables) > 1 else "")
            lines = ["| column | title | what it is |", "|---|---|---|"]
            for it in fields(table.row):
                meaning = (it.note and it.note.description) or ""
                lines.append(f"| `{it.name}` | {title(it) or ''} | {meaning} |")
            found.append("\n".join([head, "", *lines]))
    return "\n\n".join(found)
