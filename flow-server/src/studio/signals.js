// The signals of an execution: those that wait for their steps, and the dialog that sends one.

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { element, freshId, time } from "./dom.js";
import { SchemaForm } from "./schema-form.js";
import { freshKey } from "./start-form.js";

// The signals that were sent and not taken. Nothing if there are none.
export function untakenSignals(signals, isOver) {
  if (signals.length === 0) return [];
  const entry = (signal) => {
    const key = signal.idempotencyKey === undefined ? "" : `, idempotency key ${signal.idempotencyKey}`;
    const about = element("p", {}, element("strong", {}, signal.name), element("span", { class: "hint" }, ", sent ", time(signal.sentAtMs), key));
    return element("li", {}, about, element("pre", { tabIndex: 0, "aria-label": `Body of signal ${signal.number}` }, JSON.stringify(signal.body, null, 2)));
  };
  const hint = isOver ? "The execution is over: no step takes them." : "A step takes each when it waits for it.";
  return [
    element("h2", {}, "Signals not taken"),
    element("p", { class: "hint" }, hint),
    element("ul", { class: "cards" }, ...signals.map(entry)),
  ];
}

// Asks which signal to send, and what it says. `accepted`: the signals that the flow takes.
export function signalDialog(at, accepted, onSent) {
  // Sent twice with one key, it arrives once.
  const key = freshKey();
  const place = element("div");
  let form;
  const select = element("select", { id: freshId("signal"), onchange: show });
  select.append(...accepted.map((signal) => element("option", { value: signal.name }, signal.name)));
  function show() {
    const signal = accepted.find((one) => one.name === select.value);
    form = new SchemaForm(signal?.schema ?? {}, { leaveOut: false, name: "Body" });
    place.replaceChildren(form.element);
  }
  show();
  const field = element("div", { class: "field" }, element("label", { htmlFor: select.id }, "Signal"), select);
  ask("Send a signal", [field, place], "Send", async () => {
    const body = form.read();
    if (body === undefined) return false;
    await api.post(`${at}/${api.path("signals", select.value)}`, body, { headers: { "idempotency-key": key } });
    await onSent();
    return true;
  });
}
