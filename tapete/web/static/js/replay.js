/** A finished game, step by step with all hands open, and what could have been done better. */

import { el, refill } from "./dom.js";
import { drawFelt, fitInto, isOther, kindOf, roomOf } from "./felt.js";
import { t } from "./i18n/index.js";
import { deckOf, gameTitle } from "./i18n/speech.js";
import { listen } from "./keys.js";
import { remember, settle } from "./motion.js";
import { get } from "./net.js";
import { Review } from "./review.js";
import { drawStory, linesOf, result } from "./story.js";

const RUN = 900; // ms a step

/** @param {HTMLElement} root @param {{game: string, go: function(string)}} page @returns {Promise<function>} that ends it */
export async function showReplay(root, { game, go }) {
  let data;
  try {
    data = await get(`/api/replay/${encodeURIComponent(game)}`);
  } catch (error) {
    refill(
      root,
      el(
        "div.sheet",
        {},
        el("h1", {}, t("replay.title")),
        el("p", {}, error.status === 404 ? t("replay.gone") : error.message),
      ),
    );
    return () => {};
  }
  const page = new ReplayPage(root, game, data, go);
  return () => page.close();
}

const FORMATS = { ".txt": "PokerStars", ".phhs": "PHH" }; // of hand histories, by how their files end

class ReplayPage {
  constructor(root, game, data, go) {
    this.game = game;
    this.data = data;
    this.seats = data.seats.map((seat, i) => ({ ...seat, me: i === data.mine, here: true }));
    this.deck = data.steps.map((step) => deckOf(step.scene)).find(Boolean) ?? "";
    this.go_to = go;
    this.tell();
    this.stops = this.findStops();
    this.timer = 0;
    this.build(root);
    this.stopKeys = listen((event, isField) => this.key(event, isField));
    const [, hash] = /^#(\d+)$/.exec(location.hash) ?? [];
    this.show(hash === undefined ? this.data.steps.length - 1 : +hash);
    this.observer = new ResizeObserver(() => isOther(this.room, roomOf(this.stage)) && this.show(this.at));
    this.observer.observe(this.stage);
  }

  close() {
    clearInterval(this.timer);
    this.stopKeys();
    this.observer.disconnect();
  }

  tell() {
    this.lines = linesOf(
      this.data.steps.map((step, i) => ({ ...step, ply: i, news: step.news ?? [] })),
      this.seats,
      this.deck,
    );
  }

  /** From now on the game is shown as the one who looks has seen it, not with all hands open. */
  see(steps) {
    this.data = { ...this.data, steps };
    this.tell();
    this.openly.hidden = true;
  }

  /** Where it is worth stopping: after the deal, and after every move of a player; a run of chance is one step. */
  findStops() {
    const { steps } = this.data;
    const stops = steps
      .map((_, i) => i)
      .filter((i) => i + 1 >= steps.length || isMove(steps[i]) || isMove(steps[i + 1]));
    return stops.length ? stops : [0];
  }

  build(root) {
    const { data } = this;
    this.stage = el("div.stage");
    this.words = el("div.banner");
    const button = (label, sign, run) =>
      el("button.tool", { type: "button", "aria-label": label, title: label, on: { click: run } }, sign);
    this.slider = el("input", {
      type: "range",
      min: 0,
      max: this.stops.length - 1,
      "aria-label": t("replay.title"),
      on: { input: (event) => this.show(this.stops[+event.target.value]) },
    });
    this.runButton = button(t("replay.play"), "▶", () => this.run());
    this.story = el("section.panel-part.story-part");
    this.review = el("section.panel-part.review-part", { "aria-label": t("review.title") });
    this.openly = el("p.empty", {}, t("replay.open"));
    const share = el(
      "button.tool",
      { type: "button", on: { click: (event) => this.copy(event.currentTarget) } },
      t("replay.share"),
    );
    const { title, payoffs } = result(data.returns, this.seats, data.steps.at(-1).scene);
    refill(
      root,
      el(
        "div.table-page.replay",
        { data: { deck: kindOf(data.steps.at(-1).scene) } },
        el(
          "div.play",
          {},
          el(
            "div.bar",
            {},
            el("h1", {}, gameTitle(data.title)),
            el("span.tag", {}, t("replay.title")),
            el("span.space"),
            share,
            el("a.tool", { href: `/api/record/${this.game}`, download: "" }, t("replay.download")),
            ...data.histories.map((ending) =>
              el(
                "a.tool",
                { href: `/api/history/${this.game}?ending=${ending}`, download: "", title: t("replay.history") },
                FORMATS[ending],
              ),
            ),
          ),
          this.stage,
          this.words,
          el(
            "div.controls",
            {},
            button(t("replay.first"), "⇤", () => this.go(-Infinity)),
            button(t("replay.back"), "←", () => this.go(-1)),
            this.runButton,
            button(t("replay.next"), "→", () => this.go(1)),
            button(t("replay.last"), "⇥", () => this.go(Infinity)),
            this.slider,
          ),
        ),
        el(
          "aside.panel",
          {},
          el(
            "section.panel-part",
            {},
            el("h2", {}, title),
            el("p.result-line", {}, payoffs),
            this.openly,
          ),
          this.review,
          this.story,
        ),
      ),
    );
    const isMine = data.mine !== null && data.mine !== undefined;
    this.review.hidden = !isMine;
    this.reviewed = new Review(this.review, {
      game: this.game,
      name: data.game,
      mine: data.mine,
      deck: this.deck,
      seats: this.seats,
      unit: unitOf(data.steps.at(-1).scene),
      show: (ply) => this.show(ply),
      see: (steps) => this.see(steps),
      go: this.go_to,
    });
  }

  show(at) {
    const { data, seats } = this;
    this.at = Math.max(0, Math.min(data.steps.length - 1, at));
    const step = data.steps[this.at];
    const before = remember(this.stage.firstElementChild);
    this.room = roomOf(this.stage);
    const felt = drawFelt({
      scene: { ...step.scene, moves: [] },
      seats,
      mine: data.mine ?? null,
      player: step.scene.player >= 0 ? step.scene.player : null,
      room: this.room,
      movesAt: () => [],
      pick: () => {},
      isPicked: () => false,
      ...this.reviewed.look(this.at),
    });
    refill(this.stage, felt);
    fitInto(felt, 1);
    settle(felt, before);
    this.reviewed.mark(felt, this.at);
    const place = this.stops.findIndex((stop) => stop >= this.at);
    this.slider.value = String(place);
    const said = this.lines.filter((line) => line.ply === this.at);
    refill(
      this.words,
      this.reviewed.words(this.at) ?? el(
        "div.recent",
        { "aria-live": "polite" },
        said.length
          ? said.map((line) =>
              el(
                "span",
                { class: line.isNews ? "news" : "" },
                line.isNews
                  ? line.text
                  : [
                      el("b", {}, felt.querySelector(`[data-seat="${line.seat}"] .name`)?.textContent ?? ""),
                      ": ",
                      line.text,
                    ],
              ),
            )
          : t("replay.start"),
      ),
      el("div.status", {}, t("replay.step", place + 1, this.stops.length)),
    );
    refill(
      this.story,
      el("h2", {}, t("table.story")),
      drawStory(this.lines, seats, { go: (ply) => this.show(ply), at: this.at }),
    );
    this.reviewed.markStory(this.story);
    this.reviewed.draw(this.at);
    const now = this.story.querySelector(".at");
    if (now) now.parentElement.scrollTop = now.offsetTop - now.parentElement.offsetTop - 40; // and the page stays where it is
    history.replaceState(null, "", `#${this.at}`);
  }

  go(steps) {
    const place = this.stops.findIndex((stop) => stop >= this.at);
    this.show(this.stops[Math.max(0, Math.min(this.stops.length - 1, place + steps))]);
  }

  run() {
    const isRunning = this.timer !== 0;
    clearInterval(this.timer);
    this.timer = 0;
    this.runButton.textContent = isRunning ? "▶" : "❚❚";
    if (isRunning) return;
    if (this.at >= this.stops.at(-1)) this.go(-Infinity);
    this.timer = setInterval(() => (this.at < this.stops.at(-1) ? this.go(1) : this.run()), RUN);
  }

  key(event, isField) {
    if (isField || event.target === this.slider) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (steps === undefined) return;
    event.preventDefault();
    this.go(steps);
  }

  async copy(button) {
    try {
      await navigator.clipboard.writeText(`${location.origin}/g/${this.game}`);
      button.textContent = t("table.copied");
    } catch {
      button.textContent = `${location.origin}/g/${this.game}`;
    }
  }
}

/** What a game pays: chips, points, or the game itself. */
const unitOf = (scene) =>
  scene.parts.some((part) => part.name === "in the pot") ? "chips" : scene.parts.some((part) => part.kind === "domino") ? "points" : "win";

const isMove = (step) => step.seat !== null && step.seat !== undefined && step.seat >= 0;
