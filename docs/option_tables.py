"""The table of options in docs/cli.md, from the commands themselves."""

from collections.abc import Iterator

import click

from api.main import muckrake
from api.questions import declared

Told = tuple[str, click.Option]  # the command, and an option of it


def every_option(group: click.Group = muckrake, before: str = "") -> Iterator[Told]:
    """Every option that a help shows, command by command."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from every_option(command, f"{name} ")
        elif command is not None:
            for one in command.params:
                if isinstance(one, click.Option) and not one.hidden:
                    yield f"{before}{name}", one


def flag(option: click.Option) -> str:
    """The name of an option: the long one, and of a pair the one that says yes."""
    return next(name for name in option.opts if name.startswith("--"))


def takes(option: click.Option) -> str:
    """What stands behind an option; nothing behind one that is said or not."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return "WORD"
    name = {"integer": "N", "directory": "DIR", "file": "FILE"}
    return option.metavar or name.get(option.type.name.partition(" ")[0], option.type.name)


def options() -> str:
    """Every option: what stands behind it, which commands take it, what it was called before."""
    found: dict[str, list[Told]] = {}
    for command, one in every_option():
        found.setdefault(flag(one), []).append((command, one))
    every = list(dict.fromkeys(command for command, _ in every_option()))
    lines = ["| option | takes | commands | formerly |", "|---|---|---|---|"]
    for name in sorted(found):
        taken = dict.fromkeys(
            f"`{takes(one)}`".replace("|", "\\|") for _, one in found[name] if takes(one)
        )
        old = dict.fromkeys(
            f"`{was}` ({command})"
            for command, one in found[name]
            for was in getattr(one, "formerly", ())
        )
        who = _commands([command for command, _ in found[name]], every)
        lines.append(
            f"| `{name}` | {' '.join(taken)} | {who} | {', '.join(old)} |".replace("  ", " ")
        )
    return "\n".join(lines)


def _commands(some: list[str], every: list[str]) -> str:
    """Commands by name; where they are most of them, those that are left out."""
    questions = declared.question_names()
    if len(some) > len(every) // 2:
        without = [f"`{one}`" for one in every if one not in some]
        return "every command" + (f" but {', '.join(without)}" if without else "")
    said = [f"`{one}`" for one in some if one not in questions]
    asked = [one for one in some if one in questions]
    if len(asked) == len(questions):
        said.append("every question")
    elif len(asked) > len(questions) // 2:
        without = [f"`{one}`" for one in questions if one not in asked]
        said.append(f"every question but {', '.join(without)}")
    else:
        said += [f"`{one}`" for one in asked]
    return ", ".join(said)
