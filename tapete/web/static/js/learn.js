/** Learning by doing: first lessons, and puzzles made of decisions that cost somebody something. */

import { el, refill } from "./dom.js";
import { language, number, t } from "./i18n/index.js";
import { deckOf, gameTitle, moveWord } from "./i18n/speech.js";
import { get } from "./net.js";
import { showTable } from "./table.js";

/** @param {HTMLElement} root @param {{game: string|undefined, go: function(string)}} page @returns {Promise<function>} */
export async function showLearn(root, { game, go }) {
  if (!game) return showList(root);
  const kind = new URLSearchParams(location.search).get("kind") ?? "lesson";
  const address = game === "own" ? "/api/exercises" : `/api/exercises?name=${encodeURIComponent(game)}&kind=${kind}`;
  const exercises = await get(address);
  if (!exercises.length) return showList(root);
  const course = new Course(root, exercises, go);
  return () => course.close();
}

/** All lessons and puzzles. */
async function showList(root) {
  const [lessons, own] = await Promise.all([get("/api/lessons"), get("/api/exercises")]);
  const link = (path, key, count) => (count ? el("a.tool", { href: path }, t(key, count)) : null);
  refill(
    root,
    el(
      "div.sheet.learn",
      {},
      el("h1", {}, t("learn.title")),
      el("p", {}, t("learn.about")),
      own.length
        ? el("section", {}, el("h2", {}, t("learn.own")), el("p", {}, t("learn.ownAbout")), link("/learn/own?kind=puzzles", "learn.puzzles", own.length))
        : null,
      el(
        "ul.courses",
        {},
        lessons.map(({ name, title, lesson, puzzles }) =>
          el("li", {}, el("strong", {}, gameTitle(title)), link(`/learn/${name}`, "learn.lesson", lesson), link(`/learn/${name}?kind=puzzles`, "learn.puzzles", puzzles)),
        ),
      ),
    ),
  );
  return () => {};
}

/** One exercise after another, at a table where nobody answers. */
class Course {
  constructor(root, exercises, go) {
    this.exercises = exercises;
    this.go = go;
    this.words = el("section.lesson", { "aria-live": "polite" });
    this.holder = el("div.lesson-table");
    refill(root, el("div.learning", {}, this.words, this.holder));
    this.close = () => {};
    this.open(0);
  }

  open(at) {
    this.close();
    this.at = at;
    const exercise = this.exercises[at];
    this.close = showTable(this.holder, {
      table: "",
      go: this.go,
      join: (_, __, hooks) => {
        this.hooks = hooks;
        queueMicrotask(() => hooks.message(exercise.table));
        return { send: (said) => this.answer(said), close: () => {} };
      },
    });
    this.draw("");
  }

  answer({ do: doing, action }) {
    if (doing !== "act") return;
    const { right, table } = this.exercises[this.at];
    const isRight = right.includes(action);
    const text = table.scene.moves.find((move) => move.action === action).text;
    this.hooks.message(isRight ? { ...table, player: null, scene: { ...table.scene, moves: [] } } : { ...table });
    this.draw(isRight ? "right" : "wrong", text);
  }

  draw(state, text = "") {
    const exercise = this.exercises[this.at];
    const { ask, why, best, played, lost } = exercise;
    const deck = deckOf(exercise.table.scene);
    const word = (move) => moveWord(move, deck, "todo");
    const isLast = this.at + 1 >= this.exercises.length;
    const next = () => (isLast ? this.go("/learn") : this.open(this.at + 1));
    const reason = why[language()] ?? t("learn.reason", word(best), number(lost), word(played));
    refill(
      this.words,
      el("span.tag", {}, t("learn.step", this.at + 1, this.exercises.length)),
      el("p.ask", {}, ask[language()] ?? t("learn.ask")),
      state === "right" ? el("p.answer.right", {}, el("b", {}, t("learn.right")), " ", reason) : null,
      state === "wrong" ? el("p.answer.wrong", {}, t("learn.wrong", word(text))) : null,
      state === "right" ? el("button.move.primary", { type: "button", on: { click: next } }, t(isLast ? "learn.done" : "learn.next")) : null,
    );
  }
}
