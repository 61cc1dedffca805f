/** Trainings: their curves, which grow while somebody looks at them. */

import { el, refill, svg } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { gameTitle } from "./i18n/speech.js";
import { get } from "./net.js";

const PAUSE = 3000; // ms between two looks, while a run is at work and the page is seen
const [WIDTH, HEIGHT, PAD] = [320, 120, 34];

/** @param {HTMLElement} root */
export async function showRuns(root) {
  let timer = 0;
  let last = "";

  async function look() {
    const runs = document.hidden ? null : await get("/api/runs").catch(() => null); // away for a moment: ask again
    const text = JSON.stringify(runs);
    if (runs && text !== last) draw(root, runs);
    if (runs) last = text;
    timer = setTimeout(look, PAUSE);
  }

  draw(root, await get("/api/runs"));
  timer = setTimeout(look, PAUSE);
  return () => clearTimeout(timer);
}

function draw(root, runs) {
  refill(
    root,
    el(
      "div.sheet.runs",
      {},
      el("h1", {}, t("runs.title")),
      runs.length ? runs.map(drawRun) : el("p.empty", {}, t("runs.none")),
    ),
  );
}

const state = (run) => (run.damaged ? "damaged" : run.at_work ? "work" : run.finished ? "done" : "still");

/** How far a run is: "iteration 1,200 of 5,000". */
function reached({ counter, done, total }) {
  if (done === null || done === undefined) return t("runs.empty");
  if (total === null) return t("runs.steps", counter, number(done));
  return t("runs.of", counter, number(done), number(total));
}

function drawRun(run) {
  return el(
    "section",
    { "aria-label": run.name },
    el("h2", {}, run.name, " ", el("small", { class: `run-${state(run)}` }, t(`runs.${state(run)}`))),
    run.damaged ? null : el("p", {}, `${gameTitle(run.game)} · ${run.learner} · ${reached(run)}`),
    el("div.curves", {}, (run.curves ?? []).map(drawCurve)),
  );
}

/** A metric over what was played. */
function drawCurve({ name, over, points }) {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = (value) => PAD + ((WIDTH - PAD - 8) * (value - left)) / (right - left || 1);
  const y = (value) => HEIGHT - 20 - ((HEIGHT - 32) * (value - low)) / (high - low || 1);
  const level = (value) => [
    svg("line", { x1: PAD, x2: WIDTH - 8, y1: y(value), y2: y(value), class: "zero" }),
    svg("text", { x: PAD - 4, y: y(value) + 3, "text-anchor": "end", class: "tick" }, number(value, { places: 3 })),
  ];
  const title = t("runs.curve", name, over);
  return el(
    "figure.curve",
    {},
    el("figcaption", {}, `${name} ${number(ys.at(-1), { places: 4 })}`),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
      level(low),
      high > low ? level(high) : [],
      svg("polyline", { points: points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" "), class: "mean" }),
      svg("text", { x: WIDTH - 8, y: HEIGHT - 6, "text-anchor": "end", class: "tick" }, `${over} ${number(right)}`),
    ),
  );
}
