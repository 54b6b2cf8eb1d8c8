// Draws the lines of a player's winnings. A click opens the hand there; a drag looks closer, and asks for what it brought.

const box = document.getElementById("graph");
const form = document.getElementById("window");
const curves = JSON.parse(document.getElementById("curves").textContent);
const { first, last } = form.elements;
/** A custom property may hold light-dark(): an element that wears it says which of the two it is. */
const worn = (name) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
};
const number = (value) => (value == null ? "" : value.toLocaleString("en", { maximumFractionDigits: 2 }).replaceAll(",", "\u202f").replace("-", "\u2212"));
/** What a legend says: of the hand that is pointed at, or else of the last one. */
const line = (label, stroke, more = {}) => ({
  label, stroke, width: 1.6, points: { show: false }, value: (graph, v, at, idx) => number(idx == null ? graph.data[at].at(-1) : v), ...more,
});
const low = curves.band.map((each) => -each);
const data = [curves.k, curves.band, low, curves.net, curves.showdown, curves.without, ...(curves.auctions.some(Boolean) ? [curves.auctions] : [])];
const BAND = 2; // lines of the band, which have no name beside them
const LETTERS = "12px system-ui, sans-serif";

function drawn() {
  const grid = { stroke: worn("--rule"), width: 1 };
  const band = worn("--ink-3");
  const axis = { stroke: worn("--ink-2"), grid, ticks: { show: false }, font: LETTERS };
  const options = {
    width: box.clientWidth,
    height: Math.max(300, Math.min(480, innerHeight * 0.55)),
    padding: [12, box.clientWidth < 600 ? 8 : 112, 0, 0],
    scales: { x: { time: false } },
    axes: [{ ...axis, grid: { show: false }, values: (_, ticks) => ticks.map(number) }, { ...axis, size: 74, values: (_, ticks) => ticks.map(number) }],
    bands: [{ series: [1, 2], fill: band.replace(/^rgb\((.*)\)$/, "rgb($1 / 0.1)") }],
    legend: { markers: { show: false } },
    series: [
      { label: "after", value: (_, v, __, idx) => (idx == null ? `${number(curves.k.at(-1))} hands` : curves.hand[idx]) },
      line("fair, above", band, { width: 0 }),
      line("fair, below", band, { width: 0 }),
      line("net", worn("--ink"), { width: 2.2 }),
      line("at showdown", worn("--d"), { dash: [7, 3] }),
      line("without", worn("--h"), { dash: [2, 3] }),
      line("auctions", worn("--contested"), { dash: [10, 3, 2, 3] }),
    ].slice(0, data.length),
    hooks: { draw: [named], setSelect: [chosen] },
  };
  options.axes[0].incrs = [0, 1, 2, 3, 4, 5, 6].flatMap((e) => [1, 2, 5].map((n) => n * 10 ** e)); // whole hands
  return new uPlot(options, data, box);
}

/** Each line's name stands where it ends; names that would lie on each other are moved apart. */
function named(graph) {
  const { ctx, bbox } = graph;
  if (graph.width < 600) return;
  const gap = 15 * devicePixelRatio;
  const end = graph.valToIdx(graph.scales.x.max);
  const ends = graph.series.map((one, at) => ({ one, at, y: graph.valToPos(graph.data[at][end], "y", true) })).slice(1 + BAND);
  ends.sort((a, b) => a.y - b.y);
  let free = bbox.top;
  ctx.save();
  ctx.font = LETTERS.replace("12", String(12 * devicePixelRatio));
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  for (const [place, { one, at, y }] of ends.entries()) {
    const lowest = bbox.top + bbox.height - (ends.length - 1 - place) * gap;
    const where = Math.max(free, Math.min(y, lowest));
    ctx.fillStyle = one.stroke(graph, at);
    ctx.fillText(one.label, bbox.left + bbox.width + 8 * devicePixelRatio, where);
    free = where + gap;
  }
  ctx.restore();
}

/** Looked at closely the lines fill the graph, and the band may reach beyond it. */
function spread(graph) {
  for (let at = 1; at <= BAND; at += 1) graph.series[at].auto = false;
}

/** A window was dragged: the address and the sentence below the graph are to say the same. */
function chosen(graph) {
  const { left, width } = graph.select;
  if (!width) return;
  spread(graph);
  first.value = Math.max(1, Math.ceil(graph.posToVal(left, "x")));
  last.value = Math.max(first.value, Math.min(curves.k.at(-1), Math.floor(graph.posToVal(left + width, "x"))));
  ask();
}

async function ask() {
  const given = [...new FormData(form)].filter(([, value]) => value);
  const address = `${form.action}?${new URLSearchParams(given)}`;
  const answer = await fetch(address);
  if (!answer.ok) return form.submit();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("seen").replaceWith(document.adoptNode(page.getElementById("seen")));
  history.replaceState(null, "", address);
}

function draw() {
  box.replaceChildren();
  const graph = drawn();
  let from = 0;
  if (first.value || last.value) {
    spread(graph);
    graph.setScale("x", { min: Number(first.value || 1), max: Number(last.value || curves.k.at(-1)) });
  }
  graph.over.addEventListener("pointerdown", (event) => (from = event.clientX));
  graph.over.addEventListener("click", (event) => {
    const idx = graph.cursor.idx;
    if (idx == null || Math.abs(event.clientX - from) > 4) return;
    const [match, hand] = curves.hand[idx].split(/\/(?=\d+$)/);
    const address = box.dataset.hand.replace("MATCH/0", `${encodeURIComponent(match)}/${hand}`);
    if (window === top) location.href = address;
    else open(address, "_blank", "noopener"); // the page of a hand stands in no frame
  });
  box.dataset.drawn = String(curves.k.length);
  return graph;
}

let graph = draw();
document.getElementById("drag")?.removeAttribute("hidden");
addEventListener("resize", () => graph.setSize({ width: box.clientWidth, height: graph.height }));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (graph = draw()));
