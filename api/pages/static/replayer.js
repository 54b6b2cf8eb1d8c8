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
const last = frames.length - 1;
const BEAT_MS = 900;

let now = last;
let turn = 0;
let timer = 0;

/** The frame that an address names; the last one if it names none. */
function named() {
  const asked = /^#\d+$/.test(location.hash) ? Number(location.hash.slice(1)) : last;
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

function start() {
  if (now === last) show(0);
  timer = setInterval(() => show(now + 1), BEAT_MS / Number(speed.value));
  play.setAttribute("aria-pressed", "true");
  play.setAttribute("aria-label", "Pause");
}

/** Every amount in chips or in big blinds. */
function swapUnit() {
  if (!unit) return;
  const big = Number(replay.dataset.big);
  const blinds = unit.getAttribute("aria-pressed") !== "true";
  unit.setAttribute("aria-pressed", String(blinds));
  for (const amount of replay.querySelectorAll(".amt")) {
    amount.dataset.said ??= amount.textContent;
    const told = `${Math.round((Number(amount.dataset.chips) / big) * 10) / 10} bb`;
    amount.textContent = blinds ? told : amount.dataset.said;
  }
}

function flip() {
  turn = (turn + 1) % Number(replay.dataset.seats);
  replay.style.setProperty("--turn", String(turn));
}

/** @param {string} way */
function away(way) {
  document.querySelector(`a[rel="${way}"]`)?.click();
}

function otherEyes() {
  const eyes = [...document.querySelectorAll(".eyes li a")];
  const at = eyes.findIndex((link) => link.hasAttribute("aria-current"));
  if (eyes.length > 1) location.href = `${eyes[(at + 1) % eyes.length].href}#${now}`;
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
  help: () => (help.open ? help.close() : help.showModal()),
  before: () => away("prev"),
  after: () => away("next"),
  eyes: otherEyes,
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
  v: "eyes",
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
replay.querySelector(".keys").hidden = false;
show(named(), { address: false });
