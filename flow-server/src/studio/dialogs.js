// Questions of the page itself.

import { setToken } from "./api.js";
import { button, element, freshId, problem } from "./dom.js";

// A dialog with a form. `act` is called when it is sent; if that fails, the dialog says why and stays.
export function ask(title, parts, word, act) {
  const heading = element("h2", { id: freshId("dialog") }, title);
  const result = element("div");
  const sent = element("button", { type: "submit" }, word);
  const dialog = element("dialog", { "aria-labelledby": heading.id, onclose: () => dialog.remove() });
  async function submit(event) {
    event.preventDefault();
    result.replaceChildren();
    sent.disabled = true;
    try {
      if ((await act()) !== false) dialog.close();
    } catch (error) {
      result.append(problem(error));
    } finally {
      sent.disabled = false;
    }
  }
  const buttons = element("p", { class: "buttons" }, sent, button("Close", () => dialog.close()));
  dialog.append(element("form", { onsubmit: submit, noValidate: true }, heading, ...parts, result, buttons));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export function textInput(name, properties = {}) {
  const input = element("input", { id: freshId("input"), autocomplete: "off", ...properties });
  return { input, element: element("div", { class: "field" }, element("label", { htmlFor: input.id }, name), input) };
}

let isAsking = false;

// Asks for a bearer token, which is kept until the tab is closed.
export function tokenDialog(then) {
  if (isAsking) return;
  isAsking = true;
  const token = textInput("Bearer token", { type: "password" });
  const hint = element("p", { class: "hint" }, "It is kept until this tab is closed. Send an empty one to forget it.");
  const dialog = ask("Who are you?", [token.element, hint], "Use it", () => {
    setToken(token.input.value.trim());
    then();
  });
  dialog.addEventListener("close", () => {
    isAsking = false;
  });
}
