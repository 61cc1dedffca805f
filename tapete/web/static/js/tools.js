/** What stands above a table and what can be done when a game is over: help, steering, invitations, another game. */

import { el } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { gameTitle, seatNames } from "./i18n/speech.js";
import { showInvitation } from "./invitation.js";
import { openDialog, showRules } from "./rules.js";
import { isPoker } from "./session.js";
import { change } from "./settings.js";

const SLOWEST = 2000; // ms between two moves of agents that are watched

const keyCap = (key) => (key ? el("kbd", { "aria-hidden": "true" }, key) : null);

const tool = (label, run, { key = "", disabled = false, kind = "" } = {}) =>
  el(
    "button.tool",
    { type: "button", class: kind, disabled, "aria-keyshortcuts": key || null, on: { click: run } },
    label,
    keyCap(key),
  );

/**
 * The bar above the table.
 * @param {Object} message the table as the server tells it
 * @param {boolean} isMyTurn
 * @param {{send: function(Object), hint: function(), say: function(string)}} hooks
 */
export function drawTools(message, isMyTurn, hooks) {
  const isPlaying = message.seat !== null && !message.over && message.complete;
  const isSteering = message.watching && message.can_steer && !message.over;
  const undo = () => hooks.send({ do: "undo" });
  return [
    el("h1", {}, gameTitle(message.title)),
    message.practice ? el("span.tag", {}, t("table.practice")) : null,
    message.seat !== null && !message.counted && !message.practice ? el("span.tag", {}, t("table.uncounted")) : null,
    message.watching ? el("span.tag", {}, t("table.watching")) : null,
    el("span.space"),
    message.invite
      ? tool(t("table.invite"), () => showInvitation(message), { kind: "primary" })
      : null,
    isSteering ? steering(message, hooks.send) : null,
    isPlaying ? tool(t("table.hint"), hooks.hint, { key: "h", disabled: !isMyTurn }) : null,
    message.practice ? tool(t("table.undo"), undo, { key: "u", disabled: !message.can_undo }) : null,
    tool(t("table.rules"), () => showRules(message.game)),
    tool(t("table.story"), () => document.querySelector(".panel").scrollIntoView(), { kind: "to-panel" }),
  ];
}

/** Agents that are watched: running or not, one move, how fast. */
function steering({ running, pace }, send) {
  const slider = el("input", {
    type: "range",
    min: 0,
    max: SLOWEST,
    step: 100,
    value: pace,
    "aria-label": t("table.pace"),
    on: { change: (event) => send({ do: "pace", ms: +event.target.value }) },
  });
  return [
    tool(running ? t("table.pause") : t("table.run"), () => send({ do: "run", on: !running }), { kind: "primary" }),
    tool(t("table.step"), () => send({ do: "step" }), { disabled: running }),
    el("label.pace", {}, el("span", {}, t("table.pace")), slider),
  ];
}

/** Asks somebody who has just come in what to call him; a name may be left empty. */
export function askName(then) {
  const input = el("input", { type: "text", maxlength: 24, autocomplete: "nickname", "aria-label": t("setup.name") });
  const done = (event) => {
    event.preventDefault();
    change("name", input.value.trim());
    dialog.close();
    then();
  };
  const form = el(
    "form.ask-name",
    { on: { submit: done } },
    input,
    el("button.move.primary", { type: "submit" }, t("table.sitDown")),
  );
  const dialog = openDialog(t("setup.name"), form);
  input.focus();
}

/** Another game; in poker the next hand, for which the button moves on. */
const another = (message, send) =>
  isPoker(message)
    ? [t("table.nextHand"), () => send({ do: "swap" })]
    : [t("table.again"), () => send({ do: "again" })];

/**
 * What can be done after the last card.
 * @param {Object} message the table as the server tells it
 * @param {{send: function(Object), go: function(string)}} hooks
 */
export function drawAfter(message, { send, go }) {
  const button = (label, run, kind = "", key = "") =>
    el(
      "button.move",
      { class: kind, type: "button", data: { key: label }, "aria-keyshortcuts": key || null, on: { click: run } },
      label,
      keyCap(key),
    );
  const { games, returns } = message.totals;
  const scores = seatNames(message.seats).map((name, i) => `${name} ${number(returns[i], { sign: true })}`);
  return [
    el(
      "div.tray.after",
      {},
      message.can_steer ? button(...another(message, send), "primary", "a") : null,
      message.can_steer && message.seat !== null && !isPoker(message)
        ? button(t("table.swap"), () => send({ do: "swap" }))
        : null,
      button(t("table.replay"), () => go(`/g/${message.game_id}`)),
      button(t("table.lobby"), () => go("/"), "quiet"),
    ),
    games > 1 && !isPoker(message) ? el("p.totals", {}, t("table.totals", games, scores.join(", "))) : null,
  ];
}
