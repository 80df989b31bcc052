// The page: its views, its colours, and who asks.

import * as api from "./api.js";
import { definitionView } from "./definition-view.js";
import { definitionsView } from "./definitions-view.js";
import { tokenDialog } from "./dialogs.js";
import { element, problem } from "./dom.js";
import { executionView } from "./execution-view.js";
import { executionsView } from "./executions-view.js";
import { flowsView } from "./flows-view.js";
import { colourPictures } from "./picture.js";
import { questionsView } from "./questions-view.js";

const main = document.querySelector("#main");
const connection = document.querySelector("#connection");

const STATES = { live: "Live", waiting: "Connecting again …", over: "", failed: "No events" };

// What a view can do with the page, until another one is shown.
class Page {
  #cleanups = [];
  isOpen = true;

  // Calls this when another view is shown, or now if one is.
  atEnd(cleanup) {
    if (this.isOpen) this.#cleanups.push(cleanup);
    else cleanup();
  }

  connection = (state, error) => {
    if (!this.isOpen) return;
    connection.dataset.state = state;
    connection.textContent = STATES[state];
    if (error) this.fail(error);
  };

  fail = (error) => {
    if (this.isOpen && error.name !== "AbortError") main.append(problem(error));
  };

  close() {
    this.isOpen = false;
    for (const cleanup of this.#cleanups) cleanup();
  }
}

let page = new Page();

const VIEWS = {
  flows: flowsView,
  executions: (place, parts, page, query) =>
    parts.length > 0 ? executionView(place, parts, page, query) : executionsView(place, parts, page, query),
  questions: questionsView,
  definitions: (place, parts, page) => (parts.length > 0 ? definitionView : definitionsView)(place, parts, page),
};

const TITLES = { definitions: "Definitions", flows: "Flows", executions: "Executions", questions: "Questions" };

async function show() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const query = new URLSearchParams(search);
  const [name = "flows", ...parts] = path.split("/").filter(Boolean).map(decoded);
  useLink(query.get("link"));
  const view = VIEWS[name] ? name : "flows";
  page.close();
  // What is asked in a dialog belongs to the view.
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  page = new Page();
  connection.textContent = "";
  document.title = [...parts, TITLES[view]].join(" – ");
  for (const entry of document.querySelectorAll("[data-view]")) {
    if (entry.dataset.view === view) entry.setAttribute("aria-current", "page");
    else entry.removeAttribute("aria-current");
  }
  const opened = page;
  const place = element("div", { class: "view", data: { view } });
  main.replaceChildren(place);
  try {
    await VIEWS[view](place, parts, opened, query);
  } catch (error) {
    opened.fail(error);
  }
  main.dataset.ready = location.hash;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Whoever comes with a link sees one execution or one question, and nothing else.
function useLink(link) {
  api.setLink(link ?? undefined);
  document.querySelector("header.top nav").hidden = Boolean(link);
  document.querySelector("#token").hidden = Boolean(link);
}

function useTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  colourPictures();
}

const THEME = "flow-server colours";
const theme = document.querySelector("#theme");
theme.value = localStorage.getItem(THEME) ?? "system";
useTheme(theme.value);
theme.addEventListener("change", () => {
  localStorage.setItem(THEME, theme.value);
  useTheme(theme.value);
});

document.querySelector("#token").addEventListener("click", () => tokenDialog(show));
document.addEventListener("token-wanted", () => {
  if (!api.isLinked()) tokenDialog(show);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
});
show();
