/** Boards: squares with discs, claims of dudo, tables of payoffs. */

import { el } from "../dom.js";
import { t } from "../i18n/index.js";
import { choiceName, faceName, partName } from "../i18n/speech.js";
import { draw } from "./index.js";

/** @param {Object} part of a scene @param {Object} context see `felt.js` */
export const drawBoard = (part, context) => (part.kind === "disc" ? squares(part, context) : grid(part, context));

/** A board of squares, each a button where a disc may be laid. */
function squares(part, context) {
  const across = part.columns.length;
  const rows = part.rows.map((row, y) =>
    el(
      "div.squares",
      { role: "row" },
      el("span.rank", { "aria-hidden": "true" }, row),
      part.columns.map((column, x) => square(part, context, y * across + x, `${column}${row}`)),
    ),
  );
  const files = el(
    "div.squares.files",
    { "aria-hidden": "true" },
    el("span.rank"),
    part.columns.map((column) => el("span.file", {}, column)),
  );
  return el("div.board.discs", { role: "grid", "aria-label": partName(part.name), vars: { across } }, files, rows);
}

function square(part, context, index, name) {
  const face = part.cells[index];
  const [move] = context.movesAt(part, index);
  const data = { key: `${part.name}//${index}`, disc: face };
  const label = t("table.board", name, move ? t("table.legal") : face ? faceName("disc", face) : t("table.empty"));
  const worth = move && context.worth?.get(move.action);
  const inside = [
    face ? draw("disc", face) : null,
    worth ? el("span.worth", { class: worth.best ? "best" : "" }, worth.text) : null,
  ];
  const isLast = index === part.last ? "last" : "";
  const cell = move
    ? el(
        "button.square.legal",
        {
          class: isLast,
          type: "button",
          data: { ...data, move: move.action },
          "aria-label": label,
          on: { click: () => context.pick(part, index) },
        },
        inside,
      )
    : el("span.square", { class: isLast, data, role: "img", "aria-label": label }, inside);
  return el("span.cell", { role: "gridcell" }, cell);
}

/** A table with numbers or marks; a cell may be a move, and so may a whole row or column that has the name of a choice. */
function grid(part, context) {
  const across = part.columns.length;
  const isClaims = part.name === "claims";
  const head = (text, scope) =>
    el(
      "th",
      { scope, class: context.chosen?.(text, scope) ? "chosen" : "" },
      isClaims && scope === "col"
        ? el("span.mini-die", { role: "img", "aria-label": text }, draw("die", text))
        : isClaims
          ? text.replace("x", " ×")
          : choiceName(text),
    );
  const cell = (index) => {
    const [move] = context.movesAt(part, index);
    const value = part.cells[index];
    const classes = `${index === part.last ? "last" : ""} ${isClaims ? (value ? "made" : "") : tone(value)}`;
    if (!move)
      return el(
        "td",
        { class: classes },
        isClaims && value ? el("span.dot", { role: "img", "aria-label": partName("claim") }) : value.replaceAll("-", "−"),
      );
    const name = `${part.rows[Math.floor(index / across)].replace("x", " × ")}${part.columns[index % across]}`;
    return el(
      "td",
      { class: classes },
      el(
        "button.claim.legal",
        {
          type: "button",
          data: { key: `${part.name}//${index}`, move: move.action },
          "aria-label": name,
          on: { click: () => context.pick(part, index) },
        },
        isClaims ? name.replace(/\s/g, "").replace("×", "×") : value,
      ),
    );
  };
  return el(
    "div.board.grid",
    { class: isClaims ? "claims" : "payoffs", vars: { down: part.rows.length } },
    el(
      "table",
      { "aria-label": partName(part.name) },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("td"),
          part.columns.map((column) => head(column, "col")),
        ),
      ),
      el(
        "tbody",
        {},
        part.rows.map((row, y) =>
          el(
            "tr",
            { class: isClaims && part.last !== null && (y + 1) * across <= part.last ? "past" : "" },
            head(row, "row"),
            part.columns.map((_, x) => cell(y * across + x)),
          ),
        ),
      ),
    ),
  );
}

/** Gains and losses look different. */
const tone = (value) => (/^-/.test(value) ? "loss" : /^[1-9]/.test(value) && !value.includes(",") ? "gain" : "");
