/** Things that fly, flip and land: the table before is compared with the table after. */

import { moves } from "./settings.js";

const FLIGHT = 340; // ms
const FLIP = 420;
const SLIDE = 600;

/** Where everything lies now. @returns {{flown: Map, discs: Map, seats: Map, middle: DOMRect}|null} */
export function remember(felt) {
  if (!felt || !moves()) return null;
  const flown = new Map();
  for (const thing of felt.querySelectorAll("[data-fly]")) {
    const list = flown.get(thing.dataset.fly) ?? [];
    list.push(thing.getBoundingClientRect());
    flown.set(thing.dataset.fly, list);
  }
  const discs = new Map(
    [...felt.querySelectorAll("[data-disc]")].map((square) => [square.dataset.key, square.dataset.disc]),
  );
  const seats = new Map(
    [...felt.querySelectorAll("[data-seat]")].map((seat) => [
      seat.dataset.seat,
      (seat.querySelector(".things") ?? seat).getBoundingClientRect(),
    ]),
  );
  const bets = [...felt.querySelectorAll(".bet .chips")].map((chips) => ({ chips, from: chips.getBoundingClientRect() }));
  const middle = felt.querySelector(".middle").getBoundingClientRect();
  const pot = felt.querySelector(".pot");
  const hadWinner = felt.querySelector(".seat.winner") !== null;
  return { flown, discs, seats, bets, middle, hadWinner, pot: pot && { chips: pot, from: pot.getBoundingClientRect() } };
}

/** Lets everything move from where it was. */
export function settle(felt, before) {
  if (!before || !felt) return;
  for (const thing of felt.querySelectorAll("[data-fly]")) fly(thing, before);
  for (const square of felt.querySelectorAll("[data-disc]")) turn(square, before.discs.get(square.dataset.key));
  const kept = new Set([...felt.querySelectorAll(".bet .chips")].map((chips) => chips.dataset.fly));
  const pot = felt.querySelector(".pot")?.getBoundingClientRect();
  for (const { chips, from } of before.bets) if (pot && !kept.has(chips.dataset.fly)) slide(felt, chips, from, pot);
  const winner = felt.querySelector(".seat.winner > .plate")?.getBoundingClientRect();
  if (winner && before.pot && !before.hadWinner) slide(felt, before.pot.chips, before.pot.from, winner);
}

/** Chips that go elsewhere: they are drawn once more, on their way. */
function slide(felt, chips, from, to) {
  const ghost = chips.cloneNode(true);
  const edge = felt.getBoundingClientRect();
  ghost.classList.add("ghost");
  ghost.setAttribute("aria-hidden", "true");
  ghost.style.left = `${from.x - edge.x}px`;
  ghost.style.top = `${from.y - edge.y}px`;
  felt.append(ghost);
  const [dx, dy] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
  const flight = ghost.animate([{ transform: "none" }, { transform: `translate(${dx}px, ${dy}px)`, opacity: 0.4 }], {
    duration: SLIDE,
    easing: "ease-in-out",
  });
  flight.onfinish = () => ghost.remove();
}

function fly(thing, { flown, seats, middle }) {
  const { owner, fly: face } = thing.dataset;
  const same = flown.get(face)?.shift();
  const back = same ? null : flown.get(`${face.split(":")[0]}:down:${owner}`)?.shift(); // it was turned up
  const was = same ?? back;
  const isHand = thing.closest(".own, .small") !== null;
  const from = was ?? (owner !== undefined && owner !== "" && !isHand ? seats.get(owner) : middle);
  const to = thing.getBoundingClientRect();
  if (!from || !to.width) return;
  const [dx, dy] = [from.x + from.width / 2 - to.x - to.width / 2, from.y + from.height / 2 - to.y - to.height / 2];
  if (Math.abs(dx) + Math.abs(dy) < 3 && !back) return;
  const scale = was ? Math.max(0.3, Math.min(2, from.width / to.width)) : 0.7;
  const unit = unitOf(thing);
  const start = `translate(${dx * unit}px, ${dy * unit}px)${unit === 1 ? ` scale(${scale})` : ""}${back ? " rotateY(90deg)" : ""}`;
  thing.animate(
    [
      { transform: start, opacity: was ? 1 : 0.2, zIndex: 5 },
      { transform: "none", opacity: 1, zIndex: 5 },
    ],
    { duration: FLIGHT, easing: "cubic-bezier(.2,.8,.25,1)" },
  );
}

/** How long a pixel of the screen is where the thing is drawn: inside a picture it has the picture's own units. */
function unitOf(thing) {
  const picture = thing.ownerSVGElement;
  return picture ? picture.viewBox.baseVal.width / picture.getBoundingClientRect().width : 1;
}

function turn(square, was) {
  const now = square.dataset.disc;
  const disc = square.querySelector("svg");
  if (!disc || was === undefined || was === now) return;
  if (!was)
    disc.animate(
      [
        { transform: "scale(1.5)", opacity: 0 },
        { transform: "scale(1)", opacity: 1 },
      ],
      { duration: FLIGHT, easing: "ease-out" },
    );
  else
    disc.animate(
      [
        { transform: "rotateY(180deg)", filter: "invert(1)" },
        { transform: "rotateY(90deg)", filter: "invert(1)", offset: 0.5 },
        { transform: "rotateY(90deg)", filter: "none", offset: 0.501 },
        { transform: "rotateY(0)", filter: "none" },
      ],
      { duration: FLIP },
    );
}
