/** The server: JSON over HTTP, and one socket a table that comes back by itself. */

import { maybe, t } from "./i18n/index.js";

/** Reads from the server; throws an Error whose message can be shown. */
export const get = (path) => ask(path);

/** Sends to the server. */
export const post = (path, data) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });

let known = null;

/**
 * This browser's token, in a cookie that pages can't read: asked for once a visit, and given where there is none. The
 * page asks, because its own requests have the cookie even where it was opened by a link from elsewhere.
 */
export const introduce = () => (known ??= ask("/api/token", { method: "POST" }));

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error(t("error.offline"));
  }
  const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
  const data = isJson ? await answer.json() : await answer.text();
  if (!answer.ok)
    throw Object.assign(new Error(isJson ? refusal(data) : `${answer.status}`), { status: answer.status });
  return data;
}

/** Why the server refused something, in the language of the page where its code is known. */
export const refusal = ({ code, text }) => maybe(`refusal.${code}`) ?? text;

const FIRST_WAIT = 250; // ms before the first try to come back; doubled each time
const LONGEST_WAIT = 5000;
const GONE = [4403, 4404, 1008]; // the server says that there is nothing here for us

/**
 * A socket of a table. It connects again until it is closed; the server then tells everything anew.
 * @param {string} table
 * @param {string} invite
 * @param {{message: function(Object), state: function("open"|"lost"|"gone")}} hooks
 */
export function connect(table, invite, hooks) {
  let socket = null;
  let wait = FIRST_WAIT;
  let timer = 0;
  let closed = false;

  function open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(
      `${scheme}://${location.host}/ws/${encodeURIComponent(table)}${invite ? `?invite=${encodeURIComponent(invite)}` : ""}`,
    );
    socket.onopen = () => {
      wait = FIRST_WAIT;
      hooks.state("open");
    };
    socket.onmessage = (event) => hooks.message(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (closed) return;
      if (GONE.includes(event.code)) return hooks.state("gone");
      hooks.state("lost");
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    };
  }

  open();
  return {
    /** Sends if connected; what is lost is asked for again by whoever wanted it. */
    send: (data) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(data)),
    close() {
      closed = true;
      clearTimeout(timer);
      socket.close();
    },
  };
}
