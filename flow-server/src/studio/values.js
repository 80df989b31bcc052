// The values of an execution at a record, and what that record changed.

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { button, element, throttled } from "./dom.js";
import { jsonField } from "./schema-fields.js";

// Longer values are cut until somebody wants to see them.
const LONGEST = 4000;

export class ValuesPanel {
  #path;
  #page;
  #mayCopy;
  #seq = 0;
  #shown = element("div", { class: "values" });
  #loading = new AbortController();
  #later = throttled(120, () => this.#load());

  constructor(path, page, { mayCopy }) {
    this.#path = path;
    this.#page = page;
    this.#mayCopy = mayCopy;
    this.element = element("div", { class: "values-panel", role: "region", "aria-label": "Values", tabIndex: 0 }, this.#shown);
  }

  show(seq) {
    this.#seq = seq;
    this.#later();
  }

  async #load() {
    if (!this.#page.isOpen) return;
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    const seq = this.#seq;
    try {
      const at = (number) => api.get(`${this.#path}/state${api.query({ seq: number })}`, { signal });
      const record = api.get(`${this.#path}/journal${api.query({ from: seq, limit: 1 })}`, { signal });
      // The record before the first one has no values.
      const before = seq === 0 ? { flows: {} } : at(seq - 1).catch(() => ({ flows: {} }));
      const writes = api.get(`${this.#path}/writes${api.query({ seq })}`, { signal });
      const found = await Promise.all([before, at(seq), record, writes]);
      if (seq === this.#seq && this.#page.isOpen) this.#draw(seq, ...found);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#shown.replaceChildren(element("p", { class: "hint" }, `There are no values at record ${seq}: ${error.message}`));
    }
  }

  #draw(seq, before, state, { records: [record] }, { writes }) {
    const additions = writes.filter((write) => write.seq === seq && write.added);
    const added = (path) => additions.filter((write) => write.flow === path).map((write) => write.key);
    const parts = [element("h3", {}, `After record ${seq}`)];
    if (record) parts.push(element("p", {}, `${record.kind.replaceAll("_", " ")} – ${record.path}`));
    if (record && record.data !== null) parts.push(named("What it says", pretty(record.data)));
    if (this.#mayCopy) parts.push(element("p", {}, button("Copy from here …", () => this.#copy(seq, state))));
    for (const path of new Set([...Object.keys(state.flows), ...Object.keys(before.flows)])) {
      parts.push(element("h4", {}, path), changes(before.flows[path] ?? {}, state.flows[path] ?? {}, added(path)));
    }
    if (state.underWay.length > 0) parts.push(element("p", {}, `Under way: ${state.underWay.join(", ")}`));
    this.#shown.replaceChildren(...parts);
  }

  #copy(seq, state) {
    // The outermost flow has the shortest path.
    const outermost = Object.keys(state.flows).sort((one, other) => one.length - other.length)[0];
    const fields = Object.entries(state.flows[outermost] ?? {}).map(([key, value]) => {
      const field = jsonField({}, { name: key, value });
      return { key, field, before: field.input.value };
    });
    const about = element("p", { class: "hint" }, `A copy has the records up to ${seq}, and goes on from there, with these values.`);
    ask("Copy from here", [about, ...fields.map(({ field }) => field.element)], "Start the copy", async () => {
      const changed = fields.filter(({ field, before }) => field.input.value !== before);
      const texts = changed.map(({ key, field }) => [key, field.json()]);
      if (texts.some(([, text]) => text === undefined)) return false;
      const values = texts.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",");
      const copy = await api.post(`${this.#path}/copies`, `{"seq":${seq},"values":{${values}}}`);
      location.hash = `#/${api.path("executions", copy.id)}`;
      return true;
    });
  }
}

function pretty(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function named(name, text) {
  return element("details", { open: text.length < 400 }, element("summary", {}, name), cut(text));
}

// A text, cut if it is long, with a button for the rest.
function cut(text) {
  const shown = element("pre", {}, text.slice(0, LONGEST));
  if (text.length <= LONGEST) return shown;
  const more = button(`Show all ${text.length} characters`, () => {
    shown.textContent = text;
    more.remove();
  });
  return element("div", {}, shown, more);
}

// `added` has the keys to which the node of the record added when it finished. The value may have changed with the outcome
// before, or changes when the branches of a fork are done.
function changes(before, after, added) {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const rows = keys.map((key) => {
    const old = key in before ? JSON.stringify(before[key], null, 2) : undefined;
    const now = key in after ? JSON.stringify(after[key], null, 2) : undefined;
    const change = old === now ? "" : old === undefined ? "added" : now === undefined ? "removed" : "changed";
    const value = change === "changed" ? difference(old, now) : cut(now ?? old);
    const word = change ? element("span", { class: "change" }, change) : undefined;
    const name = element("code", {}, added.includes(key) ? `+ ${key}` : key);
    return element("div", { class: "value", data: { key, change } }, element("p", {}, name, " ", word), value);
  });
  return element("div", {}, ...rows);
}

// The lines that differ, with what they have in common at the beginning and at the end cut short.
function difference(old, now) {
  const [one, other] = [old.split("\n"), now.split("\n")];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const lines = (mark, name, texts) =>
    texts.length === 0 ? [] : [element(name, {}, cut(texts.map((line) => `${mark} ${line}`).join("\n")))];
  const around = (texts) => texts.map((line) => `  ${line}`).join("\n");
  return element(
    "div",
    { class: "difference" },
    element("pre", {}, around(one.slice(Math.max(0, start - 2), start))),
    ...lines("−", "del", one.slice(start, one.length - end)),
    ...lines("+", "ins", other.slice(start, other.length - end)),
    element("pre", {}, around(one.slice(one.length - end, one.length - end + 2))),
  );
}
