/** The table: a scene drawn as things on felt, with seats around it. It knows parts and places, and no game. */

import { drawing, el } from "./dom.js";
import { drawBoard } from "./draw/board.js";
import { cup } from "./draw/dice.js";
import { dominoLine, sorted } from "./draw/domino.js";
import { draw, isCard } from "./draw/index.js";
import { suited } from "./draw/suits.js";
import { chip, dealer, matches, miniCards, rankSign } from "./draw/tokens.js";
import { number, t } from "./i18n/index.js";
import { capital, deckOf, faceName, moveWord, partName, say, seatNames } from "./i18n/speech.js";
import { ring } from "./ring.js";

/**
 * What a table is drawn from.
 * @typedef {Object} Look
 * @property {Object} scene as the server sends it
 * @property {Object[]} seats who sits where
 * @property {number|null} mine the seat at the lower edge; null: the first
 * @property {number|null} player whose turn it is
 * @property {{width: number, height: number}} room in pixels
 * @property {function(Object, number): Object[]} movesAt legal moves on a thing of a part
 * @property {function(Object, number): void} pick what happens when it is clicked
 * @property {function(Object, number): boolean} isPicked whether it is selected
 * @property {Map<number, string>} [worth] a short text for a move, by action: its value
 * @property {Map<number, string>} [calls] what was said last at a seat, in notation
 * @property {number[]} [winners] seats that have just won something
 * @property {number[]|null} [stacks] chips before each seat, in poker
 */

/** The whole table. @param {Look} look */
export function drawFelt(look) {
  const { scene, seats, mine } = look;
  const names = seatNames(seats);
  const bottom = mine ?? 0;
  const around = seats.map((_, i) => (bottom + 1 + i) % seats.length).slice(0, -1);
  const deck = deckOf(scene);
  const shape = shapeOf(scene, seats);
  const context = { ...look, names, deck, shape, hands: handParts(scene), lit: wordsOf(scene, "won by"), suits: deck === "ranks" ? suited(scene, bottom) : new Map() };
  const rail = shape === "ring" ? ring(around.length, look.room) : null;
  return el(
    "section.felt",
    {
      "aria-label": t("table.felt"),
      class: `${shape} ${isLaned(scene, deck) ? "laned" : ""}`,
      data: { seats: seats.length, deck: kindOf(scene) },
      vars: rail ? { place: `${rail.width}px`, tall: `${rail.height}px` } : {},
    },
    el(
      "div.others",
      {},
      around.map((seat, i) => drawSeat(context, seat, false, rail?.seats[i])),
    ),
    drawMiddle(context),
    drawSeat(context, bottom, true),
  );
}

/** What a note says, word by word. */
const wordsOf = (scene, name) => scene.parts.find((part) => part.name === name)?.text.split(/,? /) ?? [];

/** Whether somebody has given up this hand. */
const isFolded = (scene, seat) => scene.parts.some((part) => part.name === "folded" && part.text.split(", ").includes(`seat ${seat}`));

/** What is mostly on the table: a deck of cards, or dice, dominoes, discs. */
export const kindOf = (scene) =>
  deckOf(scene) ||
  (scene.parts.find((part) => part.is === "board" && part.kind === "disc") ??
    scene.parts.find((part) => part.is === "things"))?.kind ||
  "none";

/** Where people sit: face to face, two at the sides of the middle, or around an oval, as in poker. */
const shapeOf = (scene, seats) =>
  seats.length > 3 || scene.parts.some((part) => part.name === "button")
    ? "ring"
    : seats.length === 3
      ? "trio"
      : "duel";

/** Whether cards are laid in front of seats: that place is kept for them. */
const isLaned = (scene, deck) =>
  ["spanish", "ranks"].includes(deck) ||
  (deck === "french" &&
    scene.parts.some((part) => part.is === "things" && part.owner === null && part.name !== "board"));

/** Scrolls a table of payoffs that is too large to where the game ended. */
export function showLast(felt) {
  const board = felt.querySelector(".board.grid");
  const cell = board?.querySelector("td.last");
  if (!cell) return;
  board.scrollTop = cell.offsetTop - board.clientHeight / 2;
  board.scrollLeft = cell.offsetLeft - board.clientWidth / 2;
}

/** The room that a felt has on its stage. */
export const roomOf = (stage) => {
  const { paddingLeft, paddingTop } = getComputedStyle(stage);
  return {
    width: stage.clientWidth - 2 * parseFloat(paddingLeft),
    height: stage.clientHeight - 2 * parseFloat(paddingTop),
  };
};

/** Whether a room is another one. */
export const isOther = (a, b) => a.width !== b.width || a.height !== b.height;

const STEP = 0.94;
const LEAST = 0.4;

/**
 * Makes things smaller until all of them can be seen.
 * @param {HTMLElement} felt
 * @param {number} fit how small they were before: they don't grow again while people play
 * @returns {number} how small they are now
 */
export function fitInto(felt, fit) {
  const isTight = () => felt.scrollHeight > felt.clientHeight || felt.scrollWidth > felt.clientWidth || isCrowded(felt);
  let now = fit;
  felt.style.setProperty("--fit", now);
  while (now > LEAST && isTight()) {
    now *= STEP;
    felt.style.setProperty("--fit", now);
  }
  return now;
}

/** Whether the middle has less room than it needs. */
function isCrowded(felt) {
  const middle = felt.querySelector(".middle");
  return middle.scrollHeight > middle.clientHeight + 1 && !middle.querySelector(".payoffs");
}

/** The part that is the hand of each seat: the first that it owns and has not played. */
function handParts(scene) {
  const hands = new Map();
  for (const part of scene.parts)
    if (part.is === "things" && part.owner !== null && !hands.has(part.owner) && !/^last|^played|^bid/.test(part.name))
      hands.set(part.owner, part);
  return hands;
}

function drawSeat(context, seat, isBottom, at = null) {
  const { scene, hands, player } = context;
  const lanes = scene.parts.filter((part) => part.is === "things" && part.owner === seat && part !== hands.get(seat));
  const hand = hands.get(seat);
  const isOwn = isBottom && (context.mine !== null || hand?.faces.some(Boolean));
  // where there is little room, the plate tells how many cards a hand has
  const isCounted = context.deck === "ranks" && isSmall(context) && !isOwn && !hand?.faces.some(Boolean);
  const inOrder = [
    drawPlate(context, seat),
    hand && !isCounted && drawThings(context, hand, isOwn ? "own" : "small"),
    el(
      "div.lanes",
      {},
      lanes.map((part) => drawLane(context, part)),
      passNote(context, seat),
    ),
    context.shape === "ring" ? drawBet(context, seat, at?.bet && { x: at.bet.x - at.x, y: at.bet.y - at.y }) : null,
  ];
  return el(
    "div.seat",
    {
      class: `${isBottom ? "bottom" : ""} ${player === seat ? "turn" : ""} ${context.winners?.includes(seat) ? "winner" : ""} ${isFolded(scene, seat) ? "folded" : ""}`,
      data: { seat },
      vars: at ? { x: `${at.x}px`, y: `${at.y}px` } : {},
    },
    isBottom ? inOrder.reverse() : inOrder,
  );
}

/** Chips that a seat has put before itself in this round of betting; `from` the middle of its place. */
function drawBet({ scene }, seat, from) {
  const value = scene.parts.find((part) => part.name === BET)?.values[seat];
  const label = partName(BET);
  return el(
    "div.bet",
    { class: from ? "ahead" : "", vars: from ? { x: `${from.x}px`, y: `${from.y}px` } : {} },
    value
      ? el(
          "span.score.chips",
          { title: label, role: "img", "aria-label": `${label}: ${number(value)}`, data: { fly: `bet:${seat}` } },
          drawing(chip("#2b6190")),
          number(value),
        )
      : null,
  );
}

/** Somebody's name, badges and numbers. */
function drawPlate(context, seat) {
  const { scene, seats, names, player } = context;
  const { kind, me, here } = seats[seat];
  const board = scene.parts.find((part) => part.is === "board" && part.kind === "disc");
  const away = kind === "person" && !me && here === false;
  return el(
    "div.plate",
    { class: away ? "away" : "" },
    board
      ? el("span.disc-mark", {}, draw("disc", ["black", "white"][seat]))
      : el("span.avatar", { class: kind, "aria-hidden": "true" }),
    el("span.name", { "aria-current": player === seat ? "true" : null }, names[seat]),
    away ? el("span.badge.gone", {}, t("table.away")) : null,
    badges(context, seat),
    scene.parts.filter((part) => part.is === "score").map((part) => drawScore(context, part, seat)),
    seat === context.mine ? drawHandName(scene, seats) : null,
    drawBubble(context, seat),
    seats[seat].kind === "open" && context.sit
      ? el("button.sit", { on: { click: () => context.sit(seat) } }, t("table.sit"))
      : null,
  );
}

/** What one's own cards make. */
function drawHandName(scene, seats) {
  const note = scene.parts.find((part) => part.name === "your hand");
  return note ? el("span.badge.hand-name", {}, capital(say(note.text, seats))) : null;
}

/** What somebody has just said. The story tells it to those who listen. */
function drawBubble({ calls, deck }, seat) {
  const text = calls?.get(seat);
  return text ? el("span.bubble", { "aria-hidden": "true" }, capital(moveWord(text, deck, "said"))) : null;
}

/** Notes that are about one seat become its badges. */
function badges({ scene, seats }, seat) {
  const found = [];
  for (const part of scene.parts) {
    if (part.is !== "note" || !part.text || AT_SEATS.includes(part.name)) continue;
    if (part.text === `seat ${seat}` && part.name === "button")
      found.push(el("span.dealer", { role: "img", "aria-label": partName("button") }, drawing(dealer())));
    else if (part.text === `seat ${seat}` && part.name !== "tricks")
      found.push(el("span.badge", {}, partName(part.name)));
    else if (part.name === `seat ${seat}` || part.name === `seat ${seat} chose`)
      found.push(el("span.badge", {}, say(part.text, seats)));
  }
  return found;
}

const AT_SEATS = ["folded", "your hand", "won by"];
const isAboutSeat = (part) =>
  AT_SEATS.includes(part.name) ||
  (/^seat \d+$/.test(part.text) && part.name !== "tricks") ||
  /^seat \d+( chose)?$/.test(part.name) ||
  /^last move of seat/.test(part.name);

const BET = "bet on this street";
const CHIPS = { "in the pot": "#b5382a", [BET]: "#2b6190" };

function drawScore({ deck, shape, stacks }, part, seat) {
  if (stacks && part.name === "in the pot")
    return el("span.score.stack", { role: "img", title: t("table.stack"), "aria-label": `${t("table.stack")}: ${number(stacks[seat])}` }, drawing(chip("#2f7d55")), number(stacks[seat]));
  const value = part.values[seat];
  if (value === undefined || (part.name === BET && (shape === "ring" || !value))) return null;
  const label = partName(part.name);
  if (part.name in CHIPS)
    return el(
      "span.score.chips",
      { title: label, role: "img", "aria-label": `${label}: ${number(value)}` },
      drawing(chip(CHIPS[part.name])),
      number(value),
    );
  if (part.name === "points" && deck === "spanish")
    return el(
      "span.score.matches",
      { title: label, role: "img", "aria-label": `${label}: ${value}` },
      el("b", {}, number(value)),
      value ? drawing(matches(value)) : null,
    );
  return el("span.score", { data: { score: part.name } }, `${label} `, el("b", {}, number(value)));
}

/** What lies in front of a seat: cards it has played, dice of the round before. */
function drawLane(context, part) {
  const isPile = part.name === "played" && part.kind === "french";
  if (isPile)
    return part.faces.length
      ? el(
          "div.pile",
          { title: partName("played") },
          el("span.label", {}, partName("played")),
          " ",
          part.faces.map(rankSign).join(" "),
        )
      : null;
  if (!part.faces.length) return null;
  if (context.deck === "ranks" && isSmall(context)) return miniCards(part.faces);
  return el(
    "div.lane",
    { class: part.name.replaceAll(" ", "-") },
    part.name.startsWith("last round") ? el("span.label", {}, partName(part.name)) : null,
    drawThings(context, part, "lane"),
  );
}

/** "pass" where a seat's last move would lie. */
function passNote({ scene, seats, calls }, seat) {
  const note = scene.parts.find((part) => part.is === "note" && part.name === `last move of seat ${seat}`);
  return note && !calls?.has(seat) ? el("span.said", {}, say(note.text, seats)) : null;
}

/** Things in a row; cards overlap, and long hands take several rows so that each can be touched. */
function drawThings(context, part, size) {
  const label = part.owner === null ? partName(part.name) : `${context.names[part.owner]}: ${partName(part.name)}`;
  if (part.kind === "die" && part.faces.every((face) => !face)) return drawCup(part, label);
  const isHidden = part.faces.length > 3 && part.faces.every((face) => !face);
  const shown = isHidden && (context.room.width < NARROW || context.shape !== "duel") ? part.faces.slice(0, STACK) : part.faces;
  const most = size === "own" && isCard(part.kind) ? perRow(context.room.width, shown.length) : shown.length;
  const row = el("div.things", {
    class: `${part.kind} ${size} ${isCard(part.kind) ? "cards" : ""} ${part.faces.length <= FEW ? "few" : ""}`,
    role: "group",
    "aria-label": `${label} (${part.faces.length})`,
    vars: { n: shown.length, most, few: shown.length <= FEW ? shown.length : 1 },
  });
  for (let from = 0; from < shown.length; from += most) {
    const faces = shown.slice(from, from + most);
    row.append(
      el(
        "div.row",
        { vars: { n: faces.length } },
        faces.map((face, i) => drawThing(context, part, from + i, face)),
      ),
    );
  }
  if (isHidden) row.append(el("span.count", { "aria-hidden": "true" }, String(part.faces.length)));
  return row;
}

const FEW = 5; // so many cards lie side by side
const NARROW = 700; // pixels: on less, a hand that lies face down is a small stack
const FLAT = 400; // pixels of height
const STACK = 4;
const TOUCH = 45; // pixels of a card that a finger must find
const POINT = 32; // ... and a mouse

/** Whether there is no room for cards other than one's own. */
const isSmall = ({ room }) => room.width < 500 || room.height < FLAT;

/** How many cards fit into a row with enough of each to touch. */
function perRow(room, count) {
  const edges = room < NARROW ? 24 : 56; // what the rail and the felt keep to themselves
  const step = matchMedia("(pointer: fine)").matches && room >= NARROW ? POINT : TOUCH;
  const fit = Math.max(3, Math.floor((room - edges - 62) / step) + 1);
  return Math.ceil(count / Math.ceil(count / fit)) || 1;
}

const drawCup = (part, label) =>
  el(
    "div.things.cup",
    { role: "img", "aria-label": `${label} (${part.faces.length})` },
    drawing(cup()),
    el("span.count", {}, `${part.faces.length}`),
  );

/** One thing: a button where a move can be made with it. */
function drawThing(context, part, index, face) {
  const moves = part.owner === null || part.owner === context.mine ? context.movesAt(part, index) : [];
  const isPicked = context.isPicked(part, index);
  const dressed = context.suits.get(part)?.[index];
  const picture = draw(dressed ? "suited" : part.kind, dressed ?? face);
  const props = {
    class: `${isPicked ? "picked" : ""} ${context.lit.includes(face) ? "lit" : ""}`,
    "aria-label": faceName(part.kind, face),
    data: { key: `${part.name}/${part.owner ?? ""}/${index}`, fly: flightOf(part, dressed ?? face), owner: part.owner ?? "" },
  };
  if (!moves.length) return el("span.piece", { ...props, role: "img" }, picture);
  const button = {
    type: "button",
    data: { ...props.data, move: moves[0].action },
    "aria-pressed": moves.length > 1 ? String(isPicked) : null,
    on: { click: () => context.pick(part, index) },
  };
  return el("button.piece.legal", { ...props, ...button }, picture);
}

/** By what a thing is known again after a move; one that lies face down, by whose it is. */
function flightOf({ kind, owner }, face) {
  if (!face) return `${kind}:down:${owner}`;
  return `${kind}:${kind === "domino" ? sorted(face) : face}`;
}

/** What lies between the seats: boards, common cards, the line, the pot, and what is to be said. */
function drawMiddle(context) {
  const { scene } = context;
  const boards = scene.parts.filter((part) => part.is === "board").map((part) => drawBoard(part, context));
  const common = scene.parts
    .filter((part) => part.is === "things" && part.owner === null && (part.faces.length || part.name === "board"))
    .map((part) => drawCommon(context, part));
  return el(
    "div.middle",
    {},
    drawPot(context),
    boards,
    common.length ? el("div.common", {}, common) : null,
    drawNotes(context),
  );
}

function drawCommon(context, part) {
  if (part.kind === "domino" && part.name === "line") {
    const across = Math.max(8, Math.min(24, Math.floor((context.room.width - 140) / 26)));
    return el(
      "div.line",
      { role: "img", "aria-label": `${partName("line")}: ${part.faces.join(" ")}` },
      dominoLine(part.faces, across),
    );
  }
  const label = el("span.label", {}, partName(part.name), part.kind === "domino" ? ` · ${part.faces.length}` : "");
  const shown =
    part.kind === "domino"
      ? { ...part, faces: part.faces.every((face) => !face) ? part.faces.slice(0, 1) : part.faces }
      : part;
  return el("div.common-part", { class: part.name.replaceAll(" ", "-") }, drawThings(context, shown, "shared"), label);
}

function drawPot({ scene }) {
  const pot = scene.parts.find((part) => part.is === "note" && part.name === "pot");
  return pot
    ? el(
        "div.pot",
        { data: { pot: pot.text } },
        drawing(chip("#b5382a")),
        drawing(chip("#2b6190")),
        drawing(chip("#2f7d55")),
        el("b", {}, pot.text),
        el("span.label", {}, partName("pot")),
      )
    : null;
}

const URGENT = ["waits for an answer", "claim", "to beat", "won", "bid", "to call"];
const isIdle = (part) =>
  part.name === "turn" && /to move$|is over$|are dealt$/.test(part.text) && !/passed|only/.test(part.text);

/** Moves in their order are told by the story. */
const isTold = (part) =>
  /seat \d+ (fold|check|call|bet|raise)/.test(part.text) ||
  (part.name === "to call" && part.text === "0") ||
  /round$|^moves$|^calls$/.test(part.name);

/** Notes that are not said elsewhere on the table. */
function drawNotes(context) {
  const { scene, seats, deck, shape } = context;
  const isElsewhere = (part) => part.name === "pot" || (shape === "ring" && part.name === "to call"); // on the button
  const notes = scene.parts.filter(
    (part) =>
      part.is === "note" && part.text && !isElsewhere(part) && !isAboutSeat(part) && !isIdle(part) && !isTold(part),
  );
  const pills = notes.map((part) => {
    const isSentence = ["claim", "turn", "bid", "table"].includes(part.name);
    return el(
      "span.note",
      { class: URGENT.includes(part.name) ? "urgent" : "" },
      isSentence ? null : el("span.label", {}, partName(part.name, seats)),
      " ",
      say(part.text, seats, deck),
    );
  });
  return el("div.notes", {}, pills); // empty ones keep their place
}
