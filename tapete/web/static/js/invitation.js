/** The invitation to a table: its address to copy, and as a code for a phone's camera. */

import { el, svg } from "./dom.js";
import { t } from "./i18n/index.js";
import { qrCode } from "./qr.js";
import { openDialog } from "./rules.js";

const QUIET = 4; // squares of light around a code, without which cameras don't find it

/** Whether an address means this machine, whoever asks for it. */
export const isHere = (host) => /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i.test(host);

/** Shows the invitation. @param {{table: string, invite: string}} message */
export function showInvitation({ table, invite }) {
  const address = `${location.origin}/t/${table}?invite=${invite}`;
  const field = el("input", { type: "text", readonly: true, value: address, "aria-label": t("invite.address") });
  const copy = el("button.move.primary", { type: "button", on: { click: () => copyFrom(field, copy) } }, t("invite.copy"));
  const code = drawCode(address);
  openDialog(
    t("invite.title"),
    el(
      "div.invitation",
      {},
      isHere(location.hostname) ? el("p.warning", { role: "alert" }, t("invite.here")) : el("p", {}, t("invite.how")),
      el("div.invitation-address", {}, field, copy),
      code,
    ),
  );
  copy.focus();
}

async function copyFrom(field, button) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    button.textContent = t("table.copied");
  } catch {
    field.focus(); // no clipboard here: it is selected, and can be copied by hand
  }
}

/** A code as one path; nothing where the text is too long for one. */
function drawCode(text) {
  const code = qrCode(text);
  if (!code) return null;
  const size = code.rows.length + 2 * QUIET;
  const squares = code.rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : "")));
  return svg(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, class: "qr", role: "img", "aria-label": t("invite.code"), "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#fff" }),
    svg("path", { d: squares.join(""), fill: "#000" }),
  );
}
