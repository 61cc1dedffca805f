/** The page: its frame, its settings, and which part of it an address asks for. */

import { drawing, el, isTyping, refill } from "./dom.js";
import { shareSigns } from "./draw/index.js";
import { mark } from "./draw/tokens.js";
import { LANGUAGES, nameOf, t } from "./i18n/index.js";
import { introduce } from "./net.js";
import { openDialog } from "./rules.js";
import { apply, change, onChange, settings } from "./settings.js";

/** Parts of the page, loaded when they are asked for. */
const ROUTES = [
  [/^\/t\/([\w-]+)$/, async (root, [table]) => (await import("./table.js")).showTable(root, { table, go })],
  [/^\/g\/([\w-]+)$/, async (root, [game]) => (await import("./replay.js")).showReplay(root, { game, go })],
  [/^\/learn(?:\/([\w-]+))?$/, async (root, [game]) => (await import("./learn.js")).showLearn(root, { game, go })],
  [/^\/runs$/, async (root) => (await import("./runs.js")).showRuns(root)],
  [/^\/stats$/, async (root) => (await import("./stats.js")).showStats(root)],
  [/^\/$/, async (root) => (await import("./lobby.js")).showLobby(root, { go })],
];

let end = () => {}; // ends the part that is shown
let asked = 0; // the last address that was asked for: a slower one before it is dropped

/** Goes to another address of this page. */
export function go(path) {
  if (path === location.pathname + location.search) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  show();
}

async function show() {
  const turn = ++asked;
  end();
  end = () => {};
  document.title = "tapete";
  drawFrame();
  const root = document.getElementById("page");
  root.replaceChildren();
  const [pattern, open] = ROUTES.find(([candidate]) => candidate.test(location.pathname)) ?? ROUTES.at(-1);
  try {
    await introduce();
    if (turn !== asked) return;
    const close = await open(root, pattern.exec(location.pathname)?.slice(1) ?? []);
    if (turn === asked) end = close ?? (() => {});
    else close?.();
  } catch (error) {
    refill(root, el("div.sheet", {}, el("h1", {}, t("error.title")), el("p", {}, error.message)));
  }
}

function drawFrame() {
  const here = location.pathname;
  const link = (path, key) => el("a", { href: path, "aria-current": here === path ? "page" : null }, t(key));
  refill(
    document.getElementById("frame"),
    el("a.skip", { href: "#page" }, t("nav.skip")),
    el("a.brand", { href: "/", "aria-label": "tapete" }, drawing(mark()), el("span", {}, "tapete")),
    el("nav", {}, link("/", "nav.games"), link("/learn", "nav.learn"), link("/stats", "nav.stats")),
    el(
      "button.tool",
      { type: "button", title: t("nav.help"), "aria-label": t("nav.help"), on: { click: showHelp } },
      "?",
    ),
    el(
      "button.tool.sound",
      {
        type: "button",
        title: t("settings.sound"),
        "aria-label": t("settings.sound"),
        "aria-pressed": String(settings.sound === "on"),
        on: { click: () => change("sound", settings.sound === "on" ? "off" : "on") },
      },
      drawing(settings.sound === "on" ? LOUD : MUTE),
    ),
    el(
      "button.tool.settings",
      { type: "button", title: t("nav.settings"), "aria-label": t("nav.settings"), on: { click: showSettings } },
      drawing(GEAR),
    ),
  );
}

const GEAR = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true"><g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"><path d="M4 7h9M18 7h2M4 17h2M11 17h9"/><circle cx="15.5" cy="7" r="2.5"/><circle cx="8.5" cy="17" r="2.5"/></g></svg>`;

const speaker = (waves) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 9.500h3.500L12 5.500v13L7.500 14.500H4Z" fill="currentColor"/><g fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round">${waves}</g></svg>`;
const LOUD = speaker('<path d="M15.5 9a4 4 0 0 1 0 6M18 6.500a8 8 0 0 1 0 11"/>');
const MUTE = speaker('<path d="M15.5 9.500l5 5M20.5 9.500l-5 5"/>');

const KEYS = [
  ["← ↑ → ↓", "help.arrows"],
  ["Enter", "help.enter"],
  ["1 – 9", "help.digits"],
  ["h", "help.hint"],
  ["u", "help.undo"],
  ["a", "help.again"],
  ["/", "help.find"],
  ["Esc", "help.escape"],
  ["← →", "help.replay"],
  ["?", "help.help"],
];

function showHelp() {
  openDialog(
    t("help.title"),
    el(
      "dl.keys",
      {},
      KEYS.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, t(text))]),
    ),
  );
}

/** One of several, as a row of buttons. */
function choice(key, values, label) {
  const set = (value) => {
    change(key, value);
    for (const button of group.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.value === String(value)));
  };
  const group = el(
    "div.choice",
    { role: "group", "aria-label": t(`settings.${key}`) },
    values.map((value) =>
      el(
        "button",
        {
          type: "button",
          data: { value },
          "aria-pressed": String(settings[key] === value),
          on: { click: () => set(value) },
        },
        label(value),
      ),
    ),
  );
  return [el("span.label", {}, t(`settings.${key}`)), group];
}

function showSettings() {
  openDialog(
    t("settings.title"),
    el(
      "div.settings-form",
      {},
      choice("language", LANGUAGES, nameOf),
      choice("theme", ["auto", "light", "dark"], (value) => t(`settings.theme.${value}`)),
      choice("sound", ["on", "off"], (value) => t(`settings.sound.${value}`)),
      choice("motion", ["auto", "on", "off"], (value) => t(`settings.motion.${value}`)),
      choice("pace", [0, 400, 900, 1800], (value) => t(`settings.pace.${value}`)),
    ),
  );
}

function followLinks(event) {
  const link = event.target.closest("a[href]");
  if (
    !link ||
    event.defaultPrevented ||
    event.button ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    link.hasAttribute("download")
  )
    return;
  const address = new URL(link.href);
  if (
    address.origin !== location.origin ||
    link.getAttribute("href").startsWith("#") ||
    address.pathname.startsWith("/api")
  )
    return;
  event.preventDefault();
  go(address.pathname + address.search);
}

apply();
shareSigns();
addEventListener("popstate", show);
document.addEventListener("click", followLinks);
document.addEventListener("keydown", (event) => {
  document.documentElement.dataset.input = "keyboard";
  if (event.key === "?" && !isTyping(event)) showHelp();
});
document.addEventListener("pointerdown", () => (document.documentElement.dataset.input = "pointer"));
onChange((key) => {
  if (key === "sound") drawFrame();
  if (key !== "language") return;
  document.querySelector("dialog[open]")?.close();
  if (location.pathname.startsWith("/t/")) drawFrame();
  else show();
});
show();
