/** Arrow keys go from one thing to the next by where they lie on the screen. */

import { isTyping } from "./dom.js";

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Moves the focus among `elements`; with nothing focused, to the first. @returns {boolean} whether the key was an arrow */
export function roam(event, elements) {
  const direction = DIRECTIONS[event.key];
  if (!direction || !elements.length) return false;
  event.preventDefault();
  const current = elements.includes(document.activeElement) ? document.activeElement : null;
  (current ? (nearest(current, elements, direction) ?? current) : elements[0]).focus();
  return true;
}

function nearest(current, elements, [dx, dy]) {
  const from = centre(current);
  let best = null;
  let least = Infinity;
  for (const element of elements) {
    if (element === current) continue;
    const to = centre(element);
    const [ahead, aside] = dx
      ? [(to.x - from.x) * dx, Math.abs(to.y - from.y)]
      : [(to.y - from.y) * dy, Math.abs(to.x - from.x)];
    const cost = ahead + 2.5 * aside;
    if (ahead > 2 && cost < least) [best, least] = [element, cost];
  }
  return best;
}

function centre(element) {
  const box = element.getBoundingClientRect();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Listens for keys that are meant for the page, not for a field or a dialog. @returns {function} that stops it */
export function listen(handle) {
  const hear = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isField = isTyping(event);
    handle(event, isField);
  };
  document.addEventListener("keydown", hear);
  return () => document.removeEventListener("keydown", hear);
}
