/** The rules of a game in a dialog: its README in the language of the page, as a page. */

import { el, refill } from "./dom.js";
import { language, t } from "./i18n/index.js";
import { get } from "./net.js";

/** Opens a dialog with the rules. */
export async function showRules(game) {
  const body = el("div.prose", {}, "…");
  const dialog = openDialog(t("rules.title"), body);
  try {
    refill(body, prose(await get(`/api/rules?name=${encodeURIComponent(game)}&language=${language()}`)));
  } catch (error) {
    refill(body, error.message);
  }
  return dialog;
}

/** A dialog that closes by a click outside, by its button, and by Escape. */
export function openDialog(title, body) {
  const dialog = el(
    "dialog",
    { "aria-label": title },
    el(
      "div.dialog-head",
      {},
      el("h2", {}, title),
      el("button.tool", { type: "button", "aria-label": t("table.close"), on: { click: () => dialog.close() } }, "✕"),
    ),
    el("div.dialog-body", {}, body),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const ENOUGH = /^## (Notation|Observation|Features|Sources|Size|Counts|What)/; // from here on it is for people who program

/** A page from the little Markdown that READMEs of games use; every text goes in as text. */
export function prose(text) {
  const nodes = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (ENOUGH.test(line)) break;
    if (!line.trim()) i++;
    else if (line.startsWith("#")) {
      const level = Math.min(4, line.match(/^#+/)[0].length + 1);
      nodes.push(el(`h${level}`, {}, inline(line.replace(/^#+\s*/, ""))));
      i++;
    } else if (line.startsWith("```")) {
      const end = lines.indexOf("```", i + 1);
      nodes.push(el("pre", {}, lines.slice(i + 1, end).join("\n")));
      i = end < 0 ? lines.length : end + 1;
    } else if (line.startsWith("|")) {
      const rows = take(lines, i, (row) => row.startsWith("|"));
      nodes.push(tableOf(rows));
      i += rows.length;
    } else if (/^[-*] /.test(line)) {
      const items = take(lines, i, (row) => /^([-*] |\s+\S)/.test(row));
      nodes.push(
        el(
          "ul",
          {},
          joined(items).map((item) => el("li", {}, inline(item))),
        ),
      );
      i += items.length;
    } else {
      const paragraph = take(lines, i, (row) => row.trim() && !/^(#|\||```|[-*] )/.test(row));
      nodes.push(el("p", {}, inline(paragraph.join(" "))));
      i += paragraph.length;
    }
  }
  return nodes;
}

function take(lines, from, belongs) {
  let to = from + 1;
  while (to < lines.length && belongs(lines[to])) to++;
  return lines.slice(from, to);
}

/** Items of a list, each with the lines that follow it. */
const joined = (lines) =>
  lines.reduce(
    (items, line) =>
      /^[-*] /.test(line) ? [...items, line.slice(2)] : [...items.slice(0, -1), `${items.at(-1)} ${line.trim()}`],
    [],
  );

function tableOf(rows) {
  const cells = rows.filter((row) => !/^\|[\s|:-]+\|$/.test(row)).map((row) => row.split("|").slice(1, -1));
  const [head, ...body] = cells;
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        head.map((cell) => el("th", { scope: "col" }, inline(cell.trim()))),
      ),
    ),
    el(
      "tbody",
      {},
      body.map((row) =>
        el(
          "tr",
          {},
          row.map((cell) => el("td", {}, inline(cell.trim()))),
        ),
      ),
    ),
  );
}

/** Bold, italic and code in a line; links are shown as their text. */
function inline(text) {
  return text
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .split(/(\*\*[^*]+\*\*|`[^`]+`|\*[^*\s][^*]*\*)/)
    .map((piece) => {
      if (/^\*\*.+\*\*$/.test(piece)) return el("strong", {}, piece.slice(2, -2));
      if (/^`.+`$/.test(piece)) return el("code", {}, piece.slice(1, -1));
      if (/^\*.+\*$/.test(piece)) return el("em", {}, piece.slice(1, -1));
      return piece;
    });
}
