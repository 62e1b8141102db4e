// What results are compared with: the document they are like, the topic, the query, the one held.

import { ask, documentOf, save } from "./api.js";
import { byId, counted, element, replace } from "./dom.js";
import { excerptOf } from "./results.js";
import { wanted } from "./state.js";
import { showFound, showWhy } from "./why.js";

export class Compared {
  constructor(topics, go) {
    this.topics = topics;
    this.go = go;
    this.held = null; // the document that others are compared with
    this.asked = null; // what the results on the screen were found for
  }

  hold(id) {
    this.held = id;
    this.show();
  }

  // Null if nothing is asked.
  get reference() {
    const { asked, held } = this;
    if (asked === null) return null;
    if (asked.like !== null) return { id: asked.like, name: asked.like };
    if (asked.query.trim()) return { text: asked.query, name: "What you asked" };
    const central = asked.cluster === null ? null : this.topics.central(asked.cluster);
    if (central !== null) return { id: central, name: `the most typical: ${central}` };
    return held === null ? null : { id: held, name: held };
  }

  async show() {
    const { like, cluster, query, area, filter } = wanted();
    const chips = [];
    if (like !== null) {
      chips.push(await chip("Like", like, excerptOf(like, 90), () => this.go({})));
    } else if (cluster !== null && !query.trim()) {
      const name = this.topics.words(cluster);
      chips.push(await chip(name, name, "the most typical first", () => this.go({})));
    }
    else if (area !== null && !query.trim()) chips.push(await areaChip({ area, filter }, () => this.go({})));
    if (this.held !== null) {
      const text = excerptOf(this.held, 90);
      chips.push(await chip("Compared with", this.held, text, () => this.hold(null)));
    }
    const now = wanted();
    if (like !== now.like || cluster !== now.cluster || area !== now.area) return;
    replace(byId("anchors"), ...chips);
    byId("results").classList.toggle("unasked", this.reference === null);
  }

  async why(result, by) {
    const { held, reference } = this;
    const other = { id: result.id, name: result.id };
    if (held !== null && held !== result.id) return showWhy({ id: held, name: held }, other);
    if (reference === null) return;
    if (reference.text === undefined || by === "semantic") return showWhy(reference, other);
    return showFound(reference.text, result, by);
  }

  // The pieces of a whole text, with shares if its excerpt has some.
  async whole(result, longest) {
    const reference = result.pieces ? this.reference : null;
    const plain = async () => [[(await documentOf(result.id)).text, null]];
    if (reference === null) return plain();
    const { id, text } = reference;
    const side = id === undefined ? { text_a: text } : { id_a: id };
    const length = Math.min(result.length, longest);
    const body = { ...side, id_b: result.id, pairs: 0, length };
    return ask("/explain", { body }).then((why) => why.b.pieces, plain);
  }
}

// What was drawn around: how many, what they are about, and a file of them.
async function areaChip(params, remove) {
  const { documents, words } = await ask("/selection/words", { params }).catch(() => ({ documents: 0, words: [] }));
  const made = await chip(counted(documents, "document"), "", words.join(", "), remove);
  const files = ["csv", "ids"].map((format) =>
    element(
      "button",
      { type: "button", class: "file", title: `Save these documents: ${format}`, onclick: () => save("/selection/export", { ...params, format }) },
      format === "csv" ? "CSV" : "ids",
    ),
  );
  made.lastChild.before(...files);
  return made;
}

async function chip(label, id, content, remove) {
  const text = await Promise.resolve(content).catch(() => id);
  return element(
    "p",
    { class: "chip" },
    element("b", {}, label),
    element("span", { title: id }, text),
    element("button", { type: "button", class: "icon", "aria-label": `Remove: ${label}`, onclick: remove }, "×"),
  );
}
