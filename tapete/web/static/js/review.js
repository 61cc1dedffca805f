/** A review of a finished game: what every own decision was worth, by the eyes of the one who made it. */

import { el, refill, svg } from "./dom.js";
import { number, t } from "./i18n/index.js";
import { agentName, moveWord } from "./i18n/speech.js";
import { get, post } from "./net.js";
import { settings } from "./settings.js";

const MARKS = ["best", "good", "inaccuracy", "mistake", "blunder", "unjudged"];
const SIGNS = { best: "★", good: "✓", inaccuracy: "?!", mistake: "?", blunder: "??", unjudged: "·" };
const BAD = ["inaccuracy", "mistake", "blunder"];
const WORST = 5; // decisions that are listed
const [WIDTH, HEIGHT, EDGE] = [300, 96, 8];

/** The sign of a mark, with its word for those who listen. */
const badge = (mark) => el("span.mark", { data: { mark }, role: "img", "aria-label": t(`review.${mark}`), title: t(`review.${mark}`) }, SIGNS[mark]);

/** The review of one page of replay. */
export class Review {
  /**
   * @param {HTMLElement} root a part of the panel
   * @param {{game: string, name: string, mine: number, deck: string, seats: Object[], show: function(number),
   *   see: function(Object[]), go: function(string)}} page `see` takes the steps as the one who decided saw them
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.data = null;
    refill(
      root,
      el("h2", {}, t("review.title")),
      el("button.move.primary", { type: "button", on: { click: () => this.ask() } }, t("review.ask")),
    );
  }

  async ask() {
    refill(this.root, el("h2", {}, t("review.title")), el("p.empty", { role: "status" }, t("review.wait")));
    const address = (what) => `/api/${what}/${encodeURIComponent(this.page.game)}?seat=${this.page.mine}`;
    try {
      const [data, replay] = await Promise.all([get(address("review")), get(address("replay"))]);
      this.data = data;
      this.page.see(replay.steps);
      const [worst] = this.worst();
      this.page.show((worst ?? data.decisions.find(({ moves }) => moves) ?? data.decisions[0])?.ply ?? 0);
    } catch (error) {
      refill(this.root, el("h2", {}, t("review.title")), el("p.alert", { role: "alert" }, error.message));
    }
  }

  /** The decision that was made at a step, if there was one. */
  at(ply) {
    return this.data?.decisions.find((decision) => decision.ply === ply) ?? null;
  }

  worst() {
    const costly = this.data.decisions.filter((decision) => BAD.includes(decision.mark));
    return costly.sort((a, b) => b.lost - a.lost).slice(0, WORST);
  }

  /** What a felt needs to show the moves of a decision on the table. */
  look(ply) {
    const decision = this.at(ply);
    if (!decision) return {};
    const moves = decision.moves?.some(({ action }) => action === decision.action)
      ? decision.moves
      : [...(decision.moves ?? []), decision];
    const worth = moves
      .filter(({ value }) => value !== undefined)
      .map(({ action, value }, i) => [action, { text: number(value, { sign: true, fixed: true }), best: i === 0 }]);
    return {
      movesAt: (part, index) => moves.filter(({ place }) => place?.part === part.name && place.index === index),
      worth: new Map(worth),
    };
  }

  /** Draws what was played and what was better on a felt; the moves can't be made any more. */
  mark(felt, ply) {
    const decision = this.at(ply);
    if (!decision) return;
    for (const button of felt.querySelectorAll("button.legal")) button.disabled = true;
    const ring = (action, kind) => {
      for (const element of felt.querySelectorAll(`[data-move="${action}"]`)) {
        element.classList.add(kind);
        element.dataset.said = t(`review.${kind}`);
      }
    };
    ring(decision.action, "played");
    const best = decision.moves?.[0];
    const isBetter = best && best.action !== decision.action && decision.mark !== "best";
    if (isBetter) ring(best.action, "better");
    const pill = (move, kind) =>
      move.place ? null : el("span.pill", { class: kind }, el("i", {}, `${t(`review.${kind}`)} `), moveWord(move.text, this.page.deck, "todo"));
    const pills = [pill(decision, "played"), isBetter ? pill(best, "better") : null].filter(Boolean);
    if (pills.length) felt.append(el("div.pills", {}, pills));
  }

  /** Signs at the own moves of a story. */
  markStory(story) {
    for (const item of story.querySelectorAll("li.said-by")) {
      const decision = this.at(+item.dataset.ply - 1); // a step shows what its move has led to
      if (decision && item.classList.contains("mine")) item.querySelector(".link")?.append(" ", badge(decision.mark));
    }
  }

  /** What is to be said of a decision, in one sentence that can't be misread. */
  sentence(decision) {
    const word = (move) => moveWord(move.text, this.page.deck, "todo");
    const own = word(decision);
    if (decision.mark === "unjudged") return t("review.said.unjudged", own);
    const best = decision.moves[0];
    if (decision.mark === "best" || best.action === decision.action) return t("review.said.best", own);
    const [lost, doubt] = [number(decision.lost), number(decision.doubt)];
    if (decision.lost <= decision.doubt) return t("review.said.close", own, word(best), lost, doubt);
    return decision.doubt > 0.005
      ? t("review.said.doubt", own, word(best), lost, doubt)
      : t("review.said.better", own, word(best), lost);
  }

  /** The words below the table at a step; null where nothing was decided. */
  words(ply) {
    const decision = this.at(ply);
    return decision ? el("div.recent.verdict", { "aria-live": "polite" }, badge(decision.mark), el("span", {}, this.sentence(decision))) : null;
  }

  /** Draws the panel for a step. */
  draw(ply) {
    if (!this.data) return;
    const { accuracy, decisions, of } = this.data;
    const decision = this.at(ply);
    const wasOpen = this.root.querySelector("details")?.open ?? false;
    refill(
      this.root,
      el("h2", {}, t("review.title")),
      accuracy === null ? el("p.empty", {}, t("review.none")) : this.figures(),
      this.graph(ply),
      decision ? this.drawDecision(decision, wasOpen) : this.drawWorst(),
      decisions.length < of ? el("p.by", {}, t("review.partly", decisions.length, of)) : null,
      el("p.by", {}, t("review.eyes")),
    );
  }

  figures() {
    const { accuracy, marks } = this.data;
    return el(
      "div.figures",
      {},
      el("div.accuracy", {}, el("b", {}, `${number(accuracy, { places: 0 })} %`), el("span", {}, t("review.accuracy"))),
      el(
        "ul.marks",
        {},
        MARKS.filter((mark) => marks[mark]).map((mark) => el("li", {}, badge(mark), ` ${marks[mark]} ${t(`review.${marks[mark] === 1 ? "one" : "of"}.${mark}`)}`)),
      ),
    );
  }

  unit() {
    if (this.data.in_wins) return t("review.worth.win");
    return t(`review.worth.${this.page.unit}`);
  }

  /** What the position was worth, with a point for every decision. */
  graph(ply) {
    const { curve, decisions } = this.data;
    if (curve.length < 2) return null;
    const values = curve.map(([, value]) => value);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    const last = curve.at(-1)[0];
    const first = curve[0][0];
    const x = (at) => EDGE + ((at - first) / (last - first || 1)) * (WIDTH - 2 * EDGE);
    const y = (value) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
    const points = curve.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    const dot = (decision) =>
      svg("circle", {
        cx: x(decision.ply).toFixed(1),
        cy: y(decision.moves?.[0].value ?? 0).toFixed(1),
        r: decision.ply === ply ? 6 : BAD.includes(decision.mark) ? 4.5 : 3,
        "data-mark": decision.mark,
        "data-ply": decision.ply,
      });
    const graph = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${t("review.graph")}: ${values.map((value) => number(value)).join(", ")}` },
      svg("polygon", { class: "area", points: [`${x(first)},${y(0)}`, ...points, `${x(last)},${y(0)}`].join(" ") }),
      svg("line", { class: "zero", x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }),
      svg("polyline", { class: "worth", points: points.join(" ") }),
      ply >= first ? svg("line", { class: "now", x1: x(ply), x2: x(ply), y1: 0, y2: HEIGHT }) : "",
      decisions.filter(({ moves }) => moves).map(dot),
      svg("text", { class: "tick", x: WIDTH - 2, y: 10, "text-anchor": "end" }, number(high, { sign: true })),
      svg("text", { class: "tick", x: WIDTH - 2, y: HEIGHT - 2, "text-anchor": "end" }, number(low, { sign: true })),
    );
    graph.addEventListener("click", (event) => {
      const box = graph.getBoundingClientRect();
      const at = first + (((event.clientX - box.left) / box.width) * WIDTH - EDGE) / (WIDTH - 2 * EDGE) * (last - first);
      const near = decisions.reduce((a, b) => (Math.abs(b.ply - at) < Math.abs(a.ply - at) ? b : a));
      this.page.show(near.ply);
    });
    return el("figure.graph", {}, graph, el("figcaption.by", {}, `${t("review.graph")} (${this.unit()})`));
  }

  drawWorst() {
    const worst = this.worst();
    const item = (decision) =>
      el(
        "li",
        {},
        el("button.link", { type: "button", on: { click: () => this.page.show(decision.ply) } }, badge(decision.mark), " ", this.sentence(decision)),
      );
    return [
      el("h3", {}, t("review.worst")),
      worst.length ? el("ol.worst", {}, worst.map(item)) : el("p.empty", {}, t("review.nothing")),
    ];
  }

  drawDecision(decision, wasOpen) {
    const judge = decision.how ? t(`review.judge.${decision.how}`, agentName(decision.by)) : null;
    return el(
      "div.decision",
      { data: { mark: decision.mark } },
      el("p", {}, badge(decision.mark), " ", el("b", {}, t(`review.${decision.mark}`))),
      el("p", {}, this.sentence(decision)),
      decision.moves ? el("details", { open: wasOpen }, el("summary", {}, t("review.moves")), this.drawMoves(decision)) : null,
      judge ? el("p.by", {}, judge) : null,
      this.drawOn(decision),
    );
  }

  /** All moves of a decision, with what they are worth. */
  drawMoves(decision) {
    const best = decision.moves[0].value;
    const row = (move) =>
      el(
        "tr",
        { class: move.action === decision.action ? "own" : "" },
        el("th", { scope: "row" }, moveWord(move.text, this.page.deck, "todo"), move.action === decision.action ? el("span.tick", { role: "img", "aria-label": t("review.yours") }, " ●") : null),
        el("td", {}, number(move.value, { sign: true, fixed: true })),
        el("td", {}, best - move.value < 0.005 ? "" : `${number(move.value - best, { fixed: true })}${move.doubt > 0.005 ? ` ± ${number(move.doubt)}` : ""}`),
      );
    return el(
      "table.moves-worth",
      {},
      el("thead", {}, el("tr", {}, ["review.move", "review.worth", "review.behind"].map((key) => el("th", { scope: "col" }, t(key))))),
      el("tbody", {}, decision.moves.map(row)),
    );
  }

  /** The same position again, against somebody. */
  drawOn(decision) {
    const select = el("select", { "aria-label": t("review.against") }, this.usual());
    select.addEventListener("focus", () => this.offer(select), { once: true });
    select.addEventListener("pointerdown", () => this.offer(select), { once: true });
    const start = async () => {
      const seats = this.page.seats.map((_, i) => (i === this.page.mine ? "me" : select.value));
      try {
        const made = { game: this.page.name, seats, name: settings.name, practice: true, pace: settings.pace, from: this.page.game, ply: decision.ply };
        this.page.go(`/t/${(await post("/api/tables", made)).table}`);
      } catch (error) {
        on.replaceWith(el("p.alert", { role: "alert" }, error.message));
      }
    };
    const on = el(
      "div.play-on",
      {},
      el("button.move.primary", { type: "button", on: { click: start } }, t("review.on")),
      el("label", {}, el("span", {}, `${t("review.against")} `), select),
    );
    return on;
  }

  /** Who sat there, unless that was a person. */
  usual() {
    const agent = this.page.seats.find((seat, i) => i !== this.page.mine && seat.kind === "agent");
    const text = agent?.name ?? "best(3)";
    return [el("option", { value: text, selected: true }, agent?.called || agentName(text))];
  }

  async offer(select) {
    const { opponents, characters } = await get(`/api/game?name=${encodeURIComponent(this.page.name)}`);
    const chosen = select.value;
    const people = characters.map(({ agent, name }) => ({ text: agent, title: name }));
    const others = opponents.filter(({ text }) => !people.some((each) => each.text === text));
    const option = ({ text, title }) => el("option", { value: text, selected: text === chosen }, title ?? agentName(text));
    refill(select, people.map(option), others.length ? el("optgroup", { label: t("people.others") }, others.map(option)) : null);
  }
}
