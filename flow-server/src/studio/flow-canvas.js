// `<flow-canvas>`: the nodes of a flow at their places, with ways that lead from one to another. Nodes can be moved,
// and ways be drawn, with a pointer; the keyboard chooses and moves nodes, and the panel beside it leads the ways.

import { EDGE, END, arranged, box, edgePath, portOf, undoPath } from "./canvas-layout.js";
import { shownText } from "./keys.js";

const SVG = "http://www.w3.org/2000/svg";

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// As much of a text as there is room for. The whole text is the title.
function shortened(text, most) {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

const STEP = 10;
const ARROWS = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };

// A pointer that has moved less than this has clicked.
const CLICK = 4;

// Sends `choose` (`{ id }`, `{ from, action }` for a way, or `{}`), `move` (`{ id, x, y }`), `connect`
// (`{ from, action, to }`, `from` is absent for the start), `remove`, and `place` (`{ type, x, y }`).
export class FlowCanvas extends HTMLElement {
  #view = { nodes: [], layout: {} };
  #places = new Map();
  #corner = { left: 0, top: 0 };
  #zoom = 1;
  #drag;
  #frame;

  connectedCallback() {
    this.addEventListener("pointerdown", (event) => this.#press(event));
    this.addEventListener("pointermove", (event) => this.#pull(event));
    this.addEventListener("pointerup", (event) => this.#release(event));
    this.addEventListener("pointercancel", (event) => {
      if (this.#drag?.pointerId !== event.pointerId) return;
      this.#places = arranged(this.#view);
      this.#letGo();
    });
    this.addEventListener("keydown", (event) => this.#type(event));
    this.addEventListener("dragover", (event) => event.preventDefault());
    this.addEventListener("drop", (event) => this.#takeDrop(event));
  }

  // `nodes`: each with `id`, `title`, `about`, `icon`, `problems`, `inside` (ids), `undo` (an id) and `routes`; `entry`,
  // `layout`, and `chosen`, which is as `choose` says it.
  draw(view) {
    this.#view = view;
    const { id, isMoved } = this.#drag ?? {};
    const moved = isMoved ? this.#places.get(id) : undefined;
    this.#places = arranged(view);
    // What somebody holds stays where it is.
    if (moved && this.#places.has(id)) this.#places.set(id, moved);
    else if (id !== undefined && !this.#places.has(id)) this.#drag = undefined;
    this.#paint();
  }

  zoom(factor) {
    this.#zoom = factor === undefined ? 1 : Math.min(2, Math.max(0.3, this.#zoom * factor));
    this.#paint();
  }

  // A place for another node: to the right of this one, or below all.
  freePlace(id) {
    const beside = this.#places.get(id);
    let place = beside ? { x: beside.x + 280, y: beside.y } : { x: 160, y: 40 };
    const overlaps = ({ x, y }) => [...this.#places.values()].some((at) => Math.abs(at.x - x) < 220 && y < at.y + at.height + 20 && at.y < y + 80);
    while (overlaps(place)) place = { x: place.x, y: place.y + 40 };
    return place;
  }

  focusNode(id) {
    this.querySelector(`[data-node="${CSS.escape(id)}"]`)?.focus();
  }

  #say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  #paint() {
    cancelAnimationFrame(this.#frame);
    const focused = this.contains(document.activeElement) ? document.activeElement.dataset.node : undefined;
    const boxes = [...this.#places.values()];
    const right = Math.max(600, ...boxes.map((at) => at.x + at.width + 200));
    const bottom = Math.max(360, ...boxes.map((at) => at.y + at.height + 80));
    const before = this.#corner;
    // While something is moved, the ground stands still.
    if (!this.#drag) {
      this.#corner = {
        left: Math.min(0, ...boxes.map((at) => at.x - 140)),
        top: Math.min(0, ...boxes.map((at) => at.y - 40)),
      };
    }
    const { left, top } = this.#corner;
    const drawing = svg("svg", {
      class: "canvas",
      viewBox: `${left} ${top} ${right - left} ${bottom - top}`,
      width: (right - left) * this.#zoom,
      height: (bottom - top) * this.#zoom,
      role: "group",
      "aria-label": "Nodes of the flow",
    });
    drawing.append(...this.#ways(), ...this.#view.nodes.map((node) => this.#node(node)));
    if (this.#drag?.line) drawing.append(svg("path", { class: "way drawn", d: this.#drag.line }));
    this.replaceChildren(drawing);
    this.scrollLeft += (before.left - left) * this.#zoom;
    this.scrollTop += (before.top - top) * this.#zoom;
    if (focused !== undefined) this.focusNode(focused);
  }

  #ways() {
    const ways = [];
    const entry = this.#places.get(this.#view.entry);
    const start = entry ? { x: entry.x - 70, y: entry.y + 24 } : { x: 60, y: 64 };
    ways.push(
      svg("g", { class: "start", "data-port": "" }, svg("title", {}, "Drag to the node that runs first"),
        svg("rect", { x: start.x - 46, y: start.y - 13, width: 46, height: 26, rx: 13 }),
        svg("text", { x: start.x - 23, y: start.y + 4, "text-anchor": "middle" }, "start")),
    );
    if (entry) ways.push(svg("path", { class: "way", d: edgePath(start, { x: entry.x, y: entry.y + 24 }) }), this.#arrow(entry));
    for (const node of this.#view.nodes) {
      const from = this.#places.get(node.id);
      for (const id of node.inside) {
        const inner = this.#places.get(id);
        if (inner) ways.push(svg("path", { class: "way inside", d: `M${from.x + 20} ${from.y + from.height}V${inner.y + 24}H${inner.x}` }));
      }
      const undo = this.#places.get(node.undo);
      if (undo) {
        const { line, tip } = undoPath(from, undo);
        ways.push(svg("path", { class: "way undo", d: line }), svg("polygon", { class: "arrow undo", points: tip }));
      }
      for (const [row, route] of node.routes.entries()) ways.push(...this.#way(node, route, portOf(from, row)));
    }
    return ways;
  }

  #way(node, route, port) {
    const { chosen = {} } = this.#view;
    const isChosen = chosen.from === node.id && chosen.action === route.action;
    const shared = { class: isChosen ? "way chosen" : "way", "data-from": node.id, "data-action": route.action };
    if (route.end !== undefined) {
      const label = shortened(route.end === "default" ? "end" : shownText(route.end), 14);
      const width = Math.max(END.width, label.length * 7.5 + 18);
      const at = { x: port.x + END.away, y: port.y };
      return [
        svg("path", { ...shared, d: `M${port.x} ${port.y}H${at.x}` }),
        svg("g", { class: "end" }, svg("rect", { x: at.x, y: at.y - 9, width, height: 18, rx: 9 }),
          svg("text", { x: at.x + width / 2, y: at.y + 4, "text-anchor": "middle" }, label)),
      ];
    }
    const to = this.#places.get(route.to);
    if (!to) return [];
    const from = this.#places.get(node.id);
    const below = Math.max(from.y + from.height, to.y + to.height);
    const line = edgePath(port, { x: to.x, y: to.y + 24 }, below);
    // A wide line that cannot be seen is easier to hit.
    return [svg("path", { ...shared, d: line }), svg("path", { ...shared, class: "way hit", d: line }), this.#arrow(to)];
  }

  #arrow({ x, y }) {
    return svg("polygon", { class: "arrow", points: `${x},${y + 24} ${x - EDGE.arrow},${y + 19} ${x - EDGE.arrow},${y + 29}` });
  }

  #node(node) {
    const at = this.#places.get(node.id);
    const isChosen = this.#view.chosen?.id === node.id;
    const problems = node.problems === 0 ? "" : node.problems === 1 ? "1 problem" : `${node.problems} problems`;
    const actions = node.routes.map((route) => route.action);
    const undo = node.undo === undefined ? "" : `undone by ${node.undo}`;
    const label = [node.title, node.about, problems, undo, ...actions].filter(Boolean).join(", ");
    const group = svg("g", {
      class: ["node", isChosen && "chosen", node.problems > 0 && "has-problems", node.isUnknown && "unknown"].filter(Boolean).join(" "),
      transform: `translate(${at.x} ${at.y})`,
      "data-node": node.id,
      role: "button",
      tabindex: "0",
      "aria-label": label,
      "aria-pressed": String(isChosen),
    });
    const title = [node.icon, node.title].filter(Boolean).join(" ");
    group.append(
      svg("rect", { class: "body", width: at.width, height: at.height, rx: 8 }),
      svg("text", { class: "title", x: 12, y: 20 }, shortened(title, 24)),
      svg("text", { class: "about", x: 12, y: 38 }, shortened(node.about, 28)),
    );
    if (problems) group.append(svg("text", { class: "mark", x: at.width - 10, y: 20, "text-anchor": "end" }, problems));
    for (const [row, route] of node.routes.entries()) {
      const { x, y } = portOf({ ...at, x: 0, y: 0 }, row);
      const isOpen = route.to === undefined && route.end === undefined && !route.isOptional;
      group.append(
        svg("text", { class: "action", x: x - 14, y: y + 4, "text-anchor": "end" }, shortened(route.action, 24)),
        svg("circle", { class: isOpen ? "port open" : "port", cx: x, cy: y, r: 6, "data-port": route.action }),
      );
    }
    // Whoever hears the texts hears them one by one.
    for (const text of group.querySelectorAll("text")) text.append(" ");
    return group;
  }

  // Where an event is on the canvas.
  #point(event) {
    const drawing = this.querySelector("svg");
    const frame = drawing.getBoundingClientRect();
    const { x, y } = drawing.viewBox.baseVal;
    return { x: (event.clientX - frame.left) / this.#zoom + x, y: (event.clientY - frame.top) / this.#zoom + y };
  }

  #press(event) {
    if (event.button !== 0 || this.#drag) return;
    // A field that is left may change what is drawn here.
    if (!this.contains(document.activeElement)) document.activeElement?.blur();
    const target = document.elementFromPoint(event.clientX, event.clientY);
    if (!this.contains(target)) return;
    const { pointerId } = event;
    const at = this.#point(event);
    const port = target.closest("[data-port]");
    const id = target.closest("[data-node]")?.dataset.node;
    if (port) this.#drag = { pointerId, from: id, action: port.dataset.port, at };
    else if (id !== undefined) this.#drag = { pointerId, id, at, place: this.#places.get(id) };
    else this.#drag = { pointerId, at, way: target.closest("[data-from]")?.dataset };
    // What is drawn anew during a drag does not get its events.
    if (port || id !== undefined) this.setPointerCapture(event.pointerId);
  }

  #pull(event) {
    const drag = this.#drag;
    if (!drag || drag.pointerId !== event.pointerId) return;
    const to = this.#point(event);
    const by = { x: to.x - drag.at.x, y: to.y - drag.at.y };
    if (Math.hypot(by.x, by.y) * this.#zoom >= CLICK) drag.isMoved = true;
    if (!drag.isMoved) return;
    if (drag.action !== undefined) drag.line = edgePath(drag.at, to);
    else if (drag.id !== undefined) this.#places.set(drag.id, { ...drag.place, x: drag.place.x + by.x, y: drag.place.y + by.y });
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #release(event) {
    const drag = this.#drag;
    if (!drag || drag.pointerId !== event.pointerId) return;
    const place = this.#places.get(drag.id);
    this.#letGo();
    if (drag.action !== undefined) {
      const target = document.elementFromPoint(event.clientX, event.clientY);
      const to = this.contains(target) ? target.closest("[data-node]")?.dataset.node : undefined;
      if (drag.isMoved && to !== undefined) this.#say("connect", { from: drag.from, action: drag.action, to });
      else this.#say("choose", drag.from === undefined ? {} : { id: drag.from });
    } else if (drag.id !== undefined && drag.isMoved) {
      this.#say("move", { id: drag.id, x: snapped(place.x), y: snapped(place.y) });
      this.focusNode(drag.id);
    } else if (drag.id !== undefined) {
      this.#say("choose", { id: drag.id });
      this.focusNode(drag.id);
    } else {
      this.#say("choose", drag.way ? { from: drag.way.from, action: drag.way.action } : {});
    }
  }

  #letGo() {
    this.#drag = undefined;
    this.#paint();
  }

  #type(event) {
    const id = event.target.dataset.node;
    if (id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const { x, y } = this.#places.get(id);
    if (event.key === "Enter" || event.key === " ") this.#say("choose", { id });
    else if (event.key === "Delete" || event.key === "Backspace") this.#say("remove", { id });
    else if (arrow) this.#say("move", { id, x: snapped(x) + arrow[0], y: snapped(y) + arrow[1] });
    else return;
    event.preventDefault();
  }

  #takeDrop(event) {
    const type = event.dataTransfer.getData("text/x-flow-node");
    if (!type) return;
    event.preventDefault();
    const { x, y } = this.#point(event);
    this.#say("place", { type, x: snapped(x - box.width / 2), y: snapped(y - 20) });
  }
}

function snapped(distance) {
  return Math.round(distance / STEP) * STEP;
}

customElements.define("flow-canvas", FlowCanvas);
