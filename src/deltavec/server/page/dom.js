// Elements made in code: text always goes in as text, never as markup.

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

export const counted = (number, thing) =>
  `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;

// No minus before a zero, and a real minus sign before the others.
export function signed(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return (value < 0 ? "−" : "+") + text;
}

export function score(value) {
  return signed(value, 2).replace("+", "");
}

export function shortened(text, length) {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= length) return flat;
  const cut = flat.slice(0, length);
  const space = cut.lastIndexOf(" ");
  return `${space > length * 0.6 ? cut.slice(0, space) : cut}…`;
}

const FAINTEST = 0.28; // below it a word is left unshaded: what matters should stand out

// The strongest share decides what full color is; the root lets weak ones be seen.
export const strongest = (pieces) =>
  pieces.reduce((most, [, share]) => Math.max(most, Math.abs(share ?? 0)), 0);

// Words that were asked for, in whatever form, are held: underlined, however little they add.
// Beside them words that are only near in meaning add little: these are shaded by their own scale.
export function shaded(pieces, most, matched = new Set()) {
  const isHeld = ([text, share]) => share !== null && matched.has(text.toLowerCase());
  const others = matched.size ? strongest(pieces.filter((piece) => !isHeld(piece))) : most;
  return pieces.map(([text, share]) => {
    const held = isHeld([text, share]);
    const full = held ? most : others;
    const strength = full > 0 ? Math.min(1, Math.sqrt(Math.abs(share ?? 0) / full)) : 0;
    if (share === null || (strength < FAINTEST && !held)) return document.createTextNode(text);
    const kind = share < 0 ? "apart" : "together";
    const told = `${held ? "found" : "near in meaning"}: share ${signed(share)}`;
    const mark = element("mark", { class: held ? `${kind} held` : kind, title: told }, text);
    mark.style.setProperty("--strength", strength.toFixed(3));
    return mark;
  });
}

export function later(milliseconds, work) {
  let timer = 0;
  const wait = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), milliseconds);
  };
  wait.cancel = () => clearTimeout(timer);
  return wait;
}
