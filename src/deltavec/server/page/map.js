// The map: every document a point. Names, and what changes with the pointer, are on a canvas above.

import { cloud, shadeTile } from "./density.js";
import { listen } from "./gestures.js";
import { Lasso } from "./lasso.js";
import { drawMarks } from "./marks.js";
import { RegionNames } from "./names.js";
import { colored, palette } from "./palette.js";
import { disc, inked, Tile } from "./pixels.js";

const MARGIN = 28;
const SIDES = 80; // for half of a name beside the outermost points, where there is room
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
    this.onarea = () => {};
    this.area = []; // the corners of what is chosen
    this.drawing = false; // whether the pointer draws around points instead of moving the map
    this.lasso = new Lasso(this);
    this.names = new RegionNames(marks.getContext("2d"));
    this.waiting = false;
    this.shifted = null; // pixels by which the picture has moved since it was drawn
    this.restyle();
    new ResizeObserver(() => this.resize()).observe(points.parentElement);
    listen(this, marks);
  }

  show(x, y, names = []) {
    this.x = Float32Array.from(x);
    this.y = Float32Array.from(y);
    this.names.show(names);
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
    this.painted = colored(this.colors, this.x.length, this.shades);
    this.redraw();
  }

  enclose(corners) {
    this.area = corners;
    this.drawMarks();
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

  get isAside() {
    const { only, left, painted } = this;
    return (n) => (only !== null && painted.indices[n] !== only) || (left !== null && left[n] !== 1);
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
    this.clouds = null;
    this.paint(null);
  }

  // After a move only what came into sight is drawn; null draws all.
  paint(shift) {
    this.grid = null;
    this.shifted = shift && this.shifted ? [this.shifted[0] + shift[0], this.shifted[1] + shift[1]] : shift;
    if (this.waiting) {
      this.whole ||= shift === null;
      return;
    }
    this.whole = shift === null;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.whole) this.drawPoints();
      else this.shiftPoints(...this.shifted);
      this.shifted = null;
      this.drawMarks();
    });
  }

  // Pixels from the data's -1 to 1; the y axis points up.
  get unit() {
    const room = (size, reach, margin) => Math.max(10, size / 2 - margin) / reach;
    const sides = Math.max(MARGIN, Math.min(SIDES, this.width / 8));
    return Math.min(room(this.width, this.reach.x, sides), room(this.height, this.reach.y, MARGIN)) * this.view.scale;
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

  // Where a pixel is on the map.
  spot(x, y) {
    return [
      this.view.x + (x - this.width / 2) / this.unit,
      this.view.y - (y - this.height / 2) / this.unit,
    ];
  }

  get radius() {
    const crowd = Math.max(0, Math.log10(Math.max(1, this.x.length) / 300));
    const zoom = Math.min(2.2, this.view.scale ** 0.35);
    return Math.max(0.9, 4.2 - 1.5 * crowd) * zoom;
  }

  drawPoints() {
    if (!this.width) return;
    const { width, height } = this.points;
    this.drawTile(0, 0, width, height);
  }

  // What is there is moved; the strips that come into sight are drawn.
  shiftPoints(right, down) {
    const { width, height } = this.points;
    if (Math.abs(right) >= width || Math.abs(down) >= height) return this.drawPoints();
    const context = this.points.getContext("2d");
    context.globalCompositeOperation = "copy";
    context.drawImage(this.points, right, down);
    context.globalCompositeOperation = "source-over";
    if (right) this.drawTile(right > 0 ? 0 : width + right, 0, Math.abs(right), height);
    if (down) this.drawTile(0, down > 0 ? 0 : height + down, width, Math.abs(down));
  }

  drawTile(left, top, width, height) {
    const context = this.points.getContext("2d");
    const tile = new Tile(context, left, top, width, height);
    tile.fill(this.shades.ground);
    this.clouds ??= { found: cloud(this, this.unit) };
    if (this.clouds.found) shadeTile(tile, this.clouds.found, this.middle, this.ratio);
    this.mix(tile);
    context.putImageData(tile.image, left, top);
  }

  // The pixel of the map's own 0, 0: a whole one, so that a move by whole pixels moves all alike.
  get middle() {
    const unit = this.unit * this.ratio;
    return {
      x: Math.round(this.points.width / 2 - this.view.x * unit),
      y: Math.round(this.points.height / 2 + this.view.y * unit),
    };
  }

  mix(tile) {
    const mask = disc(this.radius * this.ratio);
    const alpha = (this.lit.length || this.others.length ? 0.34 : 0.78) * this.thinness;
    const [ink, faint] = [inked(mask, alpha), inked(mask, alpha * 0.16)];
    const { table, indices } = this.painted;
    const unit = this.unit * this.ratio;
    const { x: left, y: top } = this.middle;
    const { half, size } = mask;
    const [right, bottom] = [tile.left + tile.width, tile.top + tile.height];
    const { isAside } = this;
    const everything = this.only === null && this.left === null;
    for (let n = 0; n < this.x.length; n++) {
      const x = Math.round(left + this.x[n] * unit) - half;
      const y = Math.round(top - this.y[n] * unit) - half;
      if (!(x > tile.left - size && y > tile.top - size && x < right && y < bottom)) continue;
      const shade = table[indices[n]];
      const strength = everything || !isAside(n) ? ink : faint;
      tile.mix(x, y, size, strength, shade[0], shade[1], shade[2]);
    }
  }

  // Of very many points each is a little less than solid, until one looks closely.
  get thinness() {
    const crowd = Math.min(1, Math.max(0, Math.log10(Math.max(1, this.x.length) / 10_000)));
    return 1 - 0.4 * crowd * Math.max(0, 1 - Math.log2(this.view.scale) / 3);
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
    if (this.width) drawMarks(this, this.marks.getContext("2d"));
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
    const before = this.middle;
    this.view.x -= dx / this.unit;
    this.view.y += dy / this.unit;
    const after = this.middle;
    this.paint([after.x - before.x, after.y - before.y]);
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
  neighbor(from, dx, dy) {
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
