/** The first page: pick a game, say who sits where, and sit down. */

import { el, refill } from "./dom.js";
import { language, number, t } from "./i18n/index.js";
import { agentAbout, agentName, gameAbout, gameTitle, parameterName, seatNames } from "./i18n/speech.js";
import { get, post } from "./net.js";
import { picture } from "./pictures.js";
import { showRules } from "./rules.js";
import { change, settings } from "./settings.js";

/** The order in which games are shown; those that are not here come after them. */
const ORDER = ["truco", "domino", "dudo", "holdem", "doudizhu", "othello", "kuhn", "leduc", "rps", "ocp"];
/** What is set when a game is opened, where the game's own default is not the best first evening. */
const PRESETS = { dudo: { faces: 6, dice1: 3, dice2: 3 }, truco: { points: 15 } };
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

/** Who sits where at the next table, and by which rules. */
class Setup {
  constructor(game, go) {
    this.game = game;
    this.go = go;
    this.mode = "play";
    this.practice = false;
    this.values = Object.fromEntries(game.parameters.map((parameter) => [parameter.name, parameter.default]));
    Object.assign(this.values, PRESETS[baseName(game)]);
    this.seats = [];
    this.info = null; // what the server says of the game with these values
    this.error = "";
    this.body = el("div.setup");
    this.dialog = el("dialog.setup-dialog", { "aria-label": gameTitle(game.title) }, this.body);
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
    if (this.dialog.contains(document.activeElement)) this.body.querySelector(".start")?.focus();
  }

  /** Who is asked to play unless something else is said: a solution, or else the search in the middle. */
  get usual() {
    const texts = this.info.opponents.map((opponent) => opponent.text);
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
      el(
        "div.choice.modes",
        { role: "group" },
        ["play", "watch", "friend"].map((mode) => this.modeButton(mode)),
      ),
      this.info ? this.drawSeats() : this.error ? null : el("p.empty", {}, t("lobby.loading")),
      this.parameters(),
      el("div.setup-foot", {}, this.foot()),
    );
    if (focused) this.body.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  modeButton(mode) {
    const set = () => {
      this.mode = mode;
      if (this.info) this.preset();
      this.draw();
    };
    return el(
      "button",
      { type: "button", data: { key: `mode-${mode}` }, "aria-pressed": String(this.mode === mode), on: { click: set } },
      t(`setup.${mode}`),
    );
  }

  drawSeats() {
    const { opponents, value } = this.info;
    const rows = this.seats.map((seat, i) => {
      const select = el(
        "select",
        { id: `seat-${i}`, data: { key: `seat-${i}` }, on: { change: (event) => this.seat(i, event.target.value) } },
        el("option", { value: "me", selected: seat === "me" }, t("setup.me")),
        el("option", { value: "open", selected: seat === "open" }, t("setup.openSeat")),
        opponents.map(({ text }) => el("option", { value: text, selected: seat === text }, agentName(text))),
      );
      const about = opponents.find(({ text }) => text === seat);
      return el(
        "div.seat-row",
        {},
        el("label", { for: `seat-${i}` }, t("setup.seat", i + 1)),
        select,
        about ? el("p.about", {}, agentAbout(about.text, about.about)) : null,
        about?.strength && language() === "en" ? el("p.about", {}, about.strength) : null,
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
      el("summary", {}, t("setup.options")),
      el("div.fields", {}, shown.map(field)),
    );
  }

  foot() {
    const isWatching = !this.seats.includes("me") && !this.seats.includes("open");
    const isWithFriends = this.seats.includes("open");
    const start = el(
      "button.move.primary.start",
      {
        type: "button",
        data: { key: "start" },
        disabled: !this.info || Boolean(this.error),
        on: { click: () => this.start() },
      },
      isWatching ? t("setup.start") : isWithFriends ? t("setup.open") : t("setup.deal"),
    );
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
      el(
        "div.foot-buttons",
        {},
        el("button.move.quiet", { type: "button", on: { click: () => showRules(this.name) } }, t("setup.rules")),
        start,
      ),
    ];
  }

  async start() {
    try {
      const { table } = await post("/api/tables", {
        game: this.name,
        seats: this.seats,
        name: settings.name,
        practice: this.practice,
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
