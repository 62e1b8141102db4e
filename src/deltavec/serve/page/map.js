// The map: every document a point. What changes with the pointer is drawn on a canvas above.

import { listen } from "./gestures.js";
import { css, coloured, palette } from "./palette.js";
import { blend, disc, fill } from "./pixels.js";

const MARGIN = 28;
const CELL = 24; // pixels of the grid in which the nearest point is looked for
const REACH = 14; // pixels from the pointer to a point that counts as touched
const CLOSEST = 400;

export class PointMap {
  constructor(points, marks) {
    this.points = points;
    this.marks = marks;
    this.x = new Float32Array(0);
    this.y = new Float32Array(0);
    this.reach = { x: 1, y: 1 };
    this.view = { scale: 1, x: 0, y: 0 };
    this.lit = [];
    this.others = [];
    this.hovered = -1;
    this.chosen = -1;
    this.only = null;
    this.left = null; // for each point whether it is among those looked at; null: all are
    this.colors = null;
    this.onhover = () => {};
    this.onchoose = () => {};
    this.waiting = false;
    this.restyle();
    new ResizeObserver(() => this.resize()).observe(points.parentElement);
    listen(this, marks);
  }

  show(x, y) {
    this.x = Float32Array.from(x);
    this.y = Float32Array.from(y);
    this.reach = { x: furthest(this.x), y: furthest(this.y) };
    this.restyle();
  }

  color(colors) {
    this.colors = colors;
    this.only = null;
    this.restyle();
  }

  restyle() {
    this.shades = palette();
    this.painted = coloured(this.colors, this.x.length, this.shades);
    this.redraw();
  }

  // Results are points by their number, or places of documents that the sample has left out.
  light(numbers, places = []) {
    this.lit = numbers;
    this.others = places;
    this.redraw();
  }

  hover(number) {
    if (number === this.hovered) return;
    this.hovered = number;
    this.drawMarks();
  }

  touch(x, y) {
    const touched = this.nearest(x, y);
    this.hover(touched);
    this.onhover(touched, x, y);
  }

  choose(x, y) {
    const touched = this.nearest(x, y);
    if (touched >= 0) this.onchoose(touched);
  }

  leave(points) {
    this.left = points;
    this.redraw();
  }

  isLeft(number) {
    return this.left === null || this.left[number] === 1;
  }

  isolate(category) {
    this.only = this.only === category ? null : category;
    this.redraw();
  }

  resize() {
    const box = this.points.parentElement.getBoundingClientRect();
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.width = box.width;
    this.height = box.height;
    for (const canvas of [this.points, this.marks]) {
      canvas.width = Math.max(1, Math.round(box.width * this.ratio));
      canvas.height = Math.max(1, Math.round(box.height * this.ratio));
    }
    this.redraw();
  }

  redraw() {
    this.grid = null;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawPoints();
      this.drawMarks();
    });
  }

  // Pixels from the data's -1 to 1; the y axis points up.
  get unit() {
    const room = (size, reach) => Math.max(10, size / 2 - MARGIN) / reach;
    return Math.min(room(this.width, this.reach.x), room(this.height, this.reach.y)) * this.view.scale;
  }

  place(number) {
    return this.pixel(this.x[number], this.y[number]);
  }

  pixel(x, y) {
    return [
      this.width / 2 + (x - this.view.x) * this.unit,
      this.height / 2 - (y - this.view.y) * this.unit,
    ];
  }

  get radius() {
    const crowd = Math.max(0, Math.log10(Math.max(1, this.x.length) / 300));
    const zoom = Math.min(2.2, this.view.scale ** 0.35);
    return Math.max(1.1, 4.2 - 1.5 * crowd) * zoom;
  }

  drawPoints() {
    if (!this.width) return;
    const context = this.points.getContext("2d");
    const { width, height } = this.points;
    const image = context.createImageData(width, height);
    fill(image, this.shades.ground);
    const dim = this.lit.length || this.others.length ? 0.34 : 0.78;
    this.mix(image, disc(this.radius * this.ratio), dim);
    context.putImageData(image, 0, 0);
  }

  mix(image, mask, alpha) {
    const { width, height } = image;
    const { table, indices } = this.painted;
    const unit = this.unit * this.ratio;
    const left = width / 2 - this.view.x * unit - mask.half;
    const top = height / 2 + this.view.y * unit - mask.half;
    const only = this.only;
    for (let n = 0; n < this.x.length; n++) {
      const x = Math.round(left + this.x[n] * unit);
      const y = Math.round(top - this.y[n] * unit);
      if (!(x > -mask.size && y > -mask.size && x < width && y < height)) continue;
      const index = indices[n];
      const aside = (only !== null && index !== only) || !this.isLeft(n);
      const strength = aside ? alpha * 0.16 : alpha;
      blend(image, x, y, mask, table[index], strength);
    }
  }

  // Which points are near which place, made when the pointer first asks after a change.
  cells() {
    if (this.grid) return this.grid;
    this.grid = new Map();
    for (let n = 0; n < this.x.length; n++) {
      if (!this.isLeft(n)) continue;
      const [x, y] = this.place(n);
      if (!(x > -CELL && y > -CELL && x < this.width + CELL && y < this.height + CELL)) continue;
      const cell = this.cell(x, y);
      const there = this.grid.get(cell);
      if (there) there.push(n);
      else this.grid.set(cell, [n]);
    }
    return this.grid;
  }

  cell(x, y) {
    return Math.floor(x / CELL) * 4096 + Math.floor(y / CELL);
  }

  nearest(x, y, reach = REACH) {
    let best = -1;
    let least = reach * reach;
    const steps = Math.ceil(reach / CELL);
    const cells = this.cells();
    for (let column = -steps; column <= steps; column++) {
      for (let row = -steps; row <= steps; row++) {
        for (const n of cells.get(this.cell(x + column * CELL, y + row * CELL)) ?? []) {
          const [px, py] = this.place(n);
          const distance = (px - x) ** 2 + (py - y) ** 2;
          if (distance < least) [least, best] = [distance, n];
        }
      }
    }
    return best;
  }

  drawMarks() {
    if (!this.width) return;
    const context = this.marks.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    // The best result is drawn last, on top.
    for (const [x, y] of this.others) {
      this.disc(context, this.pixel(x, y), this.radius + 2.5, this.shades.other);
    }
    for (const n of [...this.lit].reverse()) this.dot(context, n, this.radius + 2.5);
    if (this.chosen >= 0) {
      this.dot(context, this.chosen, this.radius + 2.5);
      this.ring(context, this.chosen, this.radius + 6, this.shades.ink);
    }
    if (this.hovered >= 0) {
      this.dot(context, this.hovered, this.radius + 3);
      this.ring(context, this.hovered, this.radius + 7, this.shades.accent);
    }
  }

  dot(context, number, radius) {
    const shade = this.painted.table[this.painted.indices[number]];
    this.disc(context, this.place(number), radius, shade);
  }

  disc(context, [x, y], radius, shade) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = css(shade);
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = css(this.shades.ground);
    context.stroke();
    context.beginPath();
    context.arc(x, y, radius + 1, 0, 2 * Math.PI);
    context.lineWidth = 1;
    context.strokeStyle = css(this.shades.ink, 0.55);
    context.stroke();
  }

  ring(context, number, radius, shade) {
    const [x, y] = this.place(number);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = css(shade);
    context.stroke();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.unit;
    this.view.scale = Math.min(CLOSEST, Math.max(0.5, this.view.scale * factor));
    // What is under the pointer stays there.
    this.view.x += (x - this.width / 2) * (1 / before - 1 / this.unit);
    this.view.y -= (y - this.height / 2) * (1 / before - 1 / this.unit);
    this.redraw();
  }

  move(dx, dy) {
    this.view.x -= dx / this.unit;
    this.view.y += dy / this.unit;
    this.redraw();
  }

  all() {
    this.view = { scale: 1, x: 0, y: 0 };
    this.redraw();
  }

  reveal(number) {
    const [x, y] = this.place(number);
    const inside = x > MARGIN && y > MARGIN && x < this.width - MARGIN && y < this.height - MARGIN;
    if (inside) return;
    this.view.x = this.x[number];
    this.view.y = this.y[number];
    this.redraw();
  }

  // The nearest point in a direction: the further off the axis, the less near.
  neighbour(from, dx, dy) {
    if (from < 0) return this.nearest(this.width / 2, this.height / 2, this.width);
    let best = from;
    let least = Infinity;
    for (let n = 0; n < this.x.length; n++) {
      const x = this.x[n] - this.x[from];
      const y = this.y[n] - this.y[from];
      const along = x * dx + y * dy;
      if (!(along > 0) || !this.isLeft(n)) continue;
      const cost = along + 2.5 * Math.abs(x * dy - y * dx);
      if (cost < least) [least, best] = [cost, n];
    }
    return best;
  }
}

function furthest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0) || 1;
}
