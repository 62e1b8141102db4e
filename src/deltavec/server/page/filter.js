// The filter's field: what may come next is offered while it is written.

import { ask } from "./api.js";
import { byId, element, replace } from "./dom.js";

const field = byId("filter");
const area = byId("filter-help");
const list = byId("filter-options");
const MOST = 8;

const PIECE = /\s*(?:(\d[\w.]*|'(?:[^']|'')*'|"(?:[^"]|"")*")|(`[^`]+`|[^\W\d][\p{L}\p{M}\p{N}_]*)|(<=|>=|==|!=|<>|<|>|=)|([(),]))/uy;
const OPERATORS = {
  number: [">=", "<=", "==", "!=", "<", ">", "in (", "is null", "is not null"],
  date: [">=", "<=", "<", ">", "==", "is null", "is not null"],
  text: ["==", "!=", "in (", "is null", "is not null"],
  truth: ["==", "!=", "is null", "is not null"],
};
const BEFORE_A_COLUMN = new Set(["", "and", "or", "not", "("]);

// What was written before the caret: the piece that is being written, and what must come there.
export function expected(text, columns) {
  const known = new Map(columns.map((one) => [one.written, one]));
  let [place, last, column, inside] = [0, "", null, false];
  let expects = "column";
  for (;;) {
    PIECE.lastIndex = place;
    const match = PIECE.exec(text);
    const end = match ? PIECE.lastIndex : text.length;
    const isLast = end >= text.trimEnd().length;
    const growing = text.slice(place).trimStart();
    if (!match || (isLast && end === text.length && match[1] === undefined)) {
      const finished = match?.[3] || match?.[4];
      if (!finished) return { expects, column, begin: text.length - growing.length, growing };
    }
    const piece = match[0].trim();
    const word = piece.toLowerCase();
    if (match[1] !== undefined || ["true", "false", "null"].includes(word)) {
      expects = inside ? "list" : "join";
    } else if (match[3]) expects = "value";
    else if (word === "in") expects = "open";
    else if (word === "(" && expects === "open") [expects, inside] = ["value", true];
    else if (word === ",") expects = "value";
    else if (word === ")") [expects, inside] = ["join", false];
    else if (["and", "or"].includes(word) || (word === "not" && BEFORE_A_COLUMN.has(last)) || word === "(") {
      expects = "column";
    } else if (known.has(piece) || expects === "column") {
      [expects, column] = ["operator", known.get(piece) ?? null];
    }
    [place, last] = [end, word];
    if (place >= text.length) return { expects, column, begin: text.length, growing: "" };
  }
}

// The options for what comes next, each with what it is.
export function offered(text, columns) {
  const { expects, column, begin, growing } = expected(text, columns);
  const kinds = { number: "number", date: "date", text: "text", truth: "true or false" };
  const all = {
    column: columns.map((one) => [one.written, kinds[one.kind]]),
    operator: (OPERATORS[column?.kind] ?? []).map((one) => [one, ""]),
    value: (column?.values ?? []).map((one) => [one, ""]),
    open: [["(", ""]],
    list: [[",", ""], [")", ""]],
    join: [["and", ""], ["or", ""]],
  }[expects];
  if (expects === "value" && column && !column.values.length && column.example) {
    all.push([column.example.slice(column.written.length).replace(/^ \S+ /, ""), "for example"]);
  }
  const start = growing.replace(/^['"`]/, "").toLowerCase();
  const fits = ([option]) => {
    const bare = option.replace(/^['"`]/, "").toLowerCase();
    return bare.startsWith(start) && option !== growing;
  };
  return { begin, options: all.filter(fits).slice(0, MOST) };
}

export class FilterField {
  constructor(onchange) {
    this.onchange = onchange;
    this.columns = [];
    this.active = -1;
    this.options = [];
    field.addEventListener("focus", () => this.offer());
    field.addEventListener("input", () => this.offer());
    field.addEventListener("click", () => this.offer());
    field.addEventListener("blur", () => this.close());
    field.addEventListener("keydown", (event) => this.key(event));
    // Before the field loses the focus, which would take the list away.
    area.addEventListener("mousedown", (event) => event.preventDefault());
  }

  async learn() {
    const { columns } = await ask("/columns");
    this.columns = columns.filter((one) => one.written && one.kind !== "other");
    if (document.activeElement === field) this.offer();
  }

  // How many documents are left, or nothing.
  count(left, all) {
    const told = left === null ? "" : `${left.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    byId("filter-count").textContent = told;
  }

  offer() {
    const text = field.value.slice(0, field.selectionStart);
    const { begin, options } = offered(text, this.columns);
    const empty = !field.value.trim();
    const examples = empty ? this.examples() : [];
    this.options = [
      ...examples.map((example) => ({ shown: example, kind: "", whole: example })),
      ...options.map(([shown, kind]) => ({ shown, kind, begin })),
    ];
    this.active = -1;
    byId("filter-title").textContent = empty ? "For example" : "Next";
    byId("filter-title").hidden = this.options.length === 0;
    replace(list, ...this.options.map((one, n) => this.entry(one, n, examples.length)));
    area.hidden = this.columns.length === 0;
    field.setAttribute("aria-expanded", String(!area.hidden));
    field.removeAttribute("aria-activedescendant");
  }

  examples() {
    const single = this.columns.filter((one) => one.example).map((one) => one.example);
    const both = single.length > 1 ? [`${single[0]} and ${single[1]}`] : [];
    return [...single.slice(0, 2), ...both];
  }

  entry(option, number, examples) {
    const entry = element(
      "li",
      {
        role: "option",
        id: `filter-option-${number}`,
        class: number === examples && examples > 0 ? "apart-from-above" : null,
        "aria-selected": "false",
      },
      element("code", {}, option.shown),
      option.kind ? element("small", {}, option.kind) : null,
    );
    entry.addEventListener("click", () => this.take(number));
    return entry;
  }

  take(number) {
    const { shown, whole, begin } = this.options[number];
    if (whole !== undefined) {
      field.value = whole;
      field.setSelectionRange(whole.length, whole.length);
    } else {
      const rest = field.value.slice(field.selectionStart).replace(/^[\p{L}\p{N}_]+/u, "");
      const before = field.value.slice(0, begin);
      const gap = /[\p{L}\p{N}_'"`]$/u.test(before) && /^[\p{L}<>=!]/u.test(shown) ? " " : "";
      const written = `${before}${gap}${shown}${shown.endsWith("(") ? "" : " "}`;
      field.value = written + rest.trimStart();
      field.setSelectionRange(written.length, written.length);
    }
    this.onchange();
    this.offer();
  }

  key(event) {
    if (area.hidden) {
      if (event.key === "ArrowDown") this.offer();
      return;
    }
    const last = this.options.length - 1;
    const done = {
      ArrowDown: () => this.mark(this.active >= last ? 0 : this.active + 1),
      ArrowUp: () => this.mark(this.active <= 0 ? last : this.active - 1),
      Escape: () => this.close(),
      Enter: this.active >= 0 ? () => this.take(this.active) : null,
      Tab: this.active >= 0 ? () => this.take(this.active) : null,
    }[event.key];
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  }

  mark(number) {
    this.active = this.options.length ? number : -1;
    for (const [n, entry] of [...list.children].entries()) {
      entry.setAttribute("aria-selected", String(n === this.active));
    }
    if (this.active >= 0) field.setAttribute("aria-activedescendant", `filter-option-${this.active}`);
  }

  close() {
    area.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }
}
