/** What an agent thinks of a position that the person has seen: odds as bars, and values. */

import { el } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { agentName, moveWord } from "./i18n/speech.js";
import { change, settings } from "./settings.js";

const MOST = 8; // moves that are listed
const CRUMB = 0.0005; // a share that is not worth a line

/** The part of the panel with the last thought, and when thoughts are shown. */
export function drawThinking(thought, deck) {
  const option = (value) => el("option", { value, selected: settings.thinking === value }, t(`thought.${value}`));
  const when = el(
    "select",
    { "aria-label": t("thought.when"), on: { change: (event) => change("thinking", event.target.value) } },
    ["never", "after", "always"].map(option),
  );
  const empty = () => el("p.empty", {}, settings.thinking === "never" ? t("thought.hidden") : t("thought.none"));
  return [
    el("div.panel-head", {}, el("h2", {}, t("table.thinking")), when),
    thought ? drawThought(thought, deck) : empty(),
  ];
}

/** Bars for a thought. */
function drawThought(thought, deck) {
  const ranked = [...thought.moves].sort(
    (a, b) => b.share - a.share || (b.value ?? -Infinity) - (a.value ?? -Infinity),
  );
  const shown = ranked.filter((move, i) => i < MOST && (move.share > CRUMB || i < 3));
  const own =
    thought.chosen !== null && thought.chosen !== undefined
      ? ranked.find((move) => move.action === thought.chosen)
      : null;
  if (own && !shown.includes(own)) shown.push(own);
  return el(
    "div.thought",
    {},
    el(
      "p.by",
      {},
      t("thought.title", thought.called || thought.by.split(" + ").map(agentName).join(" + ")),
      thought.value === null || thought.value === undefined
        ? null
        : [" — ", t("thought.value", number(thought.value, { sign: true, fixed: true }))],
      thought.in_wins && thought.moves.some(({ value }) => typeof value === "number") ? ` (${t("review.worth.win")})` : null,
    ),
    el(
      "table.bars",
      {},
      el(
        "thead.sr",
        {},
        el(
          "tr",
          {},
          ["thought.move", "thought.share", "thought.worth"].map((key) => el("th", { scope: "col" }, t(key))),
        ),
      ),
      el(
        "tbody",
        {},
        shown.map((move) => bar(move, move === own, deck)),
      ),
    ),
  );
}

function bar(move, isOwn, deck) {
  const percent = `${Math.round(100 * move.share)} %`;
  return el(
    "tr",
    { class: isOwn ? "own" : "", title: isOwn ? t("thought.yours") : null },
    el(
      "th",
      { scope: "row" },
      moveWord(move.text, deck, "todo"),
      isOwn ? el("span.tick", { role: "img", "aria-label": t("thought.yours") }, " ●") : null,
    ),
    el("td", {}, el("span.bar", { vars: { share: move.share.toFixed(4) } }), el("span.percent", {}, percent)),
    el(
      "td.worth",
      {},
      move.value === null || move.value === undefined ? "" : number(move.value, { sign: true, fixed: true }),
    ),
  );
}

/** Short values by action, for the squares of a board. @returns {Map<number, {text: string, best: boolean}>} */
export function worths(thought) {
  const known = thought.moves.filter((move) => move.value !== null && move.value !== undefined);
  const best = Math.max(...known.map((move) => move.value));
  return new Map(
    known.map((move) => [
      move.action,
      { text: number(move.value, { sign: true, fixed: true }), best: move.value === best },
    ]),
  );
}

/** The move that it would rather make than any other. */
export const favourite = (thought) => thought.moves.reduce((a, b) => (b.share > a.share ? b : a));
