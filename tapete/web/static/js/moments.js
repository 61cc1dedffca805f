/**
 * What ends a trick, a hand, a round or a showdown, as a table that can be looked at before the game goes on. The server
 * tells what is; the card that took the last trick is gone by then. It is drawn from the table before and the move.
 */

import { isNotation } from "./i18n/speech.js";

/** The moves that were told since a table, chance left out. */
const movesSince = (before, now) => now.told.filter(({ ply, seat }) => ply >= before.ply && seat !== null);

/**
 * The moment that a move brought about, or null where nothing has ended that the table does not show any more.
 * @param {Object|null} before the table as it was told before
 * @param {Object} now
 * @returns {{scene: Object, winners: number[], ply: number, isDealt: boolean}|null} `ply`: the move that ended it;
 *   `isDealt`: the next deal comes after it
 */
export function momentOf(before, now) {
  if (!before || before.over || !before.complete || now.ply <= before.ply) return null;
  const moves = movesSince(before, now);
  const ended = moves.at(-1);
  if (moves.length !== 1 || !ended.news.length || now.over) return null; // who won stays on the table
  const isDealt = now.ply > ended.ply + 1;
  const scene = isDealt ? sceneOf(before.scene, now.scene, ended) : { ...now.scene, moves: [] };
  return { scene, winners: winnersOf(ended.news), ply: ended.ply, isDealt };
}

/** Whom the news call a winner. */
export function winnersOf(news) {
  const found = news.flatMap((text) => [...text.matchAll(/seat (\d+) won/g)].map((match) => +match[1]));
  return [...new Set(found.slice(-1))]; // the hand, where a trick ended with it
}

const GONE = ["last round", "waits for an answer"]; // of the table before: it is over, and was answered

/** The table after a move and before the next deal. */
function sceneOf(before, now, { seat, text }) {
  const open = new Map(now.parts.filter((part) => part.name === "last round").map((part) => [part.owner, part.faces]));
  const parts = before.parts
    .filter((part) => !GONE.includes(part.name))
    .map((part) => (part.name === "dice" && open.has(part.owner) ? { ...part, faces: open.get(part.owner) } : part))
    .map((part) => (part.owner === seat && part.is === "things" ? played(part, text) : part))
    .map((part) => (part.is === "score" ? (now.parts.find((other) => other.name === part.name) ?? part) : part));
  return { ...before, parts, player: -1, moves: [] };
}

/** A hand without the card that was played, and the cards on the table with it. */
function played(part, text) {
  if (text === null || !isNotation(text)) return part;
  if (part.name === "played") return { ...part, faces: [...part.faces, text] };
  if (part.name !== "hand") return part;
  const index = Math.max(part.faces.indexOf(text), part.faces.indexOf(""));
  return { ...part, faces: part.faces.filter((_, i) => i !== index) };
}

/**
 * What was said last at each seat since the cards were dealt, or the table was asked: calls, bids and claims.
 * @returns {Map<number, string>} in notation, by seat
 */
export function callsOf(told) {
  const said = new Map();
  for (const { seat, text } of told.toReversed()) {
    if (seat === null || said.has(seat)) break; // a deal, or once around the table
    said.set(seat, text);
  }
  for (const [seat, text] of said) if (!isCall(text)) said.delete(seat);
  return said;
}

/** Whether a move is something that is said: a word, or a claim about dice. */
const isCall = (text) => text !== null && (!isNotation(text) || /^\d+x\d+$/.test(text));
