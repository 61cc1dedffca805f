/** The first page: pick a game, say who sits where, and sit down. */

import { el, refill } from "./dom.js";
import { language, number, t } from "./i18n/index.js";
import { agentAbout, gameAbout, gameTitle, parameterName, seatNames } from "./i18n/speech.js";
import { get, post } from "./net.js";
import { drawPerson, opponentOptions } from "./people.js";
import { picture } from "./pictures.js";
import { showRules } from "./rules.js";
import { change, settings } from "./settings.js";

/** The order in which games are shown; those that are not here come after them. */
const ORDER = ["truco", "domino", "dudo", "holdem", "doudizhu", "othello", "goofspiel", "kuhn", "leduc", "ocp"];
/** What is set when a game is opened, where the game's own default is not the best first evening. */
const PRESETS = {
  dudo: { faces: 6, dice1: 3, dice2: 3 },
  truco: { points: 15, mazo: true },
  doudizhu: { bidding: true, around: true },
  holdem: { players: 6 },
};
/** What people settle before they sit down, at one click. */
const QUICK = { truco: ["points", [15, 30]], holdem: ["players", [2, 3, 6, 9]] };
const CLOCKS = [0, 15, 30, 60, 180]; // seconds for a move, at a table with friends
const HIDDEN = ["position"]; // for those who write code

const baseName = (game) => game.name.split("(")[0];
const rank = (game) => ORDER.indexOf(baseName(game)) + 1 || ORDER.length + 1;
/** A title without its parameters. */
const shortTitle = (title) =>
  gameTitle(title)
    .replace(/,[^,]*\d.*$/, "")
    .replace(/, (fixed limit|límite fijo)$/, "");
const isSmall = (game) => rank(game) > ORDER.length;

/** @param {HTMLElement} root @param {{go: function(string)}} page */
export async function showLobby(root, { go }) {
  const [games, tables] = await Promise.all([get("/api/games"), get("/api/tables")]);
  games.sort((a, b) => rank(a) - rank(b) || a.title.localeCompare(b.title));
  const setup = el("div.setup-holder");
  const open = (game) => openSetup(setup, game, go);
  const card = (game) =>
    el(
      "button.game-card",
      { type: "button", data: { game: baseName(game) }, on: { click: () => open(game) } },
      el("span.picture", { "aria-hidden": "true" }, picture(baseName(game))),
      el(
        "span.words",
        {},
        el("strong", {}, shortTitle(game.title)),
        el("span", {}, gameAbout(baseName(game), game.about.split("\n")[0])),
      ),
    );
  refill(
    root,
    el(
      "div.lobby",
      {},
      el("div.hero", {}, el("h1", {}, t("lobby.lead")), el("p", {}, t("lobby.about"))),
      mine(tables),
      el("h2", {}, t("lobby.pick")),
      el("div.game-cards", {}, games.filter((game) => !isSmall(game)).map(card)),
      el("h2", {}, t("lobby.more")),
      el("div.game-cards.small", {}, games.filter(isSmall).map(card)),
    ),
    setup,
  );
}

const stateOf = (table) => (table.broken ? "lobby.broken" : table.turn ? "lobby.yourTurn" : "lobby.goOn");

/** Tables that were left in the middle. */
function mine(tables) {
  const open = tables.filter((table) => !table.over).slice(0, 6);
  if (!open.length) return null;
  const others = (table) =>
    seatNames(table.seats)
      .filter((_, i) => !table.seats[i].me)
      .join(", ");
  return el(
    "section.mine",
    {},
    el("h2", {}, t("lobby.mine")),
    el(
      "ul",
      {},
      open.map((table) =>
        el(
          "li",
          {},
          el(
            "a",
            { href: `/t/${table.table}` },
            el("strong", {}, gameTitle(table.title)),
            el("span", {}, others(table)),
            el("span.tag", { class: table.turn ? "turn" : "", title: table.broken || null }, t(stateOf(table))),
          ),
        ),
      ),
    ),
  );
}

function openSetup(holder, game, go) {
  const setup = new Setup(game, go);
  refill(holder, setup.dialog);
  setup.dialog.showModal();
  setup.dialog.addEventListener("close", () => holder.replaceChildren());
  setup.ask();
}

/**
 * Buttons of which one is pressed: one stop for Tab, and arrows go from one to the next.
 * @param {string} key by which they are known again when they are drawn anew
 * @param {[*, string][]} options values and their names
 */
function choice(key, label, options, chosen, set) {
  const at = Math.max(0, options.findIndex(([value]) => value === chosen));
  const buttons = options.map(([value, text], i) =>
    el(
      "button",
      {
        type: "button",
        tabindex: i === at ? 0 : -1,
        data: { key: `${key}-${value}` },
        "aria-pressed": String(value === chosen),
        on: { click: () => set(value) },
      },
      text,
    ),
  );
  const roam = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const from = buttons.indexOf(document.activeElement);
    if (!step || from < 0) return;
    event.preventDefault();
    buttons[(from + step + buttons.length) % buttons.length].focus();
  };
  return el(`div.choice.${key}s`, { role: "group", "aria-label": label, on: { keydown: roam } }, buttons);
}

/** Who sits where at the next table, and by which rules. */
class Setup {
  constructor(game, go) {
    this.game = game;
    this.go = go;
    this.mode = "play";
    this.practice = false;
    this.clock = 0;
    this.values = Object.fromEntries(game.parameters.map((parameter) => [parameter.name, parameter.default]));
    Object.assign(this.values, PRESETS[baseName(game)]);
    this.seats = [];
    this.info = null; // what the server says of the game with these values
    this.error = "";
    this.body = el("div.setup");
    this.dialog = el("dialog.setup-dialog", { "aria-label": gameTitle(game.title) }, this.body);
    this.body.addEventListener("keydown", (event) => {
      const isField = event.key === "Enter" && event.target.matches("select, input:not([type=checkbox])");
      if (isField && event.target.checkValidity()) {
        event.preventDefault();
        event.target.blur(); // what was typed counts
        this.body.querySelector(".start:not([disabled])")?.focus();
      }
    });
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    this.draw();
  }

  /** The game's name with the values that are not the usual ones. */
  get name() {
    const said = this.game.parameters
      .filter(({ name, default: usual }) => this.values[name] !== usual)
      .map(({ name }) => `${name}=${this.values[name]}`);
    return said.length ? `${baseName(this.game)}(${said.join(",")})` : baseName(this.game);
  }

  async ask() {
    const name = this.name;
    try {
      const info = await get(`/api/game?name=${encodeURIComponent(name)}`);
      if (name !== this.name) return; // something was changed meanwhile
      const isNew =
        this.info?.players !== info.players ||
        !this.seats.every((seat) => ["me", "open"].includes(seat) || info.opponents.some((each) => each.text === seat));
      this.info = info;
      this.error = "";
      if (isNew) this.preset();
    } catch (error) {
      this.error = error.message;
    }
    this.draw();
    const isLost = !this.body.contains(document.activeElement); // what had the focus keeps it
    if (isLost && this.dialog.open) this.body.querySelector(".start")?.focus();
  }

  /** Who is asked to play unless something else is said: a solution, or else the search in the middle. */
  get usual() {
    const texts = this.info.opponents.map((opponent) => opponent.text);
    if (this.info.usual) return this.info.usual;
    return (
      texts.find((text) => text === "equilibrium") ??
      texts.find((text) => text === "best(3)") ??
      texts.find((text) => /^(is)?mcts\(1000\)$/.test(text)) ??
      texts.at(-1)
    );
  }

  preset() {
    const other = this.mode === "friend" ? "open" : this.usual;
    this.seats = Array.from({ length: this.info.players }, (_, i) => (i === 0 && this.mode !== "watch" ? "me" : other));
  }

  /** Gives a seat to somebody; who has two seats leaves the other. */
  seat(i, text) {
    const before = this.seats[i];
    const twice = text === "me" ? this.seats.indexOf("me") : -1;
    this.seats[i] = text;
    if (twice >= 0) this.seats[twice] = before;
    this.draw();
  }

  draw() {
    const focused = document.activeElement?.dataset?.key;
    refill(
      this.body,
      el(
        "div.setup-head",
        {},
        el("span.picture", { "aria-hidden": "true" }, picture(baseName(this.game))),
        el("div", {}, el("h2", {}, shortTitle(this.game.title)), el("p", {}, gameAbout(baseName(this.game), ""))),
        el(
          "button.tool",
          { type: "button", "aria-label": t("table.close"), on: { click: () => this.dialog.close() } },
          "✕",
        ),
      ),
      this.modes(),
      this.quick(),
      this.info ? this.drawSeats() : this.error ? null : el("p.empty", {}, t("lobby.loading")),
      this.parameters(),
      el("div.setup-foot", {}, this.foot()),
      this.buttons(),
    );
    if (focused) this.body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  modes() {
    const set = (mode) => {
      this.mode = mode;
      if (this.info) this.preset();
      this.draw();
    };
    const modes = ["play", "watch", "friend"].map((mode) => [mode, t(`setup.${mode}`)]);
    return choice("mode", t("setup.how"), modes, this.mode, set);
  }

  /** The one thing about a game that everybody wants to choose. */
  quick() {
    const [name, values] = QUICK[baseName(this.game)] ?? [];
    if (!name) return null;
    const set = (value) => {
      this.values[name] = value;
      this.draw();
      this.ask();
    };
    const label = t(`quick.${name}`);
    const options = values.map((value) => [value, String(value)]);
    return el("div.quick", {}, el("span.label", {}, label), choice("quick", label, options, this.values[name], set));
  }

  drawSeats() {
    const { opponents, value } = this.info;
    const rows = this.seats.map((seat, i) => {
      const select = el(
        "select",
        { id: `seat-${i}`, data: { key: `seat-${i}` }, on: { change: (event) => this.seat(i, event.target.value) } },
        el("option", { value: "me", selected: seat === "me" }, t("setup.me")),
        el("option", { value: "open", selected: seat === "open" }, t("setup.openSeat")),
        opponentOptions(this.info, seat),
      );
      const isNew = this.seats.indexOf(seat) === i; // the same one again needs no second introduction
      const about = isNew ? opponents.find(({ text }) => text === seat) : null;
      return el(
        "div.seat-row",
        {},
        el("label", { for: `seat-${i}` }, t("setup.seat", i + 1)),
        select,
        (isNew && drawPerson(this.info, seat)) || [
          about ? el("p.about", {}, agentAbout(about.text, about.about)) : null,
          about?.strength && language() === "en" ? el("p.about", {}, about.strength) : null,
        ],
      );
    });
    return el(
      "div.seat-rows",
      {},
      rows,
      value === null || value === undefined
        ? null
        : el("p.about", {}, t("setup.value", number(value, { sign: true, places: 3 }))),
    );
  }

  parameters() {
    const shown = this.game.parameters.filter((parameter) => !HIDDEN.includes(parameter.name));
    if (!shown.length) return null;
    const set = (parameter, value) => {
      this.values[parameter.name] = value;
      this.ask();
    };
    const field = (parameter) => {
      const props = { data: { key: parameter.name } };
      const value = this.values[parameter.name];
      if (parameter.kind === "bool")
        return el(
          "label.field.check",
          {},
          el("input", {
            ...props,
            type: "checkbox",
            checked: value,
            on: { change: (event) => set(parameter, event.target.checked) },
          }),
          el("span", {}, parameterName(parameter.name)),
        );
      const read =
        parameter.kind === "int" ? (text) => Math.round(+text) : parameter.kind === "float" ? Number : String;
      return el(
        "label.field",
        {},
        el("span", {}, parameterName(parameter.name)),
        el("input", {
          ...props,
          type: parameter.kind === "str" ? "text" : "number",
          step: parameter.kind === "float" ? "any" : "1",
          value,
          on: { change: (event) => set(parameter, read(event.target.value)) },
        }),
      );
    };
    const isOpen = this.body.querySelector("details")?.open ?? false;
    return el(
      "details",
      { open: isOpen },
      el("summary", { data: { key: "options" } }, t("setup.options")),
      el("div.fields", {}, shown.map(field)),
    );
  }

  get isWatching() {
    return !this.seats.includes("me") && !this.seats.includes("open");
  }

  get isWithFriends() {
    return this.seats.includes("open");
  }

  /** What ends the dialog, always in sight. */
  buttons() {
    const start = el(
      "button.move.primary.start",
      {
        type: "button",
        data: { key: "start" },
        disabled: !this.info || Boolean(this.error),
        on: { click: () => this.start() },
      },
      this.isWatching ? t("setup.start") : this.isWithFriends ? t("setup.open") : t("setup.deal"),
    );
    const rules = el(
      "button.move.quiet",
      { type: "button", data: { key: "rules" }, on: { click: () => showRules(this.name) } },
      t("setup.rules"),
    );
    return el("div.foot-buttons", {}, start, rules);
  }

  foot() {
    const { isWatching, isWithFriends } = this;
    return [
      this.error ? el("p.alert", { role: "alert" }, this.error) : null,
      isWithFriends
        ? el(
            "label.field",
            {},
            el("span", {}, t("setup.name")),
            el("input", {
              type: "text",
              maxlength: 24,
              value: settings.name,
              data: { key: "name" },
              on: { input: (event) => change("name", event.target.value) },
            }),
          )
        : null,
      isWithFriends ? this.clockField() : null,
      isWatching || isWithFriends
        ? null
        : el(
            "label.field.check",
            {},
            el("input", {
              type: "checkbox",
              checked: this.practice,
              data: { key: "practice" },
              on: { change: (event) => (this.practice = event.target.checked) },
            }),
            el("span", {}, t("setup.practice")),
          ),
    ];
  }

  /** How long somebody may think; whoever takes longer has a move made for him. */
  clockField() {
    const name = (seconds) =>
      seconds === 0 ? t("clock.none") : seconds < 60 ? t("clock.seconds", seconds) : t("clock.minutes", seconds / 60);
    return el(
      "label.field",
      {},
      el("span", {}, t("setup.clock")),
      el(
        "select",
        { data: { key: "clock" }, on: { change: (event) => (this.clock = +event.target.value) } },
        CLOCKS.map((seconds) => el("option", { value: seconds, selected: seconds === this.clock }, name(seconds))),
      ),
    );
  }

  async start() {
    try {
      const { table } = await post("/api/tables", {
        game: this.name,
        seats: this.seats,
        name: settings.name,
        practice: this.practice,
        clock: this.seats.includes("open") ? this.clock : 0,
        pace: settings.pace,
      });
      this.dialog.close();
      this.go(`/t/${table}`);
    } catch (error) {
      this.error = error.message;
      this.draw();
    }
  }
}
