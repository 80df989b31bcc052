// Whether a value can be shown in the field that a form makes for a schema.

import { isReference } from "./schema-fields.js";

function isNumber(value) {
  return typeof value === "number" || Boolean(JSON.isRawJSON?.(value));
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isNumber(value);
}

const TYPES = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: (value) => isNumber(value) && /^-?\d+$/.test(JSON.stringify(value)),
  number: isNumber,
  array: Array.isArray,
  object: isObject,
  null: (value) => value === null,
};

// Only the kind of the value matters here: what else is wrong with it can be seen at its field.
export function fits(schema, { value, references }) {
  if (typeof schema !== "object" || schema === null) return true;
  if ("const" in schema) return JSON.stringify(schema.const) === JSON.stringify(value);
  if (Array.isArray(schema.enum)) {
    return schema.enum.some((one) => JSON.stringify(one) === JSON.stringify(value));
  }
  const types = [schema.type].flat().filter((type) => TYPES[type]);
  const isFromElsewhere = types.some((type) => ["integer", "number", "boolean"].includes(type));
  if (references && isFromElsewhere && isReference(value)) return true;
  if (types.length > 0 && !types.some((type) => TYPES[type](value))) return false;
  // An object of another alternative has another tag, or lacks what this one requires.
  if (!isObject(value) || !schema.properties) return true;
  const isLacking = (key) => schema.required?.includes(key) && schema.properties[key]?.const !== undefined;
  return Object.entries(schema.properties).every(([key, property]) => {
    if (!Object.hasOwn(value, key)) return !isLacking(key);
    return property?.const === undefined || JSON.stringify(property.const) === JSON.stringify(value[key]);
  });
}
