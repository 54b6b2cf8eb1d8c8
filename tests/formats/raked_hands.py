"""PokerStars hands for money by their pot and what is raked of it."""


def raked_hand(
    pot: int,
    rake: int,
    *,
    day: str = "2024/04/02 12:00:00 ET",
    kind: str = "",
    stakes: str = "$0.05/$0.10 USD",
    players: int = 2,
    flop: bool = True,
) -> str:
    """The button raises, the big blind calls, the others fold; the flop is bet and not called."""
    small, big = (float(one.strip("$€")) for one in stakes.partition(" ")[0].split("/"))
    each = (pot / 100 - (small if players > 2 else 0)) / 2
    caller = "p3" if players > 2 else "p2"
    names = [f"p{seat}" for seat in range(1, players + 1)]
    poster = "p2" if players > 2 else "p1"
    play = [
        f"p1: raises ${each - big:.2f} to ${each:.2f}",
        *(["p2: folds"] if players > 2 else []),
        f"{caller}: calls ${each - big:.2f}",
        "*** FLOP *** [2c 7d Jh]",
        f"{caller}: checks",
        f"p1: bets ${max(1, big):.0f}",
        f"{caller}: folds",
        f"Uncalled bet (${max(1, big):.0f}) returned to p1",
    ]
    if not flop:
        play = [f"p1: raises ${big:.2f} to ${2 * big:.2f}", f"{caller}: folds"]
        play.append(f"Uncalled bet (${big:.2f}) returned to p1")
    return "\n".join(
        [
            f"PokerStars {kind}Hand #{pot}{rake}{players}: Hold'em No Limit ({stakes}) - {day}",
            "Table 'Nix' 6-max Seat #1 is the button",
            *(f"Seat {at}: {name} ($900 in chips)" for at, name in enumerate(names, 1)),
            f"{poster}: posts small blind ${small:.2f}",
            f"{caller}: posts big blind ${big:.2f}",
            "*** HOLE CARDS ***",
            *(f"{name}: folds" for name in names[3:]),
            *play,
            f"p1 collected ${(pot - rake) / 100:.2f} from pot",
            "*** SUMMARY ***",
            f"Total pot ${pot / 100:.2f} | Rake ${rake / 100:.2f}",
            "",
            "",
        ]
    )
