// The keys that drive the page.

import { byId } from "./dom.js";

const query = byId("query");

export function wireKeys(anywhere, onMap, down) {
  byId("marks").addEventListener("keydown", (event) => take(event, onMap()));
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea");
    if (!typing && !document.querySelector("dialog[open]")) take(event, anywhere);
  });
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      down();
    }
    if (event.key === "Escape" && !query.value) query.blur();
  });
}

function take(event, keys) {
  const work = keys[event.key];
  if (!work || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  event.preventDefault();
  event.stopPropagation();
  work();
}
