// Turns the frames of a hand: which one is seen, and in which unit. What a frame shows, the server drew.

const replay = document.getElementById("replay");
const frames = [...replay.querySelectorAll(".frame")];
const lines = [...replay.querySelectorAll(".log a")];
const marks = [...replay.querySelectorAll(".marks a")].map((link) => Number(link.hash.slice(1)));
const slider = document.getElementById("at");
const count = document.getElementById("count");
const speed = document.getElementById("speed");
const play = replay.querySelector('[data-do="play"]');
const unit = replay.querySelector('[data-do="unit"]');
const help = document.getElementById("help");
const output = document.getElementById("said");
const last = frames.length - 1;
const BEAT_MS = 900;
const SWIPE_PX = 40;

let now = 0;
let turn = 0;
let timer = 0;

/** The frame that an address names; the first one if it names none. */
function named() {
  const asked = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : 0;
  return Math.min(asked, last);
}

/** @param {number} idx */
function show(idx, { address = true } = {}) {
  frames[now].classList.remove("now");
  lines[now].removeAttribute("aria-current");
  now = Math.max(0, Math.min(last, idx));
  frames[now].classList.add("now");
  lines[now].setAttribute("aria-current", "step");
  const box = lines[now].closest(".log");
  const row = lines[now].parentElement;
  if (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }
  slider.value = String(now);
  replay.style.setProperty("--at", String(now / Math.max(1, last)));
  slider.setAttribute("aria-valuetext", lines[now].querySelector(".does").textContent.trim());
  count.textContent = `${now} / ${last}`;
  if (address) history.replaceState(null, "", `${location.pathname}${location.search}#${now}`);
  if (now === last) stop();
}

function stop() {
  clearInterval(timer);
  timer = 0;
  play.setAttribute("aria-pressed", "false");
  play.setAttribute("aria-label", "Play");
}

/** The next frame in which something happens at the table: where a step begins, nothing does. */
function following() {
  const next = lines.findIndex((line, idx) => idx > now && !line.parentElement.classList.contains("step"));
  return next < 0 ? last : next;
}

function start() {
  if (now === last) show(0);
  timer = setInterval(() => show(following()), BEAT_MS / Number(speed.value));
  play.setAttribute("aria-pressed", "true");
  play.setAttribute("aria-label", "Pause");
}

/** Every amount of the page in chips or in big blinds; the next hand is shown in the same. */
function inBlinds(blinds) {
  if (!unit) return;
  const big = Number(replay.dataset.big);
  unit.setAttribute("aria-pressed", String(blinds));
  for (const amount of document.querySelectorAll(".amt")) {
    amount.dataset.said ??= amount.textContent;
    const sign = /^[+\u2212]?/.exec(amount.dataset.said)[0];
    const inBlinds = `${sign}${Math.round((Math.abs(amount.dataset.chips) / big) * 10) / 10} bb`;
    amount.textContent = blinds ? inBlinds : amount.dataset.said;
  }
  slider.setAttribute("aria-valuetext", lines[now].querySelector(".does").textContent.trim());
}

function swapUnit() {
  const blinds = unit?.getAttribute("aria-pressed") !== "true";
  localStorage.setItem("unit", blinds ? "bb" : "chips");
  inBlinds(blinds);
}

/** Put a text on the clipboard; a page that is not sent in secret has none, and then goes there. */
async function copied(button, address, makeText) {
  if (!navigator.clipboard) return void (location.href = address);
  await navigator.clipboard.writeText(await makeText());
  output.textContent = `${button.textContent}: done`;
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
}

const copyButton = (name) => replay.querySelector(`[data-do="${name}"]`);

function copyLink() {
  const address = `${location.origin}${location.pathname}${location.search}#${now}`;
  copied(copyButton("link"), address, () => address);
}

/** The moment as the server writes it, and where it is. */
function copyText() {
  const { href } = frames[now].querySelector(".as-text");
  const address = `${location.origin}${location.pathname}${location.search}#${now}`;
  copied(copyButton("text"), href, async () => `${await (await fetch(href)).text()}${address}\n`);
}

function flip() {
  turn = (turn + 1) % Number(replay.dataset.seats);
  replay.style.setProperty("--turn", String(turn));
}

/** @param {string} way */
function away(way) {
  document.querySelector(`a[rel="${way}"]`)?.click();
}

function nextViewpoint() {
  const viewpoints = [...document.querySelectorAll(".viewpoints li a")];
  const at = viewpoints.findIndex((link) => link.hasAttribute("aria-current"));
  if (viewpoints.length > 1) location.href = `${viewpoints[(at + 1) % viewpoints.length].href}#${now}`;
}

const acts = {
  first: () => show(0),
  back: () => show(now - 1),
  on: () => show(now + 1),
  last: () => show(last),
  street: () => show(marks.find((mark) => mark > now) ?? last),
  streetBack: () => show(marks.findLast((mark) => mark < now) ?? 0),
  play: () => (timer ? stop() : start()),
  flip,
  unit: swapUnit,
  link: copyLink,
  text: copyText,
  help: () => (help.open ? help.close() : help.showModal()),
  before: () => away("prev"),
  after: () => away("next"),
  viewpoint: nextViewpoint,
};

const keys = {
  ArrowLeft: "back",
  k: "back",
  ArrowRight: "on",
  j: "on",
  ArrowUp: "streetBack",
  ArrowDown: "street",
  Home: "first",
  End: "last",
  " ": "play",
  "[": "before",
  "]": "after",
  f: "flip",
  b: "unit",
  c: "text",
  v: "viewpoint",
  "?": "help",
};

document.addEventListener("keydown", (event) => {
  const typing = /^(TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.type === "search";
  if (event.ctrlKey || event.metaKey || event.altKey || typing || (help.open && event.key !== "?")) return;
  const act = keys[event.key];
  if (!act || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  if (act !== "play") stop();
  acts[act]();
});
replay.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  const link = event.target.closest('a[href^="#"]');
  if (button) {
    if (button !== play) stop();
    acts[button.dataset.do]();
  } else if (link) {
    event.preventDefault();
    stop();
    show(Number(link.hash.slice(1)));
  }
});
let swiped = null;
const table = replay.querySelector(".frames");
table.addEventListener("pointerdown", (event) => (swiped = event.pointerType === "mouse" ? null : event));
table.addEventListener("pointerup", (event) => {
  const across = swiped ? event.clientX - swiped.clientX : 0;
  if (Math.abs(across) < SWIPE_PX || Math.abs(event.clientY - swiped.clientY) > Math.abs(across)) return;
  stop();
  show(now + (across < 0 ? 1 : -1));
});
slider.addEventListener("input", () => {
  stop();
  show(Number(slider.value));
});
speed.addEventListener("change", () => {
  if (timer) {
    stop();
    start();
  }
});
addEventListener("hashchange", () => show(named(), { address: false }));
document.addEventListener("visibilitychange", () => document.hidden && stop());

replay.classList.add("live");
slider.disabled = false;
for (const row of replay.querySelectorAll(".buttons")) row.hidden = false;
show(named(), { address: false });
if (localStorage.getItem("unit") === "bb") inBlinds(true);
