"""The language of filters: what is read as what, how it is spelled, what is said of mistakes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from api.questions.filters_parser import DEPTH_MAX, TERMS_MAX, WrongFilter, parse_filter
from api.questions.filters_tree import (
    EMPTY_FILTER,
    FIELDS,
    FLAGS,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    Or,
    PlayerTerms,
    filter_text,
)
from api.questions.filters_values import LENGTH_MAX, Amount, Moment, Pattern
from tests.asking.drawn_filters import ANYTHING, filters


def read(text: str) -> Filter | WrongFilter:
    """What becomes of a text."""
    try:
        return parse_filter(text)
    except WrongFilter as wrong:
        return wrong


POT = Compare("pot", ">", Amount(100))
WALKED = Or((Flag("walk"), Flag("all-in")))


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_a_text_of_nothing_is_a_filter_that_all_pass(text: str) -> None:
    assert parse_filter(text) is EMPTY_FILTER
    assert filter_text(EMPTY_FILTER) == ""


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("pot>100", POT),
        (" pot > 100 ", POT),
        ("pot>=2.5bb", Compare("pot", ">=", Amount(250, blinds=True))),
        ("net<-0.05bb", Compare("net", "<", Amount(-5, blinds=True))),
        ("players=2", Compare("players", "=", 2)),
        ("street>=turn", Compare("street", ">=", "turn")),
        ("hole=AKs", Compare("hole", "=", Pattern(("A?", "K?"), "s"))),
        ("hole=AA", Compare("hole", "=", Pattern(("A?", "A?")))),
        ("hole=As", Compare("hole", "=", Pattern(("As",)))),
        ("board=7h??", Compare("board", "=", Pattern(("7h", "??")))),
        ('board="As Kd"', Compare("board", "=", Pattern(("As", "Kd")))),
        ("match!=scrim-17", Compare("match", "!=", "scrim-17")),
        ('player="a \\"b\\" \\\\"', Compare("player", "=", 'a "b" \\')),
        ("player=über.1", Compare("player", "=", "über.1")),
        ("at=2026-11-22", Compare("at", "=", Moment(1_795_305_600_000, "day"))),
        ("at<2026-11-22T01:00:00+01:00", Compare("at", "<", Moment(1_795_305_600_000, "second"))),
        ("at>2026-11-22T00:00:00.5Z", Compare("at", ">", Moment(1_795_305_600_500, "millisecond"))),
        ("hand>=scrim-17/412", Compare("hand", ">=", "scrim-17/412")),
        ('hand_seq="7,12,12"', Compare("hand_seq", "=", "7,12,12")),
        ('hands="a,b/3,c/4-"', Compare("hands", "=", "a,b/3,c/4-")),
        ("did=after_check:lynx", Compare("did", "=", "after_check:lynx")),
        ("hand_seq!=7", Compare("hand_seq", "!=", "7")),
        ("bid-with>=two-pair", Compare("bid-with", ">=", "two-pair")),
        ("all-in", Flag("all-in")),
        ("lynx:bid>=40", PlayerTerms("lynx", Compare("bid", ">=", Amount(40)))),
        ('"pot" : walk', PlayerTerms("pot", Flag("walk"))),
        ("walk:walk", PlayerTerms("walk", Flag("walk"))),
        ("player(walk)", PlayerTerms(None, Flag("walk"))),
        ("player:walk", PlayerTerms("player", Flag("walk"))),
        ("player (walk&!all-in)", PlayerTerms(None, And((Flag("walk"), Not(Flag("all-in")))))),
        ("player((walk|all-in)&walk)", PlayerTerms(None, And((WALKED, Flag("walk"))))),
        ("lynx:(walk)", PlayerTerms("lynx", Flag("walk"))),
        ("lynx:(walk|all-in)&walk", And((PlayerTerms("lynx", WALKED), Flag("walk")))),
        ("lynx:(!walk)", PlayerTerms("lynx", Not(Flag("walk")))),
        ("!walk", Not(Flag("walk"))),
        ("!!walk", Not(Not(Flag("walk")))),
        ("walk|voided&all-in", Or((Flag("walk"), And((Flag("voided"), Flag("all-in")))))),
        ("(walk|voided)&all-in", And((Or((Flag("walk"), Flag("voided"))), Flag("all-in")))),
        ("walk&(voided&all-in)", And((Flag("walk"), Flag("voided"), Flag("all-in")))),
    ],
)
def test_a_text_is_read_as_a_tree(text: str, tree: Filter) -> None:
    assert tree == parse_filter(text)


@given(filters(ANYTHING, st.text()))
@example(Compare("hole", "=", Pattern(("??",) * 5)))
@example(Compare("pot", "=", Amount(-(2**53 - 1), blinds=True)))
@example(Compare("hands", "=", "a/1,\nb/2"))
def test_a_filter_is_spelled_in_one_way_and_read_again_as_itself(one: Filter) -> None:
    """The law of the round trip; a tree of chance may be deeper or longer than a text may be."""
    text = filter_text(one)
    again = read(text)
    if isinstance(again, WrongFilter):
        assert " at most " in again.sentence
    else:
        assert one == again
        assert text == filter_text(again)


@given(st.text(alphabet='pot>=1&|!(): "\\lynx~?AKs\t\x00ünbb.', max_size=30))
def test_any_text_is_a_filter_or_is_refused_at_a_place_in_it(text: str) -> None:
    one = read(text)
    if isinstance(one, WrongFilter):
        assert 0 <= one.position <= len(text)
        assert str(one) == f"at {one.position}: {one.sentence}"
        assert one.sentence.isprintable()
    else:
        assert parse_filter(filter_text(one)) == one


@pytest.mark.parametrize(
    ("text", "position", "sentence"),
    [
        ("walk & pot ~ 3", 11, "after `pot` there can stand = != < <= > >=, not `~`"),
        ("pot", 3, "after `pot` there can stand = != < <= > >=, not the end"),
        ("match>3", 5, "after `match` there can stand = !=, not `>`"),
        ("pot>", 4, "after `pot>` there can stand chips or big blinds (40, 2.5bb), not the end"),
        ("pot>2.5", 4, "after `pot>` there can stand chips or big blinds (40, 2.5bb), not `2.5`"),
        ("pot==3", 4, "after `pot=` there can stand chips or big blinds (40, 2.5bb), not `=`"),
        ("players=x", 8, "after `players=` there can stand a number, not `x`"),
        ("street=x", 7, "after `street=` there can stand preflop flop turn river, not `x`"),
        ("bid-with=x", 9, "after `bid-with=` there can stand high-card pair two-pair three-of-a-"),
        ("verdict=x", 8, "after `verdict=` there can stand agree assuming contested"),
        ("hole=AAs", 5, "after `hole=` there can stand a card pattern (AA, AKs, AKo, As, 7h??)"),
        ("hole=AsAs", 5, "after `hole=` there can stand a card pattern (AA, AKs, AKo, As, 7h??)"),
        ("hole=10h", 5, "after `hole=` there can stand a card pattern (AA, AKs, AKo, As, 7h??)"),
        ("at=2026-02-30", 3, "after `at=` there can stand a date or a time with its zone (2026-"),
        ("at=2026-11-22T10:00:00", 3, "after `at=` there can stand a date or a time with its zone"),
        ("at>0001-01-01T00:00:00+14:00", 3, "after `at>` there can stand a date or a time with"),
        ("& walk", 0, "a filter begins with a field, a flag, NAME:, player(, ! or (, not `&`"),
        (
            "walk &",
            6,
            "after `&` there can stand a field, a flag, NAME:, player(, ! or (, not the end",
        ),
        ("walk voided", 5, "after `walk` there can stand & | or the end, not `voided`"),
        ("walk)", 4, "after `walk` there can stand & | or the end, not `)`"),
        ("(walk", 5, "after `walk` there can stand & | or the ) of the bracket at 0, not the end"),
        ("walk=1", 4, "after `walk` there can stand & | or the end: a flag has no value, not `=`"),
        (
            "lynx:pot>3",
            5,
            "after `lynx:` there can stand net, collected, bid, bid-with, price, h",
        ),
        ("player(pot>3)", 7, "after `player(` there can stand net, collected, bid, bid-with, pri"),
        (
            "player(walk & lynx:walk)",
            14,
            "after `&` there can stand net, collected, bid, bid-with, ",
        ),
        (
            "player(player(walk))",
            7,
            "after `player(` there can stand net, collected, bid, bid-with, ",
        ),
        ("player()", 7, "after `player(` there can stand net, collected, bid, bid-with, price, h"),
        ("player", 6, "after `player` there can stand = !=, not the end"),
        ("player(walk", 11, "after `walk` there can stand & | or the ) of the bracket at 6, not"),
        ('"player"(walk)', 8, 'after `"player"` there can stand :, for what is quoted is a name'),
        ("lynx:!walk", 5, "after `lynx:` there can stand net, collected, bid, bid-with, price, h"),
        ('"x" & walk', 4, 'after `"x"` there can stand :, for what is quoted is a name, not `&`'),
        (
            '"x',
            0,
            'the quote that opens here is not closed; in quotes \\" is a quote, and \\\\ a \\',
        ),
        ("pott=3", 0, "there is no field or flag `pott`: there are pot, net, collected, bid, bid-"),
        ("walk \x1b", 5, "after `walk` there can stand & | or the end, not `\\x1b`"),
        ("!" * (DEPTH_MAX + 1), DEPTH_MAX, f"brackets and ! go at most {DEPTH_MAX} deep"),
        ("|".join(["walk"] * 60), 5 * TERMS_MAX, f"a filter has at most {TERMS_MAX} terms"),
        ("hands=lynx", 6, "after `hands=` there can stand hands of matches by their numbers"),
        ('hands="lynx/1,"', 6, "after `hands=` there can stand hands of matches by their numbers"),
        ("did=vpip:lynx", 4, "after `did=` there can stand a count of pages by its name (vpip, c"),
        (" " * 6_001, LENGTH_MAX, "a filter has at most 6000 characters, not 6001"),
    ],
)
def test_a_mistake_is_said_with_its_place_and_what_could_stand_there(
    text: str, position: int, sentence: str
) -> None:
    with pytest.raises(WrongFilter) as wrong:
        parse_filter(text)
    assert (position, sentence) == (wrong.value.position, wrong.value.sentence[: len(sentence)])
    assert len(wrong.value.sentence) < 340


def test_every_field_and_flag_that_is_asked_of_a_player_is_offered_after_a_name() -> None:
    with pytest.raises(WrongFilter) as wrong:
        parse_filter("lynx:")
    offered = ", ".join(name for name, one in (FIELDS | FLAGS).items() if one.of_player)
    assert f"after `lynx:` there can stand {offered} or (, not the end" == wrong.value.sentence
    with pytest.raises(WrongFilter) as wrong:
        parse_filter("player(walk &")
    assert f"after `&` there can stand {offered}, ! or (, not the end" == wrong.value.sentence
