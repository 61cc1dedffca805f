/** The French deck, "Ah"; ranks without a suit, "7" or "K"; the jokers "B" and "R"; plain numbers. 100 x 140. */

import { svgText } from "../dom.js";

export const WIDTH = 100;
export const HEIGHT = 140;

const RED = "#c5281f";
const BLACK = "#22242b";
const COLOUR = { h: RED, d: RED, s: BLACK, c: BLACK };

/** Signs of the suits and the pattern of the backs, drawn once in the page. */
export const SIGNS = `
<symbol id="fr-h" viewBox="0 0 40 40"><path d="M20 37C7 25 2.5 18 2.5 11.800C2.5 6 6.6 2.6 11.3 2.600c4 0 7.2 2.4 8.7 6.400c1.5-4 4.7-6.4 8.7-6.400c4.7 0 8.8 3.4 8.8 9.200C37.5 18 33 25 20 37Z" fill="${RED}"/></symbol>
<symbol id="fr-d" viewBox="0 0 40 40"><path d="M20 1.500C24 9.5 29 15.5 34.5 20C29 24.5 24 30.5 20 38.500C16 30.5 11 24.5 5.5 20C11 15.5 16 9.5 20 1.500Z" fill="${RED}"/></symbol>
<symbol id="fr-s" viewBox="0 0 40 40"><path d="M20 1.500C23 10 36.5 16 36.5 25c0 5-3.6 8-7.6 8c-3 0-5.6-1.4-7.2-4C22.2 33 23.2 36.4 26.5 38.500h-13C16.8 36.4 17.8 33 18.3 29c-1.6 2.6-4.2 4-7.2 4c-4 0-7.6-3-7.6-8C3.5 16 17 10 20 1.500Z" fill="${BLACK}"/></symbol>
<symbol id="fr-c" viewBox="0 0 40 40"><g fill="${BLACK}"><circle cx="20" cy="10.8" r="8.6"/><circle cx="10.8" cy="23.2" r="8.6"/><circle cx="29.2" cy="23.2" r="8.6"/><path d="M18 18h4C21.4 29 22.6 35.5 27 38.500H13C17.4 35.5 18.6 29 18 18Z"/></g></symbol>
<pattern id="card-back" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="10" height="10" fill="#7d2632"/><path d="M0 5h10M5 0v10" stroke="#d9b56a" stroke-width="1"/><circle cx="5" cy="5" r="1.7" fill="#f3dca2"/><circle r="1.1" fill="#f3dca2"/><circle cx="10" r="1.1" fill="#f3dca2"/><circle cy="10" r="1.1" fill="#f3dca2"/><circle cx="10" cy="10" r="1.1" fill="#f3dca2"/></pattern>`;

const [L, C, R] = [30, 50, 70];
/** Where the signs lie, by how many there are; those below the middle stand on their heads. */
const PIPS = {
  2: [
    [C, 31],
    [C, 109],
  ],
  3: [
    [C, 31],
    [C, 70],
    [C, 109],
  ],
  4: [
    [L, 31],
    [R, 31],
    [L, 109],
    [R, 109],
  ],
  5: [
    [L, 31],
    [R, 31],
    [C, 70],
    [L, 109],
    [R, 109],
  ],
  6: [
    [L, 31],
    [R, 31],
    [L, 70],
    [R, 70],
    [L, 109],
    [R, 109],
  ],
  7: [
    [L, 31],
    [R, 31],
    [C, 50],
    [L, 70],
    [R, 70],
    [L, 109],
    [R, 109],
  ],
  8: [
    [L, 31],
    [R, 31],
    [C, 50],
    [L, 70],
    [R, 70],
    [C, 90],
    [L, 109],
    [R, 109],
  ],
  9: [
    [L, 29],
    [R, 29],
    [L, 56],
    [R, 56],
    [C, 70],
    [L, 84],
    [R, 84],
    [L, 111],
    [R, 111],
  ],
  10: [
    [L, 29],
    [R, 29],
    [C, 42.5],
    [L, 56],
    [R, 56],
    [L, 84],
    [R, 84],
    [C, 97.5],
    [L, 111],
    [R, 111],
  ],
};

const sign = (suit, x, y, size) => {
  const use = `<use href="#fr-${suit}" x="${x - size / 2}" y="${y - size / 2}" width="${size}" height="${size}"/>`;
  return y > 71 ? `<g transform="rotate(180 ${x} ${y})">${use}</g>` : use;
};

const SKIN = "#f3d6ae";
const LINE = 'stroke="#2a2320" stroke-width=".9" stroke-linejoin="round"';
const GOLD = 'fill="#eebb45" stroke="#7d500d" stroke-width=".8" stroke-linejoin="round"';

/** The upper half of a court card; the lower one is the same, turned round. */
const HALF = {
  K: (robe, trim) => `
    <path d="M37 42Q35 54 42 58H58Q65 54 63 42Z" fill="#8a8f98" ${LINE}/>
    <circle cx="50" cy="43" r="10" fill="${SKIN}" ${LINE}/>
    <path d="M40.5 46Q42 60 50 62Q58 60 59.5 46Q55 51 50 49.500Q45 51 40.5 46Z" fill="#a9adb5" ${LINE}/>
    <path d="M38 36L36 22l7 6 7-9 7 9 7-6-2 14Z" ${GOLD}/><path d="M38 36h24v-3.500H38Z" fill="${trim}"/>`,
  Q: (robe, trim) => `
    <path d="M37 38Q32 56 38 64H62Q68 56 63 38Q60 28 50 28Q40 28 37 38Z" fill="#c98b3c" ${LINE}/>
    <circle cx="50" cy="43" r="10" fill="${SKIN}" ${LINE}/>
    <path d="M40 40Q50 30 60 40Q57 33 50 33Q43 33 40 40Z" fill="#c98b3c" ${LINE}/>
    <path d="M40 32L38 22l6 5 6-7 6 7 6-5-2 10Q50 28 40 32Z" ${GOLD}/><circle cx="50" cy="19.5" r="2" fill="${trim}"/><circle cx="38" cy="21.5" r="1.6" fill="${trim}"/><circle cx="62" cy="21.5" r="1.6" fill="${trim}"/>`,
  J: (robe, trim) => `
    <path d="M38 38Q36 56 42 57H58Q64 56 62 38Z" fill="#d8a74e" ${LINE}/>
    <circle cx="50" cy="43" r="10" fill="${SKIN}" ${LINE}/>
    <path d="M37 37Q36 24 50 23Q65 24 63 37Q50 31 37 37Z" fill="${trim}" ${LINE}/><path d="M37 37Q50 31 63 37v-4Q50 27 37 33Z" ${GOLD}/>
    <path d="M60 26Q70 14 75 21Q71 30 62 31Z" fill="#f7ead0" ${LINE}/>`,
};

function court(rank, suit) {
  const [robe, trim] =
    suit && COLOUR[suit] === RED ? ["#c23a2e", "#265f94"] : suit ? ["#265f94", "#c23a2e"] : ["#5b4a8a", "#b8862e"];
  const half = `
    <path d="M23 70V66Q28 56 40 55H60Q72 56 77 66V70Z" fill="${robe}" ${LINE}/>
    <path d="M23 70V66Q25 62 28 60L36 70ZM77 70V66Q75 62 72 60L64 70Z" fill="${trim}" ${LINE}/>
    <path d="M40 55L50 70L60 55L55 53H45Z" fill="#f7ead0" ${LINE}/>
    ${HALF[rank](robe, trim)}
    <path d="M46.2 41.500h1.800M52 41.500h1.800M48.3 47.500h3.4" stroke="#2a2320" stroke-width="1.1" stroke-linecap="round"/>
    ${suit ? sign(suit, 31, 29, 12) : ""}`;
  return `<rect x="22" y="14" width="56" height="112" rx="2" fill="#fff8e6" stroke="#9a8a6a" stroke-width=".8"/>${half}<g transform="rotate(180 50 70)">${half}</g><path d="M22 70h56" stroke="#eebb45" stroke-width="2.4"/><path d="M22 70h56" stroke="#7d500d" stroke-width=".6"/>`;
}

const joker = (colour) => `
  <path d="M28 82Q20 52 34 40Q40 58 50 60Q44 36 58 28Q60 46 64 60Q70 56 78 56Q76 72 70 86Q48 76 28 82Z" fill="${colour}" ${LINE}/>
  <path d="M50 60Q44 36 58 28Q60 46 64 60L60 80Q52 78 46 80Z" fill="#eebb45" ${LINE}/>
  <circle cx="34" cy="39" r="4" ${GOLD}/><circle cx="58" cy="26.5" r="4" ${GOLD}/><circle cx="79" cy="56" r="4" ${GOLD}/>
  <circle cx="49" cy="94" r="16" fill="${SKIN}" ${LINE}/><path d="M29 84Q48 76 70 86L69 91Q48 82 30 90Z" fill="#f7ead0" ${LINE}/>
  <circle cx="43" cy="93" r="1.8" fill="#2a2320"/><circle cx="55" cy="93" r="1.8" fill="#2a2320"/><path d="M40 100Q49 109 58 100" fill="none" stroke="${colour}" stroke-width="2.2" stroke-linecap="round"/><circle cx="49" cy="98" r="2.2" fill="${colour}"/>
  <path d="M32 110l6 8 6-6 6 8 6-8 6 6 5-9Q49 118 32 110Z" fill="${colour}" ${LINE}/>`;

/** Rank and suit in both corners. */
function corners(label, colour, suit) {
  const width = label.length > 1 ? Math.min(9 * label.length, 20) : 12;
  const corner = `<text x="12" y="21" text-anchor="middle" font-size="21" font-weight="700" fill="${colour}" font-family="Georgia, 'Times New Roman', serif"${label.length > 1 ? ` textLength="${width}" lengthAdjust="spacingAndGlyphs"` : ""}>${label}</text>${suit ? `<use href="#fr-${suit}" x="5.5" y="25" width="13" height="13"/>` : ""}`;
  return `${corner}<g transform="rotate(180 50 70)">${corner}</g>`;
}

const paper = (inside) =>
  svgText(
    WIDTH,
    HEIGHT,
    `<rect x=".5" y=".5" width="99" height="139" rx="7" fill="#fffdf8" stroke="#b9ae99"/>${inside}`,
  );

/** The large sign of a card that has no suit. */
const plain = (label, colour) =>
  `<g fill="none" stroke="#cbb98f"><path d="M50 30L78 70L50 110L22 70Z"/><path d="M50 36L74 70L50 104L26 70Z" stroke-dasharray="2 2"/></g><text x="50" y="${label.length > 2 ? 80 : 84}" text-anchor="middle" font-size="${label.length > 2 ? 28 : 40}" font-weight="700" fill="${colour}" font-family="Georgia, 'Times New Roman', serif">${label}</text>`;

/**
 * @param {string} face "Ah", "T", "B", "12"
 * @returns {string|null} the text of a drawing, or null where there is no such card
 */
export function frenchCard(face) {
  if (face === "B" || face === "R") {
    const colour = face === "R" ? RED : BLACK;
    const word = [..."JOKER"]
      .map(
        (letter, i) =>
          `<text x="9" y="${17 + 11 * i}" text-anchor="middle" font-size="11" font-weight="700" fill="${colour}" font-family="Georgia, serif">${letter}</text>`,
      )
      .join("");
    return paper(`${joker(colour)}${word}`);
  }
  const [, letter, suit] = /^([2-9TJQKA]|1[0-9]*|[0-9]{1,7})([shdc])?$/.exec(face) ?? [];
  if (!letter) return null;
  const label = letter === "T" ? "10" : letter;
  const colour = suit ? COLOUR[suit] : BLACK;
  return paper(`${middle(label, suit, colour)}${corners(label, colour, suit)}`);
}

/** The same with a large rank and suit in one corner, for hands of twenty of which little more is seen. */
export function cornerCard(face) {
  const [, letter, suit] = /^([2-9TJQKA])([shdc])$/.exec(face) ?? [];
  if (!letter) return frenchCard(face);
  const label = letter === "T" ? "10" : letter;
  const corner = `<text x="17" y="34" text-anchor="middle" font-size="37" font-weight="700" fill="${COLOUR[suit]}" font-family="Georgia, 'Times New Roman', serif"${label.length > 1 ? ' textLength="29" lengthAdjust="spacingAndGlyphs"' : ""}>${label}</text><use href="#fr-${suit}" x="6" y="41" width="22" height="22"/>`;
  const rest = "JQK".includes(label)
    ? `<g transform="translate(23 6) scale(.92)">${court(label, suit)}</g>`
    : `<use href="#fr-${suit}" x="38" y="76" width="54" height="54"/>`;
  return paper(corner + rest);
}

function middle(label, suit, colour) {
  if ("JQK".includes(label)) return court(label, suit);
  if (!suit) return plain(label, colour);
  if (label === "A") return sign(suit, 50, 70, suit === "s" ? 54 : 44);
  return PIPS[label].map(([x, y]) => sign(suit, x, y, 19)).join("");
}

/** A card that lies face down, as large as the others of its deck. */
export const cardBack = (height) =>
  svgText(
    WIDTH,
    height,
    `<rect x=".5" y=".5" width="99" height="${height - 1}" rx="7" fill="#fbf5e6" stroke="#b9ae99"/><rect x="6" y="6" width="88" height="${height - 12}" rx="4" fill="url(#card-back)" stroke="#5c1722"/>`,
  );
