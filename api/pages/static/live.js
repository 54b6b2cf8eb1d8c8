// Follows the stream: whatever it tells of is asked for as a row of this page, and put above the others; of one
// match its table, too, which is as new as the answer that brings it.

const list = document.getElementById("list");
const body = list.tBodies[0];
const output = document.getElementById("said");
const state = document.getElementById("state");
const pause = document.getElementById("hold");
const { stream, rows, kept, atOnce } = list.dataset;
const types = list.dataset.types.split(","); // which have a row
const match = document.getElementById("match"); // is there if the page is of one
const RETRY_MS = 2000;
const REFUSED_MS = 10_000;
const GATHER_MS = 150;
const QUIET_MS = 5000; // after which the table is asked for all the same: nobody tells that a writer is gone

let after = list.dataset.after;
let source = null;
let there = "reconnecting";
let why = ""; // a refusal, in the server's words
let paused = false;
let asking = false;
let stale = false; // whether something has happened at the table
let quiet = 0;
let waiting = []; // what the stream told of, and has no row yet: the oldest first
const known = new Set([...body.rows].map((row) => row.dataset.of));

const over = () => document.getElementById("table")?.dataset.goesOn === "no";
const at = (address, more) => address + (address.includes("?") ? "&" : "?") + more;

function tell() {
  const now = paused ? "paused" : over() ? "over" : there;
  state.dataset.state = now;
  const count = waiting.length;
  output.textContent = now === "paused" && count ? `paused, ${count} waiting` : why || now;
  pause.textContent = paused ? "Go on" : "Pause";
}

function follow() {
  source = new EventSource(after ? at(stream, `after=${encodeURIComponent(after)}`) : stream);
  source.onopen = () => {
    there = "following";
    why = "";
    tell();
    gather();
  };
  source.addEventListener("refused", (message) => {
    source.close();
    there = "reconnecting";
    why = JSON.parse(message.data).detail;
    tell();
    setTimeout(follow, REFUSED_MS);
  });
  source.onmessage = (message) => {
    after = message.lastEventId || after;
    const item = JSON.parse(message.data);
    const key = `${item.event.type} ${item.hand ?? item.match}`;
    stale = match !== null;
    if (types.includes(item.event.type) && !known.has(key)) {
      known.add(key);
      waiting.push(key);
      waiting = waiting.slice(-2 * kept);
      tell();
    }
    gather();
  };
  source.onerror = () => {
    there = "reconnecting";
    tell();
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MS); // an answer that was none
  };
}

async function gather() {
  if (asking || paused || !(waiting.length || stale)) return;
  asking = true;
  clearTimeout(quiet);
  await new Promise((done) => setTimeout(done, GATHER_MS));
  const asked = waiting.slice(-kept).slice(0, atOnce);
  const from = waiting.indexOf(asked[0]);
  stale = false;
  try {
    const of = asked.length ? asked : ["table"];
    const answer = await fetch(at(rows, of.map((key) => `of=${encodeURIComponent(key)}`).join("&")));
    if (!answer.ok) throw new Error(answer.statusText);
    const fragment = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!paused) {
      put([...fragment.getElementById("list").tBodies[0].rows]);
      for (const name of ["table", "money"]) redraw(fragment.getElementById(name));
      if (asked.length) waiting = waiting.slice(from + asked.length);
    }
    asking = false;
  } catch {
    await new Promise((done) => setTimeout(done, RETRY_MS));
    asking = false;
    stale = match !== null;
  }
  look();
  tell();
  gather();
}

/** Puts a part of the page in the place of the one that is there; whoever was at a link of it still is. */
function redraw(part) {
  if (!part) return;
  const now = document.getElementById(part.id);
  if (now?.outerHTML === part.outerHTML) return;
  const focused = now?.contains(document.activeElement) && document.activeElement.id;
  if (now) now.replaceWith(document.adoptNode(part));
  else match.append(document.adoptNode(part));
  if (focused) document.getElementById(focused)?.focus();
}

/** Asks for the table in a while, if nothing happens before. */
function look() {
  clearTimeout(quiet);
  if (!match || over()) return;
  quiet = setTimeout(() => {
    stale = true;
    gather();
  }, QUIET_MS);
}

function put(fresh) {
  for (const row of fresh) {
    row.classList.add("fresh");
    body.prepend(document.adoptNode(row));
  }
  while (body.rows.length > kept) {
    known.delete(body.rows[body.rows.length - 1].dataset.of);
    body.rows[body.rows.length - 1].remove();
  }
  document.getElementById("none").hidden = body.rows.length > 0;
}

pause.addEventListener("click", () => {
  paused = !paused;
  stale = match !== null;
  tell();
  gather();
});
addEventListener("pageshow", (event) => event.persisted && location.reload());
document.getElementById("newer").hidden = true;
pause.hidden = over();
tell();
if (!over()) {
  follow();
  look();
}
