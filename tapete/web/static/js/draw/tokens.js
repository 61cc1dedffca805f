/** Small things: chips, matches for the score of truco, signs of hands, and the marks of the house. */

import { el, svgText } from "../dom.js";

const edge = (colour) =>
  Array.from(
    { length: 8 },
    (_, i) =>
      `<path d="M20 1.500a18.5 18.5 0 0 1 7 1.400l-2.2 5.200a13 13 0 0 0-4.8-1Z" fill="${colour}" transform="rotate(${i * 45} 20 20)"/>`,
  ).join("");

/** A poker chip (40 x 40). */
export const chip = (colour = "#b5382a") =>
  svgText(
    40,
    40,
    `<circle cx="20" cy="20" r="19" fill="${colour}" stroke="#2a1a12" stroke-width=".8"/>${edge("#fbf3df")}<circle cx="20" cy="20" r="12.5" fill="${colour}" stroke="#fbf3df" stroke-width="1.5"/><circle cx="20" cy="20" r="9" fill="none" stroke="#fbf3df" stroke-dasharray="2 2"/>`,
  );

/** The button of the dealer (40 x 40). */
export const dealer = () =>
  svgText(
    40,
    40,
    `<circle cx="20" cy="20" r="18.5" fill="#fbf5e6" stroke="#7d500d" stroke-width="1.5"/><circle cx="20" cy="20" r="15" fill="none" stroke="#c9a04c"/><text x="20" y="27.5" text-anchor="middle" font-size="21" font-weight="700" fill="#3a2a1c" font-family="Georgia, serif">D</text>`,
  );

/** Points of truco as matches: four make a square, the fifth lies across it (26 x 26 a square of five). */
export function matches(points) {
  const sticks = ["M4 4V22", "M4 4H22", "M22 4V22", "M4 22H22", "M4 22L22 4"];
  const stick = (d) => `<path d="${d}" stroke="#ecd3a0" stroke-width="2.6" stroke-linecap="round"/>`;
  const tip = ["4 4", "22 4", "22 22", "4 22", "22 4"].map((at) => at.split(" "));
  const squares = Math.max(1, Math.ceil(points / 5));
  let inside = "";
  for (let i = 0; i < points; i++) {
    const [x, y] = tip[i % 5];
    const dx = 30 * Math.floor(i / 5) + (i >= 15 ? 10 : 0); // malas and buenas apart
    inside += `<g transform="translate(${dx} 0)" fill="none">${stick(sticks[i % 5])}<circle cx="${x}" cy="${y}" r="2.3" fill="#c2442f"/></g>`;
  }
  return svgText(30 * squares + (points > 15 ? 10 : 0), 26, inside);
}

const HANDS = {
  rock: '<path d="M14 24q-1-8 5-9q2-4 6-3q3-3 7 0q5-1 6 4q5 2 4 9q0 10-8 14v6H20v-6q-6-5-6-15Z"/><path d="M19 15q1 6 1 10M26 12q1 6 0 11M33 13q0 6-1 10M20 25q8 4 14-2" fill="none"/>',
  paper:
    '<path d="M13 29L9 20q0-4 4-3l5 7V9q0-4 3-4t3 4v10V6q0-4 3.5-4T31 6v13V8q0-4 3-4t3 4v13l1-8q1-3 3.5-2.500T43 14l-2 20q-1 6-6 7v4H20v-4q-4-3-7-12Z"/>',
  scissors:
    '<path d="M16 28q-3-6 2-8L12 7q-1-4 2-5t5 3l6 13l4-14q1-4 4-3t3 5l-2 13q6 1 6 7q0 10-7 14v5H20v-5q-5-4-4-12Z"/><path d="M18 20q6 0 7 6M25 18q1 4 0 7M34 19q-1 4-3 7M25 26q5 2 9-1" fill="none"/>',
};

/** The hand of a choice in rock, paper, scissors (50 x 50); null for any other choice. */
export const handSign = (name) =>
  name in HANDS
    ? svgText(
        50,
        50,
        `<g fill="#f3d6ae" stroke="#3a2a1c" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round">${HANDS[name]}</g>`,
      )
    : null;

/** The mark of the house: a mat with a woven edge (40 x 40). */
export const mark = () =>
  svgText(
    40,
    40,
    `<rect x="3" y="7" width="34" height="26" rx="4" fill="#1f6b4f" stroke="#c9973f" stroke-width="2"/><rect x="7.5" y="11.5" width="25" height="17" rx="2" fill="none" stroke="#c9973f" stroke-dasharray="2.5 2"/><path d="M20 13.500L26 20L20 26.500L14 20Z" fill="#f3dca2"/>`,
  );

/** A rank as it is written where there is no room for a card. */
export const rankSign = (rank) => ({ T: "10", B: "☆", R: "★" })[rank] ?? rank;

/** Cards as small as letters. @param {Iterable<string>} ranks */
export const miniCards = (ranks) =>
  el(
    "span.minis",
    { "aria-hidden": "true" },
    [...ranks].map((rank) => el("span.mini", { class: rank === "R" ? "red" : "" }, rankSign(rank))),
  );
