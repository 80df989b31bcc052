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
  #saved;
  #now;
  #past = [];
  #future = [];
  // The part that was changed last. Changes of it that follow each other are one step.
  #part;
  #key;

  constructor(definition) {
    super();
    this.#key = `flow-server definition ${definition.id}`;
    const kept = sessionStorage.getItem(this.#key);
    this.saved(definition, undefined);
    if (kept !== null) this.#restore(kept);
  }

  // The server has this definition now. `sent`: what it got, which it may have tidied up.
  saved(definition, sent) {
    this.revision = definition.revision;
    this.#saved = textOf(definition);
    this.#part = undefined;
    if (this.#now === sent) this.#set(this.#saved);
    this.#keep();
  }

  // Takes the content that the server has, as one step.
  useSaved() {
    this.#step(this.#saved);
  }

  get isChanged() {
    return this.#now !== this.#saved;
  }

  get text() {
    return this.#now;
  }

  // Changes the content. Whoever types changes the same `part` many times, which is one step.
  change(work, part, source) {
    const changed = parse(this.#now);
    work(changed);
    this.#step(JSON.stringify(changed), part, source);
  }

  #step(text, part, source) {
    if (text === this.#now) return;
    if (part === undefined || part !== this.#part) {
      this.#past.push(this.#now);
      if (this.#past.length > MOST_STEPS) this.#past.shift();
    }
    this.#part = part;
    this.#future = [];
    this.#show(text, source);
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

  #show(text, source) {
    this.#set(text);
    this.#keep();
    this.dispatchEvent(new CustomEvent("change", { detail: { source } }));
  }

  #set(text) {
    this.#now = text;
    this.content = parse(text);
  }

  // Keeps what is not saved until the tab is closed, with the revision that it changes.
  #keep() {
    try {
      if (!this.isChanged) sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, JSON.stringify({ revision: this.revision, text: this.#now }));
    } catch {
      // The storage is full: the page works without it.
    }
  }

  #restore(kept) {
    const { revision, text } = parse(kept);
    if (text === this.#saved) return;
    this.isRestored = true;
    // If somebody else has changed the definition meanwhile, saving says so.
    this.revision = revision;
    this.#past.push(this.#now);
    this.#set(text);
    this.#keep();
  }
}
