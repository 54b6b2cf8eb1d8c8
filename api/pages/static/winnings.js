// Draws the lines of a player's winnings. Each point is a hand: a click opens it, dragging looks closer.

const box = document.getElementById("graph");
const told = JSON.parse(document.getElementById("curves").textContent);
const colour = (name) => getComputedStyle(document.body).getPropertyValue(name);
/** A custom property may hold light-dark(): an element that wears it says which of the two it is. */
const worn = (name) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const said = getComputedStyle(probe).color;
  probe.remove();
  return said;
};
const number = (value) => (value == null ? "" : Math.round(value).toLocaleString("en").replaceAll(",", "\u202f").replace("-", "\u2212"));
const line = (label, stroke, more = {}) => ({ label, stroke, width: 1.6, points: { show: false }, value: (_, v) => number(v), ...more });
const low = told.band.map((each) => -each);
const hasAuctions = told.auctions.some(Boolean);
const data = [told.k, told.band, low, told.net, told.showdown, told.without, ...(hasAuctions ? [told.auctions] : [])];

function drawn() {
  const ink = worn("--ink-2");
  const grid = { stroke: worn("--rule"), width: 1 };
  const band = worn("--ink-3");
  const axis = { stroke: ink, grid, ticks: grid, font: "12px system-ui, sans-serif" };
  const options = {
    width: box.clientWidth,
    height: Math.max(300, Math.min(480, innerHeight * 0.55)),
    scales: { x: { time: false } },
    axes: [{ ...axis, values: (_, ticks) => ticks.map(number) }, { ...axis, size: 74, values: (_, ticks) => ticks.map(number) }],
    bands: [{ series: [1, 2], fill: band.replace(/^rgb\((.*)\)$/, "rgb($1 / 0.13)") }],
    series: [
      { label: "hand", value: (_, v, __, idx) => (idx == null ? "" : told.hand[idx]) },
      line("fair, above", band, { width: 0.6, dash: [3, 3] }),
      line("fair, below", band, { width: 0.6, dash: [3, 3] }),
      line("net", worn("--ink"), { width: 2.2 }),
      line("at showdown", worn("--d"), { dash: [7, 3] }),
      line("without", worn("--h"), { dash: [2, 3] }),
      ...(hasAuctions ? [line("paid in auctions", worn("--contested"), { dash: [10, 3, 2, 3] })] : []),
    ],
  };
  return new uPlot(options, data, box);
}

function draw() {
  box.replaceChildren();
  const graph = drawn();
  let from = 0;
  graph.over.addEventListener("pointerdown", (event) => (from = event.clientX));
  graph.over.addEventListener("click", (event) => {
    const idx = graph.cursor.idx;
    if (idx == null || Math.abs(event.clientX - from) > 4) return;
    const [match, hand] = told.hand[idx].split(/\/(?=\d+$)/);
    location.href = box.dataset.hand.replace("MATCH/0", `${encodeURIComponent(match)}/${hand}`);
  });
  box.dataset.drawn = String(told.k.length);
  return graph;
}

function begin() {
  let graph = draw();
  addEventListener("resize", () => graph.setSize({ width: box.clientWidth, height: graph.height }));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (graph = draw()));
}

if (colour("--ink") && "uPlot" in window) begin();
else addEventListener("load", begin);
