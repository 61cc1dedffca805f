/** What happened, in words: a list of moves and of what came of them. */

import { el } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { capital, isVerb, moveWord, say, seatNames } from "./i18n/speech.js";

/**
 * The lines of a story.
 * @param {Object[]} told by the server
 * @returns {{ply: number, seat: number|null, text: string, isNews: boolean, isVerb: boolean|undefined}[]}
 */
export function linesOf(told, seats, deck) {
  const lines = [];
  for (const { ply, seat, text, news } of told) {
    if (seat !== null && seat >= 0)
      lines.push({ ply, seat, ...deed(text, deck, seats[seat]?.me), isNews: false });
    for (const item of news) lines.push({ ply, seat: null, text: capital(say(item, seats, deck)), isNews: true });
  }
  return lines;
}

/** What somebody did, and whether it is a verb of which he is the subject. */
const deed = (text, deck, isMine) =>
  text === null
    ? { text: t("story.secret"), isVerb: true }
    : { text: moveWord(text, deck, isMine ? "mine" : ""), isVerb: isVerb(text) };

const sentence = (line, names) =>
  line.isNews ? line.text : `${names[line.seat]}${line.isVerb ? "" : ":"} ${line.text}`;

/** Lines as a list; with `go`, each leads to its place in a replay. */
export function drawStory(lines, seats, { go = null, at = null } = {}) {
  const names = seatNames(seats);
  const inside = (line) => (line.isNews ? line.text : [el("span.who", { class: line.isVerb ? "" : "says" }, names[line.seat]), " ", line.text]);
  return el(
    "ol.story",
    { tabindex: go ? null : 0 }, // where nothing in it has the focus, keys scroll it
    lines.map((line) =>
      el(
        "li",
        {
          class: `${line.isNews ? "news" : "said-by"} ${line.seat !== null && seats[line.seat]?.me ? "mine" : ""} ${at === line.ply ? "at" : ""}`,
          data: { ply: line.ply },
        },
        go ? el("button.link", { type: "button", on: { click: () => go(line.ply) } }, inside(line)) : inside(line),
      ),
    ),
  );
}

/** The last thing that happened, for the banner: from the own last move on, that left out where more came after it. */
export function latest(lines, seats, most = 3) {
  const names = seatNames(seats);
  const own = lines.findLastIndex((line) => !line.isNews && seats[line.seat]?.me);
  const since = own < lines.length - 1 ? lines.slice(own + 1) : lines.slice(own);
  return since.slice(-most).map((line) => ({ ...line, text: sentence(line, names) }));
}

/** Lines for those who listen. */
export const spoken = (lines, seats) => lines.map((line) => sentence(line, seatNames(seats))).join(". ");

const SCORES = ["points", "discs"]; // by which a game is won: 15–6

/**
 * What a game was won by, as its players say it: the score, the one who looks first; or chips, or points.
 * @param {Object|null} scene at the end
 */
function measure(returns, seats, scene) {
  const mine = Math.max(0, seats.findIndex((seat) => seat.me));
  const around = seats.map((_, i) => (mine + i) % seats.length);
  const score = scene?.parts.find((part) => part.is === "score" && SCORES.includes(part.name));
  if (score) return around.map((i) => number(score.values[i])).join("–");
  const most = Math.max(...returns);
  const amount = seats[mine].me ? Math.abs(returns[mine]) : most;
  if (!most) return ""; // nobody has won anything
  const isChips = scene?.parts.some((part) => part.name === "in the pot");
  if (isChips) return t(amount === 1 ? "result.chip" : "result.chips", number(amount));
  if (seats.length === 2 && most === 1) return ""; // who won says it all
  return t(amount === 1 ? "result.point" : "result.points", number(amount));
}

/** How a game ended, in a few words, and whether that is good for the one who looks. */
export function result(returns, seats, scene = null) {
  const names = seatNames(seats);
  const best = Math.max(...returns);
  const winners = names.filter((_, i) => returns[i] === best);
  const mine = seats.findIndex((seat) => seat.me);
  const isZeroSum = Math.abs(returns.reduce((a, b) => a + b, 0)) < 1e-9;
  const payoffs = isZeroSum
    ? measure(returns, seats, scene)
    : names.map((name, i) => `${name} ${number(returns[i], { sign: true })}`).join(" · ");
  if (!isZeroSum) return { title: t("result.payoffs"), payoffs, tone: "" };
  if (winners.length === names.length) return { title: t("result.draw"), payoffs, tone: "" };
  if (mine >= 0 && returns[mine] === 0) return { title: t("result.even"), payoffs: "", tone: "" };
  if (mine >= 0)
    return returns[mine] > 0
      ? { title: t("result.won"), payoffs, tone: "won" }
      : { title: t("result.lost"), payoffs, tone: "lost" };
  const all =
    winners.length > 1
      ? t(
          "result.winners",
          winners.reduce((a, b) => t("result.and", a, b)),
        )
      : t("result.winner", winners[0]);
  return { title: all, payoffs, tone: "" };
}

/** How the game stands, for the line below the table. */
export function statusOf(message, isMyTurn, hint) {
  const { seats, player } = message;
  if (message.over) {
    const { title, payoffs, tone } = result(message.returns, seats, message.scene);
    return { title, detail: payoffs, tone: `over ${tone}` };
  }
  if (!message.complete) {
    const host = seats.findIndex((seat) => seat.host && !seat.me);
    const isAsked = host >= 0 && message.seat === null;
    return { title: isAsked ? t("table.invites", seatNames(seats)[host]) : t("table.open"), tone: "" };
  }
  if (isMyTurn) return { title: t("table.turn"), detail: hint, tone: "turn" };
  if (player === null) return { title: t("table.dealing"), tone: "waits" };
  const isAway = seats[player].kind === "person" && seats[player].here === false;
  return { title: t(isAway ? "table.waitsFor" : "table.waits", seatNames(seats)[player]), tone: "waits" };
}
