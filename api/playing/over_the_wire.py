"""A match over the wire as it is written into a ledger: leg by leg, hand by hand."""

from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import chain, islice

from api.playing.folded import Unusable, unusable
from api.playing.matches import bound
from api.playing.recording import STOPPED, WHOLE, Played, Recording
from api.playing.wire_report import Part, part
from dealer.wire.match import Listener, MatchJob, play_in_process
from dealer.wire.plan import WirePlan
from dealer.wire.player import Conduct
from engine.game import fingerprint
from events.ledger import DeckSecrets, Ledger
from events.types import Dealing, Disclosure, Events, MatchStarted

ShowProgress = Callable[[Iterable[Events]], Iterable[Events]]


class Meeting:
    """Two bots, a plan and the decks; what they leave besides the record is kept here."""

    def __init__(self, job: MatchJob) -> None:
        self.faults: list[Unusable] = []
        self._job = job
        self._legs: list[tuple[Conduct, Conduct]] = []

    def announced(
        self, seed: str | None, disclosure: Disclosure, dealing: Dealing = "seeded"
    ) -> MatchStarted:
        """The record that the match begins with."""
        match = self._job.match
        rules, sealed = fingerprint(match.game), not match.open_bids
        return MatchStarted(
            match.match,
            match.game.name,
            rules,
            match.players,
            dealing,
            disclosure,
            sealed,
            seed,
            match.deals,
        )

    def recorded(
        self,
        ledger: Ledger,
        start: MatchStarted,
        tell: Callable[[str], None],
        stop: Callable[[], bool],
        watch: ShowProgress = iter,
        kept: DeckSecrets | None = None,
    ) -> Played:
        """Every hand durable soon after it was played; however it ends, no bot is left behind.

        `kept` is where the secrets of committed decks are kept: these are made here, for the job
        knows only of a seed.
        """
        match, job = self._job.match, self._job
        recording = Recording(ledger, start, match.game)
        if start.dealing == "committed":
            assert kept is not None
            decks = bound(recording, kept, match.hands)
            recording.opens = lambda count, over: decks.opened(
                for_good(match, count, over), over=over
            )
            job = job._replace(decks=decks.committed(match.hands))
        with closing(play_in_process(job, Listener(tell, self._legs.append), stop)) as hands:
            for record in watch(recording.keep(hands, lambda: False)):
                self.faults += unusable(match.game, record)
        return recording.end(WHOLE if recording.hands == match.hands else STOPPED)

    def parts(self) -> tuple[Part, ...]:
        """What each bot did."""
        return tuple(
            part(program, [leg[seat] for leg in self._legs], self.faults)
            for seat, program in enumerate(self._job.programs)
        )

    def log(self, seat: int) -> bytes:
        """What this bot printed, in both legs if there were two."""
        return b"".join(leg[seat].log for leg in self._legs)


def for_good(match: WirePlan, played: int, over: bool) -> int:
    """Up to which number no deck will be dealt again, once so many hands have been played.

    In a mirrored match every deck comes again in the second leg, so none is open before the end.
    """
    if not over:
        return 0 if match.mirrored else played
    return max(islice(chain.from_iterable(match.legs), played), default=0)
