/** Dominoes: a tile that stands (50 x 100), and a line of tiles that winds over the table like a snake. */

import { drawing, svg, svgText } from "../dom.js";

/** Where the pips of a number lie in a square of 50. */
const SPOTS = {
  0: [],
  1: [[25, 25]],
  2: [
    [13, 13],
    [37, 37],
  ],
  3: [
    [12, 12],
    [25, 25],
    [38, 38],
  ],
  4: [
    [13, 13],
    [37, 13],
    [13, 37],
    [37, 37],
  ],
  5: [
    [12, 12],
    [38, 12],
    [25, 25],
    [12, 38],
    [38, 38],
  ],
  6: [
    [13, 11],
    [37, 11],
    [13, 25],
    [37, 25],
    [13, 39],
    [37, 39],
  ],
  7: [
    [12, 11],
    [38, 11],
    [12, 25],
    [25, 25],
    [38, 25],
    [12, 39],
    [38, 39],
  ],
  8: [
    [12, 11],
    [25, 11],
    [38, 11],
    [12, 25],
    [38, 25],
    [12, 39],
    [25, 39],
    [38, 39],
  ],
  9: [
    [12, 11],
    [25, 11],
    [38, 11],
    [12, 25],
    [25, 25],
    [38, 25],
    [12, 39],
    [25, 39],
    [38, 39],
  ],
};
const COLOURS = ["", "#b2402f", "#2d6a4f", "#2b6190", "#8a5a12", "#6b3f87", "#22242b", "#a04a72", "#39777a", "#5b4a2a"];

/** A number as pips; more than nine as a number. */
const half = (number, dy) =>
  number in SPOTS
    ? SPOTS[number]
        .map(
          ([x, y]) =>
            `<circle cx="${x}" cy="${y + dy}" r="4.7" fill="${COLOURS[number]}" stroke="#1c1712" stroke-width=".6"/>`,
        )
        .join("")
    : `<text x="25" y="${dy + 34}" text-anchor="middle" font-size="26" font-weight="700" font-family="Georgia, serif" fill="#22242b">${number}</text>`;

const body = `<rect x="1.5" y="3" width="48" height="96.5" rx="7.5" fill="#8c7a58"/><rect x="1" y="1" width="48" height="96" rx="7" fill="#fbf5e4" stroke="#a8966f"/><path d="M6 3.500h38" stroke="#fff" stroke-width="1.5" stroke-linecap="round"/>`;

/** The inside of a standing tile, as the text of a drawing; empty numbers are a back. */
function tile(face) {
  const [, above, below] = /^(\d{1,2})-(\d{1,2})$/.exec(face) ?? [];
  if (above === undefined)
    return `${body}<rect x="6" y="6" width="38" height="86" rx="4" fill="none" stroke="#d6c69e" stroke-width="1.5"/><path d="M25 30L37 49L25 68L13 49Z" fill="#d6c69e"/>`;
  return `${body}${half(+above, -0.5)}${half(+below, 48.5)}<path d="M8 49h34" stroke="#7d6a45" stroke-width="1.5"/><circle cx="25" cy="49" r="3" fill="#c9a04c" stroke="#7d500d" stroke-width=".7"/>`;
}

/** @returns {string} the text of a drawing */
export const domino = (face) => svgText(50, 100, tile(face));

/**
 * Where each tile of a line lies, in halves of a tile: doubles stand across, and at the edge the line turns down and back.
 * A double may stand over the edge, but never at a corner: it would lie on the row that comes back.
 * @returns {{x: number, y: number, turn: number}[]} the middle of each tile, and how far it is turned from standing
 */
export function snake(faces, across) {
  const places = [];
  let [x, y, step, isAfterDouble] = [0, 0, 1, false]; // where the next tile begins: its near edge, the middle of the row
  for (const face of faces) {
    const [left, right] = face.split("-");
    const isDouble = left === right;
    if (!isDouble && (step > 0 ? x + 2 > across : x - 2 < 0)) {
      // the corner stands upright below the end of the row, and the next row runs back from beside it
      const edge = x - step * 0.5;
      const below = isAfterDouble ? 2 : 1.5;
      places.push({ x: edge, y: y + below, turn: 0 });
      y += below + 0.5;
      step = -step;
      x = edge + step * 0.5;
    } else {
      const length = isDouble ? 1 : 2;
      places.push({ x: x + (step * length) / 2, y, turn: isDouble ? 0 : step > 0 ? -90 : 90 });
      x += step * length;
    }
    isAfterDouble = isDouble;
  }
  return places;
}

/**
 * The line of tiles on the table.
 * @param {string[]} faces from left to right, turned as they lie
 * @param {number} across room in halves of a tile
 */
export function dominoLine(faces, across) {
  const places = snake(faces, across);
  const [left, right] = [Math.min(...places.map((p) => p.x)) - 1.2, Math.max(...places.map((p) => p.x)) + 1.2];
  const [top, bottom] = [Math.min(...places.map((p) => p.y)) - 1.2, Math.max(...places.map((p) => p.y)) + 1.2];
  const picture = svg("svg", {
    viewBox: `${left * 50} ${top * 50} ${(right - left) * 50} ${(bottom - top) * 50}`,
    class: "snake",
    "aria-hidden": "true",
  });
  places.forEach(({ x, y, turn }, i) => {
    const lying = svg("g", { transform: `translate(${x * 50} ${y * 50}) rotate(${turn}) translate(-25 -50)` });
    lying.append(...drawing(domino(faces[i])).childNodes);
    picture.append(svg("g", { "data-fly": `domino:${sorted(faces[i])}` }, lying)); // moved as a whole by motion.js
  });
  picture.style.setProperty("--across", String(right - left));
  return picture;
}

/** A tile as it is named in a hand, however it lies. */
export const sorted = (face) =>
  face
    .split("-")
    .sort((a, b) => a - b)
    .join("-");
