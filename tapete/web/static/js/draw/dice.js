/** Dice (50 x 50), and the cup that hides them (90 x 90). */

import { svgText } from "../dom.js";

const SPOTS = {
  1: [[25, 25]],
  2: [
    [14, 14],
    [36, 36],
  ],
  3: [
    [13, 13],
    [25, 25],
    [37, 37],
  ],
  4: [
    [14, 14],
    [36, 14],
    [14, 36],
    [36, 36],
  ],
  5: [
    [13, 13],
    [37, 13],
    [25, 25],
    [13, 37],
    [37, 37],
  ],
  6: [
    [14, 12.5],
    [36, 12.5],
    [14, 25],
    [36, 25],
    [14, 37.5],
    [36, 37.5],
  ],
};

/**
 * @param {string} face a number; an empty one is a die nobody may see
 * @returns {string} the text of a drawing
 */
export function die(face) {
  const number = /^\d{1,2}$/.test(face) ? +face : 0;
  const ink = number === 1 ? "#b2302a" : "#22242b";
  const marks = SPOTS[number]
    ? SPOTS[number]
        .map(([x, y]) => `<circle cx="${x}" cy="${y}" r="${number === 1 ? 6.4 : 4.6}" fill="${ink}"/>`)
        .join("")
    : `<text x="25" y="34" text-anchor="middle" font-size="26" font-weight="700" fill="#22242b" font-family="Georgia, serif">${number || "?"}</text>`;
  return svgText(
    50,
    50,
    `<rect x="2" y="3.5" width="46.5" height="46" rx="10" fill="#9c8a66"/><rect x="1.5" y="1" width="46.5" height="46" rx="10" fill="#fdf8ea" stroke="#b5a57f"/><path d="M9 4h31" stroke="#fff" stroke-width="2" stroke-linecap="round"/>${marks}`,
  );
}

/** A leather cup, upside down. @returns {string} the text of a drawing */
export const cup = () =>
  svgText(
    90,
    90,
    `<ellipse cx="45" cy="81" rx="40" ry="7" fill="#000" opacity=".28"/>
  <path d="M20 12Q45 5 70 12L82 78Q45 90 8 78Z" fill="#7b4526" stroke="#3f2010" stroke-width="1.5"/>
  <path d="M58 10Q66 10.5 70 12L82 78Q72 83 62 83Z" fill="#5f331a"/>
  <ellipse cx="45" cy="12" rx="25" ry="5.5" fill="#96592f" stroke="#3f2010" stroke-width="1.2"/>
  <path d="M16 34Q45 42 74 34M10 66Q45 77 80 66" fill="none" stroke="#d9b56a" stroke-width="2.2"/>
  <path d="M16 38Q45 46 74 38M10.5 62Q45 73 79.5 62" fill="none" stroke="#d9b56a" stroke-width=".8" stroke-dasharray="3 2"/>
  <path d="M26 18L20 76" stroke="#b77b4a" stroke-width="3" stroke-linecap="round" opacity=".6"/>`,
  );
