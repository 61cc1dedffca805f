/** Seats around an oval: the own one at the lower edge, the others from the left over the top to the right. */

const EDGE = 8; // pixels between a seat and the rail
const SMALL = 84; // pixels: half a card, a name and a bet
const LEAST = 64; // without the bet, which lies beside it
const NARROW = 500;
const WIDE = 700; // pixels: from here on there is room for bets between the seats and the middle

/**
 * Where the others sit and how large their places are, in pixels of the felt.
 * @param {number} count how many they are
 * @param {{width: number, height: number}} room of the felt
 * @returns {{seats: {x: number, y: number, bet: {x: number, y: number}|null}[], width: number, height: number}} middles
 */
export function ring(count, { width, height }) {
  if (width <= NARROW) return rows(count, width, height);
  const isWide = width >= WIDE;
  const place = {
    width: Math.round(Math.max(88, Math.min(150, width / (count > 6 ? 6.2 : 5)))),
    height: isWide ? Math.round(Math.min(0.12 * height, 80) + 46) : SMALL,
  };
  const left = EDGE + place.width / 2;
  const top = EDGE + place.height / 2;
  const bottom = 0.8 * height;
  const [side, across] = [bottom - top, width - 2 * left];
  const seats = Array.from({ length: count }, (_, i) => {
    const way = ((i + 0.5) / count) * (2 * side + across); // along the rail
    const at =
      way < side
        ? { x: left, y: bottom - way }
        : way < side + across
          ? { x: left + way - side, y: top }
          : { x: width - left, y: top + way - side - across };
    return { ...at, bet: isWide ? betOf(at, width / 2, top, place) : null };
  });
  return { seats, ...place };
}

/**
 * An upright phone: two or three at the top, the others below them at both sides. The board and the own cards take the
 * whole width, so that all of them end above it.
 */
function rows(count, width, height) {
  const place = { width: 88, height: LEAST };
  const across = count < 3 ? count : count % 2 ? 3 : 2;
  const below = (count - across) / 2; // at each side
  const [left, top] = [EDGE + place.width / 2, EDGE + place.height / 2];
  const step = Math.min((0.45 * height - place.height / 2 - top) / Math.max(below, 1), 1.6 * place.height);
  const side = (x) => Array.from({ length: below }, (_, i) => ({ x, y: top + step * (i + 1) }));
  const first = Array.from({ length: across }, (_, i) => ({
    x: across > 1 ? left + (i / (across - 1)) * (width - 2 * left) : width / 2,
    y: top,
  }));
  const around = [...side(left).reverse(), ...first, ...side(width - left)];
  const seats = around.map((at) => ({ ...at, bet: betOf(at, width / 2, at.x === width / 2 ? top : -1, place) }));
  return { seats, ...place };
}

/** In front of a seat: below those at the top, beside those at the sides. */
function betOf({ x, y }, middle, top, place) {
  return y === top
    ? { x, y: y + place.height / 2 + 14 }
    : { x: x + Math.sign(middle - x) * (place.width / 2 + 24), y: y + place.height / 4 };
}
