// The explorer: what is asked, what is shown, and the keys that drive it.

import { ask, documentOf, latest } from "./api.js";
import { byId, counted, element, later, replace } from "./dom.js";
import { PointMap } from "./map.js";
import { Panel } from "./panel.js";
import { Results, excerptOf, start } from "./results.js";
import { wireTheme } from "./theme.js";
import { showWhy } from "./why.js";

const TYPING_PAUSE = 140; // milliseconds
const FOUND = 20;
const LENGTH = 380;

const query = byId("query");
const filter = byId("filter");
const question = latest();

let info = null;
let clusters = null;
let held = null; // the document that others are compared with
let asked = null; // what the results on the screen were found for

const actions = {
  why: (result) => explain(result),
  similar: (id) => go({ like: id }),
  hold: (id) => hold(id),
  point: (result) => map.hover(result ? panel.number(result.id) : -1),
  whole: (result) => wholeText(result),
};
const map = new PointMap(byId("points"), byId("marks"));
const panel = new Panel(map, actions);
const results = new Results(actions);

// What is looked at stands in the address: the back button works, and so does a bookmark.
function wanted() {
  const given = new URLSearchParams(location.hash.slice(1));
  return {
    query: given.get("query") ?? "",
    filter: given.get("filter") ?? "",
    like: given.has("like") ? given.get("like") : null,
  };
}

function address(state) {
  const given = Object.entries(state).filter(([, value]) => value !== null && value !== "");
  return `#${new URLSearchParams(given)}`;
}

function go(change, { keep = false } = {}) {
  const next = { ...wanted(), like: null, ...change };
  if (keep) history.replaceState(null, "", address(next));
  else history.pushState(null, "", address(next));
  show();
}

async function show() {
  const state = wanted();
  if (document.activeElement !== query) query.value = state.query;
  if (document.activeElement !== filter) filter.value = state.filter;
  byId("filter-error").textContent = "";
  if (state.like === null && !state.query.trim()) return showStart();
  const path = state.like === null ? "/search" : "/similar";
  const subject = state.like === null ? { query: state.query } : { id: state.like };
  const params = { ...subject, filter: state.filter, k: FOUND, length: LENGTH, explain: true };
  const mine = ++turn;
  busy(true);
  try {
    const answer = await question.ask(path, { params });
    if (answer) showResults(state, answer);
  } catch (error) {
    trouble(error);
  } finally {
    if (mine === turn) busy(false);
  }
}

let turn = 0;

function busy(is) {
  document.body.classList.toggle("working", is);
  byId("results").setAttribute("aria-busy", String(is));
}

function showStart() {
  question.cancel();
  turn += 1;
  busy(false);
  asked = null;
  results.clear();
  panel.light([], null);
  byId("scale").hidden = true;
  byId("start").hidden = false;
  replace(byId("found-title"), "Explore");
  byId("status").textContent = "";
  anchors(null);
}

function showResults(state, answer) {
  asked = state;
  byId("start").hidden = true;
  byId("scale").hidden = answer.results.length === 0;
  replace(byId("found-title"), state.like === null ? "Results" : "Neighbours");
  byId("status").textContent = said(answer);
  results.show(answer.results, (id) => panel.shade(id));
  panel.light(answer.results, state.like);
  byId("results").parentElement.scrollTop = 0;
  anchors(state.like);
}

function said(answer) {
  const found = counted(answer.results.length, "document");
  if (!answer.unknown.length) return found;
  const nothing = answer.results.every((result) => result.score === 0);
  const words = answer.unknown.slice(0, 5).join(", ");
  return nothing ? `No word of this is known: ${words}` : `${found}; not known: ${words}`;
}

function trouble(error) {
  const place = byId("filter-error");
  place.textContent =
    error.name === "TypeError" ? "The server does not answer. Is it still running?" : error.message;
}

// The documents that the results stand in relation to: the one they are like, and the one held.
async function anchors(like) {
  const chips = [];
  if (like !== null) chips.push(await chip("Like", like, () => go({ like: null })));
  if (held !== null) chips.push(await chip("Compared with", held, () => hold(null)));
  if (like === wanted().like) replace(byId("anchors"), ...chips);
}

async function chip(label, id, remove) {
  const text = await excerptOf(id, 90).catch(() => id);
  return element(
    "p",
    { class: "chip" },
    element("b", {}, label),
    element("span", { title: id }, text),
    element("button", { type: "button", class: "icon", "aria-label": `Remove: ${label}`, onclick: remove }, "×"),
  );
}

function hold(id) {
  held = id;
  anchors(wanted().like);
}

async function explain(result) {
  const other = { id: result.id, name: result.id };
  if (held !== null && held !== result.id) return showWhy({ id: held, name: held }, other);
  if (asked?.like != null) return showWhy({ id: asked.like, name: asked.like }, other);
  return showWhy({ text: asked?.query ?? "", name: "What you asked" }, other);
}

async function wholeText(result) {
  const side = asked.like != null ? { id_a: asked.like } : { text_a: asked.query };
  const length = Math.min(result.length, info.limits.excerpt_length);
  try {
    return (await ask("/explain", { body: { ...side, id_b: result.id, pairs: 0, length } })).b.pieces;
  } catch {
    return [[(await documentOf(result.id)).text, null]];
  }
}

async function colourBy(name) {
  try {
    await panel.colourBy(name);
  } catch (error) {
    return trouble(error);
  }
  if (name === "cluster") clusters = panel.colors;
  recolour();
}

function recolour() {
  if (asked && results.found.length) results.show(results.found, (id) => panel.shade(id));
  if (info) start(byId("start"), info, clusters, (n) => panel.category(n), (query) => go({ query }));
}

const anywhere = {
  "/": () => query.select(),
  "?": () => byId("help").showModal(),
  m: () => byId("marks").focus(),
  w: () => results.found.length && explain(results.found[0]),
  ArrowDown: () => results.focus(0),
  Escape: () => back(),
};

function back() {
  const state = wanted();
  if (panel.hideTip()) return;
  if (state.like !== null) go({ like: null });
  else if (held !== null) hold(null);
  query.focus();
}

function wireKeys() {
  byId("marks").addEventListener("keydown", (event) => take(event, panel.keys));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea");
    if (!typing && !document.querySelector("dialog[open]")) take(event, anywhere);
  });
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      results.focus(0);
    }
    if (event.key === "Escape" && !query.value) query.blur();
  });
}

function take(event, keys) {
  const work = keys[event.key];
  if (!work || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  event.preventDefault();
  event.stopPropagation();
  work();
}

function wireForms() {
  const typed = later(TYPING_PAUSE, () =>
    go({ query: query.value, filter: filter.value }, { keep: true }),
  );
  for (const field of [query, filter]) field.addEventListener("input", typed);
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    typed.cancel();
    go({ query: query.value, filter: filter.value });
  });
  byId("color-by").addEventListener("change", (event) => colourBy(event.target.value));
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog && dialog.id !== "token") dialog.close();
    });
  }
  window.addEventListener("popstate", show);
}

async function begin() {
  wireTheme(() => {
    map.restyle();
    panel.legend();
    recolour();
  });
  wireKeys();
  wireForms();
  try {
    info = await ask("/info");
    describe();
    panel.show(await ask("/map"));
    await colourBy(info.color_by[0] ?? "");
  } catch (error) {
    trouble(error);
  }
  await show();
  document.body.classList.add("ready");
}

function describe() {
  replace(byId("name"), info.name);
  replace(byId("size"), counted(info.documents, "document"));
  document.title = `${info.name} · deltavec`;
  byId("filter-field").hidden = info.columns.length === 0;
  filter.title = `Columns: ${info.columns.join(", ")}`;
  const choices = info.color_by.map((name) => element("option", { value: name }, name));
  replace(byId("color-by"), ...choices, element("option", { value: "" }, "one colour"));
}

begin();
