"""A bot for Auction Hold'em 2024: raises good cards, bids a little, lets weak ones go.

It needs Python's standard library and nothing else, and is run as `python3 player.py PORT`.
"""

import socket
import sys

RANKS = "23456789TJQKA"
BID = 4


class Hand:
    """What one hand has told so far: own cards, the board, and who has put in how much."""

    def __init__(self, seat: int) -> None:
        self.seat = seat  # 0 is the dealer, who acts first before the flop
        self.cards: list[str] = []
        self.board: list[str] = []
        self.stacks = [400, 400]  # without what is bet on this street
        self.bets = [1, 2]  # of this street; the blinds, at first
        self.turn = 0
        self.bids = 0  # how many of the two are in
        self.over = False

    def hear(self, clause: str) -> None:
        """One clause: its first letter says what it is."""
        kind, rest = clause[0], clause[1:]
        if kind == "H":
            self.cards = rest.split(",")
        elif kind == "B":
            self.street(rest.split(","))
        elif kind == "A":
            self.bids += 1
        elif kind == "N":
            stacks, _, cards = rest.split("_")
            self.stacks = [int(stack) for stack in stacks.split(",")]
            self.cards = cards.split(",")
        elif kind == "R":
            self.act(int(rest))
        elif kind in "CK":
            self.act(max(self.bets))
        elif kind == "D":
            self.over = True

    def street(self, board: list[str]) -> None:
        """New common cards: what was bet before lies in the pot."""
        self.stacks = [stack - bet for stack, bet in zip(self.stacks, self.bets, strict=True)]
        self.bets, self.board, self.turn = [0, 0], board, 1

    def act(self, total: int) -> None:
        """The player to act has now bet so much on this street."""
        self.bets[self.turn] = total
        self.turn = 1 - self.turn


def strength(cards: list[str], board: list[str]) -> float:
    """From 0 to 1, roughly: what matches the own cards counts most, then how high they are."""
    ranks = [RANKS.index(card[0]) for card in cards]
    suits = [card[1] for card in cards + board]
    alike = max((ranks + [RANKS.index(card[0]) for card in board]).count(rank) for rank in ranks)
    flush = max(suits.count(suit) for suit in suits) >= 5
    return min(1.0, max(ranks) / 30 + 0.3 * (alike - 1) + 0.4 * flush)


def answer(hand: Hand) -> str:
    """One reply: F, C, K, R with a total, or A with a bid."""
    me, other = hand.seat, 1 - hand.seat
    if hand.over:
        return "K"
    if len(hand.board) == 3 and hand.bids < 2:
        return f"A{min(BID, hand.stacks[me])}"
    owed = hand.bets[other] - hand.bets[me]
    mine, theirs = hand.stacks[me] - hand.bets[me], hand.stacks[other] - hand.bets[other]
    most = hand.bets[me] + min(mine, owed + theirs)
    least = min(most, hand.bets[other] + max(owed, 2))
    good = strength(hand.cards, hand.board)
    if good > 0.5 and least > hand.bets[other] and theirs > 0 and max(hand.bets) < 30:
        return f"R{least}"
    if owed == 0:
        return "K"
    return "C" if good > 0.3 or owed < 4 else "F"


def main(port: int) -> None:
    """One line in, one line out, until the match is over."""
    hand, seat = Hand(0), 0
    with socket.create_connection(("localhost", port)) as link, link.makefile("rw") as lines:
        for line in lines:
            if line.startswith("Q"):
                break
            for clause in line.split():
                if clause[0] == "P":
                    seat = int(clause[1:])
                elif clause[0] == "H":  # a hand begins
                    hand = Hand(seat)
                hand.hear(clause)
            lines.write(answer(hand) + "\n")
            lines.flush()


if __name__ == "__main__":
    main(int(sys.argv[-1]))
