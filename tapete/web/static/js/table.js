/** The page of a table: what the server tells is drawn, and what the person does is sent. */

import { el, refill } from "./dom.js";
import { drawFelt, showLast } from "./felt.js";
import { t } from "./i18n/index.js";
import { deckOf, gameTitle, moveWord } from "./i18n/speech.js";
import { listen, roam } from "./keys.js";
import { remember, settle } from "./motion.js";
import { connect, refusal } from "./net.js";
import { onChange, settings } from "./settings.js";
import { drawStory, latest, linesOf, spoken, statusOf } from "./story.js";
import { drawThinking, favourite, worths } from "./thoughts.js";
import { askName, drawAfter, drawTools } from "./tools.js";
import { drawTray, isCardSets, usable } from "./tray.js";

/** @param {HTMLElement} root @param {{table: string, go: function(string)}} page @returns {function} that ends it */
export function showTable(root, { table, go }) {
  const page = new TablePage(root, table, go);
  return () => page.close();
}

/** What the table looks like: as long as this stays the same, nothing on it needs to be drawn anew. */
const looksOf = ({ ply, player, over, complete, seats, scene }) =>
  JSON.stringify([ply, player, over, complete, seats, scene]);

class TablePage {
  constructor(root, table, go) {
    this.go = go;
    this.message = null;
    this.thought = null; // the last one
    this.picked = new Set(); // indices in the own hand, or the one thing whose moves are asked for
    this.query = "";
    this.sent = -1; // the ply at which a move was sent that is not answered yet
    this.drawn = -1; // the ply that is drawn
    this.told = 0; // lines of the story that were read out
    this.invite = new URLSearchParams(location.search).get("invite") ?? "";
    this.build(root);
    this.socket = connect(table, this.invite, {
      message: (message) => this.hear(message),
      state: (state) => this.connection(state),
    });
    this.stopKeys = listen((event, isField) => this.key(event, isField));
    this.stopSettings = onChange((key) => this.changed(key));
    this.observer = new ResizeObserver(() => this.message && this.stage.clientWidth !== this.width && this.draw());
    this.observer.observe(this.stage);
  }

  close() {
    this.socket.close();
    this.stopKeys();
    this.stopSettings();
    this.observer.disconnect();
  }

  build(root) {
    this.bar = el("div.bar");
    this.stage = el("div.stage");
    this.banner = el("div.banner");
    this.trayHolder = el("div.tray-holder");
    this.alert = el("p.alert", { role: "alert", hidden: true });
    this.live = el("div.sr", { "aria-live": "polite", role: "log" });
    this.story = el("section.panel-part.story-part", { "aria-label": t("table.story") });
    this.thinking = el("section.panel-part.thinking-part", { "aria-label": t("table.thinking") });
    this.panel = el("aside.panel", {}, this.thinking, this.story);
    this.page = el(
      "div.table-page",
      {},
      el("div.play", {}, this.bar, this.stage, this.alert, this.banner, this.trayHolder),
      this.panel,
    );
    refill(root, this.page, this.live);
  }

  // What the server says.

  hear(message) {
    if (message.is === "table") this.update(message);
    else if (message.is === "thought") this.think(message);
    else if (message.is === "moved") this.go(`/t/${message.table}`);
    else if (message.is === "error") this.refuse(message);
  }

  update(message) {
    const isFirst = this.message === null;
    if (message.ply !== this.message?.ply) {
      this.picked.clear();
      this.query = "";
      if (this.thought?.kind === "hint" && this.thought.ply !== message.ply) this.thought = null;
    }
    const isSame = this.sent < 0 && this.message !== null && looksOf(message) === looksOf(this.message);
    this.sent = -1;
    this.message = message;
    this.refusal = null;
    if (isSame) return this.drawWords(); // what somebody is about to click stays where it is
    Object.assign(this.page.dataset, {
      ply: message.ply,
      turn: message.over ? "over" : this.isMyTurn ? "mine" : "other",
    });
    document.title = `${gameTitle(message.title)} · tapete`;
    this.draw();
    this.speak();
    if (isFirst && message.seat !== null && message.thinking !== settings.thinking)
      this.socket.send({ do: "thinking", when: settings.thinking });
  }

  think(thought) {
    this.thought = thought;
    if (thought.kind !== "hint") return this.drawPanel();
    this.draw();
    this.live.append(el("p", {}, `${t("thought.hint")}: ${moveWord(favourite(thought).text, this.deck)}`));
  }

  refuse(message) {
    this.sent = -1;
    this.say(refusal(message));
    if (this.message) this.draw();
    else this.refusal = refusal(message); // there is no table to look at, and this is why
  }

  connection(state) {
    if (state === "open") this.alert.hidden = true;
    else this.say(this.refusal ?? (state === "gone" ? t("table.gone") : t("table.lost")), state);
  }

  say(text, kind = "") {
    this.alert.textContent = text;
    this.alert.hidden = false;
    this.alert.dataset.kind = kind;
    clearTimeout(this.quiet);
    if (!kind) this.quiet = setTimeout(() => (this.alert.hidden = true), 4000);
  }

  // What the person does.

  play(action) {
    if (this.sent === this.message.ply) return;
    this.sent = this.message.ply;
    this.socket.send({ do: "act", ply: this.message.ply, action });
  }

  pick(part, index) {
    const moves = this.movesAt(part, index);
    if (this.isSets && part.owner === this.message.seat) {
      if (!this.picked.delete(index)) this.picked.add(index);
      this.draw();
    } else if (moves.length === 1) this.play(moves[0].action);
    else {
      const wasPicked = this.picked.has(index);
      this.picked.clear();
      if (!wasPicked) this.picked.add(index);
      this.draw();
      if (!wasPicked) this.trayHolder.querySelector("button")?.focus({ preventScroll: true });
    }
  }

  clear() {
    this.picked.clear();
    this.query = "";
    this.draw();
  }

  changed(key) {
    if (key === "thinking" && this.message?.seat !== null)
      this.socket.send({ do: "thinking", when: settings.thinking });
    if (key === "pace" && this.message?.can_steer) this.socket.send({ do: "pace", ms: settings.pace });
    if (key === "language") this.go(location.pathname + location.search);
    else if (this.message) this.draw();
  }

  key(event, isField) {
    if (event.key === "Escape" && (this.picked.size || this.query)) return this.clear();
    if (isField) return undefined;
    const move = this.order?.[+event.key - 1];
    if (/^[1-9]$/.test(event.key) && move !== undefined) return this.play(move);
    if (event.key === "Enter" && document.activeElement === document.body) return this.legal()[0]?.focus();
    if (event.key === "h") return this.hint();
    if (event.key === "u" && this.message?.can_undo) return this.socket.send({ do: "undo" });
    if (event.key === "a" && this.message?.over && this.message.can_steer) return this.socket.send({ do: "again" });
    if (event.key === "/") {
      event.preventDefault();
      return this.trayHolder.querySelector(".search")?.focus();
    }
    return roam(event, this.legal());
  }

  hint() {
    if (this.isMyTurn) this.socket.send({ do: "hint" });
  }

  // What is seen.

  get isMyTurn() {
    const { player, seat, over } = this.message ?? {};
    return player !== undefined && player !== null && player === seat && !over;
  }

  get moves() {
    return this.isMyTurn && this.sent !== this.message.ply ? this.message.scene.moves : [];
  }

  get deck() {
    return deckOf(this.message.scene);
  }

  get isSets() {
    return isCardSets(this.moves, this.deck);
  }

  get hand() {
    return (
      this.message.scene.parts.find((part) => part.is === "things" && part.owner === this.message.seat)?.faces ?? []
    );
  }

  /** Everything that can be played or clicked in this turn, as it lies on the screen. */
  legal() {
    return [...document.querySelectorAll(".stage .legal, .tray button, .after button")].filter(
      (element) => !element.disabled,
    );
  }

  movesAt(part, index) {
    if (this.isSets && part.owner === this.message.seat && part.name === "hand")
      return this.able[index] ? this.moves : [];
    return this.moves.filter((move) => move.place?.part === part.name && move.place.index === index);
  }

  draw() {
    const { message } = this;
    const before = remember(this.stage.firstElementChild);
    const focused = document.activeElement?.dataset?.key;
    this.able = this.isSets ? usable(this.moves, this.hand, [...this.picked]) : [];
    this.drawTray();
    this.drawWords(); // what is left is the table's
    this.width = this.stage.clientWidth;
    const isNow = this.thought && this.thought.ply === message.ply && this.isMyTurn;
    const felt = drawFelt({
      scene: message.scene,
      seats: message.seats,
      mine: message.seat,
      player: message.over ? null : message.player,
      room: this.width,
      movesAt: (part, index) => this.movesAt(part, index),
      pick: (part, index) => this.pick(part, index),
      isPicked: (part, index) =>
        part.owner === message.seat && message.seat !== null && part.name === "hand" && this.picked.has(index),
      worth: isNow ? worths(this.thought) : null,
      sit: message.seat === null || message.invite === null ? this.sitter() : null,
    });
    const top = this.drawn === message.ply ? this.stage.scrollTop : Number.MAX_SAFE_INTEGER;
    refill(this.stage, felt);
    this.stage.scrollTop = message.seat === null ? 0 : top; // where there is no room for all, one sees one's own cards
    this.drawn = message.ply;
    settle(felt, before);
    showLast(felt);
    this.number();
    if (isNow && this.thought.kind === "hint") this.point(favourite(this.thought).action);
    this.refocus(focused);
  }

  /** Shows where a move is made. */
  point(action) {
    for (const element of document.querySelectorAll(`[data-move="${action}"]`)) element.classList.add("hinted");
  }

  drawWords() {
    this.drawBar();
    this.drawBanner();
    this.drawPanel();
  }

  sitter() {
    const sit = (seat) => this.socket.send({ do: "sit", seat, invite: this.invite, name: settings.name });
    return this.invite ? (seat) => (settings.name ? sit(seat) : askName(() => sit(seat))) : null;
  }

  /** Keeps the focus where it was; who plays by keyboard gets it back with his turn. */
  refocus(key) {
    if (document.querySelector("dialog[open]")) return;
    const same =
      key &&
      [...document.querySelectorAll("[data-key]")].find(
        (element) => element.dataset.key === key && element.matches("button, input"),
      );
    if (same && same !== document.activeElement) {
      same.focus({ preventScroll: true });
      if (key === "search") same.setSelectionRange(this.query.length, this.query.length);
    } else if (
      !same &&
      document.documentElement.dataset.input === "keyboard" &&
      document.activeElement === document.body
    ) {
      this.legal()[0]?.focus({ preventScroll: true });
    }
  }

  drawBar() {
    const { message } = this;
    const looks = JSON.stringify([
      message.running,
      message.over,
      message.can_undo,
      message.invite,
      message.complete,
      message.counted,
      this.isMyTurn,
    ]);
    if (looks === this.barLooks) return; // a button that somebody is about to press stays where it is
    this.barLooks = looks;
    refill(
      this.bar,
      drawTools(message, this.isMyTurn, {
        send: (data) => this.socket.send(data),
        hint: () => this.hint(),
        say: (text) => this.say(text, "address"),
      }),
    );
  }

  drawBanner() {
    const { message } = this;
    const lines = linesOf(message.told, message.seats, this.deck);
    const status = this.status();
    const recent = latest(lines, message.seats, message.over ? 2 : 3);
    refill(
      this.banner,
      el(
        "div.recent",
        {},
        recent.map((line) => el("span", { class: line.isNews ? "news" : "" }, line.text)),
      ),
      el(
        "div.status",
        { class: status.tone },
        el("strong", {}, status.title),
        status.detail ? el("span", {}, " ", status.detail) : null,
      ),
    );
  }

  status() {
    return statusOf(this.message, this.isMyTurn, this.hintText());
  }

  hintText() {
    if (this.thought?.kind !== "hint" || this.thought.ply !== this.message.ply) return "";
    const best = favourite(this.thought);
    return `${t("thought.hint")}: ${moveWord(best.text, this.deck)} (${Math.round(100 * best.share)} %)`;
  }

  drawTray() {
    const { message } = this;
    if (message.over) {
      this.order = [];
      refill(this.trayHolder, drawAfter(message, { send: (data) => this.socket.send(data), go: this.go }));
      return;
    }
    const [only] = this.picked;
    const isAsked = !this.isSets && this.picked.size === 1;
    const { node, order } = drawTray({
      moves: this.moves,
      deck: this.deck,
      picked: this.isSets ? [...this.picked].map((i) => this.hand[i]) : [],
      options: isAsked ? this.moves.filter((move) => move.place?.part === "hand" && move.place.index === only) : null,
      query: this.query,
      hooks: { play: (action) => this.play(action), clear: () => this.clear(), search: (text) => this.search(text) },
    });
    this.order = order;
    refill(this.trayHolder, node);
  }

  search(text) {
    this.query = text;
    this.drawTray();
    this.number();
    this.refocus("search");
  }

  /** Puts the numbers of the keyboard on the first nine moves. */
  number() {
    this.order.slice(0, 9).forEach((action, i) => {
      const element = [
        ...document.querySelectorAll(`.tray [data-move="${action}"], .stage [data-move="${action}"]`),
      ].find((found) => !this.isSets || found.closest(".tray"));
      if (element && !element.dataset.digit) element.dataset.digit = String(i + 1);
    });
  }

  drawPanel() {
    const { message } = this;
    this.thinking.hidden = message.seat === null;
    const thinks = JSON.stringify([this.thought, settings.thinking]);
    if (thinks !== this.thinks) refill(this.thinking, drawThinking(this.thought, this.deck)); // else a list may be open
    this.thinks = thinks;
    const lines = linesOf(message.told, message.seats, this.deck);
    const before = this.story.querySelector(".story");
    const isAtEnd = !before || before.scrollHeight - before.scrollTop - before.clientHeight < 40;
    const top = before?.scrollTop ?? 0;
    const story = lines.length ? drawStory(lines, message.seats) : el("p.empty", {}, t("story.start"));
    refill(this.story, el("div.panel-head", {}, el("h2", {}, t("table.story"))), story);
    story.scrollTop = isAtEnd ? story.scrollHeight : top; // who reads what was before is left in peace
  }

  /** Reads out what is new. */
  speak() {
    const { message } = this;
    const lines = linesOf(message.told, message.seats, this.deck);
    const fresh = lines.slice(this.told).slice(-6);
    this.told = lines.length;
    const status = this.status();
    refill(
      this.live,
      el("p", {}, [spoken(fresh, message.seats), `${status.title} ${status.detail ?? ""}`].filter(Boolean).join(". ")),
    );
  }
}
