// The editor of one definition: a palette, the nodes at their places, a panel, and what is wrong.

import * as api from "./api.js";
import { Catalog, Routes, addNode, duplicateNode, insideOf, nodeOf, nodesOf, objectAt, openRoute, outerNodes, placeOf, removeNode, renameNode, setRoute, setUndoNode, undoNodeOf, undoNodes } from "./definition-flow.js";
import { DefinitionModel } from "./definition-model.js";
import { ask } from "./dialogs.js";
import { button, element, freshId, problem } from "./dom.js";
import "./flow-canvas.js";
import { FlowPanel } from "./flow-panel.js";
import { setOwn, shownText } from "./keys.js";
import { NodePanel } from "./node-panel.js";
import { palette } from "./palette.js";
import { findingList } from "./panel-parts.js";
import { startForm } from "./start-form.js";

// How long after a change the server is asked what is wrong, in milliseconds.
const VALIDATED_AFTER = 300;

export async function definitionView(place, [id], page) {
  const at = api.path("definitions", id);
  const [definition, catalog] = await Promise.all([api.get(at), api.get("catalog")]);
  // Somebody may have gone on to another view meanwhile.
  if (!page.isOpen) return;
  const editor = new Editor(definition, new Catalog(catalog), at, page);
  place.append(editor.element);
}

class Editor {
  #model;
  #at;
  #page;
  #findings;
  #chosen = {};
  #panel;
  #timer;
  #asked;
  #isSaving = false;
  #isWanted = false;
  #isJsonWritten = false;
  #saved;
  parse = api.parse;

  #title = element("h1");
  #status = element("span", { class: "status" });
  #told = element("p", { class: "told", role: "status" });
  #result = element("div");
  #unreachable = element("div");
  #canvas = element("flow-canvas", { role: "region", "aria-label": "Canvas", tabIndex: 0 });
  #side = element("aside", { class: "panel", "aria-label": "What is chosen" });
  #list = element("section", { class: "problems", "aria-label": "Problems" });
  #json = element("textarea", { class: "code", rows: 20, id: freshId("json"), spellcheck: false });
  #jsonWrong = element("p", { class: "wrong", role: "alert" });
  #source = element("pre");
  #undo = button("Undo", () => this.#model.undo(), { title: "Ctrl+Z" });
  #redo = button("Redo", () => this.#model.redo(), { title: "Ctrl+Shift+Z" });
  #save = element("button", { type: "submit", title: "Ctrl+S" }, "Save");
  #activate = button("Activate", () => this.#store(this.#saved.status === "active" ? "draft" : "active"));
  #run = button("Run …", () => this.#start());

  constructor(definition, catalog, at, page) {
    this.catalog = catalog;
    this.#at = at;
    this.#page = page;
    this.#saved = definition;
    this.#model = new DefinitionModel(definition);
    this.#findings = definition.findings;
    this.element = this.#elements();
    this.#listen();
    this.#show();
    this.#tell(this.#model.isRestored ? "What was not saved is here again." : "");
    if (this.#model.isRestored) this.#validate();
  }

  get content() {
    return this.#model.content;
  }

  get flow() {
    const { flow } = this.content;
    return typeof flow === "object" && flow !== null ? flow : {};
  }

  #elements() {
    const form = element("form", { class: "buttons", noValidate: true }, this.#save, this.#activate, this.#run, this.#undo, this.#redo);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#store();
    });
    const views = element(
      "p",
      { class: "buttons" },
      button("The flow", () => this.choose({})),
      button("Arrange", () => this.#arrange(), { title: "Forgets the places of all nodes" }),
      button("−", () => this.#canvas.zoom(1 / 1.2), { "aria-label": "Smaller" }),
      button("100 %", () => this.#canvas.zoom()),
      button("+", () => this.#canvas.zoom(1.2), { "aria-label": "Larger" }),
    );
    const use = button("Use this", () => this.#useJson());
    const forget = button("Show what there is", () => {
      this.#isJsonWritten = false;
      this.#showJson();
    });
    this.#json.addEventListener("input", () => {
      this.#isJsonWritten = true;
    });
    const json = element("details", { ontoggle: () => this.#showJson() }, element("summary", {}, "As JSON"),
      element("label", { htmlFor: this.#json.id }, "The document of the flow"), this.#json, this.#jsonWrong, element("p", { class: "buttons" }, use, forget));
    const source = element("details", { ontoggle: (event) => event.target.open && this.#showSource() }, element("summary", {}, "As Rust"), this.#source);
    return element(
      "article",
      { class: "editor" },
      element("header", {}, element("div", { class: "heading" }, this.#title, this.#status), form, this.#told, this.#result, this.#unreachable),
      element("div", { class: "workbench" }, palette(this.catalog, (entry) => this.#add(entry)), element("div", {}, views, this.#canvas, this.#list), this.#side),
      json,
      source,
    );
  }

  #listen() {
    this.#model.addEventListener("change", ({ detail }) => {
      this.#tell(this.#model.isChanged ? "Not saved." : "");
      this.#show(detail.source);
      this.#later();
    });
    const canvas = this.#canvas;
    canvas.addEventListener("choose", ({ detail }) => this.choose(detail));
    canvas.addEventListener("remove", ({ detail }) => this.remove(detail.id));
    canvas.addEventListener("move", ({ detail: { id, x, y } }) => {
      this.change((content) => {
        setOwn(objectAt(content, "layout"), id, { x, y });
      }, `${id} place`, "canvas");
    });
    canvas.addEventListener("connect", ({ detail: { from, action, to } }) => {
      this.change((content) => {
        if (from === undefined) content.flow.entryNodeId = to;
        else setRoute(content.flow, from, action, { to });
      });
    });
    canvas.addEventListener("place", ({ detail: { type, x, y } }) => {
      const entry = this.catalog.entries.find((one) => one.type === type);
      if (entry) this.#add(entry, { x, y });
    });
    canvas.addEventListener("keydown", (event) => {
      const { from, action } = this.#chosen;
      if (event.target !== canvas || from === undefined || !["Delete", "Backspace"].includes(event.key)) return;
      event.preventDefault();
      this.change((content) => setRoute(content.flow, from, action, {}));
      this.choose({ id: from });
    });
    this.#side.addEventListener("focusout", () => this.#model.endStep());
    const keys = (event) => this.#type(event);
    document.addEventListener("keydown", keys);
    this.#page.atEnd(() => {
      document.removeEventListener("keydown", keys);
      this.#model.close();
      clearTimeout(this.#timer);
      this.#asked?.abort();
    });
  }

  #type(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    // Texts have their own steps.
    const isText = event.target.matches?.("textarea, input:not([type=checkbox], [type=radio])");
    if (key === "s") this.#storeWritten();
    else if (isText) return;
    else if (key === "z") this.#model[event.shiftKey ? "redo" : "undo"]();
    else if (key === "y") this.#model.redo();
    else return;
    event.preventDefault();
  }

  // Some fields are read when they are left.
  #storeWritten() {
    const focused = document.activeElement;
    focused?.blur();
    if (focused?.isConnected) focused.focus({ preventScroll: true });
    this.#store();
  }

  // Changes the content: see `DefinitionModel`.
  change(work, part, source) {
    const changed = (content) => {
      objectAt(content, "flow");
      work(content);
    };
    this.#model.change(changed, part, source);
  }

  // Chooses a node (`{ id }`), a way (`{ from, action }`) or the flow (`{}`).
  choose(chosen) {
    this.#chosen = chosen;
    this.#model.endStep();
    this.#show();
    if (chosen.from !== undefined) {
      this.#canvas.focus({ preventScroll: true });
      this.#tell(`Chosen: the way on "${chosen.action}" of ${chosen.from}. Delete removes it.`);
    }
  }

  // The mistakes at a node, or at the flow, each with `finding` and `rest`, its place there.
  findingsOf(id) {
    const placed = this.#findings.map((finding) => ({ finding, ...placeOf(this.flow, finding.pointer) }));
    return placed.filter((one) => one.id === id);
  }

  #add(entry, place) {
    const from = this.#chosen.id;
    const at = place ?? this.#canvas.freePlace(from);
    let id;
    this.change((content) => {
      id = addNode(content, entry, at);
      // What leads nowhere yet leads on to the new node.
      const isInside = outerNodes(content.flow).has(from) || undoNodes(content.flow).has(from);
      const before = from === undefined || isInside ? undefined : nodeOf(content.flow, from);
      const open = before && openRoute(content.flow, before, this.catalog);
      if (open && !place) setRoute(content.flow, from, open.action, { to: id });
    });
    this.choose({ id });
    this.#canvas.focusNode(id);
  }

  // Adds a node that takes back what this one did.
  addUndoNode(owner, type) {
    const entry = this.catalog.undoTypes().find((one) => one.type === type);
    const place = this.#canvas.freePlace(owner);
    this.change((content) => setUndoNode(content.flow, owner, addNode(content, entry, place)));
  }

  duplicate(id) {
    let copy;
    const place = this.#canvas.freePlace(id);
    this.change((content) => {
      copy = duplicateNode(content, id, place);
    });
    this.choose({ id: copy });
  }

  remove(id) {
    this.change((content) => removeNode(content, id));
    this.choose({});
    this.#canvas.focus({ preventScroll: true });
  }

  // The panel stays, with the focus where it is.
  rename(id, to) {
    this.#chosen = { id: to };
    this.#panel.id = to;
    this.change((content) => renameNode(content, id, to), undefined, "panel");
  }

  #arrange() {
    this.change((content) => {
      content.layout = {};
    });
  }

  #tell(text) {
    this.#told.textContent = text;
  }

  // Shows what is there now. The panel that has made a change stays, so that the focus stays in it.
  #show(source) {
    const { flow } = this;
    if (this.#chosen.id !== undefined && !nodeOf(flow, this.#chosen.id)) this.#chosen = {};
    const name = shownText(flow.name);
    this.#title.textContent = name || "Without a name";
    const isActive = this.#saved.status === "active";
    this.#status.textContent = this.#saved.status;
    this.#status.dataset.status = this.#saved.status;
    this.#undo.disabled = !this.#model.canUndo;
    this.#redo.disabled = !this.#model.canRedo;
    this.#save.disabled = this.#isSaving || !this.#model.isChanged;
    this.#activate.disabled = this.#isSaving;
    this.#activate.textContent = isActive ? "Make it a draft" : "Activate";
    this.#run.disabled = !isActive;
    this.#run.title = isActive ? "" : "Only an active definition can be started";
    this.#showCanvas();
    this.#showPanel(source);
    this.#showFindings();
    this.#showJson();
  }

  #showCanvas() {
    const { flow } = this;
    const routes = new Routes(flow);
    const counts = new Map();
    for (const finding of this.#findings) {
      const { id } = placeOf(flow, finding.pointer);
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const nodes = nodesOf(flow).map((node) => {
      const entry = this.catalog.of(node);
      const title = node.title ?? entry?.title;
      return {
        id: node.id,
        title: shownText(title ?? node.id),
        about: title === undefined ? shownText(node.type) : `${node.id}: ${shownText(node.type)}`,
        icon: shownText(node.icon ?? entry?.icon),
        problems: counts.get(node.id) ?? 0,
        isUnknown: entry === undefined,
        inside: insideOf(node),
        undo: undoNodeOf(node),
        routes: routes.of(node, this.catalog),
      };
    });
    // Nodes inside of others, and undo nodes, lead nowhere by themselves.
    const inside = new Set([...nodes.flatMap((node) => node.inside), ...undoNodes(flow).keys()]);
    for (const node of nodes) {
      if (inside.has(node.id)) node.routes = node.routes.filter((route) => route.to !== undefined || route.end !== undefined);
    }
    const entry = typeof flow.entryNodeId === "string" ? flow.entryNodeId : undefined;
    this.#canvas.draw({ nodes, entry, layout: this.content.layout, chosen: this.#chosen });
  }

  #showPanel(source) {
    const id = this.#chosen.id ?? this.#chosen.from;
    const isSame = this.#panel && this.#panel.id === id;
    if (isSame && (source === "panel" || source === "canvas" || source === "findings")) {
      this.#panel.panel.update();
      return;
    }
    const panel = id !== undefined && nodeOf(this.flow, id) ? new NodePanel(this, id) : new FlowPanel(this);
    this.#panel = { id, panel };
    this.#side.replaceChildren(panel.element);
  }

  #showFindings() {
    const errors = this.#findings.filter((finding) => finding.severity === "error").length;
    const warnings = this.#findings.length - errors;
    const counted = (count, word) => (count === 0 ? undefined : `${count} ${word}${count === 1 ? "" : "s"}`);
    const title = [counted(errors, "error"), counted(warnings, "warning")].filter(Boolean).join(", ") || "Nothing is wrong";
    this.#list.replaceChildren(
      element("h2", {}, title),
      findingList(this.#findings, (finding) => {
        const { id } = placeOf(this.flow, finding.pointer);
        this.choose(id === undefined ? {} : { id });
        this.#side.scrollIntoView({ block: "nearest" });
        if (id !== undefined) this.#canvas.focusNode(id);
      }),
    );
  }

  // Asks what is wrong, when somebody has stopped writing for a moment.
  #later() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#validate(), VALIDATED_AFTER);
  }

  async #validate() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const { findings } = await api.post("definitions/validate", this.#model.text, { signal: asked.signal });
      if (this.#asked !== asked) return;
      this.#unreachable.replaceChildren();
      this.#useFindings(findings);
    } catch (error) {
      if (error.name !== "AbortError") this.#unreachable.replaceChildren(problem(error));
    }
  }

  #useFindings(findings) {
    this.#asked?.abort();
    this.#findings = findings;
    this.#show("findings");
  }

  // Saves what is there, also with another status.
  async #store(status = this.#saved.status, revision = this.#model.revision) {
    if (this.#isSaving) {
      this.#isWanted = true;
      return false;
    }
    // What is wrong there is not part of the content.
    const wrong = this.#side.querySelector("[aria-invalid=true]:not([data-told])");
    if (wrong) {
      this.#tell("A field is wrong: mend it first.");
      wrong.focus();
      return false;
    }
    if (this.#isJsonWritten) {
      this.#tell("The JSON below is not used yet: use it, or show what there is.");
      this.#json.focus();
      return false;
    }
    if (!this.#model.isChanged && status === this.#saved.status) {
      this.#tell("There is nothing to save.");
      return true;
    }
    this.#isSaving = true;
    this.#result.replaceChildren();
    this.#tell("Saving …");
    const sent = this.#model.text;
    try {
      const body = JSON.stringify({ ...this.content, status });
      this.#useStored(await api.put(`${this.#at}${api.query({ revision })}`, body), sent);
      const more = this.#model.isChanged ? " What was written since then is not." : "";
      this.#tell(`Saved as revision ${this.#saved.revision}.${more}`);
      return true;
    } catch (error) {
      this.#tell("Not saved.");
      await this.#refused(error, status, sent);
      return false;
    } finally {
      this.#isSaving = false;
      this.#show("findings");
      if (this.#isWanted) {
        this.#isWanted = false;
        if (this.#model.isChanged && this.#page.isOpen) this.#store();
      }
    }
  }

  // What the server has now, which may be less than what is there: somebody may have gone on writing.
  #useStored(stored, sent) {
    this.#saved = stored;
    this.#model.saved(stored, sent);
    if (this.#model.isChanged) this.#later();
    else this.#useFindings(stored.findings);
  }

  async #refused(error, status, sent) {
    const { kind, fields: { storedRevision } = {} } = error;
    if (kind === "revision") {
      this.#askWhose(storedRevision, status);
      return;
    }
    this.#result.replaceChildren(problem(error));
    if (kind === "unsound") this.#result.append(element("p", {}, "An active definition has to be sound. A draft can be saved with any mistake."));
    // It was stored, and cannot run here.
    if (storedRevision !== undefined) this.#useStored(await api.get(this.#at), sent);
  }

  // Somebody else has changed the definition: which of the two is it to be?
  #askWhose(revision, status) {
    const text = "Somebody else has saved this definition since it was opened here. Nothing was overwritten.";
    const dialog = ask("Somebody else has changed it", [element("p", {}, text)], "Replace theirs with mine", async () => {
      await this.#store(status, revision);
    });
    const theirs = button("Show theirs", async () => {
      const stored = await api.get(this.#at);
      this.#saved = stored;
      this.#model.useTheirs(stored);
      this.#useFindings(stored.findings);
      this.#tell("This is theirs. Undo brings yours back.");
      dialog.close();
    });
    dialog.querySelector(".buttons").prepend(theirs);
  }

  async #start() {
    if (this.#model.isChanged && !(await this.#store())) return;
    const { flows } = await api.get("flows");
    const flow = flows.find((one) => one.name === this.#saved.name);
    if (!this.#page.isOpen || !flow) return;
    const heading = freshId("run");
    const dialog = element("dialog", { "aria-labelledby": heading, onclose: () => dialog.remove() });
    const form = startForm(flow, `${this.#at}/executions`);
    form.querySelector("h2").id = heading;
    dialog.append(form, button("Close", () => dialog.close()));
    document.body.append(dialog);
    dialog.showModal();
  }

  #showJson() {
    const isOpen = this.#json.closest("details")?.open;
    if (!isOpen || this.#isJsonWritten) return;
    this.#json.value = JSON.stringify(this.flow, null, 2);
    this.#jsonWrong.textContent = "";
  }

  #useJson() {
    let flow;
    try {
      flow = api.parse(this.#json.value);
      if (typeof flow !== "object" || flow === null || Array.isArray(flow)) throw new Error("a flow is an object");
    } catch (error) {
      this.#jsonWrong.textContent = `This is not the JSON of a flow: ${error.message}`;
      return;
    }
    this.#isJsonWritten = false;
    this.change((content) => {
      content.flow = flow;
    }, undefined, "json");
  }

  async #showSource() {
    this.#source.textContent = "…";
    try {
      const text = await api.text(`${this.#at}/source`);
      const saved = this.#model.isChanged ? `// As it was saved, in revision ${this.#saved.revision}.\n` : "";
      this.#source.textContent = saved + text;
    } catch (error) {
      this.#source.replaceChildren(problem(error));
    }
  }
}
