// The picture that the server draws of a flow, and how far a run has come in it.

import { element } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

// What the server draws, and nothing else.
const NAMES = new Set(["svg", "g", "title", "path", "rect", "polygon", "text"]);
const ATTRIBUTES = new Set([
  "xmlns", "class", "width", "height", "viewBox", "role", "aria-label", "d", "x", "y", "rx", "points", "transform",
  "text-anchor", "font-size", "data-path",
]);

const STYLE = /<style>([^<]*)<\/style>/;

// The colours of pictures, of which each has a copy.
const colours = new CSSStyleSheet();
const dark = matchMedia("(prefers-color-scheme: dark)");

// Pictures ask the system whether it is dark. Here the page decides.
export function colourPictures() {
  const chosen = document.documentElement.dataset.theme;
  const isDark = chosen === "dark" || (chosen !== "light" && dark.matches);
  for (const rule of colours.cssRules) {
    if (rule.media) rule.media.mediaText = isDark ? "all" : "not all";
  }
}

dark.addEventListener("change", colourPictures);

// The page may turn text into elements here, where they are checked, and nowhere else.
const policy = globalThis.trustedTypes?.createPolicy("picture", { createHTML: (text) => text });

// A picture without its colours, which the policy of the page does not allow inside of it.
function parsed(text) {
  useColours(STYLE.exec(text)?.[1] ?? "");
  const plain = text.replace(STYLE, "");
  const trusted = policy?.createHTML(plain) ?? plain;
  const picture = new DOMParser().parseFromString(trusted, "image/svg+xml").documentElement;
  for (const part of [picture, ...picture.querySelectorAll("*")]) {
    const isKnown = part.namespaceURI === SVG && NAMES.has(part.localName);
    if (!isKnown || [...part.attributes].some((attribute) => !ATTRIBUTES.has(attribute.name))) {
      throw new Error(`the picture contains \`${part.localName}\`, which the server does not draw`);
    }
  }
  return picture;
}

function useColours(text) {
  if (document.adoptedStyleSheets.includes(colours)) return;
  colours.replaceSync(text);
  document.adoptedStyleSheets.push(colours);
  colourPictures();
}

// `<flow-picture>`: nodes are buttons that send the event `node` with their path.
export class FlowPicture extends HTMLElement {
  #nodes = new Map();
  #marks = new Map();
  // The path of the body of each loop. The journal has the path of the loop in its place.
  #bodies = new Map();
  // The path in the journal of each element.
  #recorded = new Map();

  draw(text) {
    const picture = document.importNode(parsed(text), true);
    picture.setAttribute("role", "group");
    this.replaceChildren(picture);
    this.#nodes.clear();
    this.#marks.clear();
    this.#bodies.clear();
    this.#recorded.clear();
    for (const node of picture.querySelectorAll("[data-path]")) {
      node.setAttribute("role", "button");
      node.setAttribute("tabindex", "0");
      node.setAttribute("aria-label", textOf(node));
      node.addEventListener("click", () => this.#choose(node));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.#choose(node);
      });
      this.#nodes.set(node.dataset.path, node);
    }
    for (const [path, node] of this.#nodes) {
      const body = node.classList.contains("each") && node.nextElementSibling?.querySelector("[data-path]");
      if (body) this.#bodies.set(path, body.dataset.path);
    }
  }

  // Shows a node's state, with a short text such as the number of its visits.
  mark(path, state, text) {
    const node = this.#find(path);
    if (!node || this.#marks.get(path) === `${state} ${text}`) return;
    this.#marks.set(path, `${state} ${text}`);
    const inside = this.#nodes.get(this.#bodies.get(node.dataset.path));
    for (const tile of inside ? [node, inside] : [node]) {
      tile.dataset.state = state;
      this.#recorded.set(tile, path);
    }
    node.setAttribute("aria-label", [textOf(node), state, text].filter(Boolean).join(", "));
    const body = node.querySelector(".body");
    let badge = node.querySelector(".badge");
    if (!badge && body) {
      badge = document.createElementNS(SVG, "text");
      badge.setAttribute("class", "badge");
      badge.setAttribute("text-anchor", "end");
      const box = body.getBBox();
      badge.setAttribute("x", box.x + box.width);
      badge.setAttribute("y", box.y - 3);
      node.append(badge);
    }
    if (badge) badge.textContent = `${SIGNS[state] ?? ""} ${text}`.trim();
  }

  // The node with a path of the journal, which has no items.
  #find(path) {
    let found = "";
    for (const part of path.split(".")) {
      const inside = found === "" ? part : `${found}.${part}`;
      const isKnown = this.#nodes.has(inside) || !this.#bodies.has(found);
      found = isKnown ? inside : `${this.#bodies.get(found)}.${part}`;
    }
    return this.#nodes.get(found);
  }

  #choose(node) {
    this.dispatchEvent(new CustomEvent("node", { detail: this.#recorded.get(node) ?? node.dataset.path }));
  }
}

// What can be read at a node.
function textOf(node) {
  const texts = [...node.querySelectorAll("text:not(.badge)")];
  return texts.map((text) => text.textContent).join(" ");
}

const SIGNS = { running: "▶", done: "✓", failed: "✗", waiting: "‖", dropped: "⊘" };

customElements.define("flow-picture", FlowPicture);

// A picture of the server, or what is wrong with it.
export async function pictureFrom(loading, label) {
  const picture = element("flow-picture", { role: "region", "aria-label": label, tabIndex: 0 });
  try {
    picture.draw(await loading);
  } catch (error) {
    picture.replaceChildren(element("p", { class: "hint" }, `There is no picture: ${error.message}`));
  }
  return picture;
}
