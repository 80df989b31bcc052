// The panel of one node: its name, its settings, and where it leads.

import { Routes, keysOf, listAt, nodeOf, nodesOf, objectAt, outerNodes, properties, setMappings, setRoute, setUndoNode, texts, undoChoices, undoNodeOf, undoNodes, withoutEmpty } from "./definition-flow.js";
import { button, element } from "./dom.js";
import { own, setOwn, shownText } from "./keys.js";
import { choiceField, datalist, details, findingList, section, textField, valueForm } from "./panel-parts.js";

const TEXT = { type: "string" };

// How a node runs, as `SettingsDocument` says it.
const SETTINGS = {
  type: "object",
  properties: {
    retry: {
      type: "object",
      description: "Tries it again when it fails",
      required: ["attempts"],
      properties: {
        attempts: { type: "integer", minimum: 1, description: "How often it is tried, with the first time." },
        wait: { type: "string", description: "The pause before the second time, such as 200ms" },
        backoff: { type: "number", description: "By which factor the pause grows each time." },
        maxWait: { type: "string", description: "The longest pause, such as 1m" },
        jitter: { type: "number", minimum: 0, maximum: 1, description: "The part of the pause that is random." },
        if: { type: "string", description: "The function that decides whether it is tried again" },
      },
    },
    timeout: { type: "string", description: "How long it may take each time, such as 1m 30s" },
    concurrency: { type: "integer", minimum: 1, description: "How many branches or items run at the same time." },
    spread: { type: "integer", minimum: 1, description: "How many items of a loop are one part, which any worker can run." },
    collectErrors: { type: "boolean", description: "Whether a loop keeps errors as values" },
    poll: {
      type: "object",
      description: "How often it asks for an answer",
      required: ["every"],
      properties: { every: { type: "string", description: "Such as 5s" }, timeout: { type: "string", description: "When it gives up, such as 1h" } },
    },
    was: { type: "string", description: "The name that it had before, so that executions that began under it continue" },
    blocking: { type: "boolean", description: "Whether it runs on a thread for blocking work" },
    transaction: { type: "boolean", description: "Whether it runs in a transaction with its outcome" },
  },
};

// How people see it.
const LOOKS = { type: "object", properties: { title: TEXT, description: TEXT, icon: { type: "string", description: "An emoji" }, group: TEXT } };

const CASES = {
  type: "object",
  required: ["cases", "otherwise"],
  properties: {
    cases: {
      type: "array",
      items: {
        type: "object",
        required: ["when", "action"],
        properties: {
          when: { type: "string", description: "A condition in CEL over keys, such as amount > 100" },
          action: { type: "string", description: "The action that it takes then" },
        },
      },
    },
    otherwise: { type: "string", description: "The action if no condition is true" },
  },
};

const WAIT = { type: "object", required: ["duration"], properties: { duration: { type: "string", description: "Such as 10m, or 2d 12h" } } };

const HUMAN = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", description: "What is asked. {key} is a value that the node reads" },
    expects: { type: "string", description: "The type of the answer. Without it, any JSON" },
  },
};

const OF_LANGUAGE = new Map([["flow.branch", CASES], ["flow.wait", WAIT], ["flow.human", HUMAN]]);

// A panel has `element`, and `update()`, after a change that it has not made itself or that has other consequences.
export class NodePanel {
  #editor;
  #id;
  // The forms of parts of the node, by the names of the parts.
  #forms = new Map();
  #heading = element("h2");
  #found = element("div");
  #routes = element("div");
  #shownRoutes;

  constructor(editor, id) {
    this.#editor = editor;
    this.#id = id;
    const node = this.#node;
    const entry = editor.catalog.of(node);
    const about = entry?.description ?? (entry ? undefined : "The program has no node of this type.");
    this.element = element(
      "div",
      { class: "node-panel" },
      this.#heading,
      element("p", { class: "hint" }, shownText(node.type)),
      about ? element("p", { class: "description" }, about) : undefined,
      this.#found,
      textField("Id", id, (text) => this.#rename(text.trim()), { about: "Its name in the flow.", change: true }),
      this.#paramsSection(node, entry),
      this.#routes,
      this.#valuesSection(node, entry),
      this.#undoField(node),
      details("How it runs", node.settings !== undefined, this.#formOf("settings", SETTINGS, entry?.settings, ["undo"])),
      details("How people see it", false, this.#looks(node)),
      element(
        "p",
        { class: "buttons" },
        button("Duplicate", () => editor.duplicate(this.#id)),
        button("Remove", () => editor.remove(this.#id), { class: "danger" }),
      ),
    );
    this.update();
  }

  get #node() {
    return nodeOf(this.#editor.flow, this.#id);
  }

  // Changes the node. What is written letter by letter is one step: it has the same `part`.
  #change(part, work) {
    const step = part === undefined ? undefined : `${this.#id} ${part}`;
    this.#editor.change((content) => work(nodeOf(content.flow, this.#id), content), step, "panel");
  }

  #rename(to) {
    if (to === this.#id) return undefined;
    if (to === "") return "A node needs an id";
    if (nodeOf(this.#editor.flow, to)) return `There is another node \`${to}\``;
    const from = this.#id;
    this.#id = to;
    this.#editor.rename(from, to);
    return undefined;
  }

  #paramsSection(node, entry) {
    if (node.type === "flow.fork") return section("Branches", this.#branches(node));
    if (node.type === "flow.first") return section("Branches", this.#race());
    if (node.type === "flow.each") return section("Loop", ...this.#loop(node));
    if (node.type === "flow.signal") return section("Settings", ...this.#signal(node));
    const schema = OF_LANGUAGE.get(node.type) ?? (entry?.isLanguage ? undefined : entry?.params);
    if (!schema && node.params === undefined) return undefined;
    const references = !entry?.isLanguage;
    const params = valueForm(schema, { value: node.params ?? {}, name: schema?.properties ? undefined : "params", references }, (params) => {
      this.#change("params", (changed) => {
        changed.params = params;
        withoutEmpty(changed, "params");
      });
    });
    this.#forms.set("params", params);
    return section("Settings", params.element);
  }

  #branches(node) {
    const lines = Array.isArray(node.params?.branches) ? node.params.branches.map((branch) => texts(branch).join(", ")) : [];
    const about = "One branch in each line: the ids of its nodes, with commas between them.";
    return textField("Branches", lines.join("\n"), (text) => {
      const branches = text.split("\n").map(ids).filter((branch) => branch.length > 0);
      this.#change("branches", (changed) => {
        objectAt(changed, "params").branches = branches;
      });
    }, { about, rows: 3, code: true });
  }

  // The signal: one of a type of the program, or any JSON by its name.
  #signal(node) {
    const types = this.#editor.catalog.entries.filter((entry) => entry.kind === "signal").map((entry) => [entry.type, entry.title ?? entry.type]);
    const expects = node.params?.expects === undefined ? "" : shownText(node.params.expects);
    const isKnown = expects === "" || types.some(([type]) => type === expects);
    const options = [["", "any JSON, by its name"], ...types, ...(isKnown ? [] : [[expects, `${expects} (missing)`]])];
    const choose = (type) => {
      // Its values and its ways are others, so the panel is another one.
      this.#editor.change((content) => {
        const changed = nodeOf(content.flow, this.#id);
        const params = objectAt(changed, "params");
        if (type === "") {
          delete params.expects;
          params.name ??= "";
        } else {
          delete params.name;
          params.expects = type;
        }
      });
      document.querySelector("[data-signal=expects]")?.focus();
    };
    const choice = choiceField("Expects", options, expects, choose, "Whoever sends it says the name of the type.");
    choice.querySelector("select").dataset.signal = "expects";
    const fields = [choice];
    if (expects !== "" && node.params?.name === undefined) return fields;
    const name = textField("Name", shownText(node.params?.name), (text) => {
      this.#change("signal name", (changed) => {
        objectAt(changed, "params").name = text.trim();
      });
    }, { about: "By which whoever sends it names it." });
    return [...fields, name];
  }

  // The branches of a race: the steps of each, and its action.
  #race() {
    const list = element("div");
    const branches = () => {
      const { params } = this.#node;
      return Array.isArray(params?.branches) ? params.branches : [];
    };
    const change = (part, work) => this.#change(part, (changed) => {
      work(listAt(objectAt(changed, "params"), "branches"));
      // They follow from the branches.
      delete changed.actions;
    });
    const fields = (branch, index) => {
      const name = `branch ${index + 1}`;
      const steps = textField(`Steps of ${name}`, texts(branch?.steps).join(", "), (text) => {
        change(`${name} steps`, (list) => {
          objectAt(list, index).steps = ids(text);
        });
      }, { about: "The ids of its nodes, with commas between them.", code: true });
      const action = textField(`Action of ${name}`, shownText(branch?.action), (text) => {
        change(`${name} action`, (list) => {
          const changed = objectAt(list, index);
          if (text.trim() === "") delete changed.action;
          else changed.action = text.trim();
        });
      }, { about: "Without one, the action of its last node." });
      const remove = button(`Remove ${name}`, () => {
        change(undefined, (list) => list.splice(index, 1));
        show();
      });
      return element("div", { class: "race-branch" }, steps, action, remove);
    };
    const show = () => {
      const add = button("Add a branch", () => {
        change(undefined, (list) => list.push({ steps: [] }));
        show();
      });
      list.replaceChildren(...branches().map(fields), add);
    };
    show();
    return list;
  }

  #loop(node) {
    const set = (name) => (value) => this.#change(name, (changed) => {
      objectAt(changed, "params")[name] = value;
    });
    const others = nodesOf(this.#editor.flow).filter((other) => other.id !== this.#id);
    const body = shownText(node.params?.body);
    const known = others.some((other) => other.id === body) ? [] : [[body, body === "" ? "choose a node" : `${body} (missing)`]];
    const keys = this.#keys();
    return [
      textField("Item", shownText(node.params?.item), (text) => set("item")(text.trim()), { about: "The key under which the node inside reads an item." }),
      textField("Over", shownText(node.params?.over), (text) => set("over")(text.trim()), { about: "The key of the list.", list: keys.id }),
      keys,
      choiceField("Node inside", [...known, ...others.map((other) => [other.id, other.id])], body, set("body")),
    ];
  }

  // The node that takes back what this one did: another node of the flow, or a new one.
  #undoField(node) {
    const { catalog, flow } = this.#editor;
    const undo = undoNodeOf(node) ?? "";
    const isUndoNode = undoNodes(flow).has(this.#id);
    if (undo === "" && (isUndoNode || !catalog.isCode(node) || nodeOf(flow, outerNodes(flow).get(this.#id))?.type === "flow.each")) return undefined;
    const known = undoChoices(flow, this.#id, catalog).map((one) => one.id);
    const isKnown = undo === "" || known.includes(undo);
    const missing = nodeOf(flow, undo) ? undo : `${undo} (missing)`;
    const options = [
      ["", "none"],
      ...known.map((id) => [`is ${id}`, id]),
      ...(isKnown ? [] : [[`is ${undo}`, missing]]),
      ...catalog.undoTypes().map((entry) => [`new ${entry.type}`, `a new ${entry.title ?? entry.type}`]),
    ];
    const choose = (value) => {
      // Another node is added or leads nowhere from now on, so the panel is another one.
      if (value.startsWith("new ")) this.#editor.addUndoNode(this.#id, value.slice("new ".length));
      else this.#editor.change((content) => setUndoNode(content.flow, this.#id, value === "" ? undefined : value.slice("is ".length)));
      document.querySelector("[data-undo=node]")?.focus();
    };
    const about = "Takes back what this node did. It has no ways of its own.";
    const choice = choiceField("Undo node", options, undo === "" ? "" : `is ${undo}`, choose, about);
    choice.querySelector("select").dataset.undo = "node";
    return choice;
  }

  #keys() {
    return datalist(keysOf(this.#editor.flow, this.#editor.catalog));
  }

  // `apart`: the keys that have fields of their own.
  #formOf(field, schema, known, apart = []) {
    const value = Object.entries(Object(own(this.#node, field))).filter(([key]) => !apart.includes(key));
    const form = valueForm(schema, { value: Object.fromEntries(value) }, (value) => {
      this.#change(field, (changed) => {
        for (const key of apart) {
          const kept = own(Object(changed[field]), key);
          if (kept !== undefined) setOwn(value, key, kept);
        }
        changed[field] = value;
        withoutEmpty(changed, field);
      });
    });
    this.#forms.set(field, form);
    const program = known && Object.keys(known).length > 0 ? `The program says: ${JSON.stringify(known)}` : "";
    return element("div", {}, element("p", { class: "hint" }, program), form.element);
  }

  #looks(node) {
    const value = Object.fromEntries(Object.keys(LOOKS.properties).map((key) => [key, node[key]]));
    const form = valueForm(LOOKS, { value }, (looks) => {
      this.#change("looks", (changed) => {
        for (const key of Object.keys(LOOKS.properties)) {
          if (looks[key] === undefined) delete changed[key];
          else changed[key] = looks[key];
        }
      });
    });
    return form.element;
  }

  // The keys of the node, each with the name that it has in the flow.
  #valuesSection(node, entry) {
    const keys = this.#keys();
    const rows = (side, schema, word) => Object.entries(properties(node[side] ?? schema)).map(([key, property]) => {
      const mapped = own(node.mappings?.[side], key);
      const type = property?.rustType ? `${property.rustType}. ` : "";
      return textField(`${word} ${key}`, shownText(mapped ?? key), (text) => this.#map(side, key, text.trim()), {
        about: `${type}${property?.description ?? ""}`.trim() || undefined,
        list: keys.id,
      });
    });
    const all = [...rows("inputs", entry?.inputs, "Reads"), ...rows("outputs", entry?.outputs, "Writes")];
    if (all.length === 0) return undefined;
    const about = "The name of each value in the flow. Without one, it has the node's own name.";
    return details("Values", node.mappings !== undefined, element("p", { class: "hint" }, about), ...all, keys);
  }

  #map(side, key, text) {
    this.#change(`${side} ${key}`, (changed) => {
      const names = objectAt(objectAt(changed, "mappings"), side);
      if (text === "" || text === key) delete names[key];
      else setOwn(names, key, text);
      withoutEmpty(changed.mappings, side);
      withoutEmpty(changed, "mappings");
    });
  }

  update() {
    const node = this.#node;
    if (!node) return;
    this.#heading.textContent = shownText(node.title ?? this.#editor.catalog.of(node)?.title ?? this.#id);
    this.#updateRoutes(node);
    const findings = this.#editor.findingsOf(this.#id);
    this.#found.replaceChildren(...(findings.length > 0 ? [findingList(findings.map(({ finding }) => finding))] : []));
    for (const [part, form] of this.#forms) {
      const ofForm = findings.filter(({ rest }) => rest.startsWith(`/${part}/`));
      form.tell(ofForm.map(({ finding, rest }) => ({ message: finding.message, pointer: rest.slice(part.length + 1) })));
    }
  }

  #updateRoutes(node) {
    // Whoever writes goes on in the same field.
    const isWriting = /^(end|values) /.test(document.activeElement?.dataset?.route ?? "");
    if (isWriting && this.#routes.contains(document.activeElement)) return;
    const around = outerNodes(this.#editor.flow).get(this.#id);
    const takenBack = undoNodes(this.#editor.flow).get(this.#id);
    const routes = new Routes(this.#editor.flow).of(node, this.#editor.catalog);
    const others = nodesOf(this.#editor.flow).map((other) => other.id);
    const shown = JSON.stringify([around, takenBack, routes, others]);
    if (shown === this.#shownRoutes) return;
    this.#shownRoutes = shown;
    if (around !== undefined || takenBack !== undefined) {
      const what = around !== undefined ? "It runs inside of " : "It takes back ";
      const named = (around !== undefined ? [around] : takenBack).flatMap((id, index) => [
        ...(index > 0 ? [", "] : []),
        button(id, () => this.#editor.choose({ id }), { class: "plain" }),
      ]);
      const inside = element("p", {}, what, ...named, ", and leads nowhere by itself.");
      const stray = routes.filter((route) => route.to !== undefined || route.end !== undefined);
      const rows = stray.map(({ action }) => button(`Remove the way on "${action}"`, () => this.#setRoute(action, {})));
      this.#routes.replaceChildren(section("Where it leads", inside, ...rows));
      return;
    }
    const focused = this.#routes.contains(document.activeElement) ? document.activeElement.dataset.route : undefined;
    const rows = routes.map((route) => this.#route(route, others));
    const more = textField("Another action", "", (text) => this.#addAction(text.trim()), { about: "Of a node whose actions are not known.", change: true });
    const isKnown = this.#editor.catalog.of(node) !== undefined || Array.isArray(node.actions);
    this.#routes.replaceChildren(section("Where it leads", ...rows, isKnown ? undefined : more));
    if (focused) this.#routes.querySelector(`[data-route="${CSS.escape(focused)}"]`)?.focus();
  }

  #addAction(action) {
    if (action === "") return;
    const routes = new Routes(this.#editor.flow).of(this.#node, this.#editor.catalog);
    if (routes.some((route) => route.action === action)) return "It is there already";
    this.#setRoute(action, { end: "default" });
  }

  #setRoute(action, route, part) {
    const source = "panel";
    this.#editor.change((content) => setRoute(content.flow, this.#id, action, route), part, source);
  }

  #route(route, others) {
    const { action } = route;
    const now = route.end !== undefined ? "end" : route.to !== undefined ? `to ${shownText(route.to)}` : "";
    const options = [["", route.isOptional ? "nowhere: the flow fails" : "nowhere yet"], ["end", "the end"], ...others.map((id) => [`to ${id}`, id])];
    if (route.to !== undefined && !others.includes(route.to)) options.push([now, `${shownText(route.to)} (missing)`]);
    const choose = (value) => {
      if (value === "") this.#setRoute(action, {});
      else if (value === "end") this.#setRoute(action, { end: action === "default" ? "default" : action });
      else this.#setRoute(action, { to: value.slice("to ".length) });
    };
    const row = choiceField(action === "default" ? "Then" : `On "${action}"`, options, now, choose);
    row.querySelector("select").dataset.route = `to ${action}`;
    if (now === "") return row;
    const about = 'Values that are written under other names on this way, one in each line: "key <- other".';
    const values = textField("Values", shownMappings(route.mappings), (text) => this.#setMappings(action, text), { about, rows: 2, code: true });
    values.querySelector("textarea").dataset.route = `values ${action}`;
    const more = details(`Values on "${action}"`, route.mappings !== undefined, values);
    if (route.end === undefined) return element("div", { class: "route" }, row, more);
    const label = textField(`Name of the end on "${action}"`, shownText(route.end), (text) => {
      this.#setRoute(action, { end: text.trim() }, `${this.#id} end ${action}`);
    });
    label.querySelector("input").dataset.route = `end ${action}`;
    return element("div", { class: "route" }, row, label, more);
  }

  #setMappings(action, text) {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    const pairs = lines.map((line) => /^(\S+)\s*<-\s*(\S+)$/.exec(line));
    const wrong = pairs.indexOf(null);
    if (wrong >= 0) return `Write "key <- other", and not "${lines[wrong]}"`;
    const mappings = Object.fromEntries(pairs.map(([, key, other]) => [other, key]));
    const change = (content) => setMappings(content.flow, this.#id, action, mappings);
    this.#editor.change(change, `${this.#id} values ${action}`, "panel");
  }
}

// Another value than a text stays as it is written in JSON.
function shownMappings(mappings) {
  const pairs = Object.entries(Object(mappings));
  return pairs.map(([other, key]) => `${shownText(key)} <- ${other}`).join("\n");
}

function ids(text) {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}
