// The colors of points, as numbers a canvas can mix, from the style sheet's own.

const CATEGORIES = 8;

function resolved(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return [red, green, blue];
}

export function palette() {
  const categories = Array.from({ length: CATEGORIES }, (_, n) => resolved(`--point-${n}`));
  const scale = Array.from({ length: 5 }, (_, n) => resolved(`--scale-${n}`));
  return {
    categories,
    scale,
    other: resolved("--point-other"),
    plain: resolved("--point-0"),
    ground: resolved("--map-ground"),
    ink: resolved("--ink"),
    accent: resolved("--accent"),
  };
}

const mixed = (one, other, share) => one.map((value, n) => Math.round(value + share * (other[n] - value)));

// More categories than colors: the same again darker, then lighter.
export function category({ categories, ink, ground }, number) {
  const base = categories[number % CATEGORIES];
  const round = Math.floor(number / CATEGORIES) % 3;
  return round === 0 ? base : mixed(base, round === 1 ? ink : ground, 0.45);
}

export const css = ([red, green, blue], alpha = 1) => `rgb(${red} ${green} ${blue} / ${alpha})`;

// A color for each point: an index into `table`, so that drawing looks nothing up by value.
export function colored(colors, count, shades) {
  const indices = new Uint8Array(count);
  if (!colors) return { table: [shades.plain], indices, other: 1 };
  if (colors.kind === "category") {
    const other = colors.labels.length;
    const table = [...colors.labels.map((_, n) => category(shades, n)), shades.other];
    colors.values.forEach((value, n) => {
      indices[n] = value ?? other;
    });
    return { table, indices, other };
  }
  const steps = 64;
  const table = Array.from({ length: steps }, (_, n) => between(shades.scale, n / (steps - 1)));
  table.push(shades.other);
  const [low, high] = colors.range;
  colors.values.forEach((value, n) => {
    const share = high > low ? (value - low) / (high - low) : 0.5;
    indices[n] = value === null ? steps : Math.round(Math.min(1, Math.max(0, share)) * (steps - 1));
  });
  return { table, indices, other: steps };
}

function between(stops, share) {
  const place = share * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  const rest = place - first;
  return stops[first].map((value, n) => Math.round(value + rest * (stops[first + 1][n] - value)));
}
