/** What happened, in words: a list of moves and of what came of them. */

import { el } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { capital, moveWord, say, seatNames } from "./i18n/speech.js";

/**
 * The lines of a story.
 * @param {Object[]} told by the server
 * @returns {{ply: number, seat: number|null, text: string, isNews: boolean}[]}
 */
export function linesOf(told, seats, deck) {
  const lines = [];
  for (const { ply, seat, text, news } of told) {
    if (seat !== null && seat >= 0)
      lines.push({ ply, seat, text: text === null ? t("story.secret") : moveWord(text, deck), isNews: false });
    for (const item of news) lines.push({ ply, seat: null, text: capital(say(item, seats, deck)), isNews: true });
  }
  return lines;
}

const sentence = (line, names) => (line.isNews ? line.text : `${names[line.seat]}: ${line.text}`);

/** Lines as a list; with `go`, each leads to its place in a replay. */
export function drawStory(lines, seats, { go = null, at = null } = {}) {
  const names = seatNames(seats);
  const inside = (line) => (line.isNews ? line.text : [el("span.who", {}, names[line.seat]), " ", line.text]);
  return el(
    "ol.story",
    {},
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

/** How a game ended, in a few words, and whether that is good for the one who looks. */
export function result(returns, seats) {
  const names = seatNames(seats);
  const best = Math.max(...returns);
  const winners = names.filter((_, i) => returns[i] === best);
  const mine = seats.findIndex((seat) => seat.me);
  const isZeroSum = Math.abs(returns.reduce((a, b) => a + b, 0)) < 1e-9;
  const payoffs = names.map((name, i) => `${name} ${number(returns[i], { sign: true })}`).join(" · ");
  if (!isZeroSum) return { title: t("result.payoffs"), payoffs, tone: "" };
  if (winners.length === names.length) return { title: t("result.draw"), payoffs, tone: "" };
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
    const { title, payoffs, tone } = result(message.returns, seats);
    return { title, detail: payoffs, tone: `over ${tone}` };
  }
  if (!message.complete) return { title: t("table.open"), tone: "" };
  if (isMyTurn) return { title: t("table.turn"), detail: hint, tone: "turn" };
  return { title: player === null ? t("table.dealing") : t("table.waits", seatNames(seats)[player]), tone: "waits" };
}
