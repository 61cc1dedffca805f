/** Small tools to build a page from data. Nothing here ever parses data as markup: texts go in as text. */

/**
 * An HTML element.
 * @param {string} tag name, with classes after dots: "button.legal"
 * @param {Object} [props] attributes; `on` is an object of listeners, `data` of data-attributes, `vars` of CSS variables
 * @param {...(Node|string|number|null|undefined|false|Array)} children texts and nodes; empty ones are left out
 */
export function el(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) set(node, key, value);
  return fill(node, children);
}

function set(node, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
  else if (key === "data") Object.assign(node.dataset, value);
  else if (key === "vars")
    for (const [name, worth] of Object.entries(value)) node.style.setProperty(`--${name}`, worth);
  else if (key === "class") node.classList.add(...value.split(" ").filter(Boolean));
  else if (["value", "checked", "disabled", "selected"].includes(key)) node[key] = value;
  else node.setAttribute(key, value === true ? "" : String(value));
}

/** Appends what there is. */
export function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false && child !== "")
      node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** Puts other children in place of the old ones. */
export function refill(node, ...children) {
  node.replaceChildren();
  return fill(node, children);
}

const parsed = new Map();
const parser = new DOMParser();

/**
 * A drawing of ours, from the text of an SVG that holds no data of anybody else's; parsed once, then copied.
 * @param {string} text
 * @returns {SVGElement}
 */
export function drawing(text) {
  if (!parsed.has(text))
    parsed.set(text, document.importNode(parser.parseFromString(text, "image/svg+xml").documentElement, true));
  return parsed.get(text).cloneNode(true);
}

/** An SVG element by attributes. */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return fill(node, children);
}

/** The text of an SVG, for `drawing`. */
export const svgText = (width, height, inside) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">${inside}</svg>`;

/** Whether a key pressed here is meant for a field, not for the table. */
export const isTyping = (event) =>
  event.target.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea, dialog[open]") !== null;
