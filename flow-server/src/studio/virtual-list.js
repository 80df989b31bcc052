// A list that has elements only for the rows that can be seen.

import { element } from "./dom.js";

const BEYOND = 8;

// Browsers do not draw what is further down.
const HIGHEST = 8_000_000;

// `<virtual-list>`: set `rowHeight`, `row` (a function from an index to an element) and then `count`.
// It calls `onRange(first, end)` with the rows that it shows.
export class VirtualList extends HTMLElement {
  rowHeight = 32;
  row = () => element("div");
  onRange = () => {};
  #count = 0;
  #rows = new Map();
  #space = element("div", { class: "space", role: "presentation" });
  #waiting = false;
  #resized = new ResizeObserver(() => this.#later());

  connectedCallback() {
    this.append(this.#space);
    this.addEventListener("scroll", () => this.#later(), { passive: true });
    this.#resized.observe(this);
  }

  disconnectedCallback() {
    this.#resized.disconnect();
  }

  get count() {
    return this.#count;
  }

  set count(count) {
    this.#count = count;
    this.#space.style.height = `${Math.min(HIGHEST, count * this.rowHeight)}px`;
    this.#later();
  }

  // Makes the rows that can be seen anew. The one with the focus keeps it.
  refresh() {
    const focused = [...this.#rows].find(([, row]) => row.contains(document.activeElement));
    for (const row of this.#rows.values()) row.remove();
    this.#rows.clear();
    this.#draw();
    if (focused) this.focusRow(focused[0]);
  }

  focusRow(index) {
    if (index < 0 || index >= this.#count) return;
    this.show(index);
    this.#draw();
    const row = this.#rows.get(index);
    (row?.querySelector("a, button") ?? row)?.focus({ preventScroll: true });
  }

  // The row with the focus.
  get focused() {
    const found = [...this.#rows].find(([, row]) => row.contains(document.activeElement));
    return found?.[0];
  }

  // Scrolls so that a row can be seen.
  show(index) {
    const top = index * this.rowHeight * this.#scale();
    if (top < this.scrollTop) this.scrollTop = top;
    const bottom = top + this.rowHeight - this.clientHeight;
    if (bottom > this.scrollTop) this.scrollTop = bottom;
  }

  rowAt(index) {
    return this.#rows.get(index);
  }

  // Rows have been put before the first one: what can be seen stays where it is.
  keepPlace(added) {
    if (this.scrollTop > 0) this.scrollTop += added * this.rowHeight;
  }

  // How much the way of the scroll bar is shorter than all rows together.
  #scale() {
    const whole = this.#count * this.rowHeight;
    return whole > HIGHEST ? (HIGHEST - this.clientHeight) / (whole - this.clientHeight) : 1;
  }

  #later() {
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => {
      this.#waiting = false;
      if (this.isConnected) this.#draw();
    });
  }

  #draw() {
    const top = this.scrollTop / this.#scale();
    const first = Math.max(0, Math.floor(top / this.rowHeight) - BEYOND);
    const seen = Math.ceil(this.clientHeight / this.rowHeight) + 2 * BEYOND;
    const end = Math.min(this.#count, first + seen);
    for (const [index, row] of this.#rows) {
      if (index >= first && index < end) continue;
      row.remove();
      this.#rows.delete(index);
    }
    // From the last to the first, so that each knows the one that follows.
    let following = null;
    for (let index = end - 1; index >= first; index--) {
      let row = this.#rows.get(index);
      if (!row) {
        row = this.row(index);
        row.setAttribute("aria-posinset", index + 1);
        row.setAttribute("aria-setsize", this.#count);
        this.#rows.set(index, row);
        this.#space.insertBefore(row, following);
      }
      row.style.transform = `translateY(${index * this.rowHeight - top + this.scrollTop}px)`;
      following = row;
    }
    this.onRange(first, end);
  }
}

customElements.define("virtual-list", VirtualList);
