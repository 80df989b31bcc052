// What is known of a value from its Rust type, as far as the spelling tells.

const UNSIGNED = /^u(8|16|32|64|128|size)$/;
const SIGNED = /^i(8|16|32|64|128|size)$/;

// The types that are offered where somebody chooses one.
export const COMMON = ["String", "bool", "u64", "i64", "f64", "Vec<String>", "Option<String>"];

// The JSON Schema of a property of a flow. One that says more than its Rust type stays as it is.
export function schemaOf(property) {
  const { rustType, ...rest } = property ?? {};
  if (rest.type !== undefined || typeof rustType !== "string") return rest;
  return { ...ofType(rustType.replace(/\s/g, "")), ...rest };
}

function ofType(type) {
  if (type === "String" || type === "&str" || type === "str") return { type: "string" };
  if (type === "bool") return { type: "boolean" };
  if (type === "f32" || type === "f64") return { type: "number" };
  if (UNSIGNED.test(type)) return { type: "integer", minimum: 0 };
  if (SIGNED.test(type)) return { type: "integer" };
  const [, outer, inner] = /^(?:std::\w+::)?(Option|Vec)<(.+)>$/.exec(type) ?? [];
  if (outer === "Option") return { anyOf: [ofType(inner), { type: "null" }] };
  if (outer === "Vec") return { type: "array", items: ofType(inner) };
  return {};
}
