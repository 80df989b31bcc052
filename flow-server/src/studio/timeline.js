// The visits to nodes, each as a bar.

import { duration, element, time } from "./dom.js";
import "./virtual-list.js";

// As much of a signal as has room in a row. The journal has all of it.
const LONGEST_BODY = 120;

export class Timeline {
  #list = element("virtual-list", { class: "timeline", role: "list", "aria-label": "Visits to nodes", tabIndex: 0 });
  #title = element("h2", {}, "Timeline");
  #visits = [];
  #from = 0;
  #to = 1;

  constructor(onChoose) {
    this.element = element("section", { "aria-label": "Timeline" }, this.#title, this.#list);
    this.#list.rowHeight = 30;
    this.#list.row = (index) => this.#row(this.#visits[index], onChoose);
    this.#list.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.#list.focusRow((this.#list.focused ?? -1) + step);
    });
  }

  draw(model) {
    this.#visits = model.visits;
    this.#from = model.startedAt ?? 0;
    this.#to = Math.max(model.now(), this.#from + 1);
    const took = model.startedAt === undefined ? "" : `, ${duration(this.#to - this.#from)}`;
    this.#title.textContent = `Timeline: ${this.#visits.length} ${this.#visits.length === 1 ? "visit" : "visits"}${took}`;
    this.#list.count = this.#visits.length;
    this.#list.refresh();
  }

  #row(visit, onChoose) {
    const end = visit.end ?? this.#to;
    const percent = (ms) => `${(100 * (ms - this.#from)) / (this.#to - this.#from)}%`;
    const bar = element("span", { class: "bar" });
    bar.style.left = percent(visit.start);
    bar.style.width = percent(this.#from + end - visit.start);
    const marks = visit.failures.map((failure) => {
      const mark = element("span", { class: "attempt" });
      mark.style.left = percent(failure.at);
      return mark;
    });
    const attempts = Math.max(visit.attempts, visit.failures.length + (visit.state === "failed" ? 0 : 1));
    const told = [
      visit.number > 1 ? `visit ${visit.number}` : "",
      stateOf(visit),
      attempts > 1 ? `${attempts} attempts` : "",
      visit.end === undefined ? "" : duration(visit.end - visit.start),
      visit.received === undefined ? "" : `received ${JSON.stringify(visit.received).slice(0, LONGEST_BODY)}`,
      visit.action && visit.action !== "default" ? `“${visit.action}”` : "",
      visit.error ?? visit.failures.at(-1)?.error ?? "",
    ];
    const chosen = element(
      "button",
      { type: "button", onclick: () => onChoose(visit.seq) },
      element("span", { class: "name" }, nameOf(visit)),
      element("span", { class: "track", "aria-hidden": "true" }, bar, ...marks),
      element("span", { class: "told" }, told.filter(Boolean).join(", ")),
    );
    return element("div", { role: "listitem", class: "row", data: { state: visit.state, seq: visit.seq } }, chosen);
  }
}

// The path of the node. That of an undo node says what it takes back.
function nameOf({ path, undoes, state }) {
  if (undoes === undefined) return path;
  return `${undoes} ${state === "done" ? "undone" : "undo"}`;
}

// The state, with the signal for which the visit waits, and until when.
function stateOf({ state, awaited }) {
  if (state !== "waiting" || awaited === undefined) return state;
  const until = awaited.expiresMs === undefined ? "" : ` until ${time(awaited.expiresMs).textContent}`;
  return `waiting for ${awaited.signal}${until}`;
}
