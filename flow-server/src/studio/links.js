// Links with which others see one execution or one question, without a token.

import * as api from "./api.js";
import { ask, textInput } from "./dialogs.js";
import { element } from "./dom.js";

const DAY = 86_400;

// Asks for how long the link holds, and shows it. `view` is where it leads in this page; with a `step`, it is
// for the question of that step alone.
export function linkDialog(execution, view, step) {
  const days = textInput("Days", { inputMode: "numeric", value: "7" });
  const about = element("p", { class: "hint" }, "Whoever has the link sees this for so many days, and can answer.");
  const shown = element("div");
  ask("A link for somebody else", [about, days.element, shown], "Make the link", async () => {
    if (!/^[0-9]{1,4}$/.test(days.input.value) || Number(days.input.value) === 0) {
      throw new Error("how many days: a whole number from 1 to 9999");
    }
    const body = { step, expiresInSeconds: Number(days.input.value) * DAY };
    const { link } = await api.post(api.path("executions", execution, "links"), JSON.stringify(body));
    const address = new URL(`#/${view}?link=${link}`, location.href);
    const field = textInput("Link", { value: address.href, readOnly: true });
    shown.replaceChildren(field.element);
    field.input.focus();
    field.input.select();
    // The dialog stays, so that the link can be copied.
    return false;
  });
}
