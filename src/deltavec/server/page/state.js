// What is looked at stands in the address: the back button works, and so does a bookmark.

const KEPT = {
  query: "", filter: "", by: "", sort: "", color: "", like: null, cluster: null, clusters: "", area: null, duplicates: null,
};

export function wanted() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(
    Object.entries(KEPT).map(([name, usual]) => [name, given.has(name) ? given.get(name) : usual]),
  );
}

// A document whose neighbors are shown, a topic, or an area gives way to what is asked next.
export function change(changed, { keep = false } = {}) {
  const next = { ...wanted(), like: null, cluster: null, area: null, duplicates: null, ...changed };
  const given = Object.entries(next).filter(([, value]) => value !== null && value !== "");
  const address = `#${new URLSearchParams(given)}`;
  if (keep) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}

// Where the documents come from; null if nothing is asked.
export function source({ query, filter, by, sort, like, cluster, clusters, area }) {
  if (like !== null) return { path: "/similar", params: { id: like, filter, sort, explain: true } };
  if (query.trim()) return { path: "/search", params: { query, by, filter, sort, explain: true } };
  if (cluster !== null) return { path: "/list", params: { cluster, clusters, filter, sort, explain: true } };
  if (area !== null) return { path: "/list", params: { area, filter, sort } };
  if (filter.trim()) return { path: "/list", params: { filter, sort } };
  if (sort) return { path: "/list", params: { sort } };
  return null;
}

// Documents that a filter leaves, a topic holds or an area has; null if that is all of them.
export function selected({ query, filter, like, cluster, clusters, area }) {
  const listed = like === null && !query.trim();
  if (listed && cluster !== null) return { filter, cluster, clusters };
  if (listed && area !== null) return { filter, area };
  return filter.trim() ? { filter } : null;
}
