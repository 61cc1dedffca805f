/** What a person likes, remembered by this browser. */

const KEY = "tapete";
const USUAL = { language: "", theme: "auto", motion: "auto", pace: 400, sound: "on", thinking: "after", name: "" };

const preferred = (globalThis.navigator?.language ?? "en").toLowerCase().startsWith("es") ? "es" : "en";

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {}; // no storage, or not ours: the usual will do
  }
}

export const settings = { ...USUAL, language: preferred, ...remembered() };
const listeners = new Set();

/** Changes a setting, and tells those who want to know. */
export function change(key, value) {
  settings[key] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // a browser that remembers nothing still plays
  }
  apply();
  for (const listener of listeners) listener(key);
}

/** Calls back after every change. */
export const onChange = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Lets the page look as the settings say. */
export function apply() {
  const root = document.documentElement;
  root.lang = settings.language;
  root.dataset.theme = settings.theme;
  root.dataset.motion = moves() ? "on" : "off";
}

/** Whether things may move. */
export const moves = () =>
  settings.motion === "auto" ? !matchMedia("(prefers-reduced-motion: reduce)").matches : settings.motion === "on";
