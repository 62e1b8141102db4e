// The list of documents that were found.

import { documentOf } from "./api.js";
import { byId, counted, element, replace, score, shaded, shortened, strongest } from "./dom.js";

const list = byId("results");

export class Results {
  constructor(actions) {
    this.actions = actions;
    this.found = [];
    list.addEventListener("keydown", (event) => this.key(event));
  }

  show(found, dots) {
    this.found = found;
    const most = Math.max(0, ...found.map((result) => strongest(result.pieces ?? [])));
    replace(list, ...found.map((result, n) => this.card(result, n, most, dots)));
  }

  clear() {
    this.show([], () => null);
  }

  card(result, number, most, dots) {
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
        gauge(result.score, number),
        element("span", { class: "id", title: result.id }, result.id),
        ...facts(result.columns),
        this.dot(result, dots),
      ),
      text,
      this.buttons(result),
    );
    fill(text, result, most);
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
    if (opened && text.classList.contains("whole")) replace(text, ...shaded(opened, strongest(opened)));
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
  replace(text, before, ...shaded(pieces, most), after);
  if (!result.text) replace(text, element("em", {}, "an empty document"));
}

function gauge(value, number) {
  const bar = element("i", { "aria-hidden": "true" });
  bar.style.setProperty("--value", Math.max(0, Math.min(1, value)).toFixed(3));
  return element("span", { class: "score", id: `score-${number}`, title: "cosine" }, bar, score(value));
}

const SHOWN_COLUMNS = 4;

function facts(columns) {
  return Object.entries(columns)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .slice(0, SHOWN_COLUMNS)
    .map(([name, value]) =>
      element("span", { class: "fact" }, element("b", {}, name), ` ${shortened(String(value), 40)}`),
    );
}

// What is shown before anything is asked: the topics there are.
export function start(area, info, colors, shades, search) {
  const topics = (colors?.labels ?? []).map((label, n) => {
    const dot = element("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = shades(n);
    const words = label.replaceAll(",", "");
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "topic", onclick: () => search(words) },
        dot,
        element("span", {}, label),
        element("small", {}, colors.counts[n].toLocaleString("en")),
      ),
    );
  });
  replace(
    area,
    element(
      "p",
      { class: "lead" },
      `${counted(info.documents, "document")}. Type what you are looking for, in your own words, or `,
      topics.length ? "begin with one of the topics found in them:" : "click a point on the map.",
    ),
    topics.length ? element("ul", { class: "topics" }, ...topics) : null,
  );
}

export async function excerptOf(id, length) {
  return shortened((await documentOf(id)).text, length);
}
