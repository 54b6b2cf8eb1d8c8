"""The questions as docs/cli.md and docs/questions.md tell them: documents, columns of tables."""

from api.cli.games import Games
from api.cli.upkeep import Doctor
from api.cli.verify import BundleVerified, LedgerVerified
from api.http.routes.questions import formats_of
from api.questions.declared import all_questions
from api.questions.question import API, column_title, fields


def answers() -> str:
    """A row a question: the document, who is asked, and what is in it."""
    lines = ["| document | command | route, and its formats | members |", "|---|---|---|---|"]
    for one in all_questions():
        members = ", ".join(
            f"`{it.name}`" for it in fields(one.tables[0].row if one.pages else one.answer)
        )
        if one.pages:
            members = f"`{one.name}`: {members}; `next`, the row for `--after`, or null"
        route = f"`{API}{one.path}`: {', '.join(formats_of(one))}"
        lines.append(f"| `{one.schema}` | `{one.name}` | {route} | {members} |")
    return "\n".join(lines)


def documents() -> str:
    """Every document of a command that no route answers: its members, and what each is."""
    lines = ["| document | member | what it is |", "|---|---|---|"]
    for answer in (Games, BundleVerified, LedgerVerified, Doctor):
        schema = answer.__struct_config__.tag
        which = {BundleVerified: " of a bundle", LedgerVerified: " with `--all`"}.get(answer, "")
        for it in fields(answer):
            meaning = (it.note and it.note.description) or ""
            lines.append(f"| `{schema}`{which} | `{it.name}` | {meaning} |")
    return "\n".join(lines)


def tables() -> str:
    """Every table of every question, column by column."""
    found = []
    for one in all_questions():
        for table in one.tables:
            head = f"### {one.name}" + (f", {table.name}" if len(one.tables) > 1 else "")
            lines = ["| column | title | what it is |", "|---|---|---|"]
            for it in fields(table.row):
                meaning = (it.note and it.note.description) or ""
                lines.append(f"| `{it.name}` | {column_title(it) or ''} | {meaning} |")
            found.append("\n".join([head, "", *lines]))
    return "\n\n".join(found)
