// The explorer: what is asked, what is shown, and the keys that drive it.

import { ask, latest } from "./api.js";
import { Compared } from "./compared.js";
import { byId, counted, element, later, replace } from "./dom.js";
import { duplicateCards, Facets } from "./facets.js";
import { FilterField } from "./filter.js";
import { wireKeys } from "./keys.js";
import { PointMap } from "./map.js";
import { PAGE, Pages } from "./pages.js";
import { Panel } from "./panel.js";
import { excerptOf, Results } from "./results.js";
import { change, selected, source, wanted } from "./state.js";
import { wireTheme } from "./theme.js";
import { Topics } from "./topics.js";
import { showWhy } from "./why.js";

const TYPING_PAUSE = 140; // milliseconds
const TROUBLE_PAUSE = 500; // a filter that is being written is wrong most of the time
const LENGTH = 380;
const LOOK_AGAIN = 4000; // milliseconds after which the page looks whether the collection has changed

const query = byId("query");
const filter = byId("filter");
const way = byId("by");
const question = latest();
const selection = latest();

let info = null;

const actions = {
  why: (result) => compared.why(result, results.by),
  duplicates: () => go({ query: "", duplicates: "1" }),
  similar: (id) => goFromMap({ like: id }),
  topic: (number) => goFromMap({ cluster: String(number), query: "" }),
  area: (area) => goFromMap({ area, query: "" }),
  hold: (id) => compared.hold(id),
  point: (result) => map.hover(result ? panel.number(result.id) : -1),
  whole: (result) => compared.whole(result, info.limits.excerpt_length),
};
const map = new PointMap(byId("points"), byId("marks"));
const panel = new Panel(map, actions, {
  colors: (params) => ask("/map/colors", { params }),
  excerpt: excerptOf,
});
const results = new Results(actions);
const topics = new Topics(panel, actions);
const compared = new Compared(topics, (changed) => go(changed));
const pages = new Pages((found) => append(found), (error) => trouble(error));
const filterField = new FilterField(() => typed());
const facets = new Facets(
  (filter) => go({ ...staying(), filter }),
  (sort) => go({ ...staying(), sort }),
);

// What is looked at while a filter, an order or a color changes.
function staying() {
  const { like, cluster, area } = wanted();
  return { like, cluster, area };
}

function go(changed, options) {
  change(changed, options);
  show();
}

// On a phone the map lies over the results: what was chosen there is to be seen.
function goFromMap(changed) {
  showMap(false);
  go(changed);
}

async function show() {
  const state = wanted();
  if (document.activeElement !== query) query.value = state.query;
  if (document.activeElement !== filter) filter.value = state.filter;
  way.value = state.by;
  calm();
  select(state).catch(trouble);
  facets.show(state.filter.trim(), state.sort).catch(quietly);
  recolorFor(state).catch(quietly);
  if (state.duplicates !== null) return showDuplicates();
  const from = source(state);
  if (from === null) return showStart();
  const mine = ++turn;
  busy(true);
  try {
    await topics.parted(state.clusters);
    const asked = { path: from.path, params: { ...from.params, length: LENGTH } };
    const answer = await question.ask(from.path, { params: { ...asked.params, k: PAGE } });
    if (answer) showResults(state, asked, answer);
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

// The filter, and a topic, drive the map too, whether or not anything is searched for.
async function select(state) {
  const params = selected(state);
  panel.enclose(params?.area);
  if (params === null) {
    selection.cancel();
    filterField.count(null);
    return panel.leave(null);
  }
  const answer = await selection.ask("/selection", { params });
  if (!answer) return;
  panel.leave(answer.points);
  filterField.count(state.filter.trim() ? answer.documents : null, info.documents);
}

async function showStart() {
  question.cancel();
  turn += 1;
  busy(false);
  compared.asked = null;
  pages.stop();
  results.clear();
  panel.light([], null);
  byId("scale").hidden = true;
  byId("start").hidden = false;
  replace(byId("found-title"), "Explore");
  byId("status").textContent = "";
  compared.show();
  await topics.parted(wanted().clusters).catch(trouble);
  topics.show(info);
}

// Pairs of documents that share text; the first look may take seconds.
async function showDuplicates() {
  question.cancel();
  const mine = ++turn;
  compared.asked = null;
  pages.stop();
  results.clear();
  panel.light([], null);
  byId("start").hidden = true;
  byId("scale").hidden = true;
  replace(byId("found-title"), "Near-duplicates");
  byId("status").textContent = "comparing texts…";
  busy(true);
  try {
    const compare = (a, b) => showWhy({ id: a, name: a }, { id: b, name: b });
    const { cards, documents } = await duplicateCards(0, compare);
    if (mine !== turn) return;
    replace(byId("results"), ...cards);
    byId("status").textContent = documents ? `${counted(documents, "pair")}, the most similar first` : "no two documents share half of their text";
    const more = async () => {
      const next = await duplicateCards(byId("results").children.length - 1, compare);
      byId("results").lastChild.before(...next.cards);
      if (byId("results").children.length > documents) byId("results").lastChild.remove();
    };
    if (cards.length < documents) {
      byId("results").append(element("li", {}, element("button", { type: "button", onclick: () => more().catch(trouble) }, "More pairs")));
    }
  } catch (error) {
    trouble(error);
  } finally {
    if (mine === turn) busy(false);
  }
}

const TITLES = { "/search": "Results", "/similar": "Neighbors", "/list": "Documents" };

function showResults(state, from, answer) {
  compared.asked = { ...state, path: from.path, unknown: answer.unknown ?? [], all: answer.documents, matches: answer.matches };
  suggest(answer.suggestions ?? {});
  byId("start").hidden = true;
  byId("scale").hidden = !answer.results.some((result) => result.pieces);
  const isTopic = from.path === "/list" && state.cluster !== null;
  const isArea = from.path === "/list" && from.params.area;
  replace(byId("found-title"), isTopic ? "Topic" : isArea ? "Area" : TITLES[from.path]);
  byId("results").parentElement.scrollTop = 0;
  results.show(answer.results, (id) => panel.shade(id), answer.by);
  told();
  pages.begin(from, answer.results.length, answer.documents ?? info.limits.deepest);
  compared.show();
}

// What may have been meant by unknown words; a click searches for it.
function suggest(suggestions) {
  const words = Object.entries(suggestions);
  const corrected = words.reduce((text, [word, [first]]) => text.replace(new RegExp(word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"), first), wanted().query);
  const search = () => {
    query.value = corrected;
    go({ query: corrected });
  };
  replace(
    byId("suggestion"),
    ...(words.length ? ["Did you mean ", element("button", { type: "button", onclick: search }, corrected), "?"] : []),
  );
  byId("suggestion").hidden = !words.length;
}

function append(found) {
  results.append(found, (id) => panel.shade(id));
  told();
}

// Of a list the map shows all documents: those on the screen need no light of their own.
function told() {
  const { path, like } = compared.asked;
  byId("status").textContent = said(compared.asked, results.found);
  panel.light(path === "/list" ? [] : results.found, like);
}

function said({ path, all, unknown, matches }, found) {
  if (path === "/list") return counted(all, "document");
  const held = matches ? ` · ${counted(matches, "document")} with a query word` : "";
  const best = found.length ? `top ${found.length.toLocaleString("en")}${held}` : "no results";
  if (!unknown.length) return best;
  const nothing = found.every((result) => result.score === 0);
  const words = unknown.slice(0, 5).join(", ");
  return nothing ? `in no document: ${words}` : `${best}; in no document: ${words}`;
}

const complain = later(TROUBLE_PAUSE, (message) => {
  byId("filter-error").textContent = message;
});

function calm() {
  complain.cancel();
  byId("filter-error").textContent = "";
  filter.removeAttribute("aria-invalid");
}

// A wrong filter is told once, by what shows the documents.
function quietly(error) {
  if (error.param !== "filter") trouble(error);
}

function trouble(error) {
  const message =
    error.name === "TypeError" ? "The server does not answer. Is it still running?" : error.message;
  complain.cancel();
  if (error.param === "filter") {
    filter.setAttribute("aria-invalid", "true");
    filterField.count(null);
    return complain(message);
  }
  byId("filter-error").textContent = message;
}

async function colorBy(name) {
  byId("clusters").hidden = name !== "cluster";
  byId("color-by").value = name;
  const narrowed = wanted().filter.trim();
  painted = `${name} ${narrowed}`;
  try {
    await panel.colorBy(name, topics.asked, narrowed);
  } catch (error) {
    return error.param === "filter" ? undefined : trouble(error);
  }
  recolor();
}

let painted = null; // the color and the filter that the map shows

// The color stands in the address, and its labels are those of what the filter leaves.
async function recolorFor({ color, filter: given }) {
  if (info === null) return;
  const narrowed = given.trim();
  const known = [...byId("color-by").options].some((option) => option.value === color);
  const name = color === "one color" ? "" : known && color ? color : (info.color_by[0] ?? "");
  if (painted !== `${name} ${narrowed}`) await colorBy(name);
}

function recolor() {
  if (results.found.length) results.repaint((id) => panel.shade(id));
  if (info) topics.show(info);
}

function showMap(is) {
  document.body.classList.toggle("map-shown", is);
  replace(byId("view"), is ? "Results" : "Map");
}

const anywhere = {
  "/": () => query.select(),
  "?": () => byId("help").showModal(),
  m: () => {
    showMap(true);
    byId("marks").focus();
  },
  w: () => results.found.length && actions.why(results.found[0]),
  ArrowDown: () => results.focus(0),
  Escape: () => back(),
};

function back() {
  const state = wanted();
  if (panel.hideTip()) return;
  if (map.drawing) return panel.draws(false);
  if (state.like !== null || state.cluster !== null || state.area !== null) go({});
  else if (compared.held !== null) compared.hold(null);
  query.focus();
}

const typed = later(TYPING_PAUSE, () => askFor({ keep: true }));

// A filter narrows what is looked at; other words begin something new.
function askFor(options) {
  const { query: before, like, cluster, area } = wanted();
  const stays = query.value === before ? { like, cluster, area } : {};
  go({ query: query.value, filter: filter.value, ...stays }, options);
}

function wireForms() {
  for (const field of [query, filter]) field.addEventListener("input", typed);
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    typed.cancel();
    askFor();
  });
  way.addEventListener("change", () => go({ by: way.value }));
  byId("view").addEventListener("click", () => showMap(!document.body.classList.contains("map-shown")));
  byId("clusters").addEventListener("change", (event) => go({ clusters: event.target.value }));
  byId("color-by").addEventListener("change", (event) => {
    const { query: asked, duplicates } = wanted();
    go({ query: asked, ...staying(), duplicates, color: event.target.value || "one color" });
  });
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
    recolor();
  });
  wireKeys(anywhere, () => panel.keys, () => results.focus(0));
  wireForms();
  try {
    await load();
  } catch (error) {
    trouble(error);
  }
  await show();
  document.body.classList.add("ready");
  setInterval(() => follow().catch(() => {}), LOOK_AGAIN);
}

async function load() {
  info = await ask("/info");
  describe();
  filterField.learn().then(() => facets.learn(filterField.columns), trouble);
  panel.show(await ask("/map"), info.collection.documents_without_vector);
  topics.asked = null;
  await topics.parted(wanted().clusters);
  painted = null;
  await recolorFor(wanted());
}

// The collection may change while the page is open: then all of it is asked for again.
async function follow() {
  if (document.hidden || document.querySelector("dialog[open]")) return;
  const { state } = await ask("/info");
  if (info === null || state === info.state) return;
  await load();
  await show();
}

function describe() {
  replace(byId("name"), info.name);
  replace(byId("size"), counted(info.documents, "document"));
  document.title = `${info.name} · deltavec`;
  byId("by-field").hidden = info.collection.words === null;
  byId("filter-field").hidden = info.columns.length === 0;
  const choices = info.color_by.map((name) => element("option", { value: name }, name));
  replace(byId("color-by"), ...choices, element("option", { value: "" }, "one color"));
}

begin();
