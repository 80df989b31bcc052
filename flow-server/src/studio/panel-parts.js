// What the panels of the editor consist of.

import { parse } from "./api.js";
import { element, freshId } from "./dom.js";
import { SchemaForm } from "./schema-form.js";

// A labelled input. It says what it contains at each letter, or with `change: true` when it is left.
export function textField(label, value, write, { about, list, change, code, rows } = {}) {
  const properties = { id: freshId("input"), value, autocomplete: "off", spellcheck: false };
  if (code) properties.class = "code";
  const input = rows ? element("textarea", { ...properties, rows }) : element("input", properties);
  if (list) input.setAttribute("list", list);
  const wrong = element("p", { class: "wrong", id: freshId("wrong") });
  const hint = about ? element("p", { class: "hint", id: freshId("hint") }, about) : undefined;
  input.setAttribute("aria-describedby", [hint?.id, wrong.id].filter(Boolean).join(" "));
  // The answer is what is wrong with the text.
  input.addEventListener(change ? "change" : "input", () => {
    wrong.textContent = write(input.value) ?? "";
    if (wrong.textContent) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  });
  return element("div", { class: "field" }, element("label", { htmlFor: input.id }, label), input, hint, wrong);
}

// A labelled choice. `options` are pairs of a value and a text.
export function choiceField(label, options, value, write, about) {
  const input = element("select", { id: freshId("choice") });
  input.append(...options.map(([of, text]) => element("option", { value: of, selected: of === value }, text)));
  input.addEventListener("change", () => write(input.value));
  const hint = about ? element("p", { class: "hint", id: freshId("hint") }, about) : undefined;
  if (hint) input.setAttribute("aria-describedby", hint.id);
  return element("div", { class: "field" }, element("label", { htmlFor: input.id }, label), input, hint);
}

export function checkField(label, checked, write, about) {
  const input = element("input", { type: "checkbox", id: freshId("check"), checked, onchange: () => write(input.checked) });
  const hint = about ? element("p", { class: "hint", id: freshId("hint") }, about) : undefined;
  if (hint) input.setAttribute("aria-describedby", hint.id);
  return element("div", { class: "field" }, element("label", { htmlFor: input.id }, input, ` ${label}`), hint);
}

// The form of a schema that writes what it contains at each change. What is wrong is not part of it.
export function valueForm(schema, options, write) {
  const form = new SchemaForm(schema, { leaveOut: true, ...options });
  const read = () => write(parse(form.valid()));
  form.element.addEventListener("input", read);
  form.element.addEventListener("change", read);
  return form;
}

export function section(title, ...parts) {
  return element("section", {}, element("h3", {}, title), ...parts);
}

export function details(title, isOpen, ...parts) {
  return element("details", { open: isOpen }, element("summary", {}, title), ...parts);
}

export function datalist(values) {
  return element("datalist", { id: freshId("list") }, ...values.map((value) => element("option", { value })));
}

// What is wrong, each with how to mend it. `choose` goes to its place.
export function findingList(findings, choose) {
  const item = (finding) => {
    const parts = [finding.message, ...finding.notes, finding.help && `Help: ${finding.help}`].filter(Boolean);
    const text = choose
      ? element("button", { type: "button", class: "plain", onclick: () => choose(finding) }, parts[0])
      : element("strong", {}, parts[0]);
    const code = element("span", { class: "hint" }, finding.code);
    const rest = parts.slice(1).map((part) => element("p", {}, part));
    return element("li", { data: { severity: finding.severity } }, element("span", { class: "severity" }, finding.severity), " ", text, " ", code, ...rest);
  };
  return element("ul", { class: "findings" }, ...findings.map(item));
}
