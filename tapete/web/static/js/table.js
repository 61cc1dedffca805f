/** The page of a table: what the server tells is drawn, and what the person does is sent. */

import { el, refill } from "./dom.js";
import { drawFelt, fitInto, isOther, kindOf, roomOf, showLast } from "./felt.js";
import { t } from "./i18n/index.js";
import { deckOf, gameTitle, moveWord, seatNames } from "./i18n/speech.js";
import { listen, roam } from "./keys.js";
import { callsOf, momentOf } from "./moments.js";
import { remember, settle } from "./motion.js";
import { connect, refusal } from "./net.js";
import { onChange, settings } from "./settings.js";
import { drawSession, isPoker, stacksOf } from "./session.js";
import { sound, soundOf } from "./sound.js";
import { drawStory, latest, linesOf, spoken, statusOf } from "./story.js";
import { drawThinking, favourite, worths } from "./thoughts.js";
import { askName, drawAfter, drawTools } from "./tools.js";
import { comingTray, drawTray, isCardSets, usable } from "./tray.js";

/** @param {HTMLElement} root @param {{table: string, go: function(string), join: function}} page @returns {function} that ends it */
export function showTable(root, { table, go, join = connect }) {
  const page = new TablePage(root, table, go, join);
  return () => page.close();
}

const SEEN = 1800; // ms that the end of a trick, a hand or a round stays on the table, unless somebody clicks
const REACTIONS = ["hello", "nice", "thanks", "ouch", "wow", "hurry"]; // as the server knows them
const BEHIND = 6; // with more moves than this to come, nobody waits

/** What the table looks like: as long as this stays the same, nothing on it needs to be drawn anew. */
const looksOf = ({ ply, player, over, complete, seats, scene }) =>
  JSON.stringify([ply, player, over, complete, seats, scene]);

const isAtEnd = (list) => list.scrollHeight - list.scrollTop - list.clientHeight < 40;

class TablePage {
  constructor(root, table, go, join) {
    this.go = go;
    this.message = null;
    this.thought = null; // the last one
    this.picked = new Set(); // indices in the own hand, or the one thing whose moves are asked for
    this.query = "";
    this.sent = -1; // the ply at which a move was sent that is not answered yet
    this.room = null; // of the felt, in pixels
    this.fit = 1; // how much smaller things had to be drawn for all of them to be seen
    this.told = 0; // lines of the story that were read out
    this.queue = []; // tables that were told while one was looked at
    this.moment = null; // what is looked at before the game goes on: see `moments.js`
    this.follows = true; // whether the story is read where it is told
    this.invite = new URLSearchParams(location.search).get("invite") ?? "";
    this.build(root);
    this.socket = join(table, this.invite, {
      message: (message) => this.hear(message),
      state: (state) => this.connection(state),
    });
    this.release = this.release.bind(this);
    document.addEventListener("pointerdown", this.release);
    this.stopKeys = listen((event, isField) => this.key(event, isField));
    this.stopSettings = onChange((key) => this.changed(key));
    this.observer = new ResizeObserver(() => this.message && isOther(this.room, roomOf(this.stage)) && this.draw());
    this.observer.observe(this.stage);
    this.ticks = setInterval(() => this.tick(), 250);
  }

  /** The time that whoever has to move still has. */
  tick() {
    const clock = this.banner.querySelector(".clock");
    if (!clock) return;
    const seconds = Math.max(0, Math.ceil((this.ends - Date.now()) / 1000));
    clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    clock.classList.toggle("short", seconds <= 5);
  }

  close() {
    clearTimeout(this.wait);
    clearInterval(this.ticks);
    document.removeEventListener("pointerdown", this.release);
    this.socket.close();
    this.stopKeys();
    this.stopSettings();
    this.observer.disconnect();
    this.growth?.disconnect();
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
    this.session = el("section.panel-part.session-part", { "aria-label": t("session.title", ""), hidden: true });
    this.panel = el("aside.panel", {}, this.session, this.thinking, this.story);
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
    if (message.is === "table") this.come(message);
    else if (message.is === "thought") this.think(message);
    else if (message.is === "reaction") this.react(message);
    else if (message.is === "late") this.say(t("table.late", seatNames(this.message.seats)[message.seat]));
    else if (message.is === "moved") this.go(`/t/${message.table}`);
    else if (message.is === "error") this.refuse(message);
  }

  /** Somebody says a word: it stands at the seat for a while. */
  react({ seat, sign }) {
    const plate = this.stage.querySelector(`[data-seat="${seat}"] > .plate`);
    const word = t(`react.${sign}`);
    plate?.querySelector(".reaction")?.remove();
    const said = el("span.bubble.reaction", {}, word);
    plate?.append(said);
    setTimeout(() => said.remove(), SEEN);
    this.live.append(el("p", {}, `${seatNames(this.message.seats)[seat]}: ${word}`));
    sound("call");
  }

  /** A table was told: it is shown when what is on the table has been seen. */
  come(message) {
    this.queue.push(message);
    if (!this.moment) this.next();
  }

  /** Shows what was told, up to something that has to be seen first. */
  next() {
    while (this.queue.length) {
      const moment = this.isWaiting ? momentOf(this.message, this.queue[0]) : null;
      if (moment) return this.hold(moment);
      this.update(this.queue.shift());
    }
    return undefined;
  }

  /** Whether there is time to look: not where agents answer at once, and not for somebody who isn't looking. */
  get isWaiting() {
    return settings.pace > 0 && this.queue.length <= BEHIND && !document.hidden && this.thought?.kind !== "hint";
  }

  /** Leaves what has just ended on the table for a while. */
  hold(moment) {
    const { seats, told, over, returns } = this.queue[0];
    this.moment = moment;
    this.wait = setTimeout(this.release, SEEN);
    this.page.dataset.turn = "moment";
    this.picked.clear();
    this.message = {
      ...this.message,
      seats,
      scene: moment.scene,
      player: null,
      told: told.filter(({ ply }) => ply <= moment.ply),
    };
    this.draw();
    this.speak();
    this.heard(told.find(({ ply }) => ply === moment.ply));
    if (over) this.heardEnd(returns);
  }

  /** It was seen: the game goes on. */
  release() {
    if (!this.moment) return;
    clearTimeout(this.wait);
    this.moment = null;
    this.update(this.queue.shift());
    this.next();
  }

  update(message) {
    const before = this.message;
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
    this.ends = message.left === undefined || message.left === null ? null : Date.now() + message.left;
    if (isSame) return this.drawWords(); // what somebody is about to click stays where it is
    Object.assign(this.page.dataset, {
      ply: message.ply,
      turn: message.over ? "over" : this.isMyTurn ? "mine" : "other",
    });
    document.title = `${gameTitle(message.title)} · tapete`;
    this.draw();
    this.speak();
    if (!isFirst) this.listenTo(before, message);
    if (isFirst || message.over) drawSession(this.session, message);
    if (isFirst && message.seat !== null && message.thinking !== settings.thinking)
      this.socket.send({ do: "thinking", when: settings.thinking });
  }

  /** What a change sounds like; what was heard when it was looked at is not heard again. */
  listenTo(before, message) {
    const isHeard = ({ ply, seat }) => seat !== null && ply >= before.ply && !before.told.some((one) => one.ply === ply);
    this.heard(message.told.findLast(isHeard));
    if (message.over && !before.over && before.player !== null) this.heardEnd(message.returns);
    else if (this.isMyTurn && before.player !== message.seat) sound("turn");
  }

  heard(event) {
    if (event) sound(soundOf(this.page.dataset.deck, event.text));
  }

  heardEnd(returns) {
    const { seat } = this.message;
    const best = Math.max(...returns);
    const isDraw = seat === null || returns.every((value) => value === best);
    sound(isDraw ? "draw" : returns[seat] > 0 ? "won" : "lost");
  }

  think(thought) {
    this.thought = thought;
    if (thought.kind !== "hint") return this.drawPanel();
    this.draw();
    this.live.append(el("p", {}, `${t("thought.hint")}: ${moveWord(favourite(thought).text, this.deck, "todo")}`));
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
    if (this.moment && !isField) return this.release();
    if (event.key === "Escape" && (this.picked.size || this.query)) return this.clear();
    if (isField) return undefined;
    const move = this.order?.[+event.key - 1];
    if (/^[1-9]$/.test(event.key) && move !== undefined) return this.play(move);
    if (event.key === "Enter" && document.activeElement === document.body) return this.legal()[0]?.focus();
    if (event.key === "h") return this.hint();
    if (event.key === "u" && this.message?.can_undo) return this.socket.send({ do: "undo" });
    if (event.key === "a" && this.message?.over && this.message.can_steer)
      return this.socket.send({ do: isPoker(this.message) ? "swap" : "again" });
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
    return this.isMyTurn && !this.moment && this.sent !== this.message.ply ? this.message.scene.moves : [];
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
      (element) => !element.disabled && !element.closest("[inert]"),
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
    this.measure();
    const isNow = this.thought && this.thought.ply === message.ply && this.isMyTurn;
    const felt = drawFelt({
      scene: message.scene,
      seats: message.seats,
      mine: message.seat,
      player: message.over ? null : message.player,
      room: this.room,
      movesAt: (part, index) => this.movesAt(part, index),
      pick: (part, index) => this.pick(part, index),
      isPicked: (part, index) =>
        part.owner === message.seat && message.seat !== null && part.name === "hand" && this.picked.has(index),
      worth: isNow ? worths(this.thought) : null,
      calls: message.over ? null : callsOf(message.told),
      winners: this.winners(),
      stacks: stacksOf(message),
      sit: message.seat === null || message.invite === null ? this.sitter() : null,
    });
    refill(this.stage, felt);
    this.fit = fitInto(felt, this.fit);
    settle(felt, before);
    showLast(felt);
    this.number();
    if (isNow && this.thought.kind === "hint") this.point(favourite(this.thought).action);
    this.refocus(focused);
  }

  /** Who has just won something, or everything. */
  winners() {
    const { over, returns } = this.message;
    if (this.moment) return this.moment.winners;
    return over ? returns.flatMap((value, seat) => (value > 0 ? [seat] : [])) : [];
  }

  /** What there is to draw, and how much room for it. */
  measure() {
    this.page.dataset.deck ??= kindOf(this.message.scene);
    this.room = roomOf(this.stage);
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
        this.ends && !message.over ? [" ", el("span.clock", { role: "timer", "aria-label": t("table.clock") })] : null,
      ),
    );
    this.tick();
  }

  status() {
    if (this.moment && !this.moment.isDealt && !this.message.over) return { title: "…", tone: "waits" };
    return statusOf(this.message, this.isMyTurn, this.hintText());
  }

  hintText() {
    if (this.thought?.kind !== "hint" || this.thought.ply !== this.message.ply) return "";
    const best = favourite(this.thought);
    return `${t("thought.hint")}: ${moveWord(best.text, this.deck, "todo")} (${Math.round(100 * best.share)} %)`;
  }

  drawTray() {
    const { message } = this;
    if (message.over) {
      this.order = [];
      refill(this.trayHolder, drawAfter(message, { send: (data) => this.socket.send(data), go: this.go }));
      this.keepTray();
      return;
    }
    const [only] = this.picked;
    const isAsked = !this.isSets && this.picked.size === 1;
    const { node, order } = drawTray({
      moves: this.moves,
      price: message.scene.parts.find((part) => part.name === "to call")?.text ?? "",
      deck: this.deck,
      picked: this.isSets ? [...this.picked].map((i) => this.hand[i]) : [],
      options: isAsked ? this.moves.filter((move) => move.place?.part === "hand" && move.place.index === only) : null,
      query: this.query,
      hooks: { play: (action) => this.play(action), clear: () => this.clear(), search: (text) => this.search(text) },
    });
    this.order = order;
    refill(this.trayHolder, (this.moves.length ? null : comingTray(message)) ?? node);
    this.keepTray();
  }

  /** The place for buttons never becomes smaller: what lies above it would jump. */
  keepTray() {
    const { style } = this.trayHolder;
    const size = `${innerWidth} ${innerHeight}`;
    if (size !== this.window) {
      style.minHeight = ""; // another window: all may be as large as it likes again
      this.fit = 1;
    }
    this.window = size;
    style.minHeight = `${this.trayHolder.offsetHeight}px`;
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
    const top = this.story.querySelector(".story")?.scrollTop ?? 0;
    const story = lines.length ? drawStory(lines, message.seats) : el("p.empty", {}, t("story.start"));
    refill(this.story, el("div.panel-head", {}, el("h2", {}, t("table.story")), this.reactions()), story);
    story.scrollTop = this.follows ? story.scrollHeight : top; // who reads what was before is left in peace
    this.keepUp(story);
  }

  /** What can be said to other people at the table. */
  reactions() {
    const { seats, seat } = this.message;
    if (seat === null || seats.filter(({ kind }) => kind === "person").length < 2) return null;
    const say = (event) => {
      if (event.target.value) this.socket.send({ do: "react", sign: event.target.value });
      event.target.value = "";
    };
    return el(
      "select.say",
      { "aria-label": t("react.title"), data: { key: "react" }, on: { change: say } },
      el("option", { value: "" }, t("react.title")),
      REACTIONS.map((sign) => el("option", { value: sign }, t(`react.${sign}`))),
    );
  }

  /** The story follows the game where the panel above it grows, too; not when somebody has scrolled up to read. */
  keepUp(story) {
    let top = story.scrollTop;
    story.addEventListener("scroll", () => {
      if (story.scrollTop < top) this.follows = false;
      if (isAtEnd(story)) this.follows = true;
      top = story.scrollTop;
    });
    this.growth?.disconnect();
    this.growth = new ResizeObserver(() => this.follows && (story.scrollTop = story.scrollHeight));
    this.growth.observe(story);
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
