// The journal of an execution, and its values at each record.

import * as api from "./api.js";
import { element, freshId, throttled, time } from "./dom.js";
import { ValuesPanel } from "./values.js";
import "./virtual-list.js";

const PAGE = 200;

// Pages that are kept. The others are read again when they are seen.
const KEPT = 40;

export class Journal {
  #path;
  #page;
  #pages = new Map();
  #loading = new Set();
  #selected;
  #isFollowing = true;
  #slider = element("input", { type: "range", min: 0, max: 0, value: 0, id: freshId("record") });
  #list = element("virtual-list", { class: "journal", role: "listbox", "aria-label": "Records", tabIndex: 0 });
  #values;
  #prefix = freshId("record");

  constructor(path, page, { mayCopy }) {
    this.#path = path;
    this.#page = page;
    this.#values = new ValuesPanel(path, page, { mayCopy });
    this.#list.rowHeight = 28;
    this.#list.row = (index) => this.#row(index);
    this.#list.onRange = (first, end) => this.#load(first, end);
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    this.#slider.addEventListener("input", () => this.select(Number(this.#slider.value)));
    const label = element("label", { htmlFor: this.#slider.id }, "Record");
    this.element = element(
      "section",
      { class: "looking-back", "aria-label": "Journal and values" },
      element("h2", {}, "Journal and values"),
      element("div", { class: "slider" }, label, this.#slider),
      element("div", { class: "columns" }, this.#list, this.#values.element),
    );
  }

  // There are this many records now.
  grow(count) {
    if (count <= this.#list.count) return;
    // The last page has grown.
    this.#pages.delete(Math.floor((this.#list.count - 1) / PAGE));
    this.#slider.max = count - 1;
    this.#list.count = count;
    this.#follow();
  }

  // Shows the newest record, as long as nobody looks at another one.
  #follow = throttled(400, () => {
    if (this.#page.isOpen && this.#isFollowing) this.#show(this.#list.count - 1);
  });

  select(seq) {
    const last = this.#list.count - 1;
    const chosen = Math.max(0, Math.min(last, seq));
    this.#isFollowing = chosen === last;
    this.#show(chosen);
  }

  #show(seq) {
    this.#list.rowAt(this.#selected)?.setAttribute("aria-selected", "false");
    this.#selected = seq;
    this.#slider.value = seq;
    this.#slider.setAttribute("aria-valuetext", `record ${seq} of ${this.#list.count - 1}`);
    this.#list.show(seq);
    const row = this.#list.rowAt(seq);
    row?.setAttribute("aria-selected", "true");
    if (row) this.#list.setAttribute("aria-activedescendant", row.id);
    this.#values.show(seq);
  }

  #key(event) {
    const rows = Math.max(1, Math.floor(this.#list.clientHeight / this.#list.rowHeight) - 1);
    const last = this.#list.count - 1;
    const now = this.#selected ?? 0;
    const targets = {
      ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + rows, PageUp: now - rows, Home: 0, End: last,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.select(targets[event.key]);
  }

  #row(seq) {
    const record = this.#pages.get(Math.floor(seq / PAGE))?.[seq % PAGE];
    const isSelected = seq === this.#selected;
    const row = element(
      "div",
      {
        role: "option", class: "row", id: `${this.#prefix}-${seq}`, "aria-selected": String(isSelected),
        onclick: () => this.select(seq), data: { seq, kind: record?.kind ?? "" },
      },
      element("span", { class: "seq" }, `${seq}`),
      ...(record ? cells(record) : [element("span", { class: "hint" }, "…")]),
    );
    if (isSelected) this.#list.setAttribute("aria-activedescendant", row.id);
    return row;
  }

  #load(first, end) {
    for (let page = Math.floor(first / PAGE); page * PAGE < end; page++) {
      if (!this.#pages.has(page) && !this.#loading.has(page)) this.#loadPage(page);
    }
  }

  async #loadPage(page) {
    this.#loading.add(page);
    try {
      const count = this.#list.count;
      const { records } = await api.get(`${this.#path}/journal${api.query({ from: page * PAGE, limit: PAGE })}`);
      if (!this.#page.isOpen) return;
      const places = [];
      for (const record of records) {
        if (record.seq >= page * PAGE && record.seq < (page + 1) * PAGE) places[record.seq - page * PAGE] = record;
      }
      // A page that was read while the journal grew is read again.
      if (count === this.#list.count || records.length === PAGE) this.#pages.set(page, places);
      for (const old of this.#pages.keys()) {
        if (this.#pages.size <= KEPT) break;
        if (old !== page) this.#pages.delete(old);
      }
      this.#loading.delete(page);
      this.#list.refresh();
    } catch (error) {
      this.#page.fail(error);
    } finally {
      // After a failure, it is tried again when the list is drawn the next time.
      this.#loading.delete(page);
    }
  }
}

function cells(record) {
  const visit = record.visit > 1 ? ` (visit ${record.visit})` : "";
  const data = record.data === null ? "" : JSON.stringify(record.data).slice(0, 200);
  return [
    element("span", { class: "kind" }, record.kind.replaceAll("_", " ")),
    element("span", { class: "path" }, `${record.path}${visit}`),
    element("span", { class: "data" }, data),
    element("span", { class: "when" }, time(record.atMs)),
  ];
}
