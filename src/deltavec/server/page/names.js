// Names of regions on the map: broad ones from afar, finer ones closer up, none over another.

const SIZES = [15, 12.5, 11.5]; // pixels of the letters at each level
const WEIGHTS = [650, 600, 500];
const FONT = '-apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", sans-serif';
const APPEAR = [0, 1.4, 3.4]; // the zoom from which each level is shown
const LONGEST = 34; // letters in a line
const GAP = 6;
const SHIFTS = [0, -1, 1, -2, 2]; // heights by which a name may move out of another's way

export class RegionNames {
  constructor(context) {
    this.context = context;
    this.names = [];
    this.placed = null;
  }

  show(names) {
    this.names = [...names].sort((a, b) => a.level - b.level || b.documents - a.documents);
    this.placed = null;
  }

  // Which are shown at a zoom, and where: from the middle of the map, so that moving changes nothing.
  // From afar a name stays within the width of the window, and is smaller on a narrow one.
  at(unit, scale, width = Infinity) {
    const key = `${unit} ${scale} ${width}`;
    if (this.placed?.key === key) return this.placed.boxes;
    const boxes = [];
    for (const name of this.names) {
      if (scale < APPEAR[name.level]) continue;
      const box = this.fitting(boxes, name, unit, scale <= 1 ? width / 2 : Infinity, width < 480 ? 0.8 : 1);
      if (box) boxes.push(box);
    }
    this.placed = { key, boxes };
    return boxes;
  }

  fitting(boxes, name, unit, edge, shrink) {
    const lines = broken(name.text);
    const size = SIZES[name.level] * shrink;
    this.context.font = font(name.level, shrink);
    const width = Math.max(...lines.map((line) => this.context.measureText(line).width));
    const height = lines.length * size * 1.2;
    for (const shift of SHIFTS) {
      const most = Math.max(0, edge - width / 2 - GAP);
      const x = Math.max(-most, Math.min(most, name.x * unit));
      const box = { name, lines, width, height, size, shrink, x, y: -name.y * unit + shift * (size + GAP) };
      if (!boxes.some((other) => overlap(box, other))) return box;
    }
    return null;
  }

  draw(context, { ink, ground, unit, scale, width, x, y }) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    for (const box of this.at(unit, scale, width)) {
      const { level } = box.name;
      const { size } = box;
      context.font = font(level, box.shrink);
      context.globalAlpha = level === 0 ? 1 : 0.92;
      box.lines.forEach((line, n) => {
        const place = [x + box.x, y + box.y + (n - (box.lines.length - 1) / 2) * size * 1.2];
        context.lineWidth = 4;
        context.strokeStyle = ground;
        context.strokeText(line, ...place);
        context.fillStyle = ink;
        context.fillText(line, ...place);
      });
    }
    context.globalAlpha = 1;
  }
}

const font = (level, shrink) => `${WEIGHTS[level]} ${SIZES[level] * shrink}px ${FONT}`;

const overlap = (a, b) =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 + GAP && Math.abs(a.y - b.y) < (a.height + b.height) / 2 + GAP / 2;

// In two lines if it is long.
function broken(text) {
  const whole = text.length > 2 * LONGEST ? `${text.slice(0, 2 * LONGEST - 1)}…` : text;
  if (whole.length <= LONGEST / 1.6) return [whole];
  const spaces = [...whole].flatMap((letter, n) => (letter === " " ? [n] : []));
  if (!spaces.length) return [whole];
  const middle = spaces.reduce((best, n) => (Math.abs(n - whole.length / 2) < Math.abs(best - whole.length / 2) ? n : best));
  return [whole.slice(0, middle), whole.slice(middle + 1)];
}
