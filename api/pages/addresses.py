"""Where things are: the address of every page, with the viewpoint that was chosen."""

from urllib.parse import quote, urlencode

from msgspec import Struct


def _part(name: object) -> str:
    return quote(str(name), safe="")


class Addresses(Struct, frozen=True):
    """Addresses, as seen from a page: whoever looks through other eyes goes on doing so."""

    view: str | None = None

    def home(self, **asked: str) -> str:
        return self._at("/", **asked)

    def matches(self, after: str | None = None) -> str:
        return self._at("/matches", after=after)

    def match(self, match: str, **asked: str | int | None) -> str:
        return self._at(f"/matches/{_part(match)}", **asked)

    def hands(self, q: str = "", **asked: str | int | None) -> str:
        """The hands that a filter finds."""
        return self._at("/hands", q=q or None, **asked)

    def hand(self, hand: str, page: str = "", event: int | None = None) -> str:
        """A page of a hand MATCH/NUMBER: its replay, `audit` or `events`."""
        match, _, number = hand.rpartition("/")
        at = self._at(f"/hands/{_part(match)}/{_part(number)}" + (f"/{page}" if page else ""))
        return at if event is None else f"{at}#{event}"

    def players(self) -> str:
        return self._at("/players")

    def player(self, name: str, page: str = "", **asked: str | int | None) -> str:
        """A page of a player: `grid`, `winnings`, `bids` or `swaps`, or himself."""
        return self._at(f"/players/{_part(name)}" + (f"/{page}" if page else ""), **asked)

    def place(self, template: str, named: dict[str, str], **asked: str | int | None) -> str:
        """The page of a question: an address with names in braces, and its parameters."""
        return self._at(template.format_map({key: _part(it) for key, it in named.items()}), **asked)

    def fairness(self, match: str | None = None, run: str | None = None) -> str:
        return self._at("/fairness", match=match, run=run)

    def live(self, match: str | None = None) -> str:
        return self._at("/live", match=match)

    def verify(self) -> str:
        """Where a bundle is judged in the browser."""
        return self._at("/verify")

    def games(self) -> str:
        return self._at("/games")

    def game(self, game: str, policy: str | None = None) -> str:
        """A ruleset, or one of its policies."""
        at = self._at(f"/games/{_part(game)}")
        return at if policy is None else f"{at}#{_part(policy)}"

    def api(self, *path: str | int, **asked: str | int | None) -> str:
        """A path under `/api/v1`: `api("hands", match, number, "events")`."""
        return self._at("/api/v1/" + "/".join(map(_part, path)), **asked)

    def _at(self, path: str, **asked: str | int | None) -> str:
        given = {name: value for name, value in asked.items() if value is not None}
        if self.view is not None:
            given["as"] = self.view
        return f"{path}?{urlencode(given)}" if given else path
