/** Everything that can lie on a table, by its kind and face. */

import { drawing, svg, svgText } from "../dom.js";
import { SIGNS as FRENCH, HEIGHT as FRENCH_HEIGHT, cardBack, cornerCard, frenchCard } from "./cards-french.js";
import { SIGNS as SPANISH, HEIGHT as SPANISH_HEIGHT, spanishCard } from "./cards-spanish.js";
import { die } from "./dice.js";
import { SIGNS as DISCS, disc } from "./disc.js";
import { domino } from "./domino.js";

const KINDS = {
  spanish: (face) => spanishCard(face) ?? cardBack(SPANISH_HEIGHT),
  french: (face) => frenchCard(face) ?? cardBack(FRENCH_HEIGHT),
  suited: (face) => cornerCard(face) ?? cardBack(FRENCH_HEIGHT), // ranks to which suits were added, see suits.js
  number: (face) => frenchCard(face) ?? cardBack(FRENCH_HEIGHT),
  domino,
  die,
  disc,
};

/** Whether things of this kind are cards, which overlap in a hand. */
export const isCard = (kind) => ["spanish", "french", "number"].includes(kind);

/**
 * A thing as a drawing; an empty face lies face down. A kind or a face that nobody has drawn yet is shown as its text.
 * @param {string} kind
 * @param {string} face
 */
export function draw(kind, face) {
  const text = KINDS[kind]?.(face);
  if (text) return drawing(text);
  const label = svg("text", { x: 50, y: 76, "text-anchor": "middle", "font-size": 24, fill: "#2b2620" }, face);
  return svg(
    "svg",
    { viewBox: "0 0 100 140", class: "unknown", "aria-hidden": "true" },
    svg("rect", { width: 100, height: 140, rx: 7, fill: "#fffdf8" }),
    label,
  );
}

/** Puts what drawings share into the page, once. */
export function shareSigns() {
  const sprite = drawing(svgText(0, 0, `<defs>${SPANISH}${FRENCH}${DISCS}</defs>`));
  sprite.setAttribute("class", "sprite");
  document.body.prepend(sprite);
}
