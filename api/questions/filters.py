"""The filter language: how the text of a filter is read, and what is wrong with it, to the column.

    filter = both { "|" both }
    both   = one { "&" one }
    one    = "!" one | "(" filter ")" | term | whose
    whose  = NAME ":" term | NAME ":" "(" filter ")" | "player" "(" filter ")"
    term   = FIELD OP VALUE | FLAG

In the brackets of `whose` all terms are about one player, and there is no `whose`. Blanks may stand
between words. A name or value that is no plain word stands in double quotes, in which `\\"` and
`\\\\` are a quote and a backslash. The text of nothing is a filter that all pass.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NoReturn, cast

from analytics.replay.flags import STREETS
from analytics.replay.rules import POSITIONS
from api.questions.filters_tree import (
    COULD,
    DID,
    EVERY,
    FIELDS,
    FLAGS,
    MADE,
    And,
    Compare,
    Filter,
    Flag,
    Kind,
    Not,
    Of,
    Op,
    Or,
    Value,
    is_count,
    joined,
)
from api.questions.filters_values import (
    LENGTH_MAX,
    amount,
    moment,
    pattern,
    ranges,
)
from engine.verdict import VERDICTS

DEPTH_MAX = 40
TERMS_MAX = 50
SHOWN_MAX = 40

_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[\w.-]+")
_VALUE = re.compile(r"[\w.?+:/-]+")  # a time has colons, a card pattern question marks
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_OP = re.compile("[!<>]=|[=<>]")
_A_TERM = "a field, a flag, NAME:, player(, ! or ("


class WrongFilter(ValueError):
    """A filter that cannot be read: at which column (from 0), and what could stand there."""

    text = ""

    def __init__(self, position: int, sentence: str) -> None:
        super().__init__(f"at {position}: {sentence}")
        self.position = position
        self.sentence = sentence


def parsed(text: str) -> Filter:
    """The filter that a text says; or `WrongFilter`."""
    if len(text) > LENGTH_MAX:
        raise WrongFilter(
            LENGTH_MAX, f"a filter has at most {LENGTH_MAX} characters, not {len(text)}"
        )
    try:
        return _Reading(text).whole()
    except WrongFilter as wrong:
        wrong.text = text
        raise


class _Reading:
    """A text, how far it is read, and the last word of it that was understood."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.last = ""
        self.open: list[int] = []  # where brackets open
        self.whose = False  # whether it is in brackets in which all is about one player
        self.depth = 0
        self.terms = 0
        self._skip()

    def whole(self) -> Filter:
        if self.at == len(self.text):
            return EVERY
        found = self.either()
        if self.at < len(self.text):
            self.wrong("& | or the end")
        return found

    def either(self) -> Filter:
        found = [self.both()]
        while self.take("|"):
            found.append(self.both())
        return joined(Or, found)

    def both(self) -> Filter:
        found = [self.one()]
        while self.take("&"):
            found.append(self.one())
        return joined(And, found)

    def one(self) -> Filter:
        begun = self.at
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise WrongFilter(begun, f"brackets and ! go at most {DEPTH_MAX} deep")
        found: Filter
        if self.take("!"):
            found = Not(self.one())
        elif self.take("("):
            found = self.bracket(begun)
        else:
            found = self.own() if self.whose else self.condition()
        self.depth -= 1
        return found

    def bracket(self, begun: int) -> Filter:
        """What stands in a bracket that opened there, and its end."""
        self.open.append(begun)
        found = self.either()
        if not self.take(")"):
            self.wrong(f"& | or the ) of the bracket at {begun}")
        self.open.pop()
        return found

    def condition(self) -> Compare | Flag | Of:
        """A term of the hand, or what is asked of one player."""
        begun = self.at
        name = self.name()
        if name == "player" and self.text.startswith("(", self.at) and self.text[begun] != '"':
            return Of(None, self.bound(begun))
        if self.take(":"):
            self.last = self.text[begun : self.at].rstrip()
            return Of(name, self.bound(begun))
        if self.text[begun] == '"':
            self.wrong(":, for what is quoted is a name")
        return self.term(begun, name)

    def bound(self, begun: int) -> Filter:
        """A term about one player, or a bracket of them; he was named from `begun` on."""
        bracket = self.at
        if not self.take("("):
            return self.own()
        self.last = self.text[begun : self.at].rstrip()
        self.whose = True
        found = self.bracket(bracket)
        self.whose = False
        return found

    def own(self) -> Compare | Flag:
        """A term about a player."""
        begun = self.at
        match = _NAME.match(self.text, begun)
        if not match or not _of_player(match[0]):
            could = ", ".join(filter(_of_player, (*FIELDS, *FLAGS)))
            self.wrong(f"{could}, ! or (" if self.whose else f"{could} or (")
        return self.term(begun, self.name())

    def term(self, begun: int, name: str) -> Compare | Flag:
        """A flag, or a field with its operator and value."""
        self.terms += 1
        if self.terms > TERMS_MAX:
            raise WrongFilter(begun, f"a filter has at most {TERMS_MAX} terms")
        if name in FLAGS:
            if (self.peek() or " ")[0] in "=<>!:":
                self.wrong(f"& | {'or )' if self.open else 'or the end'}: a flag has no value")
            return Flag(name)
        if name not in FIELDS:
            known = f"{', '.join(FIELDS)}; {', '.join(FLAGS)}"
            raise WrongFilter(begun, f"there is no field or flag `{name}`: there are {known}")
        field = FIELDS[name]
        op = _OP.match(self.text, self.at)
        if op is None or op[0] not in field.ops:
            self.wrong(" ".join(field.ops))
        self.read(op.end(), f"{name}{op[0]}")
        sign: Op = op[0]
        return Compare(name, sign, self.value(field.kind))

    def value(self, kind: Kind) -> Value:
        """What a field may be held against."""
        read, could = _READ[kind]
        found = self.quoted() or _VALUE.match(self.text, self.at)
        value = read(_plain(found)) if found else None
        if found is None or value is None:
            self.wrong(could)
        self.read(found.end(), found[0])
        return cast(Value, value)

    def name(self) -> str:
        """A field, a flag or a player."""
        found = self.quoted() or _NAME.match(self.text, self.at)
        if found is None:
            self.wrong(_A_TERM)
        self.read(found.end(), found[0])
        return _plain(found)

    def quoted(self) -> re.Match[str] | None:
        """What stands between quotes here."""
        if not self.text.startswith('"', self.at):
            return None
        match = _QUOTED.match(self.text, self.at)
        if match is None:
            raise WrongFilter(
                self.at,
                'the quote that opens here is not closed; in quotes \\" is a quote, and \\\\ a \\',
            )
        return match

    def take(self, sign: str) -> bool:
        """Whether this sign comes next; then it is read."""
        if not self.text.startswith(sign, self.at):
            return False
        self.read(self.at + len(sign), sign)
        return True

    def read(self, end: int, last: str) -> None:
        """So far all is well."""
        self.at, self.last = end, last
        self._skip()

    def peek(self) -> str:
        """The next word or sign; nothing at the end."""
        match = _NAME.match(self.text, self.at)
        return match[0] if match else self.text[self.at : self.at + 1]

    def wrong(self, could: str) -> NoReturn:
        """What could stand here, and what does."""
        where = (
            f"after `{_short(self.last)}` there can stand" if self.last else "a filter begins with"
        )
        token = self.peek()
        stands = f"`{_short(token)}`" if token else "the end"
        raise WrongFilter(self.at, f"{where} {could}, not {stands}")

    def _skip(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at


def _of_player(name: str) -> bool:
    return (name in FIELDS and FIELDS[name].of_player) or (name in FLAGS and FLAGS[name].of_player)


def _short(text: str) -> str:
    """As much of a word as a sentence bears."""
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def _plain(match: re.Match[str]) -> str:
    """A word, or what stands between quotes."""
    if match[0].startswith('"'):
        return re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
    return match[0]


_A_COUNT = "a count of pages by its name (vpip, cbet_flop, won, fold_river, swap_flop_1)"
_READ: Final[dict[Kind, tuple[Callable[[str], Any], str]]] = {
    "amount": (amount, "chips or big blinds (40, 2.5bb)"),
    "count": (lambda text: int(text) if re.fullmatch("[0-9]{1,18}", text) else None, "a number"),
    "text": (str, 'a word, or anything between quotes ("...")'),
    "tag": (lambda text: text if re.fullmatch("[^:]+(:.+)?", text) else None, "TAG:VALUE or TAG"),
    "street": (lambda text: text if text in STREETS else None, " ".join(STREETS)),
    "verdict": (lambda text: text if text in VERDICTS else None, " ".join(VERDICTS)),
    "made": (lambda text: text if text in MADE else None, " ".join(MADE)),
    "statistic": (lambda text: text if is_count(text, DID) else None, _A_COUNT),
    "chance": (lambda text: text if is_count(text, COULD) else None, _A_COUNT),
    "position": (lambda text: text if text in POSITIONS else None, " ".join(POSITIONS)),
    "cards": (pattern, "a card pattern (AA, AKs, AKo, As, 7h??)"),
    "moment": (moment, "a date or a time with its zone (2026-11-22, 2026-11-22T14:05:00Z)"),
    "numbers": (
        lambda text: text if re.fullmatch("[0-9]{1,18}(,[0-9]{1,18})*", text) else None,
        'a number, or several between quotes ("7,12,40")',
    ),
    "ranges": (
        lambda text: text if ranges(text) else None,
        'hands of matches by their numbers ("autumn/1-40,winter/119-")',
    ),
    "hand": (
        lambda text: text if re.fullmatch("[^/]+/[0-9]{1,18}", text) else None,
        "a hand, MATCH/NUMBER",
    ),
}
