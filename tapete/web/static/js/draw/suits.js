/**
 * Suits for cards of a game that has none, such as Dou Dizhu. They are decoration: made of what the message shows, so
 * they can tell nothing else. No two cards are alike, and a card keeps its suit from the hand to the table.
 *
 * Of each rank, the one who looks has the first suits, the next seat the last ones, and the third those after the
 * first seat's; a seat's cards leave its hand in the order of their suits.
 */

const SUITS = "shcd";
const SEATS = 3;

/**
 * @param {Object} scene
 * @param {number} bottom the seat of the one who looks
 * @returns {Map<Object, string[]>} by part: its faces with suits
 */
export function suited(scene, bottom) {
  const rows = scene.parts.filter((part) => part.is === "things" && part.kind === "french");
  if (rows.some(({ owner }) => owner >= SEATS)) return new Map();
  const landlord = scene.parts.find((part) => part.text === "landlord")?.name.slice("seat ".length);
  return new Map(rows.map((part) => [part, dressed(part, rows, bottom, landlord)]));
}

function dressed(part, rows, bottom, landlord) {
  const count = (name, owner, rank) =>
    rows.find((row) => row.name === name && row.owner === owner)?.faces.filter((face) => face === rank).length ?? 0;
  const third = (bottom + 2) % SEATS;
  const owner = part.owner ?? (landlord === undefined ? third : Number(landlord));
  return part.faces.map((rank, i) => {
    const nth = part.faces.slice(0, i).filter((face) => face === rank).length;
    const played = count("played", owner, rank);
    const before = {
      hand: played,
      "last move": played - count("last move", owner, rank),
      open: landlord === undefined ? count("hand", owner, rank) : 0, // nobody's yet: they come after all hands
    };
    const at = nth + (before[part.name] ?? 0);
    const first = count("hand", bottom, rank) + count("played", bottom, rank);
    const place = owner === bottom ? at : owner === third ? first + at : SUITS.length - 1 - at;
    return /^[2-9TJQKA]$/.test(rank) ? rank + (SUITS[place] ?? "") : rank;
  });
}
