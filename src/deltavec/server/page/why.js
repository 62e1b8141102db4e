// Why two texts are as alike as they are: word pairs, shares that add up, and what was taken away.

import { ask } from "./api.js";
import { byId, counted, element, replace, score, shaded, signed, strongest } from "./dom.js";

const dialog = byId("why");
const LISTED = 10;
const LISTED_APART = 6;
const LISTED_TAKEN = 6;
const NOTHING = 0.04; // of the strongest pair: not worth a line

// A side is { id } or { text }, and a name for people.
export async function showWhy(a, b) {
  replace(byId("why-title"), "Why?");
  replace(byId("why-body"), element("p", { class: "soft" }, "Working it out…"));
  if (!dialog.open) dialog.showModal();
  try {
    const body = { ...asked("a", a), ...asked("b", b), pairs: LISTED, length: 3000 };
    render(await ask("/explain", { body }), a.name, b.name);
  } catch (error) {
    replace(byId("why-body"), element("p", { class: "trouble" }, error.message));
  }
}

// Why a document was found: what each word of the query adds, by being there and by its meaning.
export async function showFound(query, result, by) {
  replace(byId("why-title"), "Why?");
  replace(byId("why-body"), element("p", { class: "soft" }, "Working it out…"));
  if (!dialog.open) dialog.showModal();
  try {
    const why = await ask("/why", { body: { query, id: result.id, by, pairs: LISTED } });
    renderFound(why, result);
  } catch (error) {
    replace(byId("why-body"), element("p", { class: "trouble" }, error.message));
  }
}

function renderFound(why, result) {
  const note = " score: what the words add up to";
  replace(
    byId("why-title"),
    "Why ",
    element("b", { class: "number" }, score(why.score)),
    element("small", {}, note),
  );
  const pieces = result.pieces ?? [[result.text, null]];
  const side = { ...result, pieces, unknown: why.unknown };
  const most = Math.max(0, ...why.near.map((pair) => Math.abs(pair.share)));
  replace(
    byId("why-body"),
    text(result.id, side, strongest(pieces), new Set(why.matched)),
    section(
      "What each word you typed adds",
      "By being there, in whatever form, and by what the document means. All of it adds up to the score, exactly.",
      foundTable(why),
    ),
    why.near.length
      ? section("Near in meaning", "A word you typed, a word of the document.", rows(why.near, most))
      : null,
  );
  byId("why-body").scrollTop = 0;
}

function foundTable(why) {
  const strongestWord = Math.max(0, ...why.words.map((word) => Math.abs(word.keyword + word.semantic)));
  const row = (label, keyword, semantic, sum, kind) =>
    element(
      "tr",
      { class: kind },
      element("th", { scope: "row" }, label),
      element("td", { class: "amount" }, kind === "sum" ? null : bar(sum, strongestWord)),
      element("td", {}, keyword === null ? "" : signed(keyword)),
      element("td", {}, semantic === null ? "" : signed(semantic)),
      element("td", {}, signed(sum)),
    );
  const heads = ["", "", "keyword", "semantic", "together"];
  return element(
    "table",
    { class: "shares" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {}, head)))),
    element(
      "tbody",
      {},
      ...why.words.map((word) =>
        row(word.word, word.keyword, word.semantic, word.keyword + word.semantic),
      ),
      why.other_words
        ? row(counted(why.other_words, "other word"), null, null, why.other_share, "rest")
        : null,
      why.center ? row("minus the corpus’ center", null, why.center, why.center, "rest") : null,
      row("score", null, null, why.score, "sum"),
    ),
  );
}

function asked(side, given) {
  return given.id === undefined ? { [`text_${side}`]: given.text } : { [`id_${side}`]: given.id };
}

function render(why, nameA, nameB) {
  replace(
    byId("why-title"),
    "Why ",
    element("b", { class: "number" }, score(why.cosine)),
    element("small", {}, " cosine, from −1 to 1"),
  );
  const most = Math.max(strongest(why.a.pieces), strongest(why.b.pieces));
  replace(
    byId("why-body"),
    element("div", { class: "two" }, text(nameA, why.a, most), text(nameB, why.b, most)),
    sameText(why, nameA, nameB),
    pairs(why),
    section(
      "Each word’s share",
      "The shares of one text add up to the cosine, exactly.",
      element("div", { class: "two" }, shares(nameA, why.a, why), shares(nameB, why.b, why)),
    ),
    taken(why, nameA, nameB),
  );
  byId("why-body").scrollTop = 0;
}

// What both texts have, word for word: how duplicates are told from texts about the same.
function sameText(why, nameA, nameB) {
  if (!why.a.same.some(([, shared]) => shared)) return null;
  const side = (name, { same }) =>
    element(
      "figure",
      { class: "quoted" },
      element(
        "blockquote",
        { tabindex: 0, "aria-label": `${name}, shared text marked` },
        ...same.map(([piece, shared]) => (shared ? element("mark", { class: "held" }, piece) : piece)),
      ),
    );
  return section(
    "The same text",
    "Underlined: runs of words that both have.",
    element("div", { class: "two same" }, side(nameA, why.a), side(nameB, why.b)),
  );
}

function section(title, note, ...content) {
  return element(
    "section",
    {},
    element("h3", {}, title),
    note ? element("p", { class: "soft" }, note) : null,
    ...content,
  );
}

function text(name, side, most, matched) {
  const whole = side.begin === 0 && side.text.length === side.length;
  return element(
    "figure",
    { class: "quoted" },
    element("figcaption", {}, name),
    element(
      "blockquote",
      { tabindex: 0, "aria-label": name },
      side.begin > 0 ? "… " : null,
      ...shaded(side.pieces, most, matched),
      whole || side.begin + side.text.length === side.length ? null : " …",
    ),
    side.unknown.length
      ? element("p", { class: "soft" }, `Not known: ${side.unknown.slice(0, 12).join(", ")}${side.unknown.length > 12 ? "…" : ""}`)
      : null,
  );
}

function pairs(why) {
  const most = Math.max(0, ...[...why.together, ...why.apart].map((pair) => Math.abs(pair.share)));
  if (most === 0) {
    return section("No pair of words", "One of the two has no word that the model knows.");
  }
  const apart = why.apart.filter((pair) => -pair.share > NOTHING * most).slice(0, LISTED_APART);
  return element(
    "div",
    { class: "two" },
    section("Pulling together", "A word of each text, and what the two add.", rows(why.together, most)),
    section("Pushing apart", apart.length ? "What these take away." : "Hardly anything.", rows(apart, most)),
  );
}

function rows(list, most) {
  return element(
    "ol",
    { class: "pairs" },
    ...list.map((pair) =>
      element(
        "li",
        {},
        element("span", { class: "a" }, pair.word_a),
        bar(pair.share, most),
        element("span", { class: "b" }, pair.word_b),
        element("span", { class: "share" }, signed(pair.share, most < 0.02 ? 4 : 3)),
      ),
    ),
  );
}

function bar(value, most) {
  const made = element("i", { class: value < 0 ? "meter apart" : "meter together", "aria-hidden": "true" });
  made.style.setProperty("--value", most > 0 ? (Math.abs(value) / most).toFixed(3) : 0);
  return made;
}

function shares(name, side, why) {
  const strong = [...side.words].sort((p, q) => Math.abs(q.share) - Math.abs(p.share));
  const listed = strong.slice(0, LISTED).sort((p, q) => q.share - p.share);
  const others = strong.slice(LISTED);
  const rest = side.other_share + others.reduce((sum, word) => sum + word.share, 0);
  const number = side.other_words + others.length;
  const most = Math.max(0, ...listed.map((word) => Math.abs(word.share)));
  const row = (label, times, value, kind) =>
    element(
      "tr",
      { class: kind },
      element("th", { scope: "row" }, label, times > 1 ? element("small", {}, ` ×${times}`) : null),
      element("td", { class: "amount" }, kind ? "" : bar(value, most)),
      element("td", {}, signed(value)),
    );
  return element(
    "table",
    { class: "shares" },
    element("caption", {}, name),
    element(
      "tbody",
      {},
      ...listed.map((word) => row(word.word, word.occurrences, word.share)),
      number ? row(counted(number, "other word"), 0, rest, "rest") : null,
      side.offset ? row("minus the corpus’ center", 0, side.offset, "rest") : null,
      row("cosine", 0, why.cosine, "sum"),
    ),
  );
}

function taken(why, nameA, nameB) {
  const { removed } = why;
  if (!removed) {
    const centered = why.a.offset || why.b.offset;
    return section(
      "What was taken away",
      centered
        ? "The center of the corpus is taken off each text; its share is listed above. No common component was removed."
        : "Nothing: this model removes no common component and no center.",
    );
  }
  const part = (kind, value) => {
    const made = element("span", { class: kind }, signed(value));
    made.style.setProperty("--value", Math.max(Math.abs(value), 0.02).toFixed(3));
    return made;
  };
  const words = (name, list) =>
    element(
      "ul",
      { class: "words", "aria-label": name },
      element("li", { class: "name" }, name),
      ...list.slice(0, LISTED_TAKEN).map((word) =>
        element("li", {}, word.word, element("small", {}, ` ${signed(word.share)}`)),
      ),
    );
  const what = removed.components === 1 ? "the direction" : `the ${removed.components} directions`;
  return section(
    "What was taken away",
    `Before ${what} that all documents share was removed, the cosine was ${score(removed.before)}:`,
    element("p", { class: "split" }, part("left", removed.left), part("gone", removed.taken)),
    element(
      "p",
      { class: "soft" },
      `${signed(removed.left)} from what is left, and ${signed(removed.taken)} from what was removed. `,
      "What is left is then brought back to full length. Most of what was removed came from:",
    ),
    element("div", { class: "two" }, words(nameA, removed.words_a), words(nameB, removed.words_b)),
  );
}
