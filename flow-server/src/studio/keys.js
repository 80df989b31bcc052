// Keys and values that come from users, whatever they are.

// The value of a key that comes from a user, and may be `constructor`.
export function own(object, key) {
  return Object.hasOwn(Object(object), key) ? object[key] : undefined;
}

// Sets such a key, which may be `__proto__`.
export function setOwn(object, key, value) {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

// Any value as a text to be shown. A text stays what it is.
export function shownText(value) {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}
