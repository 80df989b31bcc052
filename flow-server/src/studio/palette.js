// The nodes that a flow can have, to be clicked or dragged.

import { button, element, freshId } from "./dom.js";

// `add` is called with an entry of the catalog.
export function palette(catalog, add) {
  const input = element("input", { type: "search", id: freshId("search"), autocomplete: "off", oninput: search });
  const groups = new Map();
  for (const entry of catalog.entries) {
    const group = entry.group ?? "";
    groups.set(group, [...(groups.get(group) ?? []), entry]);
  }
  // Those of the program come first.
  const names = [...groups.keys()].sort((one, other) => isLanguage(groups, one) - isLanguage(groups, other) || one.localeCompare(other));
  const shown = names.map((name) => {
    const items = groups.get(name).map((entry) => ({ entry, element: element("li", {}, entryButton(entry, add)) }));
    const list = element("ul", {}, ...items.map((item) => item.element));
    return { element: element("div", {}, name ? element("h3", {}, name) : undefined, list), items };
  });
  const none = element("p", { hidden: true }, "No node is like this.");
  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of shown) {
      for (const { entry, element: item } of group.items) item.hidden = !words.every((word) => textOf(entry).includes(word));
      group.element.hidden = group.items.every((item) => item.element.hidden);
    }
    none.hidden = shown.some((group) => !group.element.hidden);
  }
  return element(
    "nav",
    { class: "palette", "aria-label": "Add a node" },
    element("label", { htmlFor: input.id }, "Find a node"),
    input,
    ...shown.map((group) => group.element),
    none,
  );
}

function isLanguage(groups, name) {
  return groups.get(name).some((entry) => entry.isLanguage) ? 1 : 0;
}

function textOf(entry) {
  const texts = [entry.type, entry.title, entry.description, entry.group, ...(entry.tags ?? [])];
  return texts.filter(Boolean).join(" ").toLowerCase();
}

function entryButton(entry, add) {
  const name = entry.title ?? entry.type;
  const made = button("", () => add(entry), { title: entry.description ?? "", draggable: true, data: { type: entry.type } });
  made.append(element("span", {}, [entry.icon, name].filter(Boolean).join(" ")));
  if (name !== entry.type) made.append(element("span", { class: "hint" }, entry.type));
  made.addEventListener("dragstart", (event) => {
    event.dataTransfer.setData("text/x-flow-node", entry.type);
    event.dataTransfer.effectAllowed = "copy";
  });
  return made;
}
