/** The language of the page: chosen, remembered, and by default the browser's. */

import en from "./en.js";
import es from "./es.js";
import reviewEn from "./review-en.js";
import reviewEs from "./review-es.js";
import { settings } from "../settings.js";

const BOOKS = { en: { ...en, ...reviewEn }, es: { ...es, ...reviewEs } };
export const LANGUAGES = Object.keys(BOOKS);

/** The language in use, "en" or "es". */
export const language = () => (settings.language in BOOKS ? settings.language : "en");

/** A text of the page by its key. */
export function t(key, ...values) {
  const text = BOOKS[language()][key] ?? BOOKS.en[key] ?? key;
  return text.replace(/\{(\d)\}/g, (_, i) => values[i] ?? "");
}

/** A text of the page if there is one. */
export const maybe = (key) => BOOKS[language()][key] ?? null;

/** The name of a language in that language. */
export const nameOf = (code) => BOOKS[code].language;

/** A number as people here write it: +1.25, or +1,25. */
export function number(value, { sign = false, places = 2, fixed = false } = {}) {
  const text = new Intl.NumberFormat(language() === "es" ? "es-AR" : "en", {
    maximumFractionDigits: places,
    minimumFractionDigits: fixed ? places : 0,
    signDisplay: sign ? "exceptZero" : "negative",
  }).format(value);
  return text.replace("-", "−");
}
