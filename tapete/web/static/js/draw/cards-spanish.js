/** The Spanish deck: oros, copas, espadas, bastos; ranks 1 to 7, sota (10), caballo (11), rey (12). 100 x 154. */

import { svgText } from "../dom.js";

export const WIDTH = 100;
export const HEIGHT = 154;

/** Each suit: its sign (in a square of 40), the colours of its court, and the gaps in the frame that tell it apart. */
const SUITS = {
  o: { robe: "#c9902a", trim: "#a33224", ink: "#8a5a12", gaps: 0 },
  c: { robe: "#b53a2c", trim: "#225f8f", ink: "#8f2418", gaps: 1 },
  e: { robe: "#2b6190", trim: "#c9902a", ink: "#1f4c75", gaps: 2 },
  b: { robe: "#4f7d35", trim: "#a33224", ink: "#33571f", gaps: 3 },
};

const petals = Array.from(
  { length: 8 },
  (_, i) => `<ellipse cx="20" cy="11.6" rx="2.1" ry="4" transform="rotate(${i * 45} 20 20)"/>`,
).join("");
const rays = Array.from({ length: 24 }, (_, i) => `<path d="M20 3.2v2.3" transform="rotate(${i * 15} 20 20)"/>`).join(
  "",
);

/** Signs of the suits, drawn once in the page and used by every card. */
export const SIGNS = `
<symbol id="es-o" viewBox="0 0 40 40">
  <circle cx="20" cy="20" r="18.6" fill="#e8b03a" stroke="#7d500d" stroke-width="1.3"/>
  <circle cx="20" cy="20" r="17" fill="none" stroke="#fbe09a" stroke-width="1"/>
  <g stroke="#9a6716" stroke-width="1.1">${rays}</g>
  <circle cx="20" cy="20" r="12.4" fill="#f3c65a" stroke="#7d500d" stroke-width="1.1"/>
  <g fill="#c2442f" stroke="#7d2416" stroke-width=".5">${petals}</g>
  <circle cx="20" cy="20" r="4" fill="#2f6f9c" stroke="#183f5e" stroke-width=".8"/>
</symbol>
<symbol id="es-c" viewBox="0 0 40 40">
  <path d="M7 8.5C7.5 20 13 25 17.6 26v5.400C13 32 11 33.6 11 37h18c0-3.4-2-5-6.6-5.600V26C27 25 32.5 20 33 8.500Z" fill="#d2452f" stroke="#6d1a10" stroke-width="1.3" stroke-linejoin="round"/>
  <path d="M7.6 13.500C9.5 15.4 30.5 15.4 32.4 13.500L31.6 18C28 20 12 20 8.4 18Z" fill="#eebb45" stroke="#7d500d" stroke-width=".8"/>
  <ellipse cx="20" cy="8.3" rx="13.2" ry="4" fill="#eebb45" stroke="#7d500d" stroke-width="1.2"/>
  <ellipse cx="20" cy="8.6" rx="10" ry="2.5" fill="#7c1f14"/>
  <rect x="16.6" y="26.5" width="6.8" height="3.4" rx="1.7" fill="#eebb45" stroke="#7d500d" stroke-width=".8"/>
  <path d="M12 21c1.4 2.4 3 3.6 5 4.2" fill="none" stroke="#f39a84" stroke-width="1.4" stroke-linecap="round"/>
  <path d="M11 37c0-1.3.4-2.4 1.2-3.200h15.600c.8.8 1.2 1.9 1.2 3.200Z" fill="#2f6f9c" stroke="#183f5e" stroke-width=".8"/>
</symbol>
<symbol id="es-e" viewBox="0 0 40 40">
  <path d="M20 1l3.7 6.200V27h-7.400V7.200Z" fill="#a9cbe2" stroke="#1f4c75" stroke-width="1.2" stroke-linejoin="round"/>
  <path d="M20 2.500V27h3.100V7.400Z" fill="#6fa1c6"/>
  <path d="M20 6v20" stroke="#1f4c75" stroke-width=".8"/>
  <path d="M8 26.400c2 2.4 4 .6 6 .6h12c2 0 4 1.8 6-.6 1 3-1 5-4 4.800H12C9 31.4 7 29.4 8 26.400Z" fill="#eebb45" stroke="#7d500d" stroke-width="1"/>
  <rect x="17.6" y="31" width="4.8" height="5" fill="#b53a2c" stroke="#6d1a10" stroke-width=".9"/>
  <circle cx="20" cy="37.3" r="2.3" fill="#eebb45" stroke="#7d500d" stroke-width=".9"/>
</symbol>
<symbol id="es-b" viewBox="0 0 40 40">
  <path d="M16.8 38.500C15.6 30 11.5 20 12.4 10.500C13 4.5 16 1.5 20 1.500s7 3 7.6 9C28.5 20 24.4 30 23.2 38.500Z" fill="#6d9a42" stroke="#2b4a19" stroke-width="1.3" stroke-linejoin="round"/>
  <path d="M20.5 2c4 .4 6.2 3.4 6.6 8.600C27.7 20 23.6 30 22.4 38h-2.600C22 28 24.6 12 20.5 2Z" fill="#4f7d35"/>
  <path d="M12.6 14L7.5 11.500l-1 3.5 6.4 3.800Z" fill="#6d9a42" stroke="#2b4a19" stroke-width="1"/>
  <path d="M26.6 20.500l5.2-3 1.4 3.4-7.3 4.200Z" fill="#4f7d35" stroke="#2b4a19" stroke-width="1"/>
  <ellipse cx="7" cy="13.3" rx="1.3" ry="2" fill="#d9a15c" stroke="#6b4219" stroke-width=".8"/>
  <ellipse cx="32.6" cy="19.1" rx="1.3" ry="2" transform="rotate(-30 32.6 19.1)" fill="#d9a15c" stroke="#6b4219" stroke-width=".8"/>
  <ellipse cx="20" cy="4.6" rx="4.6" ry="2.4" fill="#d9a15c" stroke="#6b4219" stroke-width=".9"/>
  <path d="M16.5 12c-.6 4 .4 9 1.4 13" fill="none" stroke="#a5cb72" stroke-width="1.5" stroke-linecap="round"/>
</symbol>`;

/** Where the signs lie: [size, ...[x, y]]. */
const PIPS = {
  1: [66, [50, 77]],
  2: [46, [50, 46], [50, 108]],
  3: [39, [50, 36], [50, 77], [50, 118]],
  4: [36, [30.5, 46], [69.5, 46], [30.5, 108], [69.5, 108]],
  5: [34, [30.5, 43], [69.5, 43], [50, 77], [30.5, 111], [69.5, 111]],
  6: [33, [31, 38], [69, 38], [31, 77], [69, 77], [31, 116], [69, 116]],
  7: [29.5, [31, 36], [69, 36], [50, 57], [31, 80], [69, 80], [31, 116], [69, 116]],
};

const sign = (suit, x, y, size) =>
  `<use href="#es-${suit}" x="${x - size / 2}" y="${y - size / 2}" width="${size}" height="${size}"/>`;

/** The line round a card, open above and below as often as its suit says. */
function frame({ gaps, ink }) {
  const [left, right, top, bottom, open] = [15, 85, 13, 141, 4.5];
  const centres = Array.from({ length: gaps }, (_, i) => left + ((right - left) * (i + 1)) / (gaps + 1));
  const edge = (y) =>
    [left, ...centres.flatMap((x) => [x - open, x + open]), right].reduce(
      (path, x, i) => `${path}${i % 2 ? "L" : "M"}${x} ${y}`,
      "",
    );
  return `<path d="${edge(top)}${edge(bottom)}M${left} ${top}V${bottom}M${right} ${top}V${bottom}" fill="none" stroke="${ink}" stroke-width="1.1"/>`;
}

const SKIN = "#f0cfa6";
const OUTLINE = 'stroke="#3a2a1c" stroke-width=".9" stroke-linejoin="round"';

const face = (x, y, r) => `
  <circle cx="${x}" cy="${y}" r="${r}" fill="${SKIN}" ${OUTLINE}/>
  <path d="M${x - 3.6} ${y - 0.8}h1.600M${x + 2} ${y - 0.8}h1.600M${x - 1.6} ${y + 4.2}h3.2" stroke="#3a2a1c" stroke-width="1.1" stroke-linecap="round"/>`;

const king = (suit, { robe, trim }) => `
  <path d="M42 76C28 88 25 112 24 135H84C83 112 80 88 66 76Z" fill="${trim}" ${OUTLINE}/>
  <path d="M44 74C36 92 36 116 36 135H72C72 116 72 92 64 74Z" fill="${robe}" ${OUTLINE}/>
  <path d="M49 78h10l2 57H47Z" fill="#f7ead0" ${OUTLINE}/>
  <g fill="${trim}"><circle cx="54" cy="92" r="2"/><circle cx="54" cy="104" r="2"/><circle cx="54" cy="116" r="2"/><circle cx="54" cy="128" r="2"/></g>
  <path d="M36 106H72v5H36Z" fill="#e8b03a" ${OUTLINE}/>
  <path d="M40 84Q30 80 31 62l7-1Q39 72 47 77Z" fill="${robe}" ${OUTLINE}/>
  <circle cx="34.5" cy="60" r="4" fill="${SKIN}" ${OUTLINE}/>
  <path d="M42.5 54Q40 66 46 74H62Q68 66 65.5 54Z" fill="#6f4321" ${OUTLINE}/>
  ${face(54, 57, 9.5)}
  <path d="M45.5 60Q47 76 54 78Q61 76 62.5 60Q58 65 54 63.500Q50 65 45.5 60Z" fill="#7d4d27" ${OUTLINE}/>
  <path d="M43 50L41 35l7 6.500L54 32l6 9.500L67 35l-2 15Z" fill="#eebb45" stroke="#7d500d" stroke-width="1" stroke-linejoin="round"/>
  <path d="M43 50h22v-3.600H43Z" fill="#c2442f"/>
  <circle cx="54" cy="31.5" r="1.8" fill="#c2442f"/>
  ${sign(suit, 32, 42, 27)}`;

const knave = (suit, { robe, trim }) => `
  <path d="M46 104h7.500v26H46ZM56.5 104H64v26h-7.500Z" fill="${trim}" ${OUTLINE}/>
  <path d="M41 131q6-4 12.5-2v5.500H41ZM56.5 129q7-2 12.5 2v3.500H56.500Z" fill="#5b3a1f" ${OUTLINE}/>
  <path d="M44 74Q55 68 66 74L73 110Q55 116 37 110Z" fill="${robe}" ${OUTLINE}/>
  <path d="M51 73h8l3 39.500q-7 .8-14 0Z" fill="#f7ead0" ${OUTLINE}/>
  <path d="M40 94h30l1 5H39Z" fill="#5b3a1f" ${OUTLINE}/><rect x="52" y="93" width="6" height="7" fill="#eebb45" ${OUTLINE}/>
  <path d="M44 76Q32 78 31 62l7-1Q40 70 48 73Z" fill="${robe}" ${OUTLINE}/>
  <circle cx="34.5" cy="60" r="4" fill="${SKIN}" ${OUTLINE}/>
  <path d="M65 75Q76 84 72 99l-5-1Q69 88 62 82Z" fill="${robe}" ${OUTLINE}/>
  <path d="M43.5 54Q42 68 47 70H63Q68 68 66.5 54Z" fill="#8a5a2a" ${OUTLINE}/>
  ${face(55, 58, 9.5)}
  <path d="M42 52Q43 40 57 40Q70 41 68 52Q55 46 42 52Z" fill="${trim}" ${OUTLINE}/>
  <path d="M63 42Q74 30 79 36Q74 44 65 46Z" fill="#f7ead0" ${OUTLINE}/>
  ${sign(suit, 32, 42, 27)}`;

const rider = (suit, { robe, trim }) => `
  <path d="M78 96Q90 100 84 124Q80 112 74 106Z" fill="#5b3a1f" ${OUTLINE}/>
  <path d="M40 112l-4 22h6l5-18ZM51 115l2 19h6l-1-19ZM66 114l4 20h6l-2-22ZM33 108l-9 13 4 4 12-11Z" fill="#8d9aa3" ${OUTLINE}/>
  <path d="M22 88L18 82Q23 70 33 66l3-5 3 5Q46 76 52 92Q72 88 80 98Q82 110 74 116Q54 122 40 115Q32 108 33 92L27 91Z" fill="#b9c4cb" ${OUTLINE}/>
  <path d="M38 66Q47 72 53 91l-4 2Q44 78 36 70Z" fill="#5b3a1f" ${OUTLINE}/>
  <circle cx="29" cy="76" r="1.3" fill="#3a2a1c"/><path d="M20 86l9-2 6-14" fill="none" stroke="#a33224" stroke-width="1.3"/>
  <path d="M48 96Q60 92 72 96L70 110Q60 112 50 109Z" fill="${trim}" ${OUTLINE}/>
  <path d="M56 94l-5 24 2 5h6l1-5 4-22Z" fill="${trim}" ${OUTLINE}/><path d="M50 121h10v5H47Z" fill="#5b3a1f" ${OUTLINE}/>
  <path d="M50 70Q60 65 70 70L72 98Q60 101 49 98Z" fill="${robe}" ${OUTLINE}/>
  <path d="M57 69h6l1 30h-8Z" fill="#f7ead0" ${OUTLINE}/>
  <path d="M52 72Q42 72 39 57l6-2Q47 65 55 68Z" fill="${robe}" ${OUTLINE}/><circle cx="41.5" cy="55" r="3.6" fill="${SKIN}" ${OUTLINE}/>
  <path d="M50.5 50Q49 63 54 65H67Q71 63 70 50Z" fill="#8a5a2a" ${OUTLINE}/>
  ${face(60.5, 53.5, 8.5)}
  <path d="M49 48Q50 37 62 37Q73 38 72 48Q60 43 49 48Z" fill="${trim}" ${OUTLINE}/><path d="M66 39Q76 29 80 34Q76 41 68 43Z" fill="#f7ead0" ${OUTLINE}/>
  ${sign(suit, 33, 38, 25)}`;

const COURT = { 10: knave, 11: rider, 12: king };

/**
 * @param {string} face "1e", "12b"
 * @returns {string|null} the text of a drawing, or null where there is no such card
 */
export function spanishCard(face) {
  const [, rank, suit] = /^(1[0-2]|[1-7])([oceb])$/.exec(face) ?? [];
  if (!rank) return null;
  const colours = SUITS[suit];
  const [size, ...spots] = PIPS[rank] ?? [];
  const middle = COURT[rank] ? COURT[rank](suit, colours) : spots.map(([x, y]) => sign(suit, x, y, size)).join("");
  const index = `<text x="7.8" y="14.5" text-anchor="middle" font-size="14" font-weight="700" fill="#2b2620" font-family="Georgia, serif" textLength="${rank.length > 1 ? 12 : 7}" lengthAdjust="spacingAndGlyphs">${rank}</text>`;
  return svgText(
    WIDTH,
    HEIGHT,
    `<rect x=".5" y=".5" width="99" height="153" rx="7" fill="#fdfaf2" stroke="#b9ae99"/>${frame(colours)}${middle}${index}<g transform="rotate(180 50 77)">${index}</g>`,
  );
}
