// Elements, made without markup: whatever comes from users ends up as text.

// Makes an element. Properties are set as properties, `data` and `aria-…` as attributes, and
// functions named `on…` as listeners.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(made.dataset, value);
    else if (key === "class") made.className = value;
    else if (key in made && !key.startsWith("aria")) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

export function button(text, onclick, properties = {}) {
  return element("button", { type: "button", onclick, ...properties }, text);
}

// A list of facts: pairs of a name and a text or an element. Pairs without a value are left out.
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  const rows = known.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value)),
  );
  return element("dl", { class: "facts" }, ...rows);
}

let last = 0;

// An id that no other element of the page has.
export function freshId(name = "id") {
  last += 1;
  return `${name}-${last}`;
}

export function link(address, ...children) {
  return element("a", { href: address }, ...children);
}

const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function time(ms) {
  return element("time", { dateTime: new Date(ms).toISOString() }, shown.format(ms));
}

export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

// The words for how an execution stands. One that is undone before it ends can be halted meanwhile.
export function statusesOf(execution) {
  if (execution.status !== "cancelling") return [status(execution.halted ? "halted" : execution.status)];
  return execution.halted ? [status("cancelling"), " ", status("halted")] : [status("cancelling")];
}

// A status, told by its word and a shape, and not by its colour alone.
export function status(word) {
  return element("span", { class: "status", data: { status: word } }, word);
}

// What went wrong, with the details that the server gave.
export function problem(error) {
  const box = element("div", { class: "problem", role: "alert" });
  box.append(element("strong", {}, error.title ?? "This did not work"));
  if (!error.details?.length) box.append(element("p", {}, error.message));
  else box.append(element("ul", {}, ...error.details.map((text) => element("li", {}, text))));
  return box;
}

// Calls the function at most once in this time, the last time with nothing left undone.
export function throttled(ms, work) {
  let timer;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, ms);
  };
}
