// Questions to the server. The token, if it asks for one, lives in this tab only.

import { byId } from "./dom.js";

const KEY = "deltavec-token";

export class Refused extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.param = error.param;
  }
}

// Relative to the page: a proxy may serve it below a path of its own.
export async function ask(path, { params = {}, body, signal } = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const address = given.length ? `.${path}?${new URLSearchParams(given)}` : `.${path}`;
  for (;;) {
    const answer = await fetch(address, request(body, signal));
    if (answer.ok) return answer.json();
    const { error } = await answer.json().catch(() => ({ error: { message: answer.statusText } }));
    if (answer.status !== 401) throw new Refused(answer.status, error);
    await askForToken();
  }
}

function request(body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body === undefined) return { headers, signal };
  headers["Content-Type"] = "application/json";
  return { method: "POST", headers, body: JSON.stringify(body), signal };
}

let asking = null;

// Several questions may be refused at once: the reader is asked once.
function askForToken() {
  asking ??= new Promise((resolve) => {
    const dialog = byId("token");
    const field = byId("token-value");
    if (sessionStorage.getItem(KEY)) {
      byId("token-text").textContent = "That was not the token. Try again.";
    }
    field.value = "";
    byId("token-form").onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, field.value.trim());
      dialog.close();
      asking = null;
      resolve();
    };
    dialog.oncancel = (event) => event.preventDefault();
    dialog.showModal();
    field.focus();
  });
  return asking;
}

// A question of which only the latest answer counts.
export function latest() {
  let running = null;
  return {
    cancel() {
      running?.abort();
      running = null;
    },
    async ask(path, options) {
      running?.abort();
      const mine = (running = new AbortController());
      try {
        const answer = await ask(path, { ...options, signal: mine.signal });
        return running === mine ? answer : null;
      } catch (error) {
        if (mine.signal.aborted || running !== mine) return null;
        throw error;
      }
    },
  };
}

const texts = new Map();
const KEPT_TEXTS = 500;

export async function documentOf(id) {
  if (!texts.has(id)) {
    if (texts.size >= KEPT_TEXTS) texts.delete(texts.keys().next().value);
    texts.set(
      id,
      ask("/documents", { params: { id } }).catch((error) => {
        texts.delete(id);
        throw error;
      }),
    );
  }
  return texts.get(id);
}
