// Topics: clusters of documents, in the number that the reader chooses.

import { ask } from "./api.js";
import { byId, counted, element, replace } from "./dom.js";

const choice = byId("clusters");
const CHOICES = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24];

export class Topics {
  constructor(panel, actions) {
    this.panel = panel;
    this.actions = actions;
    this.list = [];
    this.asked = null; // the number asked for, as the address has it
  }

  // The topics in this number, and the map's colors with them.
  async parted(clusters) {
    if (this.asked === clusters || !this.panel.hasClusters) return;
    this.asked = clusters;
    this.list = (await ask("/topics", { params: { clusters } })).topics;
    const here = clusters === "" ? this.list.length : Number(clusters);
    const numbers = [...new Set([...CHOICES, here])].sort((a, b) => a - b);
    const possible = numbers.filter((one) => one <= Math.max(this.panel.most, here));
    replace(choice, ...possible.map((one) => element("option", { value: one }, `in ${one}`)));
    choice.value = String(here);
    if (this.panel.colors?.by === "cluster") await this.panel.colorBy("cluster", clusters);
  }

  words(number) {
    return this.list[number]?.name ?? `topic ${number}`;
  }

  central(number) {
    return this.list[number]?.central_id ?? null;
  }

  // What is shown before anything is asked.
  show(info) {
    const entries = this.list.map((topic, n) => this.entry(topic, n));
    replace(
      byId("start"),
      element(
        "p",
        { class: "lead" },
        `${counted(info.documents, "document")}. Type what you are looking for, in your own words, or `,
        entries.length ? "begin with one of the topics found in them:" : "click a point on the map.",
      ),
      entries.length ? element("ul", { class: "topics" }, ...entries) : null,
      element(
        "p",
        { class: "lead" },
        "Or look at ",
        element("button", { type: "button", class: "inline", onclick: () => this.actions.duplicates() }, "near-duplicates"),
        ".",
      ),
    );
  }

  entry(topic, number) {
    const byCluster = this.panel.colors?.by === "cluster";
    const dot = element("i", { class: "dot", "aria-hidden": "true" });
    dot.style.background = byCluster ? this.panel.category(number) : "var(--point-other)";
    const button = element(
      "button",
      { type: "button", class: "topic", onclick: () => this.actions.topic(number) },
      dot,
      element("span", {}, topic.name),
      element("small", {}, topic.documents.toLocaleString("en")),
    );
    return element("li", {}, button);
  }
}
