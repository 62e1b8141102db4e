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

export const ask = async (path, options) => (await asked(path, options)).json();

// A file for the reader to keep; asked for by us, as a link could not show the token.
export async function save(path, params) {
  const answer = await asked(path, { params });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = answer.headers.get("Content-Disposition").match(/filename="([^"]+)"/)[1];
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Relative to the page: a proxy may serve it below a path of its own.
async function asked(path, { params = {}, body, signal } = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const address = given.length ? `.${path}?${new URLSearchParams(given)}` : `.${path}`;
  for (;;) {
    const answer = await fetch(address, request(body, signal));
    if (answer.ok) return answer;
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
