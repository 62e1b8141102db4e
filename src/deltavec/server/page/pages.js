// The next page of results, which comes when the end of the list does.

import { ask } from "./api.js";
import { byId } from "./dom.js";

export const PAGE = 20;

const end = byId("more");

export class Pages {
  constructor(onmore, ontrouble) {
    this.onmore = onmore;
    this.ontrouble = ontrouble;
    this.loading = false;
    this.source = null;
    const seen = (entries) => entries.some((entry) => entry.isIntersecting) && this.more();
    this.watcher = new IntersectionObserver(seen, { rootMargin: "300px", scrollMargin: "300px" });
  }

  // Pages go on until one is not full, or all that there may be is shown.
  begin(source, shown, all) {
    this.source = source;
    this.all = all;
    this.shown = 0;
    this.count(shown);
  }

  stop() {
    this.begin(null, 0, 0);
  }

  count(shown) {
    this.shown += shown;
    this.ended = shown < PAGE || this.shown >= this.all;
    // Watched anew each time: an end that stays in sight would not be told of again.
    this.watcher.unobserve(end);
    end.hidden = this.ended;
    if (!this.ended) this.watcher.observe(end);
  }

  async more() {
    const here = this.source;
    if (this.loading || this.ended || here === null) return;
    this.loading = true;
    const k = Math.min(PAGE, this.all - this.shown);
    try {
      const params = { ...here.params, k, offset: this.shown };
      const answer = await ask(here.path, { params });
      if (this.source !== here) return;
      this.onmore(answer.results);
      this.count(answer.results.length);
    } catch (error) {
      this.ontrouble(error);
    } finally {
      this.loading = false;
    }
  }
}
