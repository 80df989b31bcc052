// A form made from a JSON Schema. It is read as a JSON text, so that no number is rounded.

import { button, element, freshId } from "./dom.js";
import { jsonField, numberField, stringField, yesNoField } from "./schema-fields.js";

// A schema within itself ends as a field for JSON.
const DEEPEST = 10;

// `leaveOut`: whether a property that the schema does not require is left out until it is given. Schemas of
// answers do not say what they require.
export class SchemaForm {
  #field;
  #context;

  constructor(schema, { leaveOut, name }) {
    this.#context = { root: schema, leaveOut, fields: new Map() };
    this.#field = fieldOf(schema, { ...this.#context, name, pointer: "", depth: 0 });
    this.element = element("div", { class: "schema-form" }, this.#field.element);
  }

  // The JSON text, or `undefined` if a field is wrong: it says so, and the first one has the focus.
  read() {
    this.#clear();
    const text = this.#field.json();
    const wrong = this.element.querySelector("[aria-invalid=true]");
    wrong?.focus();
    return wrong ? undefined : (text ?? "null");
  }

  // Shows the mistakes that the server found, each at its field, and returns those that have none.
  show(errors) {
    return errors.filter((error) => {
      const field = this.#context.fields.get(error.pointer);
      field?.refuse(error.message);
      return !field;
    });
  }

  #clear() {
    for (const input of this.element.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    for (const text of this.element.querySelectorAll(".wrong")) text.textContent = "";
  }
}

function resolved(schema, root) {
  let found = schema;
  for (let steps = 0; steps < 20 && typeof found?.$ref === "string"; steps++) {
    const keys = found.$ref.replace(/^#\/?/, "").split("/").filter(Boolean);
    const unescaped = keys.map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
    found = unescaped.reduce((inner, key) => inner?.[key], root);
  }
  if (found?.allOf?.length === 1) return resolved({ ...found, ...found.allOf[0], allOf: undefined }, root);
  return found;
}

// A field: `element`, `json()` with its text (`undefined` to leave it out), and `refuse(message)`.
function fieldOf(unresolved, context) {
  const schema = resolved(unresolved, context.root);
  const field = made(schema, context);
  if (field.refuse) context.fields.set(context.pointer, field);
  return field;
}

function made(schema, context) {
  const name = context.name ?? schema?.title ?? "Value";
  const named = { ...context, name };
  if (typeof schema !== "object" || schema === null || context.depth > DEEPEST) return jsonField(schema, named);
  if ("const" in schema) return fixed(schema.const);
  const nullable = withoutNull(schema);
  if (nullable) return optional(nullable, "null", named);
  if (Array.isArray(schema.enum)) return choice(schema.enum.map((value) => ({ const: value })), named);
  const options = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(options)) return choice(options, named);
  if (schema.type === "object" && schema.properties) return objectField(schema, context);
  if (schema.type === "array" && schema.items && !schema.prefixItems) return arrayField(schema, named);
  if (schema.type === "boolean") return yesNoField(schema, named);
  if (schema.type === "integer" || schema.type === "number") return numberField(schema, named);
  if (schema.type === "string") return stringField(schema, named);
  if (schema.type === "null") return fixed(null);
  return jsonField(schema, named);
}

function fixed(value) {
  return { element: element("span", { hidden: true }), json: () => JSON.stringify(value) };
}

// The schema of a value that may be null, without null. `undefined` if it may not be.
function withoutNull(schema) {
  if (Array.isArray(schema.type) && schema.type.includes("null")) {
    const types = schema.type.filter((type) => type !== "null");
    return { ...schema, type: types.length === 1 ? types[0] : types };
  }
  const key = schema.anyOf ? "anyOf" : "oneOf";
  const options = schema[key];
  if (!Array.isArray(options) || !options.some((option) => option?.type === "null")) return undefined;
  const others = options.filter((option) => option?.type !== "null");
  return others.length === 1 ? others[0] : { ...schema, [key]: others };
}

// A value that may be absent: its field is there when it is given.
function optional(schema, absent, context) {
  const place = element("div");
  let field;
  const given = element("input", { type: "checkbox", id: freshId("given"), onchange: change });
  function change() {
    field = given.checked ? fieldOf(schema, context) : undefined;
    place.replaceChildren(...(field ? [field.element] : []));
  }
  const label = element("label", { htmlFor: given.id }, given, ` Give ${context.name}`);
  const value = schema?.default === undefined ? [] : [hint(`Without it: ${JSON.stringify(schema.default)}`)];
  return {
    element: element("div", { class: "optional" }, label, ...value, place),
    json: () => (field ? field.json() : absent),
  };
}

function hint(text) {
  return element("p", { class: "hint" }, text);
}

function objectField(schema, context) {
  const isRequired = (key) =>
    schema.required?.includes(key) || (!context.leaveOut && schema.required === undefined);
  const fields = Object.entries(schema.properties).map(([key, property]) => {
    const pointer = `${context.pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const inner = { ...context, name: key, pointer, depth: context.depth + 1 };
    const field = isRequired(key) ? fieldOf(property, inner) : optional(resolved(property, context.root), undefined, inner);
    return { key, field };
  });
  const name = context.bare ? undefined : context.name;
  const parts = [...describe(schema), ...fields.map(({ field }) => field.element)];
  return {
    element: name
      ? element("fieldset", {}, element("legend", {}, name), ...parts)
      : element("div", {}, ...parts),
    json: () => {
      const texts = fields.map(({ key, field }) => [key, field.json()]);
      const known = texts.filter(([, text]) => text !== undefined);
      return `{${known.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
    },
  };
}

function describe(schema) {
  return schema.description ? [hint(schema.description)] : [];
}

// How an alternative is called, and the schema of what is inside it.
function alternative(unresolved, root, index) {
  const schema = resolved(unresolved, root) ?? {};
  const keys = Object.keys(schema.properties ?? {});
  const isTagged = schema.type === "object" && keys.length === 1 && schema.required?.includes(keys[0]);
  if ("const" in schema) return { name: schema.title ?? shown(schema.const), schema };
  if (isTagged) return { name: keys[0], tag: keys[0], schema: schema.properties[keys[0]], about: schema };
  const tag = Object.entries(schema.properties ?? {}).find(([, property]) => "const" in (property ?? {}));
  const name = schema.title ?? tag?.[1].const ?? schema.type ?? `Alternative ${index + 1}`;
  return { name: shown(name), schema };
}

function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

// One of several alternatives. None is chosen before somebody chooses.
function choice(options, context) {
  const place = element("div", { class: "chosen" });
  const group = freshId("choice");
  const wrong = element("p", { class: "wrong", id: freshId("wrong") });
  let chosen;
  const inputs = [];
  const rows = options.map((option, index) => {
    const known = alternative(option, context.root, index);
    const input = element("input", { type: "radio", name: group, "aria-describedby": wrong.id, onchange: pick });
    function pick() {
      const inner = { ...context, depth: context.depth + 1, bare: true, name: undefined };
      const pointer = known.tag === undefined ? context.pointer : `${context.pointer}/${known.tag}`;
      chosen = { tag: known.tag, field: fieldOf(known.schema, { ...inner, pointer, name: known.name }) };
      place.replaceChildren(chosen.field.element);
      for (const other of inputs) other.removeAttribute("aria-invalid");
      wrong.textContent = "";
    }
    inputs.push(input);
    return element("label", {}, input, ` ${known.name}`, ...describe(known.about ?? known.schema ?? {}));
  });
  const refuse = (message) => {
    wrong.textContent = message;
    inputs[0]?.setAttribute("aria-invalid", "true");
  };
  return {
    element: element("fieldset", { class: "choice" }, element("legend", {}, context.name), ...rows, wrong, place),
    refuse,
    json: () => {
      if (!chosen) return void refuse("Choose one of these");
      const text = chosen.field.json();
      return chosen.tag === undefined ? text : `{${JSON.stringify(chosen.tag)}:${text ?? "null"}}`;
    },
  };
}

function arrayField(schema, context) {
  const list = element("ol");
  const items = [];
  const add = button(`Add to ${context.name}`, () => {
    const inner = { ...context, name: `Item`, pointer: `${context.pointer}/-`, bare: false, depth: context.depth + 1 };
    const field = fieldOf(schema.items, inner);
    const row = element("li", {}, field.element, button("Remove", drop));
    function drop() {
      items.splice(items.indexOf(field), 1);
      row.remove();
      add.focus();
    }
    items.push(field);
    list.append(row);
    row.querySelector("input, textarea, select, button")?.focus();
  });
  return {
    element: element("fieldset", {}, element("legend", {}, context.name), ...describe(schema), list, add),
    json: () => `[${items.map((item) => item.json() ?? "null").join(",")}]`,
  };
}
