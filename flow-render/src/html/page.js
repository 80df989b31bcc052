"use strict";
// Shows and hides what is in the page. A flow is named by its path, and so is a node: `research.answer_one.cite`.
const all = (selector) => [...document.querySelectorAll(selector)];
const openers = all("[data-open]");
const insides = all("[data-inside]");
const nodes = all("[data-path]");
const contracts = all("[data-contract]");

function open(path, wanted) {
  for (const inside of insides) {
    if (inside.dataset.inside === path) inside.hidden = !wanted;
  }
  for (const opener of openers) {
    if (opener.dataset.open !== path) continue;
    opener.setAttribute("aria-expanded", String(wanted));
    opener.setAttribute("aria-label", (wanted ? "close " : "open ") + path);
    (opener.querySelector("text") ?? opener).textContent = wanted ? "▼" : "▶";
  }
}

function isOpen(path) {
  return insides.some((inside) => inside.dataset.inside === path && !inside.hidden);
}

// Opens the flows around a node.
function reveal(path) {
  const ids = path.split(".");
  for (let count = 1; count < ids.length; count++) open(ids.slice(0, count).join("."), true);
}

function pick(path) {
  if (!contracts.some((contract) => contract.dataset.contract === path)) return;
  for (const contract of contracts) contract.hidden = contract.dataset.contract !== path;
  for (const node of nodes) {
    const chosen = node.dataset.path === path;
    node.classList.toggle("chosen", chosen);
    if (node.matches("nav .pick, svg [role=button]")) node.setAttribute("aria-pressed", String(chosen));
  }
  // A page that was opened from a file or within another may have no address to change.
  try {
    history.replaceState(null, "", "#" + encodeURIComponent(path));
  } catch {}
}

function act(target) {
  const opener = target.closest("[data-open]");
  if (opener) {
    const path = opener.dataset.open;
    open(path, !isOpen(path));
    return true;
  }
  const revealer = target.closest("[data-reveal]");
  if (revealer) {
    const path = revealer.dataset.reveal;
    reveal(path);
    open(path, true);
    insides.find((inside) => inside.dataset.inside === path && inside.matches(".level"))
      ?.scrollIntoView({ block: "nearest" });
    return true;
  }
  const node = target.closest("[data-path]");
  if (node) {
    pick(node.dataset.path);
    if (node.closest("aside")) reveal(node.dataset.path);
    return true;
  }
  return false;
}

document.addEventListener("click", (event) => act(event.target));
document.addEventListener("keydown", (event) => {
  // Buttons click by themselves; what plays a button in a picture does not.
  if (event.key !== "Enter" && event.key !== " ") return;
  if (event.target.closest("svg") && act(event.target)) event.preventDefault();
});

function everything(wanted) {
  for (const path of new Set(openers.map((opener) => opener.dataset.open))) open(path, wanted);
}
document.getElementById("open-all")?.addEventListener("click", () => everything(true));
document.getElementById("close-all")?.addEventListener("click", () => everything(false));
document.getElementById("whole")?.addEventListener("click", (event) => {
  const whole = document.getElementById("all").hidden;
  document.getElementById("all").hidden = !whole;
  document.getElementById("levels").hidden = whole;
  event.target.setAttribute("aria-pressed", String(whole));
});

const search = document.getElementById("search");
const items = all("nav li");
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  document.querySelector("nav").classList.toggle("searching", wanted !== "");
  for (const item of items) {
    const within = [item, ...item.querySelectorAll("li")];
    item.classList.toggle("other", !within.some((one) => one.dataset.words.includes(wanted)));
  }
});
search.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const wanted = search.value.trim().toLowerCase();
  const found = wanted && items.find((item) => item.dataset.words.includes(wanted));
  if (!found) return;
  const path = found.querySelector(".pick").dataset.path;
  reveal(path);
  pick(path);
});

function follow() {
  try {
    const path = decodeURIComponent(location.hash.slice(1));
    reveal(path);
    pick(path);
  } catch {}
}
addEventListener("hashchange", follow);
follow();
