// The form that starts an execution of a flow.

import * as api from "./api.js";
import { element, freshId, problem } from "./dom.js";
import { SchemaForm } from "./schema-form.js";

export function freshKey() {
  // `randomUUID` is only there on encrypted connections and on this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// `at`: the path to which the input is sent.
export function startForm(flow, at) {
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
      const headers = key.input.value ? { "idempotency-key": key.input.value } : {};
      const started = await api.post(`${at}${query}`, input, { headers });
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

