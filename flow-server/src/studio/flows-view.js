// The flows that can be started.

import * as api from "./api.js";
import { element, freshId, link, problem } from "./dom.js";
import { pictureFrom } from "./picture.js";
import { SchemaForm } from "./schema-form.js";

export async function flowsView(place, [name]) {
  const { flows } = await api.get("flows");
  const chosen = flows.find((flow) => flow.name === name) ?? (name === undefined ? flows[0] : undefined);
  const entry = (flow) => {
    const to = link(`#/${api.path("flows", flow.name)}`, flow.name);
    if (flow === chosen) to.setAttribute("aria-current", "true");
    return element("li", {}, to);
  };
  const list = element("nav", { class: "side", "aria-label": "Flows" }, element("ul", {}, ...flows.map(entry)));
  const shown = chosen ? flowPage(chosen) : element("p", {}, name ? `There is no flow ${name}.` : "There are no flows.");
  place.append(element("div", { class: "with-side" }, list, shown));
}

function flowPage(flow) {
  const page = element("article", {}, element("h1", {}, flow.name));
  if (flow.description) page.append(element("p", { class: "description" }, flow.description));
  page.append(link(`#/executions${api.query({ flow: flow.name })}`, `Executions of ${flow.name}`));
  const picture = element("div");
  page.append(startForm(flow), element("h2", {}, "Picture"), picture);
  pictureFrom(api.text(`${api.path("flows", flow.name)}/picture.svg`), `Picture of ${flow.name}`).then((drawn) => {
    picture.append(drawn);
  });
  return page;
}

function freshKey() {
  // `randomUUID` is only there on encrypted connections and on this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function startForm(flow) {
  const form = new SchemaForm(flow.inputs, { leaveOut: true });
  const result = element("div");
  const key = setting("Idempotency key", freshKey(), "With the same key, the same execution comes back.");
  const owner = setting("Owner", "", "For whom it starts. Only whoever runs the server can say.");
  const steps = setting("Steps", "", "How many steps it may take.");
  const start = element("button", { type: "submit" }, "Start");
  async function submit(event) {
    event.preventDefault();
    result.replaceChildren();
    const input = form.read();
    if (input === undefined) return;
    start.disabled = true;
    try {
      const query = api.query({ owner: owner.input.value, steps: steps.input.value });
      const at = `${api.path("flows", flow.name, "executions")}${query}`;
      const headers = key.input.value ? { "idempotency-key": key.input.value } : {};
      const started = await api.post(at, input, headers);
      location.hash = `#/${api.path("executions", started.id)}`;
    } catch (error) {
      const rest = error.errors?.length ? form.show(error.errors) : [];
      if (rest.length > 0 || !error.errors?.length) result.append(problem(error));
      form.element.querySelector("[aria-invalid=true]")?.focus();
    } finally {
      start.disabled = false;
    }
  }
  const more = element("details", {}, element("summary", {}, "More"), key.element, owner.element, steps.element);
  return element(
    "form",
    { onsubmit: submit, noValidate: true, class: "panel", "aria-label": `Start ${flow.name}` },
    element("h2", {}, "Start"),
    form.element,
    more,
    element("p", {}, start),
    result,
  );
}

function setting(name, value, about) {
  const input = element("input", { id: freshId("setting"), value, autocomplete: "off" });
  const hint = element("p", { class: "hint", id: freshId("hint") }, about);
  input.setAttribute("aria-describedby", hint.id);
  return { input, element: element("div", { class: "field" }, element("label", { htmlFor: input.id }, name), input, hint) };
}

