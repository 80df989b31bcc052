// What flows ask people.

import * as api from "./api.js";
import { button, element, facts, link, problem, throttled, time } from "./dom.js";
import { linkDialog } from "./links.js";
import { SchemaForm } from "./schema-form.js";
import { Stream } from "./stream.js";

const CHANGES = "kind=run_started,run_copied,run_retried,paused,resumed,received,run_completed,run_failed,run_cancelled";

export async function questionsView(place, [token], page) {
  if (token !== undefined) return onePage(place, token);
  const list = element("ul", { class: "cards" });
  const none = element("p", { role: "status" });
  place.append(element("h1", {}, "Questions"), none, list);
  let shown = "";
  async function load() {
    const questions = await all();
    const now = questions.map((question) => question.token).join();
    none.textContent = questions.length === 0 ? "Nobody is asked anything." : `${questions.length} open`;
    if (now === shown) return;
    shown = now;
    const focused = document.activeElement?.dataset?.token;
    list.replaceChildren(...questions.map(card));
    if (focused) list.querySelector(`[data-token="${CSS.escape(focused)}"]`)?.focus();
  }
  await load();
  const again = throttled(300, () => load().catch(page.fail));
  if (api.isLinked()) return;
  const onState = (state, error) => {
    page.connection(state, error);
    // What happened before the stream was open.
    if (state === "live") again();
  };
  const stream = new Stream(`events?${CHANGES}`, { onEvents: again, onState });
  page.atEnd(() => stream.stop());
}

// As many as anybody can look through.
const MOST = 1000;

async function all() {
  const found = [];
  let before;
  do {
    const page = await api.get(`questions${api.query({ before })}`);
    found.push(...page.questions);
    before = page.next;
  } while (before && found.length < MOST);
  return found;
}

function card(question) {
  const to = link(`#/${api.path("questions", question.token)}`, question.prompt || question.path);
  to.dataset.token = question.token;
  const about = element("p", { class: "hint" }, `${question.path}, asked `, time(question.askedAtMs));
  return element("li", {}, to, about);
}

async function onePage(place, token) {
  const question = await api.get(api.path("questions", token));
  place.append(element("h1", {}, "Question"));
  const done = element("div", { role: "status" });
  const onAnswered = () => {
    form.remove();
    const next = api.isLinked() ? [] : [link("#/questions", "Further questions")];
    done.append(element("p", {}, "Your answer has arrived. "), ...next);
    place.querySelector("a")?.focus();
  };
  const form = questionForm(question, onAnswered, { isAlone: true });
  place.append(form, done);
}

// A question with the form for its answer. `onAnswered` is called with the execution. `isAlone`: whether
// there is nothing else of the execution in the page.
export function questionForm(question, onAnswered, { isAlone }) {
  const form = new SchemaForm(question.schema ?? {}, { leaveOut: false, name: "Your answer" });
  const result = element("div");
  const send = element("button", { type: "submit" }, "Answer");
  async function submit(event) {
    event.preventDefault();
    result.replaceChildren();
    const answer = form.read();
    if (answer === undefined) return;
    send.disabled = true;
    try {
      onAnswered(await api.post(api.path("questions", question.token, "answer"), answer));
    } catch (error) {
      form.show(error.errors ?? []);
      result.append(problem(error));
    } finally {
      send.disabled = false;
    }
  }
  const execution = api.isLinked()
    ? question.execution
    : link(`#/${api.path("executions", question.execution)}`, question.execution);
  const view = api.path("questions", question.token);
  const dialog = () => linkDialog(question.execution, view, question.step);
  const share = api.isLinked() ? [] : [button("Link to this question …", dialog)];
  return element(
    "form",
    { onsubmit: submit, noValidate: true, class: "panel question", "aria-label": question.prompt || question.path },
    element("p", { class: "prompt" }, question.prompt),
    facts([
      ["Asked by", question.path],
      ["Asked", time(question.askedAtMs)],
      ["Until", question.expiresAtMs && time(question.expiresAtMs)],
      ["Answer", question.expected],
      ["Execution", isAlone ? execution : undefined],
    ]),
    form.element,
    element("p", { class: "buttons" }, send, ...share),
    result,
  );
}
