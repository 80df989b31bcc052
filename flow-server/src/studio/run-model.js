// How far an execution has come, from its events.

// The kind of the record of an event, or `delta`, `progress` or another word for what has no record.
export function kindOf(event) {
  switch (event.type) {
    case "node_start":
      return "node_started";
    case "exec_complete":
      return "outcome";
    case "node_end":
      return "node_finished";
    case "error":
      return event.payload.record;
    case "stream_chunk":
      return "delta";
    default:
      return event.payload?.type ?? "";
  }
}

const ENDS = new Set(["run_completed", "run_failed", "run_cancelled"]);

// Longer texts are cut at their beginning.
const LONGEST_TEXT = 20_000;

export class RunModel {
  // The number of the next record.
  next = 0;
  isOver = false;
  // By the path in the picture.
  nodes = new Map();
  // Visits to nodes, in the order in which they began.
  visits = [];
  // What nodes have emitted, by path and item.
  texts = new Map();
  startedAt;
  lastAt;
  #heardAt = 0;
  #root = "";
  #open = new Map();
  // How many visits are open inside of each step.
  #inside = new Map();
  // How many visits were dropped while others went on.
  dropped = 0;
  // The number of the next part that each visit emits.
  #emissions = new Map();

  // The path of a node in the picture: without the flow itself, and without items.
  pathInPicture(path) {
    const plain = path.replace(/\[\d+\]/g, "");
    return plain.startsWith(`${this.#root}.`) ? plain.slice(this.#root.length + 1) : plain;
  }

  // The time by the clock of the server, as far as this page can tell.
  now() {
    const since = this.isOver || this.lastAt === undefined ? 0 : performance.now() - this.#heardAt;
    return (this.lastAt ?? 0) + since;
  }

  // Takes an event. False if it is a record that was there before.
  apply(event) {
    const kind = kindOf(event);
    if (event.seq === undefined) {
      this.#emitted(event, kind);
      return true;
    }
    if (event.seq < this.next) return false;
    this.next = event.seq + 1;
    this.lastAt = event.timestamp;
    this.#heardAt = performance.now();
    this.startedAt ??= event.timestamp;
    if (kind === "run_started" || kind === "run_copied") this.#root ||= event.namespace;
    if (ENDS.has(kind)) this.#end(kind, event);
    else if (kind === "run_retried") this.#retried(event.payload.data?.dropped ?? []);
    else if (event.namespace !== this.#root) this.#recorded(kind, event);
    return true;
  }

  #recorded(kind, event) {
    // It says only what an undo node will read, and may come after the visit.
    if (kind === "undoable") return;
    const visit = kind === "node_started" ? this.#begin(event) : this.#visit(event);
    const node = visit.node;
    switch (kind) {
      case "attempt_failed":
      case "timed_out":
        this.#dropInside(event);
        if (visit.state === "waiting") visit.state = "running";
        visit.awaited = undefined;
        visit.failures.push({ at: event.timestamp, error: event.payload.error });
        break;
      case "outcome":
        visit.attempts = event.payload.attempts ?? visit.attempts;
        break;
      case "node_finished":
        this.#dropInside(event);
        this.#close(visit, event, "done", true);
        break;
      case "node_failed":
      case "flow_failed":
        this.#dropInside(event);
        visit.attempts = event.payload.attempts ?? visit.attempts;
        visit.error = event.payload.error;
        this.#close(visit, event, "failed", true);
        break;
      case "paused":
      case "waiting":
        visit.state = "waiting";
        break;
      case "awaiting":
        visit.state = "waiting";
        visit.awaited = event.payload.data ?? undefined;
        break;
      case "received":
        visit.awaited = undefined;
        visit.received = event.payload.data?.body;
        if (visit.state === "waiting") visit.state = "running";
        break;
      case "resumed":
      case "waited":
        if (visit.state === "waiting") visit.state = "running";
        break;
    }
    this.#settle(node);
  }

  #key(event) {
    return `${event.step}|${event.visit}|${event.item ?? ""}`;
  }

  #node(path) {
    const known = this.nodes.get(path);
    if (known) return known;
    const node = { path, visits: 0, items: 0, itemsDone: 0, total: undefined, undone: 0, open: new Set(), state: "", progress: undefined };
    this.nodes.set(path, node);
    return node;
  }

  #begin(event) {
    const key = this.#key(event);
    // A step that a crash interrupted is reached again: it is the same visit.
    const known = this.#open.get(key);
    if (known) return known;
    const node = this.#node(this.pathInPicture(event.namespace));
    // A node inside the flow that runs for an item is a node like any other.
    const isItem = event.namespace.endsWith("]");
    if (isItem) node.items += 1;
    else {
      node.visits += 1;
      node.total = undefined;
    }
    const visit = {
      key, node, step: event.step, path: event.namespace, undoes: undonePath(event.namespace), number: event.visit, item: event.item, seq: event.seq, isItem,
      offset: event.offset, before: node.items, start: event.timestamp, end: undefined, state: "running", attempts: 1, failures: [],
    };
    this.visits.push(visit);
    this.#opened(visit);
    return visit;
  }

  #visit(event) {
    return this.#open.get(this.#key(event)) ?? this.#begin(event);
  }

  // Some are closed because the execution has ended, and not because they have.
  #close(visit, event, state, hasEnded = false) {
    visit.end = event.timestamp;
    visit.endSeq = event.seq;
    visit.state = state;
    visit.action = event.payload?.action ?? visit.action;
    // Also if it failed: a loop that collects errors goes on, and no item of it runs any more.
    visit.itemHasEnded = hasEnded;
    if (visit.isItem && hasEnded) visit.node.itemsDone += 1;
    if (!visit.isItem) visit.node.progress = undefined;
    if (visit.undoes !== undefined && state === "done") this.#node(this.pathInPicture(visit.undoes)).undone += 1;
    visit.node.last = state;
    visit.node.open.delete(visit);
    this.#open.delete(visit.key);
    for (const step of around(visit.step)) {
      const others = this.#inside.get(step) - 1;
      if (others > 0) this.#inside.set(step, others);
      else this.#inside.delete(step);
    }
  }

  // What still runs inside of a step that is over was dropped with it, such as the other branches of a race.
  #dropInside({ step, timestamp, seq }) {
    if (!this.#inside.has(step)) return;
    for (const visit of [...this.#open.values()].filter((one) => around(one.step).includes(step))) {
      this.#close(visit, { timestamp, seq }, "dropped");
      this.#settle(visit.node);
      this.dropped += 1;
    }
  }

  // The execution continues without these records: what ended by them still runs.
  #retried(dropped) {
    this.isOver = false;
    const records = new Set(dropped);
    for (const visit of this.visits.filter((one) => records.has(one.endSeq))) {
      visit.end = undefined;
      visit.endSeq = undefined;
      visit.error = undefined;
      visit.state = "running";
      if (visit.isItem && visit.itemHasEnded) visit.node.itemsDone -= 1;
      visit.itemHasEnded = false;
      this.#opened(visit);
      this.#settle(visit.node);
    }
  }

  #opened(visit) {
    this.#open.set(visit.key, visit);
    visit.node.open.add(visit);
    for (const step of around(visit.step)) this.#inside.set(step, (this.#inside.get(step) ?? 0) + 1);
  }

  #settle(node) {
    const open = [...node.open];
    if (open.length === 0) node.state = node.last ?? "";
    else node.state = open.every((visit) => visit.state === "waiting") ? "waiting" : "running";
  }

  #emitted(event, kind) {
    if (!event.namespace) return;
    const key = `${event.namespace} visit ${event.visit}`;
    if (kind === "progress") {
      const node = this.#node(this.pathInPicture(event.namespace));
      node.progress = event.payload.data;
      this.#emissions.set(key, event.payload.data.index + 1);
    } else if (kind === "delta") {
      this.#write(key, event.payload);
    }
  }

  // What is emitted is not stored, so a part of it is missing if nobody listened.
  #write(key, { chunk, index }) {
    // Another attempt begins again.
    const before = index === 0 ? "" : (this.texts.get(key) ?? "");
    const gap = index > (this.#emissions.get(key) ?? 0) ? "… " : "";
    this.#emissions.set(key, index + 1);
    const text = before + gap + (typeof chunk === "string" ? chunk : `${JSON.stringify(chunk)}\n`);
    this.texts.set(key, text.length > LONGEST_TEXT ? text.slice(-LONGEST_TEXT) : text);
  }

  #end(kind, event) {
    this.isOver = true;
    const state = kind === "run_completed" ? "done" : "failed";
    for (const visit of [...this.#open.values()]) {
      this.#close(visit, event, state);
      this.#settle(visit.node);
    }
  }
}

// The visit to a loop that runs, of which it is not known how many items it has. A loop that runs for the items of another
// one is left out, because there can be many of it at once.
export function uncounted(node) {
  if (node.items === 0 || node.total !== undefined) return undefined;
  return [...node.open].find((visit) => !visit.isItem && !visit.path.includes("["));
}

// A visit to a loop has this many items.
export function count(visit, items) {
  visit.node.total = visit.before + items;
}

// The path of the node whose visit is taken back, if this is the path of an undo node.
function undonePath(path) {
  return path.endsWith("!undo") ? path.slice(0, -"!undo".length) : undefined;
}

// The steps that contain a step, as its name says them: `flow.race`, `flow` for `flow.race.node`.
function around(step = "") {
  return [...step.matchAll(/[.[~]/g)].map(({ index }) => step.slice(0, index));
}

function itemsOf({ items, itemsDone, total, state }) {
  if (total > itemsDone) return `${itemsDone} of ${total} items`;
  if (state === "dropped") return `${itemsDone} of ${items} items`;
  return items === itemsDone ? `${items} items` : `${itemsDone} items, ${items - itemsDone} running`;
}

// What stands at a node: visits, items, progress, and whether it was undone.
export function markOf(node) {
  const parts = [];
  if (node.visits > 1) parts.push(`${node.visits} visits`);
  if (node.items > 0) parts.push(itemsOf(node));
  if (node.progress) parts.push(node.progress.of ? `${node.progress.done} of ${node.progress.of}` : `${node.progress.done}`);
  if (node.undone > 0) parts.push(node.undone === 1 ? "undone" : `${node.undone} undone`);
  return parts.join(", ");
}
