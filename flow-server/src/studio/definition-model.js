// A definition as somebody edits it: each change can be undone, and none is lost when the page is loaded again.

import { parse } from "./api.js";

// More steps than anybody goes back.
const MOST_STEPS = 200;

// The status is not one of them: it changes at once, and not in steps.
const FIELDS = ["flow", "layout", "configuration"];

// What of a definition is edited, as a text. Whole numbers that JavaScript would round stay as they are written.
function textOf(definition) {
  const content = Object.fromEntries(FIELDS.map((field) => [field, definition[field]]));
  content.layout ??= {};
  content.configuration ??= {};
  return JSON.stringify(content);
}

// `change` is sent when the content is another one, with `detail.source`: what has changed it.
export class DefinitionModel extends EventTarget {
  // Each step is a text with its `base`, the revision that it changes.
  #saved;
  #now;
  #past = [];
  #future = [];
  // The part that was changed last. Changes of it that follow each other are one step.
  #part;
  #key;
  #isClosed = false;

  constructor(definition) {
    super();
    this.#key = `flow-server definition ${definition.id}`;
    const kept = sessionStorage.getItem(this.#key);
    this.#saved = { text: textOf(definition), base: definition.revision };
    this.#set(this.#saved);
    if (kept !== null) this.#restore(parse(kept));
  }

  // Nobody looks at it any more: what is kept belongs to whoever opens the definition again.
  close() {
    this.#isClosed = true;
  }

  // The server has this definition now. `sent`: what it got, which it may have tidied up.
  saved(definition, sent) {
    const before = this.#now.base;
    this.#saved = { text: textOf(definition), base: definition.revision };
    this.#part = undefined;
    // Whatever has led here is known to the server.
    for (const step of [...this.#past, ...this.#future, this.#now]) {
      if (step.base === before) step.base = definition.revision;
    }
    if (this.#now.text === sent) this.#set(this.#saved);
    this.#keep(sent);
  }

  // Takes what somebody else has saved, as one step.
  useTheirs(definition) {
    this.#saved = { text: textOf(definition), base: definition.revision };
    this.#step(this.#saved);
  }

  get revision() {
    return this.#now.base;
  }

  get isChanged() {
    return this.#now.text !== this.#saved.text;
  }

  get text() {
    return this.#now.text;
  }

  // Changes the content. Whoever types changes the same `part` many times, which is one step.
  change(work, part, source) {
    const changed = parse(this.#now.text);
    work(changed);
    this.#step({ text: JSON.stringify(changed), base: this.#now.base }, part, source);
  }

  // What is changed next is another step.
  endStep() {
    this.#part = undefined;
  }

  #step(step, part, source) {
    if (step.text === this.#now.text && step.base === this.#now.base) return;
    if (part === undefined || part !== this.#part) {
      this.#past.push(this.#now);
      if (this.#past.length > MOST_STEPS) this.#past.shift();
    }
    this.#part = part;
    this.#future = [];
    this.#show(step, source);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  undo() {
    this.#move(this.#past, this.#future);
  }

  redo() {
    this.#move(this.#future, this.#past);
  }

  #move(from, to) {
    if (from.length === 0) return;
    to.push(this.#now);
    this.#part = undefined;
    this.#show(from.pop());
  }

  #show(step, source) {
    this.#set(step);
    this.#keep();
    this.dispatchEvent(new CustomEvent("change", { detail: { source } }));
  }

  #set({ text, base }) {
    this.#now = { text, base };
    this.content = parse(text);
  }

  // Keeps what is not saved until the tab is closed.
  #keep(sent) {
    try {
      if (this.#isClosed) {
        const kept = parse(sessionStorage.getItem(this.#key) ?? "null");
        if (kept?.text === sent) sessionStorage.removeItem(this.#key);
      } else if (this.isChanged) {
        sessionStorage.setItem(this.#key, JSON.stringify(this.#now));
      } else {
        sessionStorage.removeItem(this.#key);
      }
    } catch {
      // The storage is full: the page works without it.
    }
  }

  // If somebody else has changed the definition meanwhile, saving says so, because of the base.
  #restore(kept) {
    if (kept.text === this.#saved.text) return;
    this.isRestored = true;
    this.#past.push(this.#now);
    this.#set(kept);
  }
}
