// The map in a file of its own: what the explorer would ask the server for is in the page.

import { byId, counted, element, later, replace, shortened } from "./dom.js";
import { wireKeys } from "./keys.js";
import { inside, read } from "./lasso.js";
import { PointMap } from "./map.js";
import { Panel } from "./panel.js";
import { wireTheme } from "./theme.js";

const data = JSON.parse(byId("data").textContent);
const query = byId("query");
let left = null; // the numbers of the points that are chosen; null: all are

const map = new PointMap(byId("points"), byId("marks"));
const panel = new Panel(
  map,
  { similar: () => {}, why: () => {}, hold: () => {}, topic: (number) => panel.isolate(number), area: (area) => choose(area) },
  {
    colors: async ({ by }) => data.colors[by],
    excerpt: async (id, length) => shortened(data.texts[panel.number(id)], length),
  },
);

function keep(isKept) {
  left = isKept && data.ids.flatMap((_, n) => (isKept(n) ? [n] : []));
  map.leave(left && Uint8Array.from(data.ids, (_, n) => Number(isKept(n))));
  tell();
}

function choose(area) {
  const corners = read(area);
  panel.enclose(area);
  panel.draws(false);
  keep(area ? (n) => inside(corners, data.x[n], data.y[n]) : null);
}

function tell() {
  const chip = byId("chosen");
  chip.hidden = left === null;
  if (left === null) return;
  const button = (label, work) => element("button", { type: "button", class: "file", onclick: work }, label);
  replace(
    chip,
    element("b", {}, counted(left.length, "document")),
    button("CSV", () => save("documents.csv", ["id,map_x,map_y,text_start", ...left.map(row)])),
    button("ids", () => save("documents.txt", left.map((n) => line(data.ids[n])))),
    element("button", { type: "button", class: "icon", "aria-label": "Show all", onclick: () => all() }, "×"),
  );
}

// An apostrophe keeps a spreadsheet from running a text as a formula.
const quoted = (text) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
// As JSON if it could be taken for JSON or for no line.
const line = (id) => (/^$|^"|[\p{C}\u2028\u2029]/u.test(id) ? JSON.stringify(id) : id);
const row = (n) => [quoted(data.ids[n]), data.x[n], data.y[n], quoted(data.texts[n])].join(",");

function save(name, lines) {
  const link = element("a", { href: URL.createObjectURL(new Blob([`${lines.join("\n")}\n`])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function all() {
  query.value = "";
  choose("");
}

const find = later(120, () => {
  const wanted = query.value.trim().toLowerCase();
  panel.enclose("");
  keep(wanted ? (n) => `${data.ids[n]} ${data.texts[n]}`.toLowerCase().includes(wanted) : null);
});

function begin() {
  replace(byId("name"), data.name);
  replace(byId("size"), counted(data.documents, "document"));
  const choices = Object.keys(data.colors).map((name) => element("option", { value: name }, name));
  replace(byId("color-by"), ...choices, element("option", { value: "" }, "one color"));
  byId("color-by").addEventListener("change", (event) => panel.colorBy(event.target.value));
  query.addEventListener("input", find);
  wireTheme(() => {
    map.restyle();
    panel.legend();
  });
  wireKeys({ "/": () => query.focus(), m: () => byId("marks").focus(), Escape: () => all() }, () => panel.keys, () => byId("marks").focus());
  panel.show(data, data.without);
  panel.colorBy(Object.keys(data.colors)[0] ?? "");
  document.body.classList.add("ready");
}

begin();
