// Requests to the server that this page comes from.

// The page may be nested under a prefix: the server is where this file's folder is.
const ROOT = new URL("..", import.meta.url);

const TOKEN = "flow-server token";

// A link is for one page, so it is not kept.
let link;

export function setLink(text) {
  link = text;
}

export function isLinked() {
  return link !== undefined;
}

export function token() {
  return link ?? sessionStorage.getItem(TOKEN);
}

export function setToken(text) {
  if (text) sessionStorage.setItem(TOKEN, text);
  else sessionStorage.removeItem(TOKEN);
}

// A request that was not carried out. It has the fields of `application/problem+json`.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? `the server answers with status ${status}`);
    this.status = status;
    // The last part of the `type`, such as `not-found`, and all that the server says.
    this.kind = String(body.type ?? "").split(":").at(-1);
    this.fields = body;
    this.title = body.title ?? "The request was not carried out";
    const errors = Array.isArray(body.errors) ? body.errors : [];
    this.errors = errors.filter((error) => typeof error === "object" && error !== null);
    this.details = errors.map((error) =>
      typeof error === "string" ? error : [error.path, error.message].filter(Boolean).join(": "),
    );
  }
}

// Numbers that JavaScript would write otherwise are kept as they are written: those that it rounds, and `2.0`.
function exact(_key, value, context) {
  const isOther = typeof value === "number" && context?.source !== undefined && String(value) !== context.source;
  return isOther && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}

export function parse(text) {
  return JSON.parse(text, exact);
}

export function address(path) {
  return new URL(path, ROOT);
}

export function headers(more = {}) {
  const known = token();
  return known ? { ...more, authorization: `Bearer ${known}` } : more;
}

export async function problemOf(response) {
  const text = await response.text();
  try {
    return new Problem(response.status, parse(text));
  } catch {
    return new Problem(response.status, {});
  }
}

// Sends a request. When the server does not know who asks, a token is asked for.
export async function send(path, options = {}) {
  const sent = { ...options, headers: headers(options.headers), cache: "no-store" };
  let response;
  try {
    response = await fetch(address(path), sent);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { title: "The server cannot be reached", detail: "it does not answer; try again" });
  }
  if (response.status === 401 && isLinked()) {
    throw new Problem(401, { title: "This link cannot be used", detail: "it does not hold any more, or a part of it is missing" });
  }
  if (response.status === 401) askForToken();
  if (!response.ok) throw await problemOf(response);
  return response;
}

export function askForToken() {
  document.dispatchEvent(new CustomEvent("token-wanted"));
}

export async function get(path, options) {
  return parse(await (await send(path, options)).text());
}

// Sends a JSON text. The answer is parsed, if there is one.
async function sendText(method, path, text, { headers, signal } = {}) {
  const sent = { "content-type": "application/json", ...headers };
  const response = await send(path, { method, body: text, headers: sent, signal });
  const body = await response.text();
  return body === "" ? null : parse(body);
}

export function post(path, text, options) {
  return sendText("POST", path, text, options);
}

export function put(path, text) {
  return sendText("PUT", path, text);
}

export function remove(path) {
  return send(path, { method: "DELETE" });
}

export async function text(path) {
  return (await send(path)).text();
}

// A path below an execution or the like, with each part escaped.
export function path(...parts) {
  return parts.map(encodeURIComponent).join("/");
}

// The fields that have a value, as a query.
export function query(fields) {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return known.length === 0 ? "" : `?${new URLSearchParams(known)}`;
}
