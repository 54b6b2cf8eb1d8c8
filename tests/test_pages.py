"""Every rule page is played; and the runner itself is shown to fail where a page is wrong."""

import re
from pathlib import Path

import pytest

from engine.games import GAMES
from tests.fences import fences
from tests.pages import Block, Wrong, blocks, run

RULES = Path(__file__).parent / "rules"
PAGES = sorted(RULES.glob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks(page)]
DOCUMENTS = Path(__file__).parents[2] / "shared" / "rules"


@pytest.mark.parametrize(
    "block", BLOCKS, ids=lambda b: f"{Path(b.page).stem}: {b.heading} (line {b.line})"
)
def test_a_rule_page_is_what_the_engine_does(block: Block) -> None:
    run(block)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_of_a_rule_page_is_left_unplayed(page: Path) -> None:
    assert ["hand"] == sorted({fence.language for fence in fences(page)})


@pytest.mark.parametrize("name", GAMES)
def test_every_ruleset_is_played_by_some_page(name: str) -> None:
    assert name in {line.split(",")[0] for block in BLOCKS for line in block.lines[:1]}


# The entries of the decisions that a page must have a heading for.
ENTRIES = [
    *(("general", f"G{number}") for number in range(1, 22)),
    *(("auction-2024", f"A{number}") for number in range(1, 21)),
    *(("probability", f"P{number}") for number in range(1, 15)),
]


@pytest.mark.parametrize(("page", "entry"), ENTRIES)
def test_every_entry_of_the_decisions_has_its_heading(page: str, entry: str) -> None:
    assert f"\n## {entry} " in (RULES / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_quotes_only_what_the_documents_say(page: Path) -> None:
    """A blockquote is one sentence or several, verbatim but for spaces; [...] leaves words out."""
    if not DOCUMENTS.is_dir():
        pytest.skip(f"the rule documents are not at {DOCUMENTS}")
    said = _words("\n".join(document.read_text("utf-8") for document in DOCUMENTS.glob("*.md")))
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for quote in re.findall(r"(?:^>.*\n)+", prose, flags=re.MULTILINE):
        for piece in _words(re.sub(r"^> ?", "", quote, flags=re.MULTILINE)).split("[...]"):
            assert piece.strip() in said


def _words(text: str) -> str:
    return " ".join(text.translate(str.maketrans("“”’", '""\'')).split())


HAND = """\
auction-2024, button 0, stacks 400 400
deal 0: As Ah, 1: 2c 7d, board: Ad Kc 9h 3s 4s
asks: 0 may fold, call 1, raise to 4..400
> 0 raises to 3
refused: seat 0 may raise to 4..400, not 3
> 0 calls; 1 checks
1 checks
board [Ad Kc 9h]
asks: 1 may bid 0..398
pot: 4
> 1 bids 7; 0 bids 9
auction to 0 at 7, bids 7 and 9
> 1 checks; 0 bets 4; 1 folds
pot 0: 11 to 0
nets: +2 -2
verdict: agree"""


def test_a_page_that_is_right_passes() -> None:
    run(_block(HAND))


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("auction to 0 at 7", "auction to 0 at 8", "since then there was\n0 bids 9\nauction to 0"),
        ("1 checks\nboard [Ad Kc 9h]", "board [Ad Kc 9h]\n1 checks", "since then there was"),
        ("refused: seat 0 may raise to 4", "refused: seat 0 may raise to 3", "refused: seat 0 may"),
        ("> 0 raises to 3", "> 0 raises to 4", "it was not refused, it made\n0 raises 3 to 4"),
        ("\nrefused: seat 0 may raise to 4..400, not 3", "", "refused: seat 0 may raise to 4..400"),
        ("asks: 0 may fold, call 1, ", "asks: 0 may fold, ", "asks: 0 may fold, call 1, raise"),
        ("pot: 4", "pot: 5", "pot: 4"),
        ("nets: +2 -2", "nets: +3 -3", "nets: +2 -2"),
        ("> 1 checks; 0 bets 4; 1 folds", "", "since then there was"),
        ("verdict: agree", "verdict: contested", "verdict: agree"),
        ("verdict: agree", "vedict: agree", "says no event"),
        ("pot: 4", "a pot of four", "says no event"),
        ("> 0 calls; 1 checks", "> 0 calls; 1 waits", "'1 waits' says no command"),
        ("> 0 calls; 1 checks", "> 0 calls\n> 1 checks\nrefused: no", "it was not refused"),
        ("pot: 4", "pot: 4\nrefused: no", "right below the command that it refuses"),
        ("button 0", "button 5", "the button is at one of the seats 0..1, not at 5"),
        ("auction-2024", "auction-2023", "no ruleset is called auction-2023"),
        ("stacks 400 400", "stacks 400 400, ante 3", "nothing is known of ante"),
        ("deal 0: As Ah,", "with odd_chip=dealer\ndeal 0: As Ah,", "no policy is called odd_chip"),
        ("deal 0: As Ah,", "with odd_chips=bank\ndeal 0: As Ah,", "Invalid enum value 'bank'"),
        ("deal 0: As Ah,", "deal 0: As 1h,", "1h is not a card"),
        ("pot: 4", "deal 0: As Ah", "says no event"),
    ],
)
def test_a_page_that_is_wrong_fails_and_says_where(right: str, wrong: str, reason: str) -> None:
    assert right in HAND
    with pytest.raises(Wrong, match=r"^page\.md:") as failure:
        run(_block(HAND.replace(right, wrong, 1)))
    assert reason in str(failure.value)


def test_a_page_names_the_line_that_is_wrong() -> None:
    with pytest.raises(Wrong) as failure:
        run(_block(HAND.replace("pot: 4", "pot: 5")))
    assert str(failure.value) == "page.md:20: pot: 5\npot: 4"


@pytest.mark.parametrize(
    "text",
    [
        """urcs-1998, button 0, stacks 1000 1000 1000, limits 15/30
asks: 1 may fold, straddle 15
pot: 28
> 1 folds
asks: 2 may fold, call 7, raise to 22""",
        """urcs-1998, button 0, stacks 1000 1000, limits 10/20/2
with blind_rounds=[1]
deal 0: As Ah, board: Ad Kc 9h 3s 4s
> 1 straddles; 0 calls; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks; 1 checks
asks: 0 must announce
> 0 announces As Ah Ad Kc 9h
0 announces [As Ah Ad Kc 9h]
asks: 1 may announce, muck
> 1 mucks
nets: +12 -12""",
        """swap-2022, button 0, stacks 200 200
deck 2c 3c 4c 5c 6c 7c 8c 9c Tc
swaps - new - - / - - - Ad
> 0 calls; 1 checks
0 risks 3c in slot 1, holds 9c
> 1 checks; 0 checks
board [Tc]
1 risks 5c in slot 1, holds Ad""",
        """site-nl, button 0, stacks 1000 1000 1000 1000, posts 3
3 posts post 10 to 10
> 3 checks; 0 calls
> 1 is out of time
1 is out of time and all-in, 2 to act
> 2 disconnects; 2 reconnects; 2 checks
pot: 35""",
        """site-nl, button 0, stacks 1000 1000 1000 1000, dead 3, dead_small yes, blinds 10/20
1 posts big 20 to 20
3 posts dead 20 to 20
asks: 2 may fold, call 20, raise to 40..1000""",
        """auction-2024-mit, button 0, stacks 400 400
> 0 calls (default); 1 checks; 1 bids 3, open; 0 bids 2, open
1 is dealt [As]
> 1 bets 2; 0 raises to 4; 1 folds
nets: +6 -6""",
    ],
    ids=lambda text: text.split("\n")[0],
)
def test_a_page_can_say_everything_that_a_hand_may_need(text: str) -> None:
    run(_block(text))


def test_an_empty_or_unclosed_block_does_not_pass(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A rule\n\n```hand\n```\n\n```hand\nauction-2024\n")
    with pytest.raises(AssertionError, match="this block is never closed"):
        list(blocks(page))
    with pytest.raises(Wrong, match="there is no hand in this block"):
        run(Block("page.md", "A rule", 4, ()))


def test_a_block_is_found_under_its_heading(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Rules\n\n## A4 Price\n\n```python\n# not a heading\n```\n\n```hand\nx\n```\n"
    )
    assert [Block(str(page), "A4 Price", 10, ("x",))] == list(blocks(page))


def _block(text: str) -> Block:
    return Block("page.md", "A rule", 11, tuple(text.splitlines()))
