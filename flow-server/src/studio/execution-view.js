// One execution: its picture, its visits, its journal and its values.

import * as api from "./api.js";
import { ask, textInput } from "./dialogs.js";
import { button, duration, element, facts, link, statusesOf, throttled, time } from "./dom.js";
import { Journal } from "./journal.js";
import { linkDialog } from "./links.js";
import { pictureFrom } from "./picture.js";
import { questionForm } from "./questions-view.js";
import { signalDialog, untakenSignals } from "./signals.js";
import { RunModel, count, kindOf, markOf, uncounted } from "./run-model.js";
import { Stream } from "./stream.js";
import { Timeline } from "./timeline.js";

// Records with which the status of an execution, its questions or its signals change.
const TURNS = new Set(["run_retried", "paused", "resumed", "awaiting", "received", "run_completed", "run_failed", "run_cancelled"]);

// Records that are there while it is still queued. It leaves the queue without one.
const BEGINNINGS = new Set(["run_started", "run_copied"]);

export async function executionView(place, [id], page) {
  const execution = await api.get(api.path("executions", id));
  const view = new ExecutionPage(execution, page);
  place.append(...view.parts);
  await view.open();
}

class ExecutionPage {
  #id;
  #page;
  #path;
  #model = new RunModel();
  #head = element("div");
  #questions = element("div", { role: "region", "aria-label": "Open questions" });
  #asked = "";
  #signals = element("div", { role: "region", "aria-label": "Signals" });
  #untaken = "";
  // The signals that its flow takes.
  #accepted = [];
  #status;
  #followAgain = () => {};
  // The names of the steps that are done and not undone, if it is or may be being undone.
  #undoable = [];
  #pictureBox = element("section", { class: "picture", "aria-label": "Picture" });
  #picture;
  #texts = element("section", { class: "texts", "aria-label": "What nodes write now", hidden: true });
  #timeline;
  #journal;

  constructor(execution, page) {
    this.#id = execution.id;
    this.#page = page;
    this.#path = api.path("executions", execution.id);
    this.#timeline = new Timeline((seq) => this.#journal.select(seq));
    this.#journal = new Journal(this.#path, page, { mayCopy: !api.isLinked() });
    this.#journal.grow(execution.records);
    this.#showHead(execution);
    const progress = element("div", { class: "progress" }, this.#pictureBox, this.#timeline.element);
    this.parts = [this.#head, this.#questions, this.#signals, progress, this.#texts, this.#journal.element];
  }

  async open() {
    const draw = throttled(60, () => this.#draw());
    const turn = throttled(100, () => this.#turned().catch(this.#page.fail));
    const onEvents = (events) => {
      let hasTurned = false;
      for (const event of events) {
        if (event.type === "custom" && event.payload.type === "problem") this.#page.fail(problemOf(event));
        const { dropped } = this.#model;
        // Questions that were dropped are not asked any more.
        if (this.#model.apply(event)) hasTurned ||= this.#hasTurned(kindOf(event)) || this.#model.dropped > dropped;
      }
      draw();
      if (hasTurned) turn();
    };
    const onState = (state, error) => {
      this.#page.connection(state, error);
      if (state === "live") turn();
    };
    let stream = new Stream(`${this.#path}/events?deltas=true`, { onEvents, onState });
    // The stream of an execution that has failed is over. A retry adds to it.
    this.#followAgain = () => {
      stream.stop();
      stream = new Stream(`${this.#path}/events?deltas=true`, { onEvents, onState });
    };
    // What runs gets longer also when nothing happens.
    const clock = setInterval(() => this.#model.isOver || draw(), 1000);
    // That an undo node has failed for good, and the execution is halted, is in no record.
    const undoing = setInterval(() => this.#status === "cancelling" && turn(), 2000);
    this.#page.atEnd(() => {
      clearInterval(clock);
      clearInterval(undoing);
      stream.stop();
    });
    this.#picture = await pictureFrom(api.text(`${this.#path}/picture.svg`), "Picture of the flow");
    this.#picture.addEventListener("node", (event) => {
      const visit = this.#model.visits.findLast((one) => one.node.path === event.detail);
      if (visit) this.#journal.select(visit.seq);
    });
    this.#pictureBox.append(element("h2", {}, "Picture"), this.#picture);
    draw();
    await this.#turned();
  }

  #hasTurned(kind) {
    return TURNS.has(kind) || (this.#status === "queued" && !BEGINNINGS.has(kind));
  }

  // The status, what is asked, and the signals may have changed.
  async #turned() {
    const execution = await api.get(this.#path);
    await this.#showSignals(execution);
    await this.#lookForUndoable(execution);
    this.#showHead(execution);
    const { questions } = execution.status === "paused" || execution.status === "running"
      ? await api.get(`${this.#path}/questions`)
      : { questions: [] };
    const asked = questions.map((question) => question.token).join();
    if (asked === this.#asked) return;
    this.#asked = asked;
    this.#questions.replaceChildren(...questions.map((question) => this.#form(question)));
  }

  async #lookForUndoable(execution) {
    const matters = execution.halted || ["cancelling", "cancelled"].includes(execution.status);
    const { steps } = matters ? await api.get(`${this.#path}/undoable`) : { steps: [] };
    this.#undoable = steps.map((step) => step.step);
  }

  async #showSignals(execution) {
    const { signals, accepted } = await api.get(`${this.#path}/signals`);
    this.#accepted = accepted;
    const over = isOver(execution);
    const untaken = JSON.stringify([over, signals]);
    if (untaken === this.#untaken) return;
    this.#untaken = untaken;
    this.#signals.replaceChildren(...untakenSignals(signals, over));
  }

  #form(question) {
    return questionForm(question, () => this.#turned(), { isAlone: false });
  }

  #showHead(execution) {
    this.#status = execution.status;
    const other = (id) => id && (api.isLinked() ? id : link(`#/${api.path("executions", id)}`, id));
    const hasEnded = isOver(execution);
    const output = execution.output && JSON.stringify(execution.output, null, 2);
    const about = facts([
      ["Flow", execution.flow],
      ["Id", execution.id],
      ["Owner", execution.owner],
      ["Idempotency key", execution.idempotencyKey],
      ["Priority", execution.priority && `${execution.priority}`],
      ["Not before", execution.notBeforeMs && time(execution.notBeforeMs)],
      ["Continues", execution.continuesAtMs && time(execution.continuesAtMs)],
      ["Concurrency key", execution.concurrencyKey && `${execution.concurrencyKey} (at most ${execution.concurrencyAtMost} at once)`],
      ["Started", time(execution.createdAtMs)],
      [hasEnded ? "Took" : "Last record after", duration(execution.updatedAtMs - execution.createdAtMs)],
      ["Records", `${execution.records}`],
      ["Copy of", other(execution.copiedFrom)],
      ["Part of", other(execution.partOf)],
      ["Why", execution.reason ?? execution.halted],
      [execution.status === "cancelling" ? "Not undone yet" : "Not undone", this.#notUndone(execution)],
    ]);
    const title = element("h1", {}, execution.flow, " ", ...statusesOf(execution));
    const focused = document.activeElement?.dataset?.act;
    const result = output ? [outputBox(output)] : [];
    this.#head.replaceChildren(title, about, ...result, this.#actions(hasEnded, execution));
    if (focused) this.#head.querySelector(`[data-act="${focused}"]`)?.focus();
    this.#journal.grow(execution.records);
  }

  // A halted execution that was not cancelled can still continue.
  #notUndone(execution) {
    const matters = ["cancelling", "cancelled"].includes(execution.status);
    return matters && this.#undoable.length > 0 ? this.#undoable.join(", ") : undefined;
  }

  #actions(hasEnded, { halted: isHalted, status: now }) {
    if (api.isLinked()) return "";
    const retry = button("Retry", () => this.#retry(), { data: { act: "retry" } });
    const cancel = button("Cancel …", () => this.#cancel(), { class: "danger", data: { act: "cancel" } });
    const end = button("End without undoing …", () => this.#endWithoutUndoing(), { class: "danger", data: { act: "end" } });
    const remove = button("Delete …", () => this.#remove(), { class: "danger", data: { act: "delete" } });
    const share = button("Link …", () => linkDialog(this.#id, this.#path), { data: { act: "link" } });
    const signal = button("Send signal …", () => this.#signal(), { data: { act: "signal" } });
    const takes = !hasEnded && this.#accepted.length > 0;
    const ends = [...(hasEnded || now === "cancelling" ? [] : [cancel]), ...(this.#mayStay(hasEnded, isHalted, now) ? [end] : [])];
    return element("p", { class: "buttons" }, share, ...(isHalted || now === "failed" ? [retry] : []), ...(takes ? [signal] : []), ...ends, remove);
  }

  // An execution that is undone, or cannot be because it is halted, may be ended as it is.
  #mayStay(hasEnded, isHalted, now) {
    return !hasEnded && (now === "cancelling" || (isHalted && this.#undoable.length > 0));
  }

  async #retry() {
    await api.post(`${this.#path}/retry`);
    this.#followAgain();
    await this.#turned();
  }

  #signal() {
    signalDialog(this.#path, this.#accepted, () => this.#turned());
  }

  #cancel() {
    const reason = textInput("Why?");
    const hint = element("p", { class: "hint" }, "Steps that can be undone are undone first.");
    ask("Cancel this execution?", [reason.element, hint], "Cancel the execution", async () => {
      await api.post(`${this.#path}/cancel`, JSON.stringify({ reason: reason.input.value }));
      await this.#turned();
    });
  }

  // Names what stays as it is.
  async #endWithoutUndoing() {
    const { steps } = await api.get(`${this.#path}/undoable`);
    const reason = textInput("Why?");
    const list = element("ul", {}, ...steps.map((step) => element("li", {}, step.step)));
    const stays = steps.length === 0
      ? [element("p", {}, "No step is left to undo.")]
      : [element("p", {}, "What these steps have done stays as it is. This cannot be changed later."), list];
    ask("End this execution without undoing it?", [reason.element, ...stays], "End without undoing", async () => {
      await api.post(`${this.#path}/cancel`, JSON.stringify({ reason: reason.input.value, undo: false }));
      await this.#turned();
    });
  }

  #remove() {
    const warning = element("p", {}, "It is removed with its journal, and cancelled if it runs. This cannot be undone.");
    ask(`Delete ${this.#id}?`, [warning], "Delete", async () => {
      await api.remove(this.#path);
      location.hash = "#/executions";
    });
  }

  // Asks how many items a loop has: the events of this page do without values, which can be large.
  async #count(visit) {
    if (visit.isAsked) return;
    visit.isAsked = true;
    const wanted = { values: true, kind: "node_started", path: visit.path, after: visit.offset - 1 };
    const { events } = await api.get(`${this.#path}/events${api.query(wanted)}`);
    const { items } = events.find((event) => event.offset === visit.offset)?.payload ?? {};
    if (items === undefined) return;
    count(visit, items);
    this.#draw();
  }

  #draw() {
    if (!this.#page.isOpen) return;
    for (const node of this.#model.nodes.values()) {
      const loop = uncounted(node);
      if (loop) this.#count(loop).catch(this.#page.fail);
      this.#picture?.mark?.(node.path, node.state, markOf(node));
    }
    this.#timeline.draw(this.#model);
    this.#journal.grow(this.#model.next);
    this.#drawTexts();
  }

  #drawTexts() {
    const known = new Map([...this.#texts.querySelectorAll("pre")].map((text) => [text.dataset.from, text]));
    for (const [from, text] of this.#model.texts) {
      let shown = known.get(from);
      if (!shown) {
        this.#texts.hidden = false;
        shown = element("pre", { data: { from }, tabIndex: 0, "aria-label": from });
        this.#texts.append(element("h3", {}, from), shown);
      }
      if (shown.textContent === text) continue;
      shown.textContent = text;
      shown.scrollTop = shown.scrollHeight;
    }
  }
}

function isOver(execution) {
  return !["queued", "running", "paused", "cancelling"].includes(execution.status);
}

function outputBox(text) {
  const shown = element("pre", { tabIndex: 0, "aria-label": "Output" }, text);
  return element("details", { class: "panel", open: text.length < 400 }, element("summary", {}, "Output"), shown);
}

function problemOf(event) {
  const { title, detail } = event.payload.data;
  return Object.assign(new Error(detail), { title });
}
