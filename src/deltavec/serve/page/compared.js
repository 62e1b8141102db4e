// What results are compared with: the document they are like, the topic, the query, the one held.

import { ask, documentOf } from "./api.js";
import { byId, element, replace } from "./dom.js";
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
    const { like, cluster, query } = wanted();
    const chips = [];
    if (like !== null) {
      chips.push(await chip("Like", like, excerptOf(like, 90), () => this.go({})));
    } else if (cluster !== null && !query.trim()) {
      const name = this.topics.words(cluster);
      chips.push(await chip(name, name, "the most typical first", () => this.go({})));
    }
    if (this.held !== null) {
      const text = excerptOf(this.held, 90);
      chips.push(await chip("Compared with", this.held, text, () => this.hold(null)));
    }
    const now = wanted();
    if (like !== now.like || cluster !== now.cluster) return;
    replace(byId("anchors"), ...chips);
    byId("results").classList.toggle("unasked", this.reference === null);
  }

  async why(result, by) {
    const { held, reference } = this;
    const other = { id: result.id, name: result.id };
    if (held !== null && held !== result.id) return showWhy({ id: held, name: held }, other);
    if (reference === null) return;
    if (reference.text === undefined || by === "meaning") return showWhy(reference, other);
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
