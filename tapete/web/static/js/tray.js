/** The moves that are not made on a thing of the table, and a way through hundreds of moves that are sets of cards. */

import { drawing, el } from "./dom.js";
import { handSign, miniCards } from "./draw/tokens.js";
import { t } from "./i18n/index.js";
import { moveName } from "./i18n/speech.js";

const MOST_SHOWN = 24; // of sets of cards; the rest is reached by picking cards or by search

/** Whether the moves are sets of cards of the hand: then cards are picked before a move is. */
export const isCardSets = (moves, deck) => deck === "ranks" && moves.some((move) => move.place && move.text.length > 1);

const countOf = (cards) => {
  const count = {};
  for (const card of cards) count[card] = (count[card] ?? 0) + 1;
  return count;
};

/** Whether all cards of one are in the other. */
const contains = (whole, part) => Object.entries(part).every(([card, count]) => (whole[card] ?? 0) >= count);

/**
 * Moves that have all the picked cards (and the text that is looked for), the shortest first.
 * @param {Object[]} moves
 * @param {string[]} picked faces
 * @param {string} query as it is typed
 */
export function matching(moves, picked, query) {
  const wanted = query
    .toUpperCase()
    .replaceAll("10", "T")
    .replace(/[^0-9A-Z]/g, "");
  const part = countOf([...picked, ...wanted]);
  return moves
    .filter((move) => move.place && contains(countOf(move.text), part))
    .sort((a, b) => a.text.length - b.text.length);
}

/** Which cards of a hand are in some move together with those that are picked. */
export function usable(moves, hand, picked) {
  const chosen = countOf(picked.map((i) => hand[i]));
  const left = moves
    .filter((move) => move.place && contains(countOf(move.text), chosen))
    .map((move) => countOf(move.text));
  return hand.map((face, i) => picked.includes(i) || left.some((count) => (count[face] ?? 0) > (chosen[face] ?? 0)));
}

function moveButton(move, deck, play, kind = "", price = "") {
  const isCards = deck === "ranks" && move.place;
  const sign = handSign(move.text);
  return el(
    "button.move",
    {
      class: `legal ${kind}`,
      type: "button",
      data: { key: `move/${move.text}`, move: move.action },
      "aria-label": isCards ? moveName(move.text, deck) : null,
      on: { click: () => play(move.action) },
    },
    sign ? drawing(sign) : null,
    isCards ? miniCards(move.text) : moveName(move.text, deck),
    price ? el("span.price", {}, price) : null,
  );
}

/**
 * The buttons of a table of payoffs before they can be pressed: they are known from the first moment on, and have their
 * place, so that nothing jumps when it is one's turn.
 * @returns {HTMLElement|null} null where the game has no such table
 */
export function comingTray({ scene, seat }) {
  const board = scene.parts.find((part) => part.name === "payoffs");
  if (!board || seat === null) return null;
  const moves = [board.rows, board.columns][seat].map((text, action) => ({ text, action, place: null }));
  const { node } = drawTray({ moves, price: "", deck: "", picked: [], options: null, query: "", hooks: {} });
  node.classList.add("coming");
  node.inert = true;
  for (const button of node.children) {
    button.classList.remove("legal");
    delete button.dataset.move;
  }
  return node;
}

const NEGATIVE = ["fold", "no-quiero", "mazo", "pass"];
const tone = (move) => (NEGATIVE.includes(move.text) ? "quiet" : "");

/**
 * @param {Object} input
 * @param {Object[]} input.moves legal now
 * @param {string} input.price what a call costs
 * @param {string} input.deck
 * @param {string[]} input.picked faces of the picked cards, in a game of sets
 * @param {Object[]|null} input.options moves on the thing that was clicked, where there are several
 * @param {string} input.query
 * @param {{play: function(number), search: function(string), clear: function()}} input.hooks
 * @returns {{node: HTMLElement, order: number[]}} the tray, and the actions in the order of their numbers
 */
export function drawTray({ moves, price, deck, picked, options, query, hooks }) {
  if (isCardSets(moves, deck)) return cardTray(moves, deck, picked, query, hooks);
  if (options) {
    const node = el(
      "div.tray",
      { role: "group", "aria-label": t("table.ends") },
      el("span.ask", {}, t("table.ends")),
      options.map((move) => moveButton(move, deck, hooks.play, "primary")),
      el("button.move.quiet", { type: "button", data: { key: "clear" }, on: { click: hooks.clear } }, t("table.clear")),
    );
    return { node, order: options.map((move) => move.action) };
  }
  const buttons = moves.filter((move) => !move.place || move.place.part === "boneyard");
  const node = el(
    "div.tray",
    { role: "group", "aria-label": t("table.moves"), class: buttons.length > 8 ? "many" : "" },
    buttons.map((move) => moveButton(move, deck, hooks.play, tone(move), move.text === "call" ? price : "")),
  );
  return { node, order: moves.map((move) => move.action) };
}

function cardTray(moves, deck, picked, query, hooks) {
  const found = matching(moves, picked, query);
  const exact = picked.length ? found.find((move) => move.text.length === picked.length) : null;
  const shown = found.filter((move) => move !== exact).slice(0, MOST_SHOWN);
  const others = moves.filter((move) => !move.place);
  const total = moves.length - others.length;
  const search = el("input.search", {
    type: "search",
    placeholder: t("table.search"),
    "aria-label": t("table.search"),
    value: query,
    data: { key: "search" },
    maxlength: 24,
    autocomplete: "off",
    on: { input: (event) => hooks.search(event.target.value) },
  });
  const count = shown.length + (exact ? 1 : 0);
  const told =
    total && !found.length ? t("table.none") : count < found.length ? t("table.shown", count, found.length) : "";
  const first = [
    exact
      ? el(
          "button.move.legal.primary",
          { type: "button", data: { key: "exact", move: exact.action }, on: { click: () => hooks.play(exact.action) } },
          t("table.play", ""),
          miniCards(exact.text),
        )
      : null,
    others.map((move) => moveButton(move, deck, hooks.play, "quiet")),
    picked.length || query
      ? el(
          "button.move.quiet",
          { type: "button", data: { key: "clear" }, on: { click: hooks.clear } },
          t("table.clear"),
        )
      : null,
    total > 12 ? search : null,
    told ? el("p.told", {}, told) : null,
  ];
  const node = el(
    "div.tray.sets",
    { role: "group", "aria-label": t("table.moves") },
    el("div.first", {}, first),
    el(
      "div.list",
      {},
      shown.map((move) => moveButton(move, deck, hooks.play)),
    ),
  );
  return { node, order: [...(exact ? [exact] : []), ...others, ...shown].map((move) => move.action) };
}
