// The executions, the newest first.

import * as api from "./api.js";
import { element, freshId, link, statusesOf, throttled, time } from "./dom.js";
import { Stream } from "./stream.js";
import "./virtual-list.js";

const PAGE = 1000;
const STATUSES = ["queued", "running", "paused", "cancelling", "completed", "failed", "cancelled"];
const CHANGES = "kind=run_started,run_copied,run_retried,paused,resumed,awaiting,received,run_completed,run_failed,run_cancelled";

// An execution leaves the queue without a record: the next one is that of its first node.
const BEGINNINGS = "kind=node_started";

// How many executions below the first page are read again one by one when they change.
const MOST_SINGLE = 50;

export async function executionsView(place, _, page, query) {
  const flows = await api.get("flows").catch(() => ({ flows: [] }));
  const list = new ExecutionList(page);
  const filters = filterForm(flows.flows, query, (fields) => {
    const address = `#/executions${api.query(fields)}`;
    // Not a new view: the fields keep the focus.
    history.replaceState(null, "", address);
    list.filter(fields);
  });
  place.append(element("h1", {}, "Executions"), filters.element, list.counter, list.element);
  await list.filter(filters.read());
  list.follow();
}

function filterForm(flows, query, onChange) {
  const later = throttled(250, () => onChange(read()));
  const field = (name, label, input) => {
    input.id = freshId("filter");
    input.addEventListener("input", later);
    input.value = query.get(name) ?? "";
    return element("div", { class: "field" }, element("label", { htmlFor: input.id }, label), input);
  };
  const options = (texts) => texts.map((text) => element("option", { value: text }, text || "any"));
  const inputs = {
    flow: element("select", {}, ...options(["", ...flows.map((flow) => flow.name)])),
    status: element("select", {}, ...options(["", ...STATUSES])),
    from: element("input", { type: "datetime-local", step: 1 }),
    to: element("input", { type: "datetime-local", step: 1 }),
    id: element("input", { type: "search", autocomplete: "off", spellcheck: false }),
  };
  const read = () => Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
  const form = element(
    "form",
    { class: "filters", role: "search", "aria-label": "Executions", onsubmit: (event) => event.preventDefault() },
    field("flow", "Flow", inputs.flow),
    field("status", "Status", inputs.status),
    field("from", "Started from", inputs.from),
    field("to", "Started before", inputs.to),
    field("id", "Id, or a part of it", inputs.id),
  );
  return { element: form, read };
}

// Ids are in the order of time, so those that begin with a text are next to each other: the id before
// which they all are.
function endOf(prefix) {
  const digits = prefix.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{4,32}$/.test(digits)) return undefined;
  const whole = digits.padEnd(32, "f");
  // Those before it do not include it.
  return digits.length === 32 ? undefined : whole.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

class ExecutionList {
  counter = element("p", { role: "status" });
  element = element("virtual-list", { class: "executions", role: "list", "aria-label": "Executions", tabIndex: 0 });
  #page;
  #fields = {};
  #items = [];
  #known = new Map();
  #next;
  #damaged = 0;
  #isLoading = false;
  #generation = 0;
  #changed = new Set();
  #again = throttled(300, () => this.#refresh().catch(this.#page.fail));
  // Follows the executions that are queued, as long as there are any.
  #beginnings;

  constructor(page) {
    this.#page = page;
    this.element.rowHeight = 56;
    this.element.row = (index) => row(this.#items[index]);
    this.element.onRange = (_, end) => {
      if (end > this.#items.length - 50) this.#more();
    };
    this.element.addEventListener("keydown", (event) => this.#key(event));
  }

  async filter(fields) {
    this.#generation += 1;
    this.#fields = fields;
    this.#items = [];
    this.#known.clear();
    this.#next = undefined;
    this.#damaged = 0;
    this.#isLoading = false;
    await this.#more(true);
    this.element.refresh();
  }

  follow() {
    const onEvents = (events) => {
      for (const event of events) if (event.runId) this.#changed.add(event.runId);
      this.#again();
    };
    const onState = (state, error) => {
      this.#page.connection(state, error);
      // What happened while there was no stream.
      if (state === "live") this.#again();
    };
    const stream = new Stream(`events?${CHANGES}`, { onEvents, onState });
    this.#page.atEnd(() => {
      stream.stop();
      this.#beginnings?.stop();
    });
  }

  // Many nodes start: those of others are not listened to when nothing is queued.
  #followQueued() {
    const areQueued = this.#items.some((item) => item.status === "queued");
    if (!areQueued) {
      this.#beginnings?.stop();
      this.#beginnings = undefined;
    }
    if (!areQueued || this.#beginnings || !this.#page.isOpen) return;
    const onEvents = (events) => {
      const begun = events.filter((event) => this.#known.get(event.runId)?.status === "queued");
      for (const event of begun) this.#changed.add(event.runId);
      if (begun.length > 0) this.#again();
    };
    const onState = (state) => {
      if (state === "live") this.#again();
    };
    this.#beginnings = new Stream(`events?${BEGINNINGS}`, { onEvents, onState });
  }

  #query(more) {
    const { flow, status: wanted, from, to } = this.#fields;
    const ms = (text) => (text ? new Date(text).getTime() : undefined);
    return api.query({ flow, status: wanted, startedFromMs: ms(from), startedBeforeMs: ms(to), limit: PAGE, ...more });
  }

  #fits(item) {
    const { id = "", status: wanted } = this.#fields;
    return (!wanted || item.status === wanted) && item.id.includes(id.toLowerCase());
  }

  async #more(isFirst = false) {
    if (this.#isLoading || (!isFirst && this.#next === undefined)) return;
    this.#isLoading = true;
    const generation = this.#generation;
    try {
      const id = this.#fields.id ?? "";
      const before = isFirst ? endOf(id) : this.#next;
      let listed = await api.get(`executions${this.#query({ before })}`);
      // Nothing begins with the text: then it is looked for in all.
      if (isFirst && before && !listed.executions.some((item) => this.#fits(item))) {
        listed = await api.get(`executions${this.#query({})}`);
      }
      if (generation !== this.#generation || !this.#page.isOpen) return;
      this.#next = listed.next;
      this.#damaged += listed.damaged;
      this.#append(listed.executions);
    } catch (error) {
      this.#page.fail(error);
    } finally {
      if (generation === this.#generation) this.#isLoading = false;
    }
    // A search goes on until there is something to see.
    if (generation === this.#generation && this.#items.length < 50 && this.#next) await this.#more();
  }

  #append(executions) {
    for (const item of executions) {
      if (this.#known.has(item.id) || !this.#fits(item)) continue;
      this.#known.set(item.id, item);
      this.#items.push(item);
    }
    this.#count();
  }

  #count() {
    const rest = this.#next ? "more below" : "all";
    const damaged = this.#damaged > 0 ? `, and ${this.#damaged} that cannot be read` : "";
    this.counter.textContent = `${this.#items.length} executions (${rest})${damaged}`;
    this.element.count = this.#items.length;
    this.#followQueued();
  }

  // Reads the newest again, and those further down that have changed.
  async #refresh() {
    const generation = this.#generation;
    const changed = new Set(this.#changed);
    this.#changed.clear();
    const fresh = [];
    let before;
    for (let pages = 0; pages < 10; pages++) {
      const listed = await api.get(`executions${this.#query({ before, limit: pages === 0 ? 100 : 1000 })}`);
      fresh.push(...listed.executions);
      before = listed.next;
      // The pages meet what is known already.
      if (!before || this.#items.length === 0 || listed.executions.some((item) => this.#known.has(item.id))) break;
    }
    for (const item of fresh) changed.delete(item.id);
    const single = [...changed].filter((id) => this.#known.has(id)).slice(0, MOST_SINGLE);
    const found = await Promise.all(single.map((id) => api.get(api.path("executions", id)).catch(() => undefined)));
    if (generation !== this.#generation || !this.#page.isOpen) return;
    this.#merge([...fresh, ...found.filter(Boolean)]);
  }

  #merge(fresh) {
    const added = [];
    for (const item of fresh) {
      const known = this.#known.get(item.id);
      if (known) Object.assign(known, item);
      else if (this.#fits(item)) added.push(item);
    }
    const newest = this.#items[0]?.id ?? "";
    const above = added.filter((item) => item.id > newest);
    for (const item of above) this.#known.set(item.id, item);
    // With a filter by status, older ones can come and go as well. Those below the last one are still to be read.
    const last = this.#next === undefined ? "" : (this.#items.at(-1)?.id ?? "");
    const between = added.filter((item) => item.id < newest && item.id > last);
    for (const item of between) this.#known.set(item.id, item);
    const kept = this.#items.filter((item) => this.#fits(item));
    for (const item of this.#items) if (!this.#fits(item)) this.#known.delete(item.id);
    this.#items = [...above, ...kept, ...between];
    if (between.length > 0) this.#items.sort((one, other) => (one.id < other.id ? 1 : -1));
    this.element.keepPlace(above.length);
    this.#count();
    this.element.refresh();
  }

  #key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const focused = this.element.focused;
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = focused === undefined ? 0 : focused + steps[event.key];
    this.element.focusRow(Math.max(0, Math.min(this.#items.length - 1, next)));
  }
}

function row(item) {
  const to = link(
    `#/${api.path("executions", item.id)}`,
    element("span", { class: "id" }, item.id),
    element("span", { class: "flow" }, item.flow),
    element("span", { class: "stands" }, ...statusesOf(item)),
    element("span", { class: "when" }, time(item.createdAtMs)),
    element("span", { class: "hint" }, [item.owner, item.idempotencyKey, item.reason ?? item.halted].filter(Boolean).join(" · ")),
  );
  return element("div", { role: "listitem", class: "row", data: { id: item.id } }, to);
}
