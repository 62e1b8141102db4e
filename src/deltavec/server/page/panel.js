// What surrounds the map: its colors and their key, the text of a point, and its keys.

import { byId, counted, element, later, replace } from "./dom.js";
import { category, css } from "./palette.js";
import { read, written } from "./lasso.js";

const tip = byId("tip");
const canvas = byId("marks");

export class Panel {
  // The source gives the colors of points and the beginnings of texts.
  constructor(map, actions, source) {
    this.map = map;
    this.actions = actions;
    this.source = source;
    this.ids = [];
    this.numbers = new Map();
    this.colors = null;
    this.showTip = later(60, (number, x, y) => this.tell(number, x, y));
    map.onhover = (number, x, y) => this.hovered(number, x, y);
    map.onchoose = (number) => {
      this.hideTip();
      actions.similar(this.ids[number]);
    };
    map.onarea = (corners) => actions.area(written(corners));
    byId("lasso").addEventListener("click", () => this.draws(!map.drawing));
    canvas.addEventListener("blur", () => {
      this.hideTip();
      map.hover(-1);
    });
    byId("zoom-in").addEventListener("click", () => map.zoom(1.5));
    byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.5));
    byId("zoom-all").addEventListener("click", () => map.all());
  }

  get hasClusters() {
    return [...byId("color-by").options].some((option) => option.value === "cluster");
  }

  show(points, without = 0) {
    this.most = Math.min(24, Math.floor(points.documents / 2));
    this.ids = points.ids;
    this.numbers = new Map(points.ids.map((id, number) => [id, number]));
    this.map.show(points.x, points.y, points.names);
    const drawn = points.ids.length;
    const whole = drawn + without >= points.documents;
    const sample = whole ? "" : `a sample of ${drawn.toLocaleString("en")} of `;
    const left = whole && drawn < points.documents ? `, ${(points.documents - drawn).toLocaleString("en")} without known words left out` : "";
    const method = points.method === "pca" ? "principal components" : "nearest neighbors";
    byId("map-note").textContent = `${sample}${counted(points.documents, "document")} by ${method}${left}`;
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

  // The points that a filter leaves, and a topic holds: "1" for each of them, "0" for the others.
  leave(points) {
    this.map.leave(points === null ? null : Uint8Array.from(points, (one) => Number(one)));
  }

  enclose(area) {
    this.map.enclose(read(area));
  }

  // Whether the pointer draws around points; without it, with the shift key held.
  draws(is) {
    this.map.drawing = is;
    byId("lasso").setAttribute("aria-pressed", String(is));
    canvas.classList.toggle("drawing", is);
  }

  // What the window shows, as an area: by keyboard, after zooming and moving.
  inSight() {
    const { width, height } = this.map;
    const corners = [[0, 0], [width, 0], [width, height], [0, height]];
    this.actions.area(written(corners.map(([x, y]) => this.map.spot(x, y))));
  }

  shade(id) {
    const number = this.number(id);
    if (number < 0) return null;
    return css(this.map.painted.table[this.map.painted.indices[number]]);
  }

  async colorBy(name, clusters, filter = "") {
    const params = name === "cluster" ? { by: name, clusters, filter } : { by: name, filter };
    this.colors = name === "" ? null : await this.source.colors(params);
    this.map.color(this.colors);
    this.legend();
  }

  category(number) {
    return css(category(this.map.shades, number));
  }

  legend() {
    const { colors } = this;
    if (!colors) return replace(byId("legend"));
    const entries =
      colors.kind === "category"
        ? colors.labels.map((label, n) => this.entry(label, n, this.category(n), colors.counts[n]))
        : [this.scale(colors)];
    replace(byId("legend"), ...entries, this.others(colors));
  }

  scale(colors) {
    const [low, high] = colors.range;
    const ramp = element("i", { class: "ramp", "aria-hidden": "true" });
    const ticks = [low, (low + high) / 2, high].map((value) => element("span", {}, tick(colors, value)));
    return element("li", { class: "numbers" }, element("div", { class: "ticks" }, ...ticks), ramp);
  }

  // What has no color of its own.
  others({ kind, other, missing, labels }) {
    const count = other + missing;
    if (count === 0) return null;
    const label = other === 0 ? "none" : missing === 0 ? "other" : "other or none";
    const place = kind === "category" ? labels.length : -1;
    return this.entry(label, place, css(this.map.shades.other), count);
  }

  entry(label, number, shade, count) {
    const dot = element("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = shade;
    const button = element(
      "button",
      { type: "button", "aria-pressed": "false", title: `${label}: ${counted(count, "point")}` },
      dot,
      element("span", {}, label),
      element("small", {}, count.toLocaleString("en")),
    );
    const isTopic = this.colors.by === "cluster" && number < this.colors.labels.length;
    button.addEventListener("click", () => {
      if (isTopic) this.actions.topic(number);
      else this.isolate(number < 0 ? this.map.painted.other : number);
    });
    button.dataset.number = number < 0 ? this.map.painted.other : number;
    return element("li", {}, button);
  }

  // Only the points of one color, or all of them again.
  isolate(number) {
    this.map.isolate(number);
    for (const one of byId("legend").querySelectorAll("button")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.number) === this.map.only));
    }
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
    const text = await this.source.excerpt(this.ids[number], 260).catch(() => null);
    if (text === null || this.map.hovered !== number) return;
    const value = this.colors?.values[number];
    const label =
      this.colors?.kind === "category" || value === null
        ? this.colors?.labels[value]
        : value !== undefined && tick(this.colors, value, true);
    replace(
      tip,
      element("b", {}, this.ids[number]),
      !label
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
    const number = map.neighbor(from, dx, dy);
    if (number < 0) return;
    map.hover(number);
    map.reveal(number);
    this.showTip(number, ...map.place(number));
    this.source.excerpt(this.ids[number], 120).then(
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
      s: () => this.inSight(),
      l: () => this.draws(!map.drawing),
      Enter: here((id) => this.actions.similar(id)),
      w: here((id) => this.actions.why({ id })),
      c: here((id) => this.actions.hold(id)),
    };
  }
}

// A value of a scale as people read it: dates as finely as the scale needs, or in full.
function tick({ kind, range }, value, exact = false) {
  if (kind !== "date") return Number(value.toPrecision(exact ? 6 : 3)).toLocaleString("en");
  const days = (range[1] - range[0]) / 86400;
  const parts = { year: "numeric", month: days > 3650 && !exact ? undefined : "short" };
  if (days < 120 || exact) parts.day = "numeric";
  return new Date(value * 1000).toLocaleDateString("en", { ...parts, timeZone: "UTC" });
}
