"""The parser of the filter language: it reads a text as a filter, and says what is wrong with it,
to the column.

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
    COUNTS_WITH_K,
    COUNTS_WITH_N,
    EMPTY_FILTER,
    FIELDS,
    FLAGS,
    HAND_CATEGORIES,
    And,
    Compare,
    Filter,
    Flag,
    Kind,
    Not,
    Op,
    Or,
    PlayerTerms,
    Value,
    is_count,
    join_filters,
)
from api.questions.filters_values import (
    LENGTH_MAX,
    parse_amount,
    parse_moment,
    parse_pattern,
    parse_ranges,
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
_TERM_SENTENCE = "a field, a flag, NAME:, player(, ! or ("


class WrongFilter(ValueError):
    """A filter that cannot be read: at which column (from 0), and what could stand there."""

    text = ""

    def __init__(self, position: int, sentence: str) -> None:
        super().__init__(f"at {position}: {sentence}")
        self.position = position
        self.sentence = sentence


def parse_filter(text: str) -> Filter:
    """Read a text as a filter, or raise `WrongFilter`."""
    if len(text) > LENGTH_MAX:
        raise WrongFilter(
            LENGTH_MAX, f"a filter has at most {LENGTH_MAX} characters, not {len(text)}"
        )
    try:
        return _Parser(text).filter()
    except WrongFilter as wrong:
        wrong.text = text
        raise


class _Parser:
    """A text, how far it is read, and the last word of it that was understood."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.last = ""
        self.open: list[int] = []  # where brackets open
        self.whose = False  # whether it is in brackets in which all is about one player
        self.depth = 0
        self.terms = 0
        self._skip_blanks()

    def filter(self) -> Filter:
        if self.at == len(self.text):
            return EMPTY_FILTER
        found = self.disjunction()
        if self.at < len(self.text):
            self.fail("& | or the end")
        return found

    def disjunction(self) -> Filter:
        found = [self.conjunction()]
        while self.take("|"):
            found.append(self.conjunction())
        return join_filters(Or, found)

    def conjunction(self) -> Filter:
        found = [self.unary()]
        while self.take("&"):
            found.append(self.unary())
        return join_filters(And, found)

    def unary(self) -> Filter:
        begun = self.at
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise WrongFilter(begun, f"brackets and ! go at most {DEPTH_MAX} deep")
        found: Filter
        if self.take("!"):
            found = Not(self.unary())
        elif self.take("("):
            found = self.bracket(begun)
        else:
            found = self.player_term() if self.whose else self.condition()
        self.depth -= 1
        return found

    def bracket(self, begun: int) -> Filter:
        """A filter in a bracket that opened at `begun`, and the bracket's end."""
        self.open.append(begun)
        found = self.disjunction()
        if not self.take(")"):
            self.fail(f"& | or the ) of the bracket at {begun}")
        self.open.pop()
        return found

    def condition(self) -> Compare | Flag | PlayerTerms:
        """A term of the hand, or terms about one player."""
        begun = self.at
        name = self.name()
        if name == "player" and self.text.startswith("(", self.at) and self.text[begun] != '"':
            return PlayerTerms(None, self.player_terms(begun))
        if self.take(":"):
            self.last = self.text[begun : self.at].rstrip()
            return PlayerTerms(name, self.player_terms(begun))
        if self.text[begun] == '"':
            self.fail(":, for what is quoted is a name")
        return self.term(begun, name)

    def player_terms(self, begun: int) -> Filter:
        """A term about one player, or a bracket of them; he was named from `begun` on."""
        bracket = self.at
        if not self.take("("):
            return self.player_term()
        self.last = self.text[begun : self.at].rstrip()
        self.whose = True
        found = self.bracket(bracket)
        self.whose = False
        return found

    def player_term(self) -> Compare | Flag:
        """A term about a player."""
        begun = self.at
        match = _NAME.match(self.text, begun)
        if not match or not _is_of_player(match[0]):
            could = ", ".join(filter(_is_of_player, (*FIELDS, *FLAGS)))
            self.fail(f"{could}, ! or (" if self.whose else f"{could} or (")
        return self.term(begun, self.name())

    def term(self, begun: int, name: str) -> Compare | Flag:
        """A flag, or a field with its operator and value."""
        self.terms += 1
        if self.terms > TERMS_MAX:
            raise WrongFilter(begun, f"a filter has at most {TERMS_MAX} terms")
        if name in FLAGS:
            if (self.peek() or " ")[0] in "=<>!:":
                self.fail(f"& | {'or )' if self.open else 'or the end'}: a flag has no value")
            return Flag(name)
        if name not in FIELDS:
            known = f"{', '.join(FIELDS)}; {', '.join(FLAGS)}"
            raise WrongFilter(begun, f"there is no field or flag `{name}`: there are {known}")
        field = FIELDS[name]
        op = _OP.match(self.text, self.at)
        if op is None or op[0] not in field.ops:
            self.fail(" ".join(field.ops))
        self.advance(op.end(), f"{name}{op[0]}")
        sign: Op = op[0]
        return Compare(name, sign, self.value(field.kind))

    def value(self, kind: Kind) -> Value:
        """The value that a field is compared with."""
        read, could = _VALUE_PARSERS[kind]
        found = self.quoted() or _VALUE.match(self.text, self.at)
        value = read(_unquoted(found)) if found else None
        if found is None or value is None:
            self.fail(could)
        self.advance(found.end(), found[0])
        return cast(Value, value)

    def name(self) -> str:
        """The name of a field, a flag or a player."""
        found = self.quoted() or _NAME.match(self.text, self.at)
        if found is None:
            self.fail(_TERM_SENTENCE)
        self.advance(found.end(), found[0])
        return _unquoted(found)

    def quoted(self) -> re.Match[str] | None:
        """A quoted text, if one begins here."""
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
        """Read this sign, if it comes next; whether it did."""
        if not self.text.startswith(sign, self.at):
            return False
        self.advance(self.at + len(sign), sign)
        return True

    def advance(self, end: int, last: str) -> None:
        """Move on to `end`, after the word `last`."""
        self.at, self.last = end, last
        self._skip_blanks()

    def peek(self) -> str:
        """The next word or sign; nothing at the end."""
        match = _NAME.match(self.text, self.at)
        return match[0] if match else self.text[self.at : self.at + 1]

    def fail(self, could: str) -> NoReturn:
        """Raise `WrongFilter`: what could stand here, and what does."""
        where = (
            f"after `{_shortened(self.last)}` there can stand"
            if self.last
            else "a filter begins with"
        )
        token = self.peek()
        stands = f"`{_shortened(token)}`" if token else "the end"
        raise WrongFilter(self.at, f"{where} {could}, not {stands}")

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at


def _is_of_player(name: str) -> bool:
    return (name in FIELDS and FIELDS[name].of_player) or (name in FLAGS and FLAGS[name].of_player)


def _shortened(text: str) -> str:
    """A word, cut to what a sentence bears."""
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


def _unquoted(match: re.Match[str]) -> str:
    """A word as it is, or a quoted text without its quotes."""
    if match[0].startswith('"'):
        return re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
    return match[0]


_COUNT_SENTENCE = "a count of pages by its name (vpip, cbet_flop, won, fold_river, swap_flop_1)"
_VALUE_PARSERS: Final[dict[Kind, tuple[Callable[[str], Any], str]]] = {
    "amount": (parse_amount, "chips or big blinds (40, 2.5bb)"),
    "count": (lambda text: int(text) if re.fullmatch("[0-9]{1,18}", text) else None, "a number"),
    "text": (str, 'a word, or anything between quotes ("...")'),
    "tag": (lambda text: text if re.fullmatch("[^:]+(:.+)?", text) else None, "TAG:VALUE or TAG"),
    "street": (lambda text: text if text in STREETS else None, " ".join(STREETS)),
    "verdict": (lambda text: text if text in VERDICTS else None, " ".join(VERDICTS)),
    "made": (lambda text: text if text in HAND_CATEGORIES else None, " ".join(HAND_CATEGORIES)),
    "statistic": (lambda text: text if is_count(text, COUNTS_WITH_K) else None, _COUNT_SENTENCE),
    "chance": (lambda text: text if is_count(text, COUNTS_WITH_N) else None, _COUNT_SENTENCE),
    "position": (lambda text: text if text in POSITIONS else None, " ".join(POSITIONS)),
    "cards": (parse_pattern, "a card pattern (AA, AKs, AKo, As, 7h??)"),
    "moment": (parse_moment, "a date or a time with its zone (2026-11-22, 2026-11-22T14:05:00Z)"),
    "numbers": (
        lambda text: text if re.fullmatch("[0-9]{1,18}(,[0-9]{1,18})*", text) else None,
        'a number, or several between quotes ("7,12,40")',
    ),
    "ranges": (
        lambda text: text if parse_ranges(text) else None,
        'hands of matches by their numbers ("autumn/1-40,winter/119-")',
    ),
    "hand": (
        lambda text: text if re.fullmatch("[^/]+/[0-9]{1,18}", text) else None,
        "a hand, MATCH/NUMBER",
    ),
}
