/** Discs of Othello (50 x 50). */

import { svgText } from "../dom.js";

/** Shades of the discs, drawn once in the page. */
export const SIGNS = `
<radialGradient id="disc-black" cx=".38" cy=".32" r=".8"><stop offset="0" stop-color="#5a5f66"/><stop offset=".55" stop-color="#23262b"/><stop offset="1" stop-color="#0b0c0e"/></radialGradient>
<radialGradient id="disc-white" cx=".38" cy=".32" r=".8"><stop offset="0" stop-color="#ffffff"/><stop offset=".6" stop-color="#f1ece0"/><stop offset="1" stop-color="#c9c1ae"/></radialGradient>`;

/** @returns {string|null} the text of a drawing: "black" or "white" */
export const disc = (face) =>
  face === "black" || face === "white"
    ? svgText(
        50,
        50,
        `<ellipse cx="26" cy="28.5" rx="21" ry="20.5" fill="#000" opacity=".32"/><circle cx="25" cy="25" r="21" fill="url(#disc-${face})" stroke="${face === "black" ? "#000" : "#b8ae98"}" stroke-width=".8"/><circle cx="25" cy="25" r="16.5" fill="none" stroke="${face === "black" ? "#fff" : "#000"}" stroke-opacity=".1"/>`,
      )
    : null;
