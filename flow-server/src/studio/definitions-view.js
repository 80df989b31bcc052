// The definitions that the server keeps.

import * as api from "./api.js";
import { VERSION } from "./definition-flow.js";
import { ask, textInput } from "./dialogs.js";
import { button, element, freshId, link, status, time } from "./dom.js";

export async function definitionsView(place) {
  const list = element("ul", { class: "cards", "aria-label": "Definitions" });
  async function show() {
    const { definitions, damaged } = await api.get("definitions");
    const cards = [...definitions.map((definition) => card(definition, show)), ...damaged.map(damagedCard)];
    list.replaceChildren(...cards);
    none.hidden = cards.length > 0;
  }
  const about = "Flows that are made here of the nodes of the program. An active one can be started like any other flow.";
  const none = element("p", {}, "There are no definitions yet.");
  place.append(element("h1", {}, "Definitions"), element("p", { class: "hint" }, about));
  place.append(element("p", {}, button("New definition …", newDialog)), list, none);
  await show();
}

function addressOf(id) {
  return `#/${api.path("definitions", id)}`;
}

function card(definition, show) {
  const { id, name, description, revision, updatedAtMs } = definition;
  return element(
    "li",
    {},
    element("div", { class: "heading" }, link(addressOf(id), name), status(definition.status)),
    description ? element("p", { class: "description" }, description) : undefined,
    element("p", { class: "hint" }, `Revision ${revision}, changed `, time(updatedAtMs)),
    element(
      "p",
      { class: "buttons" },
      button("Copy …", () => copyDialog(definition)),
      button("Remove …", () => removeDialog(definition, show), { class: "danger" }),
    ),
  );
}

// What is stored of it cannot be read, and so it cannot be changed.
function damagedCard({ id, name, reason }) {
  const title = element("div", { class: "heading" }, element("strong", {}, name || id), status("damaged"));
  return element("li", {}, title, element("p", {}, `It cannot be read: ${reason}`), element("p", { class: "hint" }, id));
}

function newDialog() {
  const name = textInput("Name");
  const json = element("textarea", { id: freshId("json"), class: "code", rows: 4, spellcheck: false });
  const about = element("p", { class: "hint" }, "To go on from a flow that there is, such as one that `cargo flow export` has written. The name is then that of the flow, unless there is one above.");
  const more = element("details", {}, element("summary", {}, "From JSON"), element("label", { htmlFor: json.id }, "The document of a flow"), json, about);
  ask("New definition", [name.element, more], "Create", async () => {
    const flow = json.value.trim() === "" ? emptyFlow() : api.parse(json.value);
    const written = name.input.value.trim();
    if (written !== "" && typeof flow === "object" && flow !== null) flow.name = written;
    if (written !== "" && json.value.trim() === "") flow.namespace = namespaceOf(written);
    await create({ flow });
  });
}

function emptyFlow() {
  return { version: VERSION, name: "", namespace: "", nodes: [], edges: [] };
}

// `Expense claims` is `expense_claims`, as the paths of its nodes begin.
function namespaceOf(name) {
  const words = name.replace(/(\p{Ll})(\p{Lu})/gu, "$1_$2").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_");
  return words.replace(/^_+|_+$/g, "");
}

function copyDialog({ id, name }) {
  const to = textInput("Name of the copy", { value: `${name}Copy` });
  ask(`Copy ${name}`, [to.element], "Copy", async () => {
    const { flow, layout, configuration } = await api.get(api.path("definitions", id));
    const copy = { ...flow, name: to.input.value.trim(), namespace: namespaceOf(to.input.value.trim()) };
    await create({ flow: copy, layout, configuration });
  });
}

async function create(content) {
  const created = await api.post("definitions", JSON.stringify(content));
  location.hash = addressOf(created.id);
}

function removeDialog({ id, name, revision }, show) {
  const text = "Nobody can start it any more then. Executions in progress go on.";
  ask(`Remove ${name}?`, [element("p", {}, text)], "Remove", async () => {
    await api.remove(`${api.path("definitions", id)}${api.query({ revision })}`);
    await show();
  });
}
