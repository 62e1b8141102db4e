// What is drawn above the points: an area, names, results, and the point that is looked at.

import { css } from "./palette.js";

export function drawMarks(map, context) {
  context.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  context.clearRect(0, 0, map.width, map.height);
  drawArea(map, context);
  drawNames(map, context);
  // The best result is drawn last, on top.
  for (const [x, y] of map.others) disc(map, context, map.pixel(x, y), map.radius + 2.5, map.shades.other);
  for (const n of [...map.lit].reverse()) dot(map, context, n, map.radius + 2.5);
  if (map.chosen >= 0) {
    dot(map, context, map.chosen, map.radius + 2.5);
    ring(map, context, map.chosen, map.radius + 6, map.shades.ink);
  }
  if (map.hovered >= 0) {
    dot(map, context, map.hovered, map.radius + 3);
    ring(map, context, map.hovered, map.radius + 7, map.shades.accent);
  }
}

function drawNames(map, context) {
  const { unit, ratio, shades, middle, view } = map;
  const quiet = map.lit.length || map.others.length || map.chosen >= 0;
  map.names.draw(context, {
    ink: css(shades.ink, quiet ? 0.5 : 1),
    ground: css(shades.ground, quiet ? 0.5 : 0.85),
    unit,
    scale: view.scale,
    width: map.width,
    x: middle.x / ratio,
    y: middle.y / ratio,
  });
}

function drawArea(map, context) {
  const corners = map.lasso.path ?? map.area.map(([x, y]) => map.pixel(x, y));
  if (corners.length < 2) return;
  context.beginPath();
  for (const corner of corners) context.lineTo(...corner);
  context.closePath();
  context.fillStyle = css(map.shades.accent, 0.09);
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = css(map.shades.accent, 0.9);
  context.stroke();
}

function dot(map, context, number, radius) {
  const shade = map.painted.table[map.painted.indices[number]];
  disc(map, context, map.place(number), radius, shade);
}

function disc(map, context, [x, y], radius, shade) {
  circle(context, x, y, radius);
  context.fillStyle = css(shade);
  context.fill();
  outline(context, 1.5, css(map.shades.ground));
  circle(context, x, y, radius + 1);
  outline(context, 1, css(map.shades.ink, 0.55));
}

function ring(map, context, number, radius, shade) {
  circle(context, ...map.place(number), radius);
  outline(context, 2, css(shade));
}

function circle(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}

function outline(context, width, style) {
  context.lineWidth = width;
  context.strokeStyle = style;
  context.stroke();
}
