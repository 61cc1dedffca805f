/** How this browser's games went: a table, and a curve for each game and opponent. */

import { el, refill, svg } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { agentName, gameTitle } from "./i18n/speech.js";
import { get } from "./net.js";

/** @param {HTMLElement} root */
export async function showStats(root) {
  const rows = await get("/api/stats");
  refill(
    root,
    el(
      "div.sheet",
      {},
      el("h1", {}, t("stats.title")),
      rows.length ? [drawTable(rows), el("div.curves", {}, rows.map(drawCurve))] : el("p.empty", {}, t("stats.none")),
      el("p", {}, el("a", { href: "/runs" }, t("runs.title"))),
    ),
  );
}

const opponents = (row) => (row.called ?? row.against).split(", ").map((name) => (/^[a-z-]+(\(|$)/.test(name) ? agentName(name) : name)).join(", ");

/** A mean with its interval. */
function gain(row) {
  const [low, high] = row.interval ?? [null, null];
  return [
    number(row.mean, { sign: true }),
    low === null || low === undefined
      ? null
      : el("span.interval", {}, ` ${number(low, { sign: true })} … ${number(high, { sign: true })}`),
  ];
}

function drawTable(rows) {
  const columns = ["game", "opponent", "games", "wins", "draws", "gain", "value"];
  const cell = (column, kind, inside) => el("td", { class: kind, data: { title: t(`stats.${column}`) } }, inside);
  return el(
    "div.scroll",
    {},
    el(
      "table.stats",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) => el("th", { scope: "col" }, t(`stats.${column}`))),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, gameTitle(row.title)),
            cell("opponent", "", opponents(row)),
            cell("games", "n", number(row.games)),
            cell("wins", "n", number(row.wins)),
            cell("draws", "n", number(row.draws)),
            cell("gain", "n", el("span", {}, gain(row))),
            cell(
              "value",
              "n",
              row.value === null || row.value === undefined
                ? t("stats.unknown")
                : number(row.value, { sign: true, places: 3 }),
            ),
          ),
        ),
      ),
    ),
  );
}

const [WIDTH, HEIGHT, PAD] = [320, 120, 28];

/** The running mean against the equilibrium's value. */
function drawCurve(row) {
  const { curve } = row; // [game, mean so far]
  if (curve.length < 2) return null;
  const means = curve.map(([, mean]) => mean);
  const known = row.value !== null && row.value !== undefined ? [row.value] : [];
  const [low, high] = [Math.min(0, ...means, ...known), Math.max(0, ...means, ...known)];
  const x = (game) => PAD + ((WIDTH - PAD - 8) * (game - 1)) / (row.games - 1);
  const y = (value) => HEIGHT - 14 - ((HEIGHT - 28) * (value - low)) / (high - low || 1);
  const level = (value, kind) => [
    svg("line", { x1: PAD, x2: WIDTH - 8, y1: y(value), y2: y(value), class: kind }),
    svg(
      "text",
      kind === "value"
        ? { x: WIDTH - 8, y: y(value) + 11, "text-anchor": "end", class: "tick" }
        : { x: PAD - 4, y: y(value) + 3, "text-anchor": "end", class: "tick" },
      `${kind === "value" ? `${t("stats.value")} ` : ""}${number(value)}`,
    ),
  ];
  const title = `${gameTitle(row.title)} · ${opponents(row)}`;
  return el(
    "figure.curve",
    {},
    el("figcaption", {}, title),
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${t("stats.curve")}: ${title}` },
      level(0, "zero"),
      level(means.at(-1), "zero"),
      known.length ? level(known[0], "value") : [],
      svg("polyline", {
        points: curve.map(([game, mean]) => `${x(game).toFixed(1)},${y(mean).toFixed(1)}`).join(" "),
        class: "mean",
      }),
    ),
  );
}
