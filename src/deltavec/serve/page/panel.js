// What surrounds the map: its colours and their key, the text of a point, and its keys.

import { ask } from "./api.js";
import { byId, counted, element, later, replace } from "./dom.js";
import { css } from "./palette.js";
import { excerptOf } from "./results.js";

const tip = byId("tip");
const canvas = byId("marks");

export class Panel {
  constructor(map, actions) {
    this.map = map;
    this.actions = actions;
    this.ids = [];
    this.numbers = new Map();
    this.colors = null;
    this.showTip = later(60, (number, x, y) => this.tell(number, x, y));
    map.onhover = (number, x, y) => this.hovered(number, x, y);
    map.onchoose = (number) => {
      this.hideTip();
      actions.similar(this.ids[number]);
    };
    canvas.addEventListener("blur", () => {
      this.hideTip();
      map.hover(-1);
    });
    byId("zoom-in").addEventListener("click", () => map.zoom(1.5));
    byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
    byId("zoom-all").addEventListener("click", () => map.all());
  }

  show(points) {
    this.ids = points.ids;
    this.numbers = new Map(points.ids.map((id, number) => [id, number]));
    this.map.show(points.x, points.y);
    const drawn = points.ids.length;
    const sample = drawn < points.documents ? `a sample of ${drawn.toLocaleString("en")} of ` : "";
    const method = points.method === "pca" ? "principal components" : "UMAP";
    byId("map-note").textContent = `${sample}${counted(points.documents, "document")} by ${method}`;
  }

  number(id) {
    return this.numbers.get(id) ?? -1;
  }

  light(results, source) {
    this.map.chosen = source === null ? -1 : this.number(source);
    this.map.light(
      results.map((result) => this.number(result.id)).filter((number) => number >= 0),
      results.filter((one) => this.number(one.id) < 0 && one.position).map((one) => one.position),
    );
  }

  shade(id) {
    const number = this.number(id);
    if (number < 0) return null;
    return css(this.map.painted.table[this.map.painted.indices[number]]);
  }

  async colourBy(name) {
    this.colors = name === "" ? null : await ask("/map/colors", { params: { by: name } });
    this.map.color(this.colors);
    this.legend();
  }

  category(number) {
    return css(this.map.shades.categories[number % this.map.shades.categories.length]);
  }

  legend() {
    const { colors } = this;
    const area = byId("legend");
    if (!colors) return replace(area);
    if (colors.kind === "number") {
      const ends = colors.range.map((value) => Number(value.toPrecision(3)).toLocaleString("en"));
      const ramp = element("i", { class: "ramp", "aria-hidden": "true" });
      return replace(area, element("li", { class: "numbers" }, ends[0], ramp, ends[1]));
    }
    replace(area, ...colors.labels.map((label, n) => this.entry(label, n)));
  }

  entry(label, number) {
    const dot = element("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = this.category(number);
    const title = `${label}: ${counted(this.colors.counts[number], "point")}`;
    const button = element(
      "button",
      { type: "button", "aria-pressed": "false", title },
      dot,
      element("span", {}, label),
    );
    button.addEventListener("click", () => {
      this.map.isolate(number);
      for (const other of byId("legend").querySelectorAll("button")) {
        other.setAttribute("aria-pressed", String(other === button && this.map.only === number));
      }
    });
    return element("li", {}, button);
  }

  hovered(number, x, y) {
    canvas.style.cursor = number >= 0 ? "pointer" : "";
    if (number < 0) this.hideTip();
    else this.showTip(number, x, y);
  }

  hideTip() {
    this.showTip.cancel();
    const was = !tip.hidden;
    tip.hidden = true;
    return was;
  }

  async tell(number, x, y) {
    const text = await excerptOf(this.ids[number], 260).catch(() => null);
    if (text === null || this.map.hovered !== number) return;
    const value = this.colors?.values[number];
    const label = this.colors?.kind === "category" ? this.colors.labels[value] : value;
    replace(
      tip,
      element("b", {}, this.ids[number]),
      label === undefined || label === null
        ? null
        : element("span", { class: "fact" }, String(label)),
      element("p", {}, text || "an empty document"),
    );
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const { width, height } = this.map;
    const below = y + 18 + box.height <= height;
    tip.style.left = `${Math.max(8, Math.min(x + 14, width - box.width - 8))}px`;
    tip.style.top = `${below ? y + 18 : Math.max(8, y - box.height - 14)}px`;
  }

  // One step by keyboard, from the point last looked at.
  walk(dx, dy) {
    const { map } = this;
    const from = [map.hovered, map.chosen, map.lit[0] ?? -1].find((number) => number >= 0) ?? -1;
    const number = map.neighbour(from, dx, dy);
    if (number < 0) return;
    map.hover(number);
    map.reveal(number);
    this.showTip(number, ...map.place(number));
    excerptOf(this.ids[number], 120).then(
      (text) => {
        byId("map-spoken").textContent = text;
      },
      () => {},
    );
  }

  get keys() {
    const { map } = this;
    const here = (work) => () => map.hovered >= 0 && work(this.ids[map.hovered]);
    return {
      ArrowLeft: () => this.walk(-1, 0),
      ArrowRight: () => this.walk(1, 0),
      ArrowUp: () => this.walk(0, 1),
      ArrowDown: () => this.walk(0, -1),
      "+": () => map.zoom(1.4),
      "=": () => map.zoom(1.4),
      "-": () => map.zoom(1 / 1.4),
      0: () => map.all(),
      Enter: here((id) => this.actions.similar(id)),
      w: here((id) => this.actions.why({ id })),
      c: here((id) => this.actions.hold(id)),
    };
  }
}
