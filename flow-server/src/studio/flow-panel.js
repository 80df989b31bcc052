// The panel of the flow: its name, where it begins, its inputs and outputs, and values for its inputs.

import { nodesOf, objectAt, outerNodes, properties, texts } from "./definition-flow.js";
import { button, element } from "./dom.js";
import { own, setOwn, shownText } from "./keys.js";
import { checkField, choiceField, datalist, details, findingList, section, textField, valueForm } from "./panel-parts.js";
import { COMMON, schemaOf } from "./rust-types.js";

const REQUIRED = { inputs: "Has to be given", outputs: "Is there at each end" };

export class FlowPanel {
  #editor;
  #found = element("div");
  #start = element("div");
  #configuration = element("div");
  #form;
  #shown = {};

  constructor(editor) {
    this.#editor = editor;
    const { flow } = editor;
    const setText = (field, isOptional) => (text) => {
      editor.change((content) => {
        if (isOptional && text === "") delete content.flow[field];
        else content.flow[field] = text;
      }, `flow ${field}`, "panel");
    };
    this.element = element(
      "div",
      { class: "flow-panel" },
      element("h2", {}, "The flow"),
      this.#found,
      textField("Name", shownText(flow.name), setText("name")),
      textField("Description", shownText(flow.description), setText("description", true), { rows: 2 }),
      this.#start,
      this.#values("inputs", "Inputs"),
      this.#values("outputs", "Outputs"),
      this.#configuration,
    );
    this.update();
  }

  // One row for each input or output, in the order of the document.
  #values(side, title) {
    const schema = this.#editor.flow[side];
    const required = new Set(texts(schema?.required));
    const rows = Object.entries(properties(schema)).map(([name, property]) => ({ name, property, required: required.has(name) }));
    const list = element("div", { class: "keys" });
    const types = datalist(this.#types());
    // Whoever types in a field of a row changes the same part.
    const write = (part) => {
      this.#editor.change((content) => {
        const changed = objectAt(content.flow, side);
        changed.type = "object";
        changed.properties = Object.fromEntries(rows.map((row) => [row.name, row.property]));
        changed.required = rows.filter((row) => row.required).map((row) => row.name);
        if (changed.required.length === 0) delete changed.required;
        if (rows.length === 0) delete content.flow[side];
      }, part && `${side} ${part}`, "panel");
    };
    const add = (row) => list.append(this.#row(side, row, rows, types.id, write));
    rows.forEach(add);
    const more = button(side === "inputs" ? "Add an input" : "Add an output", () => {
      const row = { name: freeName(rows, side === "inputs" ? "input" : "output"), property: { rustType: "String" }, required: true };
      rows.push(row);
      add(row);
      write();
      list.lastElementChild.querySelector("input").select();
    });
    return section(title, list, types, more);
  }

  #types() {
    const known = this.#editor.catalog.entries.flatMap((entry) => [entry.inputs, entry.outputs]);
    const spelled = known.flatMap((schema) => Object.values(properties(schema)).map((property) => property?.rustType));
    return [...new Set([...COMMON, ...texts(spelled)])];
  }

  #row(side, row, rows, types, write) {
    const rename = (text) => {
      const name = text.trim();
      if (name === "") return "A name is missing";
      if (rows.some((other) => other !== row && other.name === name)) return `There is another \`${name}\``;
      row.name = name;
      shown.querySelector("legend").textContent = name;
      write(`name ${rows.indexOf(row)}`);
    };
    const first = row.property;
    const retype = (text) => {
      // What was known of the other type does not hold any more, unless it is the same again.
      const rustType = text.trim();
      const { description, default: value } = row.property ?? {};
      const isFirst = rustType === first?.rustType;
      const changed = { ...(isFirst ? first : {}), rustType, description, default: value };
      row.property = Object.fromEntries(Object.entries(changed).filter(([, one]) => one !== undefined));
      write(`type ${rows.indexOf(row)}`);
    };
    const require = (checked) => {
      row.required = checked;
      write();
    };
    const remove = () => {
      rows.splice(rows.indexOf(row), 1);
      shown.remove();
      write();
    };
    const shown = element(
      "fieldset",
      {},
      element("legend", {}, row.name),
      textField("Name", row.name, rename),
      textField("Rust type", shownText(row.property?.rustType), retype, { list: types, code: true }),
      checkField(REQUIRED[side], row.required, require),
      side === "inputs" ? this.#default(row, write) : undefined,
      button("Remove", remove),
    );
    return shown;
  }

  #default(row, write) {
    const value = row.property?.default;
    const set = (text) => {
      const property = { ...row.property };
      if (text.trim() === "") delete property.default;
      else {
        try {
          property.default = this.#editor.parse(text);
        } catch (error) {
          return `This is not JSON: ${error.message}`;
        }
      }
      row.property = property;
      write(`default ${row.name}`);
    };
    return textField("Default", value === undefined ? "" : JSON.stringify(value), set, { about: "As JSON, if it has one.", code: true });
  }

  // Values in place of the defaults of inputs. A flag is a box to tick.
  #configurationSection() {
    const { content, flow } = this.#editor;
    const inputs = Object.entries(properties(flow.inputs));
    const configuration = content.configuration ?? {};
    if (inputs.length === 0 && Object.keys(configuration).length === 0) return [];
    const isFlag = ([, property]) => schemaOf(property).type === "boolean" && typeof property.default === "boolean";
    const flags = inputs.filter(isFlag).map(([name, property]) =>
      checkField(name, own(configuration, name) ?? property.default, (checked) => this.#configure({ [name]: checked === property.default ? undefined : checked }, `configuration ${name}`), property.description),
    );
    const others = inputs.filter((input) => !isFlag(input));
    const names = new Set(inputs.filter(isFlag).map(([name]) => name));
    const rest = Object.fromEntries(Object.entries(configuration).filter(([name]) => !names.has(name)));
    const schema = { type: "object", properties: Object.fromEntries(others.map(([name, property]) => [name, schemaOf(property)])) };
    this.#form = valueForm(schema, { value: rest }, (values) => {
      const known = Object.keys(this.#editor.content.configuration ?? {}).filter((name) => !names.has(name));
      const removed = Object.fromEntries(known.map((name) => [name, undefined]));
      this.#configure({ ...removed, ...values }, "configuration");
    });
    // A value of an input that the flow does not have any more.
    const stray = Object.keys(rest).filter((name) => !Object.hasOwn(schema.properties, name));
    const strayRows = stray.map((name) =>
      element("p", {}, `There is no input \`${name}\`. `, button(`Remove its value`, () => this.#configure({ [name]: undefined }, undefined, "stray"))),
    );
    const about = "Values in place of the defaults. Whoever starts the flow can still give others.";
    return [details("Configuration", true, element("p", { class: "hint" }, about), ...flags, this.#form.element, ...strayRows)];
  }

  #configure(values, part, source = "panel") {
    this.#editor.change((content) => {
      const configuration = objectAt(content, "configuration");
      for (const [name, value] of Object.entries(values)) {
        if (value === undefined) delete configuration[name];
        else setOwn(configuration, name, value);
      }
    }, part, source);
  }

  update() {
    const { flow } = this.#editor;
    const outer = outerNodes(flow);
    const starts = nodesOf(flow).map((node) => node.id).filter((id) => !outer.has(id));
    const entry = typeof flow.entryNodeId === "string" ? flow.entryNodeId : "";
    if (!this.#start.contains(document.activeElement)) this.#refresh("start", this.#start, [starts, entry], () => {
      const known = starts.includes(entry) ? [] : [[entry, entry === "" ? "choose a node" : `${entry} (missing)`]];
      const set = (id) => this.#editor.change((content) => {
        content.flow.entryNodeId = id;
      }, undefined, "panel");
      return [choiceField("First node", [...known, ...starts.map((id) => [id, id])], entry, set)];
    });
    const isInside = this.#configuration.contains(document.activeElement);
    if (!isInside) this.#refresh("configuration", this.#configuration, [flow.inputs, this.#editor.content.configuration], () => this.#configurationSection());
    const findings = this.#editor.findingsOf(undefined);
    this.#found.replaceChildren(...(findings.length > 0 ? [findingList(findings.map(({ finding }) => finding))] : []));
    const ofForm = findings.filter(({ rest }) => rest.startsWith("/configuration"));
    this.#form?.tell(ofForm.map(({ finding, rest }) => ({ message: finding.message, pointer: rest.slice("/configuration".length) })));
  }

  #refresh(name, place, shown, make) {
    const text = JSON.stringify(shown);
    if (this.#shown[name] === text) return;
    this.#shown[name] = text;
    place.replaceChildren(...make());
  }
}

function freeName(rows, base) {
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (!rows.some((row) => row.name === name)) return name;
  }
}
