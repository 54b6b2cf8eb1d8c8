"""What finds a player's hands: a filter about his name, or about the seats that tags call so."""

from collections.abc import Sequence
from typing import NamedTuple

from api.questions.filters import LENGTH_MAX
from api.questions.filters_tree import word
from api.viewpoints.views import Viewed


class Finder(NamedTuple):
    """Filters of hands about one player. `seats`: by which name (empty: anybody), and by which
    terms about the player who sits there; `also`: terms about hands, each after its ` & `."""

    seats: tuple[tuple[str, str], ...]
    also: str = ""

    def __call__(self, *his: str, also: str = "") -> str:
        """The hands in which all these terms are so of him."""
        return self.so(*his) + self.also + also

    def so(self, *his: str) -> str:
        """The hands in which they are so of him, without `also`."""
        filters = []
        for name, which in self.seats:
            terms = [f"({term})" if " | " in term else term for term in (which, *his) if term]
            joined = " & ".join(terms)
            if not name:
                filters.append(f"player({joined})")
            elif not terms:
                filters.append(f"player={word(name)}")
            elif len(terms) == 1 and " & " not in joined:
                filters.append(f"{word(name)}:{joined}")
            else:
                filters.append(f"{word(name)}:({joined})")
        return filters[0] if len(filters) == 1 else f"({' | '.join(filters)})"

    def at(self, hands: Sequence[int]) -> str:
        """These hands of his, by `hand_seq`, each as often as it is counted; nothing, where a
        filter would be too long for them."""
        return _fitting(f'{self.so()} & hand_seq="{",".join(map(str, hands))}"')

    def among(self, ranges: str) -> str:
        """His hands of these ranges; nothing without one, or where a filter would be too long."""
        return _fitting(f"{self.so()} & hands={word(ranges)}") if ranges else ""

    def of(self, anybody: str) -> str:
        """A filter `player(TERMS) & ...`, which says it of anybody, of him."""
        his, _, rest = anybody.removeprefix("player(").partition(")")
        return self(his, also=rest)


def _fitting(text: str) -> str:
    return text if len(text) <= LENGTH_MAX else ""


def finder(
    viewed: Viewed,
    player: str,
    *,
    vs: str | None = None,
    match: str | None = None,
    game: str | None = None,
    hands: str | None = None,
    before: str | None = None,
    unit: str | None = None,
) -> Finder:
    """What finds his hands under the filters of a question about him."""
    terms = [] if vs is None else [Finder(_seats(viewed, vs)).so()]
    named = (("match=", match), ("game=", game), ("hand<", before), ("unit=", unit))
    terms += [f"{prefix}{word(value)}" for prefix, value in named if value]
    if hands:
        first, _, last = hands.partition("-")
        terms += [f"number>={int(first)}", f"number<={int(last or first)}"]
    return Finder(_seats(viewed, player), "".join(f" & {term}" for term in terms))


def _seats(viewed: Viewed, player: str) -> tuple[tuple[str, str], ...]:
    """Whom the viewer's tags call so: the words of each, and who has none of them and that name."""
    names = viewed.by_tag
    every = {tuple(it.items()) for it in viewed.tagged.values() if " ".join(it.values()) == player}
    seats = [
        (
            "",
            " & ".join(
                f"tag={word(f'{tag}:{tags[tag]}')}" if tag in tags else f"!tag={word(tag)}"
                for tag in names
            ),
        )
        for tags in map(dict, sorted(every))
    ]
    if not seats or player in viewed.untagged:
        seats.append((player, " & ".join(f"!tag={word(tag)}" for tag in names)))
    return tuple(seats)
