"""The rules that an import asks for: another ruleset, other parameters of a ruleset."""

from functools import lru_cache

from msgspec import Struct

from engine.changes import changed
from engine.game import Game
from engine.parameters import Impossible
from formats.rakes import RakeFrom
from formats.source import Refused


class Rules(Struct, frozen=True):
    """The ruleset that decides instead of the one a file looks like, settings of either, and from
    where the rake of hands for money is."""

    game: Game | None = None
    settings: tuple[tuple[str, str], ...] = ()
    rake: RakeFrom = "fitted"

    def __post_init__(self) -> None:
        if self.rake != "fitted" and (self.game is not None or self.settings):
            raise Impossible(f"{self.rake} rakes are those of each hand's site: set no other rules")

    def of(self, game: Game) -> Game:
        """The rules that decide hands which a reader takes for hands of this game."""
        base = self.game or game
        if base.unit != game.unit:
            raise Refused(1, f"{base.name} counts in {base.unit}s, this file in {game.unit}s")
        return _changed(base, self.settings) if self.settings else base

    def sets(self, name: str) -> bool:
        """Whether this parameter was set."""
        return name in dict(self.settings)

    @property
    def only_rake(self) -> bool:
        """Whether nothing was asked but what the house takes, which some texts never name."""
        return self.game is None and all(name.startswith("rake_") for name, _ in self.settings)


AS_READ = Rules()


@lru_cache(maxsize=1 << 10)
def _changed(game: Game, settings: tuple[tuple[str, str], ...]) -> Game:
    try:
        return changed(game, dict(settings))
    except Impossible as reason:
        raise Refused(1, f"--set: {reason}") from None
