/** What happens at a table, in words: the server's English and notation in the language of the page, with names. */

import { language, maybe, t } from "./index.js";
import * as english from "./speech-en.js";
import * as spanish from "./speech-es.js";

const book = () => (language() === "es" ? spanish : english);

/**
 * Who sits where: what sentences need to know.
 * @typedef {{name: string, me: boolean}[]} Seats
 */

/** A text as the beginning of a sentence. */
export const capital = (text) => (text ? text[0].toUpperCase() + text.slice(1) : text);

/** Names of seats as they are shown; two of one name get their number, counted from the one who looks. */
export function seatNames(seats) {
  const mine = Math.max(0, seats.findIndex((seat) => seat.me));
  const names = seats.map((seat) =>
    seat.me
      ? t("table.you")
      : seat.kind === "open"
        ? t("table.free")
        : seat.kind === "agent"
          ? seat.called || agentName(seat.name)
          : seat.name || (seat.host ? t("table.host") : t("setup.seat", seats.indexOf(seat) + 1)),
  );
  return names.map((name, i) =>
    names.filter((other) => other === name).length > 1 && !seats[i].me ? `${name} (${((i - mine + seats.length) % seats.length) + 1})` : name,
  );
}

/** An agent's name for people: "ISMCTS 1000", "Equilibrium". */
export function agentName(text) {
  const [, name, inside] = /^([\w-]+)(?:\((.*)\))?$/.exec(text) ?? [null, text, ""];
  if (maybe(`level.${name}`) && inside) return t(`level.${name}`, inside);
  const title =
    maybe(`opponent.${name}`) ?? (name.length <= 6 ? name.toUpperCase() : capital(name.replaceAll("_", " ")));
  return inside ? `${title} ${inside.replaceAll(",", " ")}` : title;
}

/** A line about an agent: ours where we have one, else what the server says. */
export function agentAbout(text, about) {
  const [, name, inside] = /^([\w-]+)(?:\((\d+))?/.exec(text) ?? [];
  if (/^(is)?mcts$/.test(name) && inside) return t("about.search", inside);
  return maybe(`about.${name}`) ?? (language() === "en" ? about : "");
}

/** The title of a game. */
export function gameTitle(title) {
  if (language() === "en") return title;
  for (const [pattern, write] of spanish.TITLES) {
    const found = pattern.exec(title);
    if (found) return write(...found.slice(1));
  }
  return title;
}

/** A line about a game, and the label of a parameter. */
export const gameAbout = (name, about) => book().ABOUT[name] ?? about;
export const parameterName = (name) => book().PARAMETERS[name] ?? name.replaceAll("_", " ");

/** The name of a part of the table: "hand", "seat 0 chose". */
export function partName(name, seats = []) {
  const about = /^(.*)seat (\d+)(.*)$/.exec(name);
  const names = about ? seatNames(seats) : [];
  if (language() === "en") return about ? `${about[1]}${names[about[2]] ?? about[2]}${about[3]}` : name;
  if (!about) return spanish.PARTS[name] ?? name;
  const who = names[about[2]] ?? about[2];
  if (about[3] === " chose") return seats[about[2]]?.me ? "elegiste" : `${who} eligió`;
  return about[1] ? `${spanish.PARTS[about[1].replace(" of ", "")] ?? about[1]} de ${who}` : who;
}

const SUIT_SIGNS = { s: "♠", h: "♥", d: "♦", c: "♣" };

/** Cards in a text as people write them, by the deck that is on the table. */
function prettyCards(text, deck) {
  const dice = text.replace(/\b(\d+)x(\d+)\b/g, "$1 × $2");
  if (deck === "french")
    return dice.replace(
      /\b([2-9TJQKA])([shdc])\b/g,
      (_, rank, suit) => `${rank === "T" ? "10" : rank}${SUIT_SIGNS[suit]}`,
    );
  if (deck === "spanish") return dice.replace(/\b(1[0-2]|[1-7])([oceb])\b/g, (face) => faceName("spanish", face));
  if (deck === "ranks")
    return dice.replace(/(?<=^|are |son )[3-9TJQKA2BR]+$/g, (cards) => [...cards].map(rankSign).join(" "));
  return dice;
}

const rankSign = (rank) => ({ T: "10", B: "☆", R: "★" })[rank] ?? rank;

/** Which deck a scene is played with: cards are written differently in each. */
export function deckOf(scene) {
  const cards = scene.parts.filter((part) => part.is === "things" && ["french", "spanish"].includes(part.kind));
  if (!cards.length) return "";
  if (cards[0].kind === "spanish") return "spanish";
  return cards.some((part) => part.faces.some((face) => face.length === 2)) ||
    !cards.some((part) => part.faces.some(Boolean))
    ? "french"
    : "ranks";
}

/** "seat 0" by the name of who sits there; "You" only begins a sentence. */
function named(text, seats) {
  const names = seatNames(seats);
  const told = text.replace(/\bseat (\d+)\b/g, (_, n) => (seats[n]?.me ? "you" : (names[n] ?? `seat ${+n + 1}`)));
  return told.replace(/^you\b/, "You").replace(/(?<=[a-z])-(?=[a-z])/g, " ");
}

/** A sentence in Spanish, or null where no pattern knows it. */
export function inSpanish(text, seats) {
  const names = seatNames(seats);
  const who = (n, mine, others, { silent = false, object = false } = {}) => {
    if (seats[n]?.me) return mine;
    const name = names[n] ?? `lugar ${+n + 1}`;
    return object ? name : silent ? `${name} ${others}` : `${name} ${others}`;
  };
  for (const [pattern, write] of spanish.SENTENCES) {
    const found = pattern.exec(text);
    if (found) return write(who, ...found.slice(1));
  }
  const item = (part) => {
    const found = /^seat (\d+)(?: (.+))?$/.exec(part);
    if (!found) return spanish.WORDS[part] ?? (isNotation(part) ? part : null);
    const word = found[2] === undefined ? "" : (spanish.WORDS[found[2]] ?? (isNotation(found[2]) ? found[2] : null));
    return word === null
      ? null
      : `${seats[found[1]]?.me ? "vos" : (names[found[1]] ?? `lugar ${+found[1] + 1}`)}${word ? `: ${word}` : ""}`;
  };
  if (text in spanish.WORDS) return spanish.WORDS[text];
  const separator = text.includes(", ") ? ", " : text.includes("seat ") ? "\n" : " ";
  const items = text.split(separator).map(item);
  return items.includes(null) ? null : items.join(separator);
}

/** Squares of a board, which are written small everywhere. */
const isSquares = (text) => /^[a-h]\d(?:-[a-h]\d)?$/.test(text);

/** Faces, numbers, squares: the same in every language. */
export const isNotation = (text) =>
  /^(?:[\d.,x×<>-]*|[2-9TJQKA][shdc]|\d{1,2}[oceb]|[3-9TJQKA2BR]+)$/.test(text) || isSquares(text);

/**
 * A sentence of a game.
 * @param {string} text as the server says it
 * @param {Seats} seats
 * @param {string} deck see `deckOf`
 */
export function say(text, seats, deck = "") {
  const told = language() === "es" ? (inSpanish(text, seats) ?? named(text, seats)) : (book().WORDS[text] ?? named(text, seats));
  return prettyCards(told, deck);
}

/** A move on a button. */
export function moveName(text, deck = "") {
  const order = book().ORDERS[text];
  if (order) return order;
  const laid = /^(\d+-\d+)([<>])$/.exec(text);
  if (laid) return `${laid[1]} · ${laid[2] === "<" ? "◀ " + t("table.left") : t("table.right") + " ▶"}`;
  return isSquares(text) ? text : capital(moveWord(text, deck));
}

/**
 * A move in words. Spanish verbs agree with who does it.
 * @param {string} text in notation
 * @param {string} [form] "": somebody does it; "mine": you do; "said": as it is said at the table; "todo": as advice
 */
export function moveWord(text, deck = "", form = "") {
  const laid = /^(\d+-\d+)([<>])$/.exec(text);
  if (laid) return `${laid[1]} ${laid[2] === "<" ? "◀" : "▶"}`;
  if (isNotation(text)) return prettyCards(text, deck);
  const { WORDS, MINE, SAID, ORDERS } = book();
  const forms = { mine: MINE, said: SAID, todo: isVerb(text) ? ORDERS : null };
  return (forms[form]?.[text]?.toLowerCase() ?? WORDS[text] ?? text).replaceAll("-", " ");
}

/** Whether a move is told by a verb, which needs no colon after the one who does it: "Vos igualás", "Ana: quiero". */
export const isVerb = (text) => text in (book().MINE ?? {});

/** The title of a column or row of a matrix. */
export const choiceName = (text) =>
  language() === "es" ? (spanish.WORDS[text] ?? text) : text.replaceAll("-", text.match(/^\w?\d/) ? "-" : " ");

/** A thing for those who listen: "ace of swords". */
export function faceName(kind, face) {
  const { RANKS, SUITS, FACE } = book();
  if (!face) return FACE.down;
  if (kind === "disc") return language() === "es" ? spanish.WORDS[face] : face;
  const card = /^(\d{1,2}|[2-9TJQKA])([oceb]|[shdc])$/.exec(face);
  if (card && kind === "spanish") return `${RANKS[card[1]] ?? card[1]} ${FACE.of} ${SUITS[card[2]]}`;
  if (card && kind === "french")
    return `${RANKS[card[1]] ?? card[1]} ${FACE.of} ${SUITS[card[2] === "c" ? "k" : card[2]]}`;
  if (kind === "french" || kind === "number") return /^\d/.test(face) ? face : (RANKS[face] ?? face);
  return face;
}
