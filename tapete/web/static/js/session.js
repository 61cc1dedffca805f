/** A session of poker: stacks that are carried on, what was won hand by hand, and how everybody plays. */

import { el, refill, svg } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { seatNames } from "./i18n/speech.js";
import { get } from "./net.js";

const CHIPS = 200; // that everybody brings: a hundred big blinds

/** Whether a table is one of poker, where hands follow each other and the button goes round. */
export const isPoker = (message) => message.scene.parts.some((part) => part.name === "button");

/**
 * What lies before each seat: what it brought, what it has won since, and what it has not put into this pot. Who has
 * less than a hand can cost has bought chips again.
 * @param {Object} message the table as the server tells it
 * @returns {number[]|null}
 */
export function stacksOf(message) {
  if (!isPoker(message)) return null;
  const [, said] = /stacks=(\d+)/.exec(message.game) ?? [];
  const brought = +(said ?? CHIPS);
  const paid = message.scene.parts.find((part) => part.name === "in the pot")?.values ?? [];
  return message.seats.map((_, seat) => {
    const won = message.totals.returns[seat] - (message.over ? message.returns[seat] : 0); // before this hand
    const chips = brought * Math.max(1, 1 + Math.floor(-won / brought)) + won;
    return message.over ? chips + message.returns[seat] : chips - (paid[seat] ?? 0);
  });
}

const FORMATS = { ".txt": "PokerStars", ".phhs": "PHH" };

/**
 * Fills a part of the panel with the session up to a table; hides it where there is none.
 * @param {HTMLElement} root
 * @param {Object} message
 */
export async function drawSession(root, message) {
  root.hidden = !isPoker(message) || message.seat === null || !message.totals.games;
  if (root.hidden) return;
  let data;
  try {
    data = await get(`/api/session/${encodeURIComponent(message.table)}`);
  } catch {
    root.hidden = true; // the game matters more
    return;
  }
  const names = seatNames(message.seats);
  const seat = (i) => (message.seat + i) % names.length; // the server counts from the one who asks
  refill(
    root,
    el("div.panel-head", {}, el("h2", {}, t(data.hands === 1 ? "session.one" : "session.title", data.hands)), el("b", {}, number(data.curve.at(-1), { sign: true }))),
    drawCurve(data.curve),
    el(
      "table.players",
      {},
      el("thead", {}, el("tr", {}, ["", "VP$IP", "PFR", "AF", t("session.won")].map((title) => el("th", { scope: "col", title: about(title) }, title)))),
      el(
        "tbody",
        {},
        data.players.map((player, i) =>
          el(
            "tr",
            { class: i ? "" : "mine" },
            el("th", { scope: "row" }, names[seat(i)]),
            [player["VP$IP"], player.PFR].map((share) => el("td", {}, `${Math.round(share)} %`)),
            el("td", {}, number(player.AF, { places: 1 })),
            el("td", {}, number(player.won, { sign: true })),
          ),
        ),
      ),
    ),
    el(
      "p.downloads",
      {},
      Object.entries(FORMATS).map(([ending, name]) =>
        el("a.tool", { href: `/api/session/${message.table}?ending=${ending}`, download: "", title: t("replay.history") }, name),
      ),
    ),
  );
}

const about = (title) => ({ "VP$IP": t("session.vpip"), PFR: t("session.pfr"), AF: t("session.af") })[title] ?? null;

const [WIDTH, HEIGHT] = [280, 70];

/** What was won, hand by hand. */
function drawCurve(curve) {
  const [low, high] = [Math.min(0, ...curve), Math.max(1, ...curve)];
  const x = (i) => (curve.length > 1 ? (i / (curve.length - 1)) * WIDTH : 0);
  const y = (value) => 4 + (1 - (value - low) / (high - low)) * (HEIGHT - 8);
  return el(
    "div.curve.session-curve",
    { role: "img", "aria-label": `${t("session.won")}: ${curve.map((value) => number(value)).join(", ")}` },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" },
      svg("line", { class: "zero", x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }),
      svg("polyline", { class: "mean", points: curve.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }),
    ),
  );
}
