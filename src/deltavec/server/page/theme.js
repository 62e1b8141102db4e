// Light and dark: as the system says, until the reader says otherwise.

import { byId } from "./dom.js";

const KEY = "deltavec-theme";
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

export function wireTheme(changed) {
  const kept = stored();
  if (kept) root.dataset.theme = kept;
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    changed();
  });
  system.addEventListener("change", changed);
}

// A page from a file may have no such memory.
function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // until the page is closed
  }
}
