/** Opponents as people meet them: a name, a line on how they play, and a strength that was measured. */

import { el } from "./dom.js";
import { language, number, t } from "./i18n/index.js";
import { agentName } from "./i18n/speech.js";

const AVERAGE = 1500; // that is added to ratings whose mean is 0

/** Who can be chosen for a seat: those who have a name first, and agents by theirs for those who look for them. */
export function opponentOptions({ characters, opponents }, chosen) {
  const option = (text, title) => el("option", { value: text, selected: text === chosen }, title);
  const named = [...characters].reverse();
  const others = opponents.filter(({ text }) => !named.some(({ agent }) => agent === text));
  return [
    named.map(({ agent, name, by, strength }) =>
      option(agent, by === "elo" && strength !== null ? `${name} · ${number(AVERAGE + strength, { places: 0 }).replace(/[.,]/, "")}` : name),
    ),
    others.length
      ? el("optgroup", { label: t("people.others") }, others.map(({ text }) => option(text, agentName(text))))
      : null,
  ];
}

/** What is to be known of somebody who has a name; null of others. */
export function drawPerson({ characters }, text) {
  const person = characters.find(({ agent }) => agent === text);
  return person ? el("p.about.person", {}, person.about[language()], " ", el("span.strength", {}, strengthOf(person))) : null;
}

function strengthOf({ by, strength, interval, strongest }) {
  if (strength === null) return t("people.unmeasured");
  const [low, high] = interval;
  const plain = (elo) => String(Math.round(AVERAGE + elo));
  const told =
    by === "elo"
      ? t("people.elo", plain(strength), plain(low), plain(high))
      : t("people.payoff", number(strength, { sign: true }), number(low, { sign: true }), number(high, { sign: true }));
  return strongest ? `${told} ${t("people.strongest")}` : told;
}
