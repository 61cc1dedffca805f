/** A little still life for each game, made of the same things that lie on its table. */

import { drawing, el, svgText } from "./dom.js";
import { cup } from "./draw/dice.js";
import { draw } from "./draw/index.js";
import { chip, handSign } from "./draw/tokens.js";

const fan =
  (kind, ...faces) =>
  () =>
    el(
      "span.fan",
      { vars: { n: faces.length } },
      faces.map((face, i) => el("span", { vars: { i: i - (faces.length - 1) / 2 } }, draw(kind, face))),
    );

const othello = () => {
  const cells = ["", "black", "white", "", "black", "white", "black", "white", "", "black", "white", "black"];
  return el(
    "span.little-board",
    {},
    cells.map((face) => el("span", {}, face ? draw("disc", face) : null)),
  );
};

const PICTURES = {
  truco: fan("spanish", "7o", "1e", "12b"),
  domino: () =>
    el(
      "span.fan.tiles",
      { vars: { n: 3 } },
      ["6-6", "3-5", "0-2"].map((face, i) => el("span", { vars: { i: i - 1 } }, draw("domino", face))),
    ),
  dudo: () =>
    el(
      "span.still",
      {},
      el("span.big", {}, drawing(cup())),
      ["5", "1", "3"].map((face) => el("span.die", {}, draw("die", face))),
    ),
  holdem: fan("french", "As", "Ah", "Kd"),
  doudizhu: fan("french", "9s", "Th", "Jc", "Qd", "R"),
  othello,
  kuhn: fan("number", "J", "Q", "K"),
  leduc: fan("french", "Ks", "Qh"),
  ocp: fan("number", "4", "9", "13"),
  goofspiel: fan("french", "Qd", "Js", "Kh"),
  rps: () =>
    el(
      "span.still",
      {},
      ["rock", "paper", "scissors"].map((name) => el("span.hand-sign", {}, drawing(handSign(name)))),
    ),
  pennies: () =>
    el(
      "span.still",
      {},
      el("span.hand-sign", {}, drawing(chip("#b8862e"))),
      el("span.hand-sign", {}, drawing(chip("#8d9aa3"))),
    ),
};

const matrix = svgText(
  80,
  60,
  `<g fill="#fffdf8" stroke="#b9ae99"><rect x="8" y="8" width="30" height="20" rx="3"/><rect x="42" y="8" width="30" height="20" rx="3"/><rect x="8" y="32" width="30" height="20" rx="3"/><rect x="42" y="32" width="30" height="20" rx="3"/></g><g font-family="Georgia, serif" font-size="13" text-anchor="middle" font-weight="700"><text x="23" y="22.5" fill="#1f6b4f">+1</text><text x="57" y="22.5" fill="#b5382a">−1</text><text x="23" y="46.5" fill="#b5382a">−1</text><text x="57" y="46.5" fill="#1f6b4f">+1</text></g>`,
);

/** The picture of a game; a game that has none is a table of payoffs. */
export const picture = (name) =>
  (PICTURES[name] ?? (() => el("span.still", {}, el("span.matrix", {}, drawing(matrix)))))();
