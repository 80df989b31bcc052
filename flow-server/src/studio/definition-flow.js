// What the document of a flow says, and changes of it. A draft may be wrong in any way, so nothing here trusts it.

import { parse } from "./api.js";
import { own, setOwn, shownText } from "./keys.js";

export const VERSION = "2.0.0";

const FORK = "flow.fork";
const FIRST = "flow.first";
const EACH = "flow.each";
const BRANCH = "flow.branch";
const HUMAN = "flow.human";
const SIGNAL = "flow.signal";
const UNDO = "flow.undo";
const COMMIT = "flow.commit";

// The nodes of the language, as the catalog describes those of the program.
export const LANGUAGE = [
  { name: FORK, title: "In parallel", icon: "‖", description: "Runs branches at the same time.", params: { branches: [] } },
  { name: FIRST, title: "First to finish", icon: "⚑", description: "Runs branches at the same time. The first one that is done decides what follows.", params: { branches: [] } },
  { name: EACH, title: "For each item", icon: "↻", description: "Runs a node for each item of a list.", params: { item: "item", over: "", body: "" } },
  { name: BRANCH, title: "Branch", icon: "◇", description: "Takes the action of the first condition that is true.", params: { cases: [], otherwise: "otherwise" } },
  { name: "flow.wait", title: "Wait", icon: "◷", description: "Waits for some time.", params: { duration: "1m" } },
  { name: UNDO, title: "Undo", icon: "↶", description: "Undoes what was done so far, the newest first, by the undo nodes of the nodes.", params: {} },
  { name: COMMIT, title: "Commit", icon: "✔", description: "Keeps what was done so far: it is not undone any more.", params: {} },
  { name: HUMAN, title: "Question", icon: "?", description: "Waits for an answer from outside.", params: { prompt: "" } },
  { name: SIGNAL, title: "Signal", icon: "✉", description: "Waits for a message from outside that nobody asked for.", params: { name: "" } },
].map((entry) => ({ ...entry, group: "of the language", actions: [FIRST, BRANCH].includes(entry.name) ? [] : [{ name: "default" }], isLanguage: true }));

// Whether a node waits for a question's answer or for a signal.
function isFromOutside(node) {
  return node.type === HUMAN || node.type === SIGNAL;
}

function isObject(value) {
  // A number that is kept as its text is no object.
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON?.(value);
}

function objects(list) {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

export function texts(list) {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}

// The nodes that have an id.
export function nodesOf(flow) {
  return objects(flow.nodes).filter((node) => typeof node.id === "string");
}

export function nodeOf(flow, id) {
  return nodesOf(flow).find((node) => node.id === id);
}

// The object at a name, which is made if there is none.
export function objectAt(owner, name) {
  if (!isObject(owner[name])) owner[name] = {};
  return owner[name];
}

export function listAt(owner, name) {
  if (!Array.isArray(owner[name])) owner[name] = [];
  return owner[name];
}

// Removes empty objects, as documents are written.
export function withoutEmpty(owner, name) {
  if (isObject(owner[name]) && Object.keys(owner[name]).length === 0) delete owner[name];
}

// The steps of a branch of a fork or a race, as they are written.
function stepsOf(node, branch) {
  return node.type === FORK ? branch : branch?.steps;
}

// The branches of a fork or a race, as they are written.
function branchesOf(node) {
  const hasBranches = node.type === FORK || node.type === FIRST;
  return hasBranches && Array.isArray(node.params?.branches) ? node.params.branches : [];
}

// The ids of the nodes that run inside of a node of the language.
export function insideOf(node) {
  if (node.type === EACH) return texts([node.params?.body]);
  return branchesOf(node).flatMap((branch) => texts(stepsOf(node, branch)));
}

// The nodes inside others, by id, each with the id of the one around it.
export function outerNodes(flow) {
  const outer = new Map();
  for (const node of nodesOf(flow)) {
    for (const inner of insideOf(node)) outer.set(inner, node.id);
  }
  return outer;
}

// The id of the undo node of a node, which takes back what it did.
export function undoNodeOf(node) {
  return texts([node.settings?.undo])[0];
}

// The undo nodes, by id, each with the ids of the nodes that it takes back.
export function undoNodes(flow) {
  const found = new Map();
  for (const node of nodesOf(flow)) {
    const undo = undoNodeOf(node);
    if (undo !== undefined) found.set(undo, [...(found.get(undo) ?? []), node.id]);
  }
  return found;
}

// The nodes that can be the undo node of a node: code that leads nowhere, and to which nothing leads.
export function undoChoices(flow, id, catalog) {
  const ways = [...objects(flow.edges), ...objects(flow.ends)].flatMap((way) => [way.from, way.to]);
  const used = new Set([id, flow.entryNodeId, ...outerNodes(flow).keys(), ...ways]);
  return nodesOf(flow).filter((node) => !used.has(node.id) && undoNodeOf(node) === undefined && catalog.canUndo(node, flow));
}

// Sets the undo node of a node, or removes it.
export function setUndoNode(flow, id, undo) {
  const node = nodeOf(flow, id);
  if (undo !== undefined) objectAt(node, "settings").undo = undo;
  else if (isObject(node.settings)) delete node.settings.undo;
  withoutEmpty(node, "settings");
}

export class Catalog {
  #byType = new Map();

  constructor({ nodes, dependencies }) {
    this.dependencies = dependencies ?? [];
    // The highest version of a name comes first, and a document need not say it.
    this.entries = nodes.map((node) => ({
      ...node,
      type: this.#byType.has(node.name) ? `${node.name}@${node.version}` : this.#known(node),
    }));
    this.entries.push(...LANGUAGE.map((node) => ({ ...node, type: node.name })));
    for (const entry of this.entries) {
      this.#byType.set(entry.type, entry);
      if (entry.version) this.#byType.set(`${entry.name}@${entry.version}`, entry);
    }
  }

  #known(node) {
    this.#byType.set(node.name, node);
    return node.name;
  }

  of(node) {
    const entry = this.#byType.get(node.type);
    const answer = isFromOutside(node) ? this.#byType.get(node.params?.expects) : undefined;
    // What a question reads are the keys of its own prompt. A signal reads nothing.
    return answer ? { ...entry, ...answer, inputs: undefined, isLanguage: true } : entry;
  }

  // The actions that a node can take, as far as they are known.
  actions(node, flow) {
    if (node.type === BRANCH) {
      const cases = objects(node.params?.cases).map((one) => one.action);
      return [...new Set(texts([...cases, node.params?.otherwise]))];
    }
    if (node.type === FIRST) {
      const inside = insideOf(node).map((id) => nodeOf(flow, id));
      const error = inside.some((inner) => inner && this.#isFallible(inner)) ? ["error"] : [];
      return [...new Set([...branchesOf(node).flatMap((branch) => this.#actionsOfBranch(node, branch, flow)), ...error])];
    }
    const entry = this.of(node);
    const listed = Array.isArray(node.actions) ? node.actions : entry?.actions;
    const names = texts(objects(listed).map((action) => action.name));
    const isWaiting = isFromOutside(node);
    const timeout = isWaiting && node.settings?.timeout !== undefined ? ["timeout"] : [];
    // Without a route for the missing answer or signal, the node fails.
    const error = !isWaiting && this.#isFallible(node) ? ["error"] : [];
    return [...new Set([...names, ...timeout, ...error])];
  }

  // Whether a node is a function or a type of the program: others have no undo node, and are none.
  isCode(node) {
    const isLanguage = typeof node.type !== "string" || node.type.startsWith("flow.");
    return !isLanguage && node.internalFlow === undefined && this.#byType.get(node.type)?.kind !== "flow";
  }

  // Whether a node of this type can take back what another one did: it does not decide between actions.
  canUndo(node, flow) {
    return this.isCode(node) && this.actions(node, flow).every((action) => action === "default" || action === "error");
  }

  // The types of the program of which a new undo node can be.
  undoTypes() {
    return this.entries.filter((entry) => !["human", "signal"].includes(entry.kind) && this.canUndo({ type: entry.type }, {}));
  }

  #isFallible(node) {
    return node.fallible || this.of(node)?.fallible;
  }

  // The actions with which a branch of a race is done: its own, or those of its last node.
  #actionsOfBranch(race, branch, flow) {
    if (typeof branch?.action === "string") return [branch.action];
    const last = nodeOf(flow, texts(stepsOf(race, branch)).at(-1));
    if (!last || last.type === FIRST) return [];
    return this.actions(last, flow).filter((action) => action !== "error");
  }

  // Whether the flow simply fails if the action leads nowhere.
  isOptional(node, action) {
    const isNamed = branchesOf(node).some((branch) => branch?.action === action);
    return action === "error" || (action === "timeout" && (isFromOutside(node) || (node.type === FIRST && !isNamed)));
  }
}

function actionOf(way) {
  return typeof way.condition === "string" ? way.condition : "default";
}

// The ways out of a node: each action, with where it leads.
export class Routes {
  #flow;
  #ways = new Map();

  constructor(flow) {
    this.#flow = flow;
    const add = (way, route) => {
      if (typeof way.from !== "string") return;
      const ways = this.#ways.get(way.from) ?? this.#ways.set(way.from, new Map()).get(way.from);
      if (!ways.has(actionOf(way))) ways.set(actionOf(way), { ...route, mappings: way.mappings });
    };
    for (const edge of objects(flow.edges)) add(edge, { to: edge.to });
    for (const end of objects(flow.ends)) add(end, { end: end.label });
  }

  // `{ action, to }` to a node, `{ action, end }` to an end, and `{ action }` if it goes nowhere yet. Without
  // a route, the flow fails on an action that `isOptional`.
  of(node, catalog) {
    const ways = this.#ways.get(node.id) ?? new Map();
    const names = new Set([...catalog.actions(node, this.#flow), ...ways.keys()]);
    return [...names].map((action) => ({ action, isOptional: catalog.isOptional(node, action), ...ways.get(action) }));
  }
}

// Leads an action to a node (`{ to }`), to an end (`{ end }`), or nowhere (`{}`).
export function setRoute(flow, from, action, { to, end }) {
  const isOther = (way) => !isObject(way) || way.from !== from || actionOf(way) !== action;
  const list = to !== undefined ? "edges" : "ends";
  const at = Array.isArray(flow[list]) ? flow[list].findIndex((way) => !isOther(way)) : -1;
  const way = at < 0 ? { from, condition: action } : flow[list][at];
  for (const name of ["edges", "ends"]) {
    if (Array.isArray(flow[name])) flow[name] = flow[name].filter(isOther);
  }
  listAt(flow, "edges");
  if (to === undefined && end === undefined) return;
  // What leads to another node, or to another end, keeps its place in the list and all else that it says.
  if (to !== undefined) way.to = to;
  else way.label = end;
  const ways = listAt(flow, list);
  ways.splice(at < 0 ? ways.length : at, 0, way);
}

// Sets which values an action writes under other names on its way.
export function setMappings(flow, from, action, mappings) {
  const ways = [...objects(flow.edges), ...objects(flow.ends)];
  const way = ways.find((one) => one.from === from && actionOf(one) === action);
  if (!way) return;
  way.mappings = mappings;
  withoutEmpty(way, "mappings");
}

// An id that no node has yet.
export function freeId(flow, wanted) {
  const taken = new Set(nodesOf(flow).map((node) => node.id));
  const base = wanted.replace(/^flow\./, "").replace(/@.*/, "").replace(/[^\p{L}\p{N}_]/gu, "_");
  // Names of nodes are written as those of variables.
  const plain = base.replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2").toLowerCase() || "node";
  for (let number = 1; ; number++) {
    const id = number === 1 ? plain : `${plain}_${number}`;
    if (!taken.has(id)) return id;
  }
}

// A question for an answer of a type of the program, as the program asks it.
function questionOf(entry) {
  const question = { type: HUMAN, params: { prompt: entry.prompt ?? "", expects: entry.type } };
  if (entry.settings) question.settings = parse(JSON.stringify(entry.settings));
  return question;
}

// A wait for a signal of a type of the program.
function signalOf(entry) {
  const signal = { type: SIGNAL, params: { expects: entry.type } };
  if (entry.settings) signal.settings = parse(JSON.stringify(entry.settings));
  return signal;
}

// The first action of a node that has to lead somewhere, and does not.
export function openRoute(flow, node, catalog) {
  const routes = new Routes(flow).of(node, catalog);
  return routes.find((route) => route.to === undefined && route.end === undefined && !route.isOptional);
}

// Adds a node, which is the first one of the flow if there is no other.
export function addNode(content, entry, place) {
  const { flow } = content;
  const id = freeId(flow, entry.type);
  const node = { type: entry.type, id };
  if (entry.isLanguage) node.params = parse(JSON.stringify(entry.params));
  withoutEmpty(node, "params");
  if (entry.kind === "human") Object.assign(node, questionOf(entry));
  if (entry.kind === "signal") Object.assign(node, signalOf(entry));
  const isFirst = nodesOf(flow).length === 0;
  listAt(flow, "nodes").push(node);
  listAt(flow, "edges");
  if (isFirst) flow.entryNodeId = id;
  if (place) setOwn(objectAt(content, "layout"), id, place);
  return id;
}

// Removes a node, with all that leads to it or away from it.
export function removeNode(content, id) {
  const { flow } = content;
  flow.nodes.splice(flow.nodes.findIndex((node) => node?.id === id), 1);
  // There may be another one with the same id, which is a mistake.
  if (nodeOf(flow, id)) return;
  const isOther = (way) => way?.from !== id && way?.to !== id;
  for (const name of ["edges", "ends"]) {
    if (Array.isArray(flow[name])) flow[name] = flow[name].filter(isOther);
  }
  if (flow.entryNodeId === id) delete flow.entryNodeId;
  replaceInside(flow, id, undefined);
  for (const owner of undoNodes(flow).get(id) ?? []) setUndoNode(flow, owner, undefined);
  if (isObject(content.layout)) delete content.layout[id];
}

// Gives a node another id, wherever it is named.
export function renameNode(content, id, to) {
  const { flow } = content;
  nodeOf(flow, id).id = to;
  for (const way of [...objects(flow.edges), ...objects(flow.ends)]) {
    if (way.from === id) way.from = to;
    if (way.to === id) way.to = to;
  }
  if (flow.entryNodeId === id) flow.entryNodeId = to;
  replaceInside(flow, id, to);
  for (const owner of undoNodes(flow).get(id) ?? []) setUndoNode(flow, owner, to);
  const place = isObject(content.layout) ? own(content.layout, id) : undefined;
  if (place !== undefined) {
    setOwn(content.layout, to, place);
    delete content.layout[id];
  }
}

// Names another node in place of this one in forks, races and loops, or none.
function replaceInside(flow, id, to) {
  const replaced = (list) => list.flatMap((item) => (item !== id ? [item] : to === undefined ? [] : [to]));
  for (const node of nodesOf(flow)) {
    if (node.type === EACH && node.params?.body === id) node.params.body = to ?? "";
    if (!insideOf(node).includes(id)) continue;
    // A branch that has lost its only node is none.
    node.params.branches = branchesOf(node).flatMap((branch) => {
      const steps = stepsOf(node, branch);
      if (!Array.isArray(steps)) return [branch];
      const changed = replaced(steps);
      if (changed.length === 0 && steps.length > 0) return [];
      return [node.type === FORK ? changed : { ...branch, steps: changed }];
    });
    // The actions of a race follow from its branches.
    if (node.type === FIRST && to === undefined) delete node.actions;
  }
}

// A copy of a node, which leads nowhere yet.
export function duplicateNode(content, id, place) {
  const copy = parse(JSON.stringify(nodeOf(content.flow, id)));
  copy.id = freeId(content.flow, id.replace(/_\d+$/, ""));
  content.flow.nodes.push(copy);
  setOwn(objectAt(content, "layout"), copy.id, place);
  return copy.id;
}

// The keys that somebody can read in the flow: its inputs, and what its nodes write.
export function keysOf(flow, catalog) {
  const keys = new Set(Object.keys(properties(flow.inputs)));
  for (const node of nodesOf(flow)) {
    const outputs = isObject(node.outputs) ? node.outputs : catalog.of(node)?.outputs;
    const mapped = isObject(node.mappings?.outputs) ? node.mappings.outputs : {};
    for (const key of Object.keys(properties(outputs))) keys.add(shownText(own(mapped, key) ?? key));
  }
  return [...keys];
}

export function properties(schema) {
  return isObject(schema?.properties) ? schema.properties : {};
}

// To which node a mistake belongs, and where in it. Without `id`, it belongs to the flow or its configuration.
export function placeOf(flow, pointer) {
  const [, list, index, rest = ""] = /^\/flow\/(nodes|edges|ends)\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  if (list === undefined) return { rest: pointer };
  const at = Array.isArray(flow[list]) ? flow[list][Number(index)] : undefined;
  const id = list === "nodes" ? at?.id : at?.from;
  return typeof id === "string" ? { id, rest: list === "nodes" ? rest : "" } : { rest: pointer };
}
