// Where points crowd the ground takes their color: seen from afar, a map has land and sea.

const CELL = 10; // pixels
const MOST_CELLS = 360_000; // closer up, points stand apart: no shade is needed
const STRONGEST = 0.3;
const HALFWAY = 3; // points a cell that give half of the strongest shade

// A grid over the whole map at one zoom: for each cell how deep its shade is, and its color.
export function cloud({ x, y, reach, painted, isAside }, unit) {
  const across = Math.ceil((2 * reach.x * unit) / CELL) + 8;
  const down = Math.ceil((2 * reach.y * unit) / CELL) + 8;
  if (across * down > MOST_CELLS || x.length < 200) return null;
  const sums = [0, 1, 2, 3].map(() => new Float32Array(across * down));
  const { table, indices } = painted;
  const [weights, reds, greens, blues] = sums;
  for (let n = 0; n < x.length; n++) {
    if (!(x[n] === x[n]) || isAside(n)) continue;
    const column = Math.floor(((x[n] + reach.x) * unit) / CELL) + 4;
    const row = Math.floor(((reach.y - y[n]) * unit) / CELL) + 4;
    const cell = row * across + column;
    const shade = table[indices[n]];
    weights[cell] += 1;
    reds[cell] += shade[0];
    greens[cell] += shade[1];
    blues[cell] += shade[2];
  }
  for (const sum of sums) for (let time = 0; time < 2; time++) blur(sum, across, down);
  for (let cell = 0; cell < weights.length; cell++) {
    const weight = weights[cell];
    if (weight === 0) continue;
    for (let color = 1; color < 4; color++) sums[color][cell] /= weight;
    weights[cell] = (STRONGEST * weight) / (weight + HALFWAY);
  }
  return { across, down, sums, left: -reach.x * unit - 4 * CELL, top: -reach.y * unit - 4 * CELL };
}

// Each value and its neighbors on either side, along rows and then along columns.
function blur(values, across, down) {
  const before = new Float32Array(values.length);
  for (const step of [1, across]) {
    before.set(values);
    for (let n = step; n < values.length - step; n++) {
      values[n] = (before[n - step] + 2 * before[n] + before[n + step]) / 4;
    }
  }
}

// The shade of each pixel of a tile, between those of the four cells around it.
export function shadeTile(tile, { across, down, sums, left, top }, middle, ratio) {
  const { width, height, bytes } = tile;
  const [weights, reds, greens, blues] = sums;
  const size = CELL * ratio;
  const columns = new Int32Array(width);
  const shares = new Float32Array(width);
  for (let x = 0; x < width; x++) {
    const place = (tile.left + x - middle.x - left * ratio) / size - 0.5;
    columns[x] = Math.floor(place);
    shares[x] = place - columns[x];
  }
  for (let y = 0; y < height; y++) {
    const place = (tile.top + y - middle.y - top * ratio) / size - 0.5;
    const row = Math.floor(place);
    if (row < 0 || row >= down - 1) continue;
    const low = place - row;
    for (let x = 0, byte = y * width * 4; x < width; x++, byte += 4) {
      const column = columns[x];
      if (column < 0 || column >= across - 1) continue;
      const cell = row * across + column;
      const below = cell + across;
      const a = weights[cell];
      const b = weights[cell + 1];
      const c = weights[below];
      const d = weights[below + 1];
      if (a + b + c + d === 0) continue;
      const right = shares[x];
      const wa = a * (1 - right) * (1 - low);
      const wb = b * right * (1 - low);
      const wc = c * (1 - right) * low;
      const wd = d * right * low;
      const all = wa + wb + wc + wd;
      const mean = (of) => wa * of[cell] + wb * of[cell + 1] + wc * of[below] + wd * of[below + 1];
      bytes[byte] += mean(reds) - all * bytes[byte];
      bytes[byte + 1] += mean(greens) - all * bytes[byte + 1];
      bytes[byte + 2] += mean(blues) - all * bytes[byte + 2];
    }
  }
}
