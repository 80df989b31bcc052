// A form made from a JSON Schema. It is read as a JSON text, so that no number is rounded.

import { button, element, freshId } from "./dom.js";
import { own } from "./keys.js";
import { fits } from "./schema-fit.js";
import { jsonField, numberField, stringField, yesNoField } from "./schema-fields.js";

// A schema within itself ends as a field for JSON.
const DEEPEST = 10;

// `leaveOut`: whether a property that the schema does not require is left out until it is given. Schemas of
// answers do not say what they require. `value`: what the fields contain at first. `references`: numbers, and
// what is true or false, may also be texts that name a variable or a credential.
export class SchemaForm {
  #field;
  #context;

  constructor(schema, { leaveOut, name, value, references }) {
    this.#context = { root: schema, leaveOut, references, fields: new Fields() };
    this.#field = fieldOf(schema, { ...this.#context, name, value, pointer: "", depth: 0 });
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

  // As `read`, for somebody who is still writing: the focus stays where it is, and a field that is wrong has the
  // value that it had before.
  valid() {
    this.#clear();
    return this.#field.valid() ?? "null";
  }

  // Shows the mistakes that the server found, each at its field, and returns those that have none.
  show(errors) {
    return errors.filter((error) => {
      const field = this.#context.fields.get(error.pointer);
      field?.refuse(error.message);
      return !field;
    });
  }

  // Shows what the server says of what is written now, in place of what it has said before. A field that the form
  // itself refuses says that.
  tell(errors) {
    for (const input of this.element.querySelectorAll("[data-told]")) {
      input.removeAttribute("aria-invalid");
      delete input.dataset.told;
      const wrong = input.getAttribute("aria-describedby").split(" ").at(-1);
      this.element.querySelector(`#${CSS.escape(wrong)}`).textContent = "";
    }
    for (const error of errors) this.#context.fields.get(error.pointer)?.tell(error.message);
  }

  // Says no more what was wrong.
  #clear() {
    for (const input of this.element.querySelectorAll("[aria-invalid]")) {
      input.removeAttribute("aria-invalid");
      delete input.dataset.told;
    }
    for (const text of this.element.querySelectorAll(".wrong")) text.textContent = "";
  }
}

// The fields of a form by their JSON pointers. Those of a list's items move when an item is removed.
class Fields {
  #fields = new Map();
  #lists = new Map();

  set(pointer, field) {
    this.#fields.set(pointer, field);
  }

  // `items`: each with the `fields` inside of it, which begin at the item.
  setList(pointer, items) {
    this.#lists.set(pointer, items);
  }

  get(pointer) {
    const found = this.#fields.get(pointer);
    if (found) return found;
    for (const [list, items] of this.#lists) {
      if (!pointer.startsWith(`${list}/`)) continue;
      const [index, ...rest] = pointer.slice(list.length + 1).split("/");
      const inside = ["", ...rest].join("/");
      const field = items[Number(index)]?.fields.get(inside);
      if (field) return field;
    }
    return undefined;
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

// A field: `element`, `json()` with its text (`undefined` to leave it out), `refuse(message)`, and `valid()`, which is
// the text that was right last.
function fieldOf(unresolved, context) {
  const schema = resolved(unresolved, context.root);
  const isOther = context.value !== undefined && !fits(schema, context);
  const field = isOther ? jsonField(schema, { ...context, name: context.name ?? "Value" }) : made(schema, context);
  if (field.refuse) context.fields.set(context.pointer, field);
  let last = context.value === undefined ? undefined : JSON.stringify(context.value);
  field.valid ??= () => {
    const text = field.json();
    if (!field.element.querySelector("[aria-invalid=true]")) last = text;
    return last;
  };
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
  if (context.value !== undefined && JSON.stringify(context.value) !== absent) {
    given.checked = true;
    change();
  }
  const label = element("label", { htmlFor: given.id }, given, ` Give ${context.name}`);
  const value = schema?.default === undefined ? [] : [hint(`Without it: ${JSON.stringify(schema.default)}`)];
  return {
    element: element("div", { class: "optional" }, label, ...value, place),
    json: () => (field ? field.json() : absent),
    valid: () => (field ? field.valid() : absent),
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
    const inner = { ...context, name: key, value: own(context.value, key), pointer, depth: context.depth + 1 };
    const field = isRequired(key) ? fieldOf(property, inner) : optional(resolved(property, context.root), undefined, inner);
    return { key, field };
  });
  // What the schema does not know stays as it is.
  const unknown = Object.entries(context.value ?? {}).filter(([key]) => !Object.hasOwn(schema.properties, key));
  const others = unknown.map(([key, value]) => [key, JSON.stringify(value)]);
  const name = context.bare ? undefined : context.name;
  const parts = [...describe(schema), ...fields.map(({ field }) => field.element)];
  const textOf = (read) => {
    const texts = [...fields.map(({ key, field }) => [key, read(field)]), ...others];
    const known = texts.filter(([, text]) => text !== undefined);
    return `{${known.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
  };
  return {
    element: name
      ? element("fieldset", {}, element("legend", {}, name), ...parts)
      : element("div", {}, ...parts),
    json: () => textOf((field) => field.json()),
    valid: () => textOf((field) => field.valid()),
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

// Whether the value is one of this alternative.
function isAlternative(option, context) {
  if (context.value === undefined) return false;
  const known = alternative(option, context.root, 0);
  if (known.tag !== undefined) return Object.hasOwn(Object(context.value), known.tag);
  return fits(known.schema, context);
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
  // The fields of the alternative that the value is.
  let chosenAtFirst = options.findIndex((option) => isAlternative(option, context));
  if (context.value !== undefined && chosenAtFirst < 0) return jsonField(undefined, context);
  const rows = options.map((option, index) => {
    const known = alternative(option, context.root, index);
    const input = element("input", { type: "radio", name: group, "aria-describedby": wrong.id, onchange: pick });
    function pick() {
      const inner = { ...context, value: undefined, depth: context.depth + 1, bare: true, name: undefined };
      if (index === chosenAtFirst) inner.value = known.tag === undefined ? context.value : context.value[known.tag];
      chosenAtFirst = -1;
      const pointer = known.tag === undefined ? context.pointer : `${context.pointer}/${known.tag}`;
      chosen = { tag: known.tag, field: fieldOf(known.schema, { ...inner, pointer, name: known.name }) };
      place.replaceChildren(chosen.field.element);
      for (const other of inputs) other.removeAttribute("aria-invalid");
      wrong.textContent = "";
    }
    inputs.push(input);
    if (index === chosenAtFirst) {
      input.checked = true;
      pick();
    }
    return element("label", {}, input, ` ${known.name}`, ...describe(known.about ?? known.schema ?? {}));
  });
  const refuse = (message) => {
    wrong.textContent = message;
    inputs[0]?.setAttribute("aria-invalid", "true");
  };
  const tell = (message) => {
    if (wrong.textContent !== "" || !inputs[0]) return;
    refuse(message);
    inputs[0].dataset.told = "";
  };
  return {
    element: element("fieldset", { class: "choice" }, element("legend", {}, context.name), ...rows, wrong, place),
    refuse,
    tell,
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
  context.fields.setList(context.pointer, items);
  function addItem(value) {
    const fields = new Fields();
    const inner = { ...context, fields, name: `Item`, value, pointer: "", bare: false, depth: context.depth + 1 };
    const item = { fields, field: fieldOf(schema.items, inner) };
    const row = element("li", {}, item.field.element, button("Remove", drop));
    function drop() {
      items.splice(items.indexOf(item), 1);
      row.remove();
      add.focus();
      changed(list);
    }
    items.push(item);
    list.append(row);
    return row;
  }
  const add = button(`Add to ${context.name}`, () => {
    addItem().querySelector("input, textarea, select, button")?.focus();
    changed(list);
  });
  for (const item of context.value ?? []) addItem(item);
  return {
    element: element("fieldset", {}, element("legend", {}, context.name), ...describe(schema), list, add),
    json: () => `[${items.map(({ field }) => field.json() ?? "null").join(",")}]`,
  };
}

// Says that a form has other fields.
function changed(part) {
  part.dispatchEvent(new Event("change", { bubbles: true }));
}
