// What columns offer: values to filter by with their counts, an order for results, titles and links.

import { ask, latest } from "./api.js";
import { byId, element, replace } from "./dom.js";

const VALUES = 6; // of a column
const COLUMNS = 4;
const TITLES = ["title", "headline", "subject", "name"];
const LINKS = ["url", "link", "href"];

// Whether a column is shown as a title or an address.
export const isHeadline = (name) => [...TITLES, ...LINKS].includes(name.toLowerCase());

// The title of a document, which leads to its address if it has one.
export function headline(columns) {
  const find = (names) => Object.entries(columns).find(([name, value]) => names.includes(name.toLowerCase()) && value);
  const title = find(TITLES)?.[1];
  const address = find(LINKS)?.[1];
  const isAddress = /^https?:\/\//i.test(String(address ?? ""));
  if (!title && !isAddress) return null;
  const text = String(title ?? address);
  const link = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return element("h2", { class: "headline" }, isAddress ? element("a", link, text) : text);
}

// A filter with one more condition, or without it if it has it already.
export function toggled(filter, condition) {
  const parts = filter.split(/\s+and\s+/).map((part) => part.trim()).filter(Boolean);
  if (parts.includes(condition)) return parts.filter((part) => part !== condition).join(" and ");
  const bracketed = / or /i.test(filter) ? [`(${filter})`] : parts;
  return [...bracketed, condition].join(" and ");
}

export class Facets {
  constructor(onfilter, onsort) {
    this.onfilter = onfilter;
    this.question = latest();
    byId("sort").addEventListener("change", (event) => onsort(event.target.value));
  }

  // The orders that columns of numbers, dates and truths allow, and those of text.
  learn(columns) {
    const options = columns
      .filter((one) => one.kind !== "other")
      .flatMap(({ name, kind }) => {
        const ends = { number: ["lowest", "highest"], date: ["oldest", "newest"] }[kind] ?? ["A to Z", "Z to A"];
        return [[`-${name}`, `${name}: ${ends[1]} first`], [name, `${name}: ${ends[0]} first`]];
      });
    const choices = [["", "best first"], ...options];
    replace(byId("sort"), ...choices.map(([value, text]) => element("option", { value }, text)));
    byId("sort").hidden = options.length === 0;
  }

  async show(filter, sort) {
    byId("sort").value = sort;
    const answer = await this.question.ask("/columns", { params: { filter } });
    if (!answer) return;
    const repeats = ({ name, values, counts }) => !isHeadline(name) && values.length > 1 && counts[0] > 1;
    const listed = answer.columns.filter((one) => one.written && repeats(one));
    const chosen = filter.split(/\s+and\s+/).map((part) => part.trim());
    const active = answer.columns.filter((one) => one.written && one.values.length === 1 && chosen.includes(`${one.written} == ${one.values[0]}`));
    replace(byId("facets"), ...[...active, ...listed].slice(0, COLUMNS).map((one) => this.column(one, filter, chosen)));
    byId("facets").hidden = !active.length && !listed.length;
  }

  column({ name, written, values, counts }, filter, chosen) {
    const entries = values.slice(0, VALUES).map((value, n) => {
      const condition = `${written} == ${value}`;
      return element(
        "button",
        {
          type: "button",
          class: "facet",
          "aria-pressed": String(chosen.includes(condition)),
          onclick: () => this.onfilter(toggled(filter, condition)),
        },
        element("span", {}, value.replace(/^'|'$/g, "").replace(/''/g, "'")),
        element("small", {}, counts[n].toLocaleString("en")),
      );
    });
    return element("div", { class: "facet-column", role: "group", "aria-label": name }, element("b", {}, name), ...entries);
  }
}

// Near-duplicates: pairs of documents, side by side.
export async function duplicateCards(offset, compare) {
  const { pairs, documents } = await ask("/duplicates", { params: { k: 20, offset } });
  const cards = pairs.map((pair) =>
    element(
      "li",
      {},
      element(
        "article",
        { class: "pair" },
        element("header", {}, element("b", {}, `${Math.round(100 * pair.shared)} % shared`)),
        element(
          "div",
          { class: "sides" },
          ...["a", "b"].map((side) =>
            element("div", {}, element("span", { class: "id" }, pair[side]), element("p", { class: "text" }, pair[`text_${side}`])),
          ),
        ),
        element("footer", {}, element("button", { type: "button", onclick: () => compare(pair.a, pair.b) }, "Show shared text")),
      ),
    ),
  );
  return { cards, documents };
}
