// A line drawn around points: the corners of an area, in the map's own numbers.

const STEP = 4; // pixels between two corners
const MOST = 200; // corners that an address can hold
const FEWEST = 3;

export class Lasso {
  constructor(map) {
    this.map = map;
    this.path = null; // while it is drawn, in pixels
  }

  begin(x, y) {
    this.path = [[x, y]];
  }

  go(x, y) {
    const [before] = this.path.slice(-1);
    if (Math.hypot(x - before[0], y - before[1]) < STEP) return;
    this.path.push([x, y]);
    this.map.drawMarks();
  }

  drop() {
    this.path = null;
    this.map.drawMarks();
  }

  end() {
    const path = this.path;
    this.drop();
    if (path.length < FEWEST) return;
    const every = Math.ceil(path.length / MOST);
    const corners = path.filter((_, n) => n % every === 0);
    this.map.onarea(corners.map(([x, y]) => this.map.spot(x, y)));
  }
}

// As an address has it, and back.
export const written = (corners) => corners.map(([x, y]) => `${x.toFixed(4)},${y.toFixed(4)}`).join(" ");

export const read = (area) => (area ? area.split(" ").map((corner) => corner.split(",").map(Number)) : []);

// Whether a place is inside: from there a ray meets the border oddly often.
export function inside(corners, x, y) {
  let odd = false;
  for (let n = 0, m = corners.length - 1; n < corners.length; m = n++) {
    const [x1, y1] = corners[n];
    const [x2, y2] = corners[m];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) odd = !odd;
  }
  return odd;
}
