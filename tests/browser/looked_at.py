"""Every page there is, by an address of it: the tests beside this file look at each."""

from tests.browser.conftest import CONTESTED

PATHS = (
    "/",
    "/matches",
    "/matches/scrim?verify=yes",
    "/matches/fair?as=public",
    "/hands?q=match%3Dring",
    "/hands?q=match%3Dswap&as=public",
    f"/hands/{CONTESTED}/audit",
    f"/hands/{CONTESTED}/audit?as=public",
    "/hands/swap/3/audit",
    "/hands/ring/1/audit",
    "/hands/ring/4/audit",
    f"/hands/{CONTESTED}/events",
    "/hands/swap/3/events?as=seat:random-0",
    f"/hands/{CONTESTED}",
    "/hands/ring/1#20",
    "/hands/swap/3?as=public#9",
    "/games",
    "/games/auction-2024-mit",
    "/players",
    "/players/random-0",
    "/players/random-0?split=position",
    "/players/random-0/grid",
    "/players/random-0/grid?show=n",
    "/players/random-0/grid?show=net&as=public",
    "/players/random-0/winnings",
    "/players/random-0/winnings?match=open&first=3&last=6&luck=yes",
    "/players/random-0/bids?match=open",
    "/players/random-0/bids?match=fair&as=public",
    "/players/random-0/swaps?match=swap",
    "/players/random-0/opponent?match=open",
    "/players/random-0/compare?other=random-1&match=open",
    "/players/random-0/counters?match=fair&as=public",
    "/fairness",
    "/fairness?as=public",
    "/live",
    "/live?match=swap&as=public",
    "/verify",
)
"""Those whose answer is 200."""
WRONG = (
    ("/hands/scrim/999/audit", 404),
    ("/hands?q=pot%3E%3E", 400),
    ("/matches/nowhere", 404),
)
