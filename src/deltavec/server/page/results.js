// The list of documents that were found.

import { documentOf } from "./api.js";
import { byId, element, replace, score, shaded, shortened, strongest } from "./dom.js";
import { headline, isHeadline } from "./facets.js";

const list = byId("results");

export class Results {
  constructor(actions) {
    this.actions = actions;
    this.found = [];
    list.addEventListener("keydown", (event) => this.key(event));
  }

  // By meaning a score is a cosine; else it is compared with the best of the same search.
  show(found, dots, by = "semantic") {
    this.found = found;
    this.by = by;
    this.best = by === "semantic" ? 1 : Math.max(...found.map((result) => result.score), 1e-9);
    this.most = Math.max(0, ...found.map((result) => strongest(result.pieces ?? [])));
    replace(list, ...found.map((result, n) => this.card(result, n, dots)));
  }

  append(found, dots) {
    const before = this.found.length;
    this.found = [...this.found, ...found];
    list.append(...found.map((result, n) => this.card(result, before + n, dots)));
  }

  repaint(dots) {
    for (const card of list.querySelectorAll("article")) {
      card.querySelector("header .dot")?.remove();
      const dot = this.dot(this.found[Number(card.dataset.number)], dots);
      if (dot) card.querySelector("header").append(dot);
    }
  }

  clear() {
    this.show([], () => null);
  }

  card(result, number, dots) {
    const text = element("p", { class: "text", id: `text-${number}` });
    const card = element(
      "article",
      {
        tabindex: number === 0 ? 0 : -1,
        "aria-labelledby": `score-${number} text-${number}`,
        "data-number": number,
        onmouseenter: () => this.actions.point(result),
        onmouseleave: () => this.actions.point(null),
        onfocusin: () => this.activate(number),
        onfocusout: () => this.actions.point(null),
      },
      element(
        "header",
        {},
        gauge(result.score, number, this.best),
        element("span", { class: "id", title: result.id }, result.id),
        this.dot(result, dots),
      ),
      headline(result.columns),
      text,
      facts(result.columns),
      this.buttons(result),
    );
    fill(text, result, this.most);
    return element("li", {}, card);
  }

  dot(result, dots) {
    const shade = dots(result.id);
    if (!shade) return null;
    const dot = element("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = shade;
    return dot;
  }

  buttons(result) {
    const button = (label, key, work) =>
      element("button", { type: "button", "aria-keyshortcuts": key, onclick: work }, label);
    return element(
      "footer",
      {},
      button("Why?", "w", () => this.actions.why(result)),
      button("Similar", "Enter", () => this.actions.similar(result.id, result.text)),
      button("Compare", "c", () => this.actions.hold(result.id, result.text)),
      result.length > result.text.length
        ? button("Whole text", "o", () => this.open(this.found.indexOf(result)))
        : null,
    );
  }

  activate(number) {
    for (const card of list.querySelectorAll("article")) {
      card.tabIndex = Number(card.dataset.number) === number ? 0 : -1;
    }
    this.actions.point(this.found[number]);
  }

  focus(number) {
    list.querySelector(`article[data-number="${number}"]`)?.focus();
  }

  get current() {
    const card = document.activeElement?.closest?.("#results article");
    return card ? Number(card.dataset.number) : -1;
  }

  async open(number) {
    const text = byId(`text-${number}`);
    const result = this.found[number];
    if (!text || !result) return;
    const whole = text.classList.toggle("whole");
    const most = strongest(result.pieces ?? []);
    if (!whole || result.length === result.text.length) return fill(text, result, most);
    const opened = await this.actions.whole(result);
    if (opened && text.classList.contains("whole")) replace(text, ...shaded(opened, strongest(opened), new Set(result.matched)));
  }

  key(event) {
    const number = this.current;
    const onCard = event.target.matches?.("article");
    if (number < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const result = this.found[number];
    const done = {
      ArrowDown: () => this.focus(Math.min(number + 1, this.found.length - 1)),
      ArrowUp: () => (number === 0 ? byId("query").focus() : this.focus(number - 1)),
      Home: () => this.focus(0),
      End: () => this.focus(this.found.length - 1),
      w: () => this.actions.why(result),
      c: () => this.actions.hold(result.id, result.text),
      o: () => this.open(number),
      Enter: onCard ? () => this.actions.similar(result.id, result.text) : null,
    }[event.key];
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  }
}

function fill(text, result, most) {
  const before = result.begin > 0 ? "… " : "";
  const after = result.begin + result.text.length < result.length ? " …" : "";
  const pieces = result.pieces ?? [[result.text, null]];
  replace(text, before, ...shaded(pieces, most, new Set(result.matched)), after);
  if (!result.text) replace(text, element("em", {}, "an empty document"));
}

// Scores of a query compare its results only: the best has 100.
function gauge(value, number, best) {
  if (value === null) return null;
  const share = Math.max(0, Math.min(1, value / best));
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--value", share.toFixed(3));
  const title = best === 1 ? "cosine" : `${Math.round(100 * share)} % of the best score; score ${score(value)}`;
  const shown = best === 1 ? score(value) : String(Math.round(100 * share));
  return element("span", { class: "score", id: `score-${number}`, title }, bar, shown);
}

const SHOWN_COLUMNS = 4;

// All columns of a document; those behind the first few are folded away.
function facts(columns) {
  const all = Object.entries(columns).filter(([name, value]) => value !== null && !isHeadline(name));
  if (!all.length) return null;
  const fact = ([name, value]) => {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return element("span", { class: "fact", title: text }, element("b", {}, name), ` ${shortened(text, 60)}`);
  };
  const more = all.slice(SHOWN_COLUMNS);
  return element(
    "div",
    { class: "facts" },
    ...all.slice(0, SHOWN_COLUMNS).map(fact),
    more.length
      ? element("details", {}, element("summary", {}, `${more.length} more`), ...more.map(fact))
      : null,
  );
}

export async function excerptOf(id, length) {
  return shortened((await documentOf(id)).text, length);
}
