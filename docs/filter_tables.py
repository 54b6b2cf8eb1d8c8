"""The tables of docs/filters.md that are written from the language itself."""

from api.questions.filters_tree import FIELDS, FLAGS


def filter_fields() -> str:
    """Every field of a filter, its operators, and whether a player can be asked for it."""
    lines = ["| field | operators | `NAME:` | what it is |", "|---|---|---|---|"]
    for name, field in FIELDS.items():
        ops = " ".join(f"`{op}`" for op in field.ops)
        lines.append(f"| `{name}` | {ops} | {'yes' if field.of_player else ''} | {field.about} |")
    return "\n".join(lines)


def filter_flags() -> str:
    """Every flag of a filter."""
    lines = ["| flag | `NAME:` | what is so |", "|---|---|---|"]
    for name, flag in FLAGS.items():
        lines.append(f"| `{name}` | {'yes' if flag.of_player else ''} | {flag.about} |")
    return "\n".join(lines)
