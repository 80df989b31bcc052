// The flows that can be started.

import * as api from "./api.js";
import { element, link } from "./dom.js";
import { pictureFrom } from "./picture.js";
import { startForm } from "./start-form.js";

export async function flowsView(place, [name]) {
  const { flows } = await api.get("flows");
  const chosen = flows.find((flow) => flow.name === name) ?? (name === undefined ? flows[0] : undefined);
  const entry = (flow) => {
    const to = link(`#/${api.path("flows", flow.name)}`, flow.name);
    if (flow === chosen) to.setAttribute("aria-current", "true");
    return element("li", {}, to);
  };
  const list = element("nav", { class: "side", "aria-label": "Flows" }, element("ul", {}, ...flows.map(entry)));
  const shown = chosen ? flowPage(chosen) : element("p", {}, name ? `There is no flow ${name}.` : "There are no flows.");
  place.append(element("div", { class: "with-side" }, list, shown));
}

function flowPage(flow) {
  const page = element("article", {}, element("h1", {}, flow.name));
  if (flow.description) page.append(element("p", { class: "description" }, flow.description));
  page.append(link(`#/executions${api.query({ flow: flow.name })}`, `Executions of ${flow.name}`));
  const picture = element("div");
  page.append(startForm(flow, api.path("flows", flow.name, "executions")), element("h2", {}, "Picture"), picture);
  pictureFrom(api.text(`${api.path("flows", flow.name)}/picture.svg`), `Picture of ${flow.name}`).then((drawn) => {
    picture.append(drawn);
  });
  return page;
}
