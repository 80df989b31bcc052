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
  // The body of each loop. What it does is recorded at the loop.
  #bodies = new Map();

  draw(text) {
    const picture = document.importNode(parsed(text), true);
    picture.setAttribute("role", "group");
    this.replaceChildren(picture);
    this.#nodes.clear();
    this.#marks.clear();
    this.#bodies.clear();
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
      if (!node.classList.contains("each")) continue;
      const inside = [...this.#nodes].filter(([other]) => other.startsWith(`${path}.`));
      // More than one is a flow, whose nodes are recorded by themselves.
      if (inside.length === 1) this.#bodies.set(path, [inside[0][1]]);
    }
  }

  // Shows a node's state, with a short text such as the number of its visits.
  mark(path, state, text) {
    const node = this.#nodes.get(path);
    if (!node || this.#marks.get(path) === `${state} ${text}`) return;
    this.#marks.set(path, `${state} ${text}`);
    node.dataset.state = state;
    for (const body of this.#bodies.get(path) ?? []) body.dataset.state = state;
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

  #choose(node) {
    this.dispatchEvent(new CustomEvent("node", { detail: node.dataset.path }));
  }
}

// What can be read at a node.
function textOf(node) {
  const texts = [...node.querySelectorAll("text:not(.badge)")];
  return texts.map((text) => text.textContent).join(" ");
}

const SIGNS = { running: "▶", done: "✓", failed: "✗", waiting: "‖" };

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
