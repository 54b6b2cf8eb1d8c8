"""The replayer: by keys, slider and address; a frame is what replay says, and never more."""

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import CONTESTED, PHONE, Site, expect
from tests.profiles import sized

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

HAND = f"/hands/{CONTESTED}"


def stands(page: "Page", event: int) -> None:
    """The table is soon the one after this event, and no other frame is to be seen."""
    expect(page.locator(f".frame[id='{event}']")).to_be_visible()
    expect(page.locator(".frame:visible")).to_have_count(1)


SEEN = """() => {
  const texts = (one, those) => [...one.querySelectorAll(those)].map((it) => it.textContent);
  const seen = [...document.querySelectorAll(".frame")].filter((one) => one.checkVisibility());
  const [one] = seen;
  return seen.length === 1 && {
    id: one.id,
    board: texts(one, ".board .card"),
    stacks: texts(one, ".stack"),
    cards: [...one.querySelectorAll(".seat")].map((seat) => texts(seat, ".hole .card")),
  };
}"""
"""The one frame that is to be seen."""
AT_EVERY_EVENT = """() => {
  const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("Home");
  return [...document.querySelectorAll(".frame")].map((one, at) => {
    if (at) press("j");
    const now = document.querySelector(".frame.now").id;
    return now === String(at) ? (LOOK)() : `${now} stands for ${at}`;
  });
}"""


def test_every_frame_shows_what_replay_says(site: Site) -> None:
    page = site.open(f"{HAND}#0")
    told = page.request.get(f"/api/v1/hands/{CONTESTED}/frames").json()
    shown = page.evaluate(AT_EVERY_EVENT.replace("LOOK", SEEN))
    assert len(shown) == len(told["frames"])
    for idx, frame in enumerate(told["frames"]):
        assert shown[idx] == {
            "id": str(idx),
            "board": frame["board"],
            "stacks": [str(seat["stack"]) for seat in frame["seats"]],
            "cards": [seat["cards"] for seat in frame["seats"]],
        }


def test_keys_go_by_event_by_street_and_to_the_ends(site: Site) -> None:
    page = site.open(f"{HAND}#0")
    for key, where in (("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowLeft", 0), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        stands(page, where)
    marks = [int(one.get_attribute("href")[1:]) for one in page.locator(".marks a").all()]  # type: ignore[index]
    for mark in marks:
        page.keyboard.press("ArrowDown")
        stands(page, mark)
    page.keyboard.press("ArrowUp")
    stands(page, marks[-2])
    page.keyboard.press("Home")
    stands(page, 0)
    page.keyboard.press("End")
    stands(page, page.locator(".frame").count() - 1)


def test_the_slider_has_a_mark_for_every_street_and_auction(site: Site) -> None:
    page = site.open(HAND)
    assert ["P", "F", "A", "T", "R", "SD", "E"] == page.locator(".marks a").all_text_contents()
    slider = page.get_by_role("slider", name="Event")
    slider.fill("7")
    stands(page, 7)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^random-1 calls 1$"))
    page.locator(".marks a", has_text="A").click()
    expect(page.locator(".log [aria-current]")).to_contain_text("auction")


def test_an_address_opens_its_frame_and_is_kept_while_one_steps(site: Site) -> None:
    page = site.open(f"{HAND}#12")
    stands(page, 12)
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("#13$"))
    page.reload()
    stands(page, 13)
    site.shot(page, "replayer")


def test_bids_are_sealed_until_the_auction_is_settled(site: Site) -> None:
    page = site.open(f"{HAND}?as=public")
    kinds = page.locator(".log .does").all_text_contents()
    bid = next(n for n, line in enumerate(kinds) if "a sealed bid" in line)
    page.goto(f"{HAND}?as=public#{bid}")
    expect(page.locator(".frame.now .bids")).to_contain_text("sealed")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".frame.now .bids")).to_contain_text("paid")


@pytest.mark.ci
def test_a_swapped_card_is_struck_through_for_its_holder_alone(site: Site) -> None:
    page = site.open("/hands?q=match%3Dswap+%26+swapped")
    page.locator("#list a.whole").first.click()
    page.wait_for_url("**/hands/swap/*")
    page.keyboard.press("End")
    expect(page.locator(".frame.now .card.gone").first).to_be_visible()
    for hand in range(1, 13):
        source = page.request.get(f"/hands/swap/{hand}?as=public").text()
        assert 'class="frame"' in source
        assert 'gone"' not in source


@pytest.mark.ci
def test_it_plays_by_itself_and_stops_at_the_end(site: Site) -> None:
    page = site.page()
    page.clock.install(time=0)
    page.goto(f"{HAND}#0")
    page.clock.pause_at(60_000)
    page.keyboard.press(" ")
    page.clock.run_for(3_000)
    stands(page, 4)  # 3 says that a step begins: nothing happens there
    page.locator("#speed").select_option("4")
    page.clock.run_for(1_000)
    stands(page, 10)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5_000)
    stands(page, 10)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(60_000)
    stands(page, page.locator(".frame").count() - 1)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_amounts_are_chips_or_big_blinds(site: Site) -> None:
    page = site.open(f"{HAND}#2")
    stack = page.locator(".frame.now .stack").first
    expect(stack).to_have_text("398")
    page.keyboard.press("b")
    expect(stack).to_have_text("199 bb")
    expect(page.locator(".sub")).to_contain_text("200 bb each")
    page.keyboard.press("End")
    expect(page.locator(".frame.now .word").first).to_contain_text("0 bb")
    page.keyboard.press("]")
    page.wait_for_url("**/hands/scrim/3")
    expect(page.locator(".frame.now .stack").first).to_have_text("200 bb")
    page.get_by_role("button", name="BB").click()
    expect(page.locator(".frame.now .stack").first).to_have_text("400")


@pytest.mark.ci
def test_the_table_turns_and_brackets_go_to_the_next_hand(site: Site) -> None:
    page = site.open("/hands/ring/2#3")
    seat = page.locator(".frame.now .seat").first
    before = seat.bounding_box()
    page.keyboard.press("f")
    assert before != seat.bounding_box()
    for _ in range(5):
        page.keyboard.press("f")
    assert before == seat.bounding_box()
    page.keyboard.press("]")
    page.wait_for_url("**/hands/ring/3")
    page.keyboard.press("[")
    page.wait_for_url("**/hands/ring/2")


def test_v_looks_through_the_next_eyes_and_stays_at_the_event(site: Site) -> None:
    page = site.open(f"{HAND}?as=public#9")
    page.keyboard.press("v")
    page.wait_for_url("**as=seat*#9")
    stands(page, 9)


def test_a_question_mark_tells_the_keys(site: Site) -> None:
    page = site.open(HAND)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("play and pause")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_seat_says_what_it_did_and_what_its_cards_are_worth(site: Site) -> None:
    page = site.open(f"{HAND}#8")
    told = page.request.get(f"/api/v1/hands/{CONTESTED}/state?at=8").json()
    shares = [f"{100 * seat['odds']['share']:.1f}" for seat in told["seats"]]
    for share, word, did in zip(
        shares, page.locator(".frame.now .word").all(), ("checks", "calls 1"), strict=True
    ):
        expect(word).to_contain_text(share)
        expect(word.locator(".did")).to_have_text(did)
    expect(page.locator(".sub .verdict")).to_have_text("contested")
    page.goto("/hands/swap/3?as=public#8")
    expect(page.locator(".frame.now .word").first).to_be_visible()
    assert 0 == page.locator(".frame.now .odds").count()


@pytest.mark.ci
def test_a_moment_is_copied_as_a_link_and_as_text(site: Site) -> None:
    page = site.open(f"{HAND}#10", permissions=["clipboard-read", "clipboard-write"])
    clipboard = "navigator.clipboard.readText()"
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#said")).to_have_text("Copy link: done")
    assert page.url == page.evaluate(clipboard)
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("Copy text: done")
    text = page.evaluate(clipboard)
    assert text.startswith(f"{CONTESTED}, event 10 of 33: auction-2024, big blind 2, as auditor\n")
    assert text.endswith(f"{page.url}\n")


@pytest.mark.ci
def test_a_finger_turns_the_pages(site: Site) -> None:
    page = site.open(f"{HAND}#5", has_touch=True, viewport=PHONE)
    for way, event in ((-1, 6), (1, 5)):
        page.locator(".frame.now .felt").evaluate(
            """(felt, way) => {
              const finger = (type, x) => felt.dispatchEvent(new PointerEvent(type,
                { pointerType: "touch", clientX: x, clientY: 300, bubbles: true }));
              finger("pointerdown", 200);
              finger("pointerup", 200 + 90 * way);
            }""",
            way,
        )
        stands(page, event)
    box = page.get_by_role("button", name="Play").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= PHONE["height"]
    assert box["height"] >= 44


SIZES: "tuple[ViewportSize, ...]" = (
    PHONE,
    {"width": 820, "height": 1180},
    {"width": 1280, "height": 800},
)
COLLISIONS = """() => {
  const felt = document.querySelector(":is(.frame.now, .live-table) .felt");
  const edge = felt.getBoundingClientRect();
  const seats = [...felt.querySelectorAll(".hole > *, .who, .word, .bet")];
  const middle = [...felt.querySelectorAll(".mid > *")];
  const boxes = [...seats, ...middle].filter((one) => one.textContent.trim()).map((one) => ({
    name: one.className, owner: one.closest(".seat, .mid"), at: one.getBoundingClientRect() }));
  const shown = boxes.filter(({ at }) => at.width && at.height);
  const out = shown.filter(({ at }) => at.left < edge.left - 1 || at.right > edge.right + 1 ||
    at.top < edge.top - 1 || at.bottom > edge.bottom + 1).map(({ name }) => `${name} is off`);
  const over = shown.flatMap((one, place) => shown.slice(place + 1).filter((other) =>
    one.owner !== other.owner &&
    Math.min(one.at.right, other.at.right) - Math.max(one.at.left, other.at.left) > 2 &&
    Math.min(one.at.bottom, other.at.bottom) - Math.max(one.at.top, other.at.top) > 2
  ).map((other) => `${one.name} lies on ${other.name}`));
  return [...out, ...over];
}"""


@pytest.mark.parametrize("hand", sized(quick=("ring/1",), ci=("ring/1", CONTESTED, "swap/3")))
def test_nothing_leaves_the_felt_and_nothing_lies_on_another(site: Site, hand: str) -> None:
    page = site.open(f"/hands/{hand}")
    count = page.locator(".frame").count()
    for size in sized(SIZES[:1], SIZES[::2], SIZES):
        page.set_viewport_size(size)
        found = page.evaluate(AT_EVERY_EVENT.replace("LOOK", COLLISIONS))
        assert [(size, [])] * count == [(size, one) for one in found]


@pytest.mark.ci
@pytest.mark.parametrize(
    "path",
    [
        "/live?match=ring",
        *sized((), ("/embed/live?match=swap",), ("/live?match=swap", "/embed/live?match=swap")),
    ],
)
def test_the_live_table_has_the_felt_of_the_replayer(site: Site, path: str) -> None:
    """Its seats stand where they do there, its words are the last frame's."""
    page = site.open(path)
    for size in SIZES:
        page.set_viewport_size(size)
        assert [] == page.evaluate(COLLISIONS), size
    told = page.locator(".live-table .seat").all_inner_texts()
    at = page.locator("#now-hand").get_attribute("href")
    assert at is not None
    again = site.open(at)
    assert told == again.locator(".frame.now .seat").all_inner_texts()


def test_without_a_script_the_address_alone_turns_the_pages(site: Site) -> None:
    page = site.open(HAND, java_script_enabled=False)
    stands(page, 0)
    page.locator(".log a").nth(8).click()
    stands(page, 8)


@pytest.mark.parametrize(
    "moment",
    ["ring/1#20", *sized((), ("swap/3?as=public#31",), ("scrim/2#14", "swap/3?as=public#31"))],
)
def test_a_picture_is_the_felt_of_the_replayer(moment: str, site: Site) -> None:
    """Word by word and place by place, as wide as the picture is."""
    where = """() => {
      const felt = document.querySelector(".frame.now .felt, .picture .felt");
      const table = felt.getBoundingClientRect();
      const of = (one) => {
        const box = one.getBoundingClientRect();
        const across = (box.left + box.right - table.left - table.right) / 2 / table.width;
        return [one.textContent.replace(/\\s+/g, " ").trim(), Math.round(across * 20)];
      };
      return [...felt.querySelectorAll(".seat, .pot, .board")].map(of);
    }"""
    page = site.open(f"/hands/{moment}", viewport={"width": 900, "height": 800})
    as_page = page.evaluate(where)
    path, _, at = moment.partition("#")
    hand, _, query = path.partition("?")
    page.goto(f"/hands/{hand}/picture?{query}&at={at}")
    assert as_page
    assert as_page == page.evaluate(where)
