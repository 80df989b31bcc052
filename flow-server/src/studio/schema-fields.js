// The fields of a form that hold one value.

import { element, freshId } from "./dom.js";

// An input with its label, a hint and a place for what is wrong with it.
function labelled(name, input, hint) {
  const about = element("p", { class: "hint", id: freshId("hint") }, hint ?? "");
  const wrong = element("p", { class: "wrong", id: freshId("wrong") });
  input.id = freshId("field");
  input.setAttribute("aria-describedby", hint ? `${about.id} ${wrong.id}` : wrong.id);
  const refuse = (message) => {
    wrong.textContent = message;
    input.setAttribute("aria-invalid", "true");
    delete input.dataset.told;
  };
  // As somebody else says it, of a value that the form takes.
  const tell = (message) => {
    if (input.getAttribute("aria-invalid")) return;
    refuse(message);
    input.dataset.told = "";
  };
  // Whoever changes a field wants to know no more what was wrong with it.
  input.addEventListener("input", () => {
    input.removeAttribute("aria-invalid");
    wrong.textContent = "";
  });
  const parts = [element("label", { htmlFor: input.id }, name), input];
  if (hint) parts.push(about);
  return { element: element("div", { class: "field" }, ...parts, wrong), refuse, tell };
}

export function stringField(schema, context) {
  const input = element("textarea", { rows: 1, spellcheck: true });
  const value = context.value ?? schema.default;
  if (value !== undefined) input.value = String(value);
  const field = labelled(context.name, input, schema.description);
  return {
    ...field,
    json: () => {
      const { length } = [...input.value];
      if (schema.minLength !== undefined && length < schema.minLength) {
        return void field.refuse(`At least ${schema.minLength} characters`);
      }
      if (schema.maxLength !== undefined && length > schema.maxLength) {
        return void field.refuse(`At most ${schema.maxLength} characters`);
      }
      return JSON.stringify(input.value);
    },
  };
}

const WHOLE = /^-?(0|[1-9][0-9]*)$/;
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

// A limit that JavaScript would round comes as its text.
function bound(limit, isWhole) {
  if (limit === undefined) return undefined;
  const text = String(limit.rawJSON ?? limit);
  return isWhole && WHOLE.test(text) ? BigInt(text) : Number(text);
}

export function numberField(schema, context) {
  const isWhole = schema.type === "integer";
  const input = element("input", { inputMode: isWhole ? "numeric" : "decimal", autocomplete: "off" });
  const value = context.value ?? schema.default;
  if (value !== undefined) input.value = typeof value === "string" ? value : JSON.stringify(value);
  const [minimum, maximum] = [bound(schema.minimum, isWhole), bound(schema.maximum, isWhole)];
  const limits = [minimum === undefined ? "" : `from ${minimum}`, maximum === undefined ? "" : `to ${maximum}`];
  const kind = [isWhole ? "A whole number" : "A number", ...limits].filter(Boolean).join(" ");
  const other = context.references ? `, or ${REFERENCE}` : "";
  const field = labelled(context.name, input, `${schema.description ?? ""} ${kind}${other}`.trim());
  return {
    ...field,
    json: () => {
      const text = input.value.trim();
      if (context.references && isReference(text)) return JSON.stringify(text);
      const number = isWhole && WHOLE.test(text) ? BigInt(text) : Number(text);
      const fits = (isWhole ? WHOLE : NUMBER).test(text);
      const isFinite = Number.isFinite(Number(text));
      // The server takes no others, as it would have to round them.
      const has64Bits = !isWhole || !fits || [BigInt.asIntN(64, number), BigInt.asUintN(64, number)].includes(number);
      const isOut = !isFinite || !has64Bits || (minimum !== undefined && number < minimum) || (maximum !== undefined && number > maximum);
      return fits && !isOut ? text : void field.refuse(`This has to be: ${kind.toLowerCase()}${other}`);
    },
  };
}

// What stands for a value that the server gets from elsewhere.
const REFERENCE = "`${NAME}` for a variable, or `@cred:name`";

export function isReference(value) {
  return typeof value === "string" && (value.startsWith("@cred:") || value.includes("${"));
}

export function yesNoField(schema, context) {
  const options = ["", "yes", "no", ...(context.references ? ["from elsewhere"] : [])];
  const input = element("select", {}, ...options.map((text) => element("option", { value: text }, text)));
  if (context.references) return referenceField(schema, context, input);
  const value = context.value ?? schema.default;
  if (value !== undefined) input.value = value ? "yes" : "no";
  const field = labelled(context.name, input, schema.description);
  return {
    ...field,
    json: () => (input.value === "" ? void field.refuse("Choose yes or no") : String(input.value === "yes")),
  };
}

// Yes, no, or a text that stands for one of them.
function referenceField(schema, context, input) {
  const reference = element("input", { "aria-label": `${context.name} from elsewhere`, autocomplete: "off" });
  const value = context.value ?? schema.default;
  if (value !== undefined) input.value = isReference(value) ? "from elsewhere" : value ? "yes" : "no";
  if (isReference(value)) reference.value = value;
  const field = labelled(context.name, input, schema.description);
  const update = () => {
    reference.hidden = input.value !== "from elsewhere";
  };
  input.addEventListener("change", update);
  update();
  field.element.append(reference);
  return {
    ...field,
    json: () => {
      if (input.value === "") return void field.refuse("Choose yes or no");
      if (input.value !== "from elsewhere") return String(input.value === "yes");
      const text = reference.value.trim();
      return isReference(text) ? JSON.stringify(text) : void field.refuse(`Write ${REFERENCE}`);
    },
  };
}

// Any JSON, where the schema is not understood, or there is none.
export function jsonField(schema, context) {
  const input = element("textarea", { rows: 3, spellcheck: false, class: "code" });
  if (context.value !== undefined) input.value = JSON.stringify(context.value, null, 2);
  const about = [schema?.description, "As JSON, such as {\"a\": 1}, \"text\" or null"].filter(Boolean).join(". ");
  const field = labelled(context.name, input, about);
  return {
    ...field,
    input,
    json: () => {
      try {
        JSON.parse(input.value);
        return input.value;
      } catch (error) {
        return void field.refuse(`This is not JSON: ${error.message}`);
      }
    },
  };
}
