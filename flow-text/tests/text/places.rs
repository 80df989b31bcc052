//! Where problems are: the line and the column in the text, and the JSON pointer.

use flow_spec::FlowDocument;
use flow_text::{Format, read, read_all, to_yaml};
use insta::assert_snapshot;

use crate::said;

const JSON: &str = r#"{
  "version": "2.0.0",
  "name": "Größe",
  "inputs": { "type": "object", "properties": { "é": { "rustType": "String" }, "limit": {} } },
  "nodes": [
    { "type": "review", "id": "review", "tags": "slow" },
    { "type": "pay", "id": "review", "mappings": { "inputs": { "amuont": "x" } },
      "inputs": { "type": "object", "properties": { "amount": {} } } }
  ],
  "edges": [{ "from": "revew", "to": "pay",
    "condition": "default" }],
  "edgse": []
}
"#;

const YAML: &str = r#"# a flow
version: 2.0.0
name: "Größe"
inputs:
  type: object
  properties: { é: { rustType: String }, limit: {} }
nodes:
  - type: review
    id: review
    tags: slow # and not a list
  - { type: pay, id: review }
edges:
  - from: revew

    to: pay
    condition: default
edgse: []
"#;

#[test]
fn problems_of_json() {
    assert_snapshot!(said(JSON, Format::Json), @r#"
    12:3: there is no field `edgse` here [F023]
    at /edgse
    help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
    6:49: `tags` is "slow", and should be a list [F023]
    at /nodes/0/tags
    7:64: `review` reads no `amuont` [F015]
    at /nodes/1/mappings/inputs/amuont
    help: did you mean `amount`?
    7:28: a second node has the id `review` [F017]
    at /nodes/1/id
    the first one (line 6, column 31)
    help: give it another id
    10:23: there is no node `revew` [F004]
    at /edges/0/from
    help: did you mean `review`?
    10:38: there is no node `pay` [F004]
    at /edges/0/to
    help: there is `review`, `review`
    1:1: `entryNodeId` is missing [F018]
    help: name the node that runs first, such as `"entryNodeId": "review"`
    "#);
}

#[test]
fn problems_of_yaml() {
    assert_snapshot!(said(YAML, Format::Yaml), @r#"
    17:1: there is no field `edgse` here [F023]
    at /edgse
    help: there is `version`, `namespace`, `name`, `description`, `inputs`, `outputs`, `nodes`, `edges`, `ends`, `entryNodeId`, `entryMappings`, `dependencies`
    10:11: `tags` is "slow", and should be a list [F023]
    at /nodes/0/tags
    11:22: a second node has the id `review` [F017]
    at /nodes/1/id
    the first one (line 9, column 9)
    help: give it another id
    13:11: there is no node `revew` [F004]
    at /edges/0/from
    help: did you mean `review`?
    15:9: there is no node `pay` [F004]
    at /edges/0/to
    help: there is `review`, `review`
    2:1: `entryNodeId` is missing [F018]
    help: name the node that runs first, such as `entryNodeId: "review"`
    "#);
}

#[test]
fn problems_of_the_analysis() {
    let text = "\
version: 2.0.0
name: Qa
inputs:
  type: object
  properties:
    unused:
      rustType: u64
nodes:
  - type: answer
    id: answer
    inputs:
      type: object
      properties: { question: {} }
      required:
        - question
    actions:
      - name: default
      - name: lost
ends:
  - from: answer
    condition: default
    label: default
  - from: answer
    condition: default
    label: twice
edges: []
";
    assert_snapshot!(said(text, Format::Yaml), @r#"
    6:5: nothing reads the input `unused` [F019]
    at /inputs/properties/unused
    help: remove it, or let a node read it
    9:5: action "lost" of `answer` goes nowhere [F002]
    at /nodes/0
    help: add it as `condition` to `edges`, or to `ends` if the flow ends there
    13:21: `answer` reads `question`, which nothing writes [F007]
    at /nodes/0/inputs/properties/question
    help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    24:16: `answer` leads to two places: to `end` and to `end("twice")` [F003]
    at /ends/1/condition
    it is routed here already (line 21, column 16)
    help: remove one of them
    "#);
}

#[test]
fn names_that_stand_twice() {
    let json = "{ \"version\": \"2.0.0\",\n  \"nodes\": [], \"edges\": [{ \"\\u0066rom\": 1, \"from\": \"é\", \"from\": 2 }],\n\"nodes\": [{}] }";
    assert_snapshot!(said(json, Format::Json), @r#"
    2:44: `from` stands twice in this object [F023]
    at /edges/0/from
    the first one (line 2, column 28)
    help: remove one of them: only one could be read, and the other would be lost
    2:57: `from` stands twice in this object [F023]
    at /edges/0/from
    the first one (line 2, column 28)
    help: remove one of them: only one could be read, and the other would be lost
    3:1: `nodes` stands twice in this object [F023]
    at /nodes
    the first one (line 2, column 3)
    help: remove one of them: only one could be read, and the other would be lost
    3:11: `type` is missing [F023]
    at /nodes/0
    help: name the function, type or flow that the node is: `"type": "review"`
    3:11: `id` is missing [F023]
    at /nodes/0
    help: name the node: `"id": "review"`
    2:65: `from` is 2, and should be a string [F023]
    at /edges/0/from
    2:26: `to` is missing [F023]
    at /edges/0
    help: name the node that the edge leads to
    2:26: `condition` is missing [F023]
    at /edges/0
    help: name the action that the edge is for: `"condition": "default"`
    "#);
    let yaml = "version: 2.0.0\nnodes: []\nedges:\n  - from: a\n    \"from\": b\nnodes: []\n";
    assert_snapshot!(said(yaml, Format::Yaml), @r#"
    5:5: `from` stands twice in this object [F023]
    at /edges/0/from
    the first one (line 4, column 5)
    help: remove one of them: only one could be read, and the other would be lost
    6:1: `nodes` stands twice in this object [F023]
    at /nodes
    the first one (line 2, column 1)
    help: remove one of them: only one could be read, and the other would be lost
    4:5: `to` is missing [F023]
    at /edges/0
    help: name the node that the edge leads to
    4:5: `condition` is missing [F023]
    at /edges/0
    help: name the action that the edge is for: `condition: "default"`
    6:1: the flow has no nodes [F018]
    at /nodes
    help: add the node that runs first, or an entry without `from` to `ends` if the flow does nothing
    5:13: there is no node `b` [F004]
    at /edges/0/from
    "#);
}

#[test]
fn a_list_of_flows() {
    let qa = r#"{ "version": "2.0.0", "nodes": [{ "type": "a", "id": "a" }], "edges": [] }"#;
    let documents = read_all(format!("[{qa}, {qa}]").as_bytes(), Format::Json).unwrap();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1].place("/nodes/0/id").to_string(), "1:131");
    let broken = format!("- {}\n-\n{}", "version: 2.0.0", "  nodes: 1");
    let problems = read_all(broken.as_bytes(), Format::Yaml).unwrap_err();
    let places: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} {}", problem.place, problem.pointer))
        .collect();
    assert_eq!(
        places,
        ["1:3 /0", "1:3 /0", "3:3 /1", "3:3 /1", "3:10 /1/nodes"]
    );
    assert_snapshot!(said("[]", Format::Json), @"1:1: a flow is a list, and should be an object [F023]");
}

/// Each value is where it is written: what the text has at the place of a pointer is the value.
#[test]
fn every_place_is_that_of_its_value() {
    let flow = FlowDocument::parse(include_str!(
        "../../../flow-spec/tests/documents/fixtures/everything.json"
    ))
    .unwrap();
    let value = serde_json::to_value(&flow).unwrap();
    let texts = [
        (flow.to_json(), Format::Json),
        (flow.to_compact_json(), Format::Json),
        (flow.to_json(), Format::Yaml),
        (to_yaml(&flow), Format::Yaml),
    ];
    for (text, format) in texts {
        let document = read(text.as_bytes(), format).unwrap();
        let at = |place: flow_text::Place| {
            let line = text.lines().nth(place.line - 1).unwrap();
            let column = line.char_indices().nth(place.column - 1).unwrap().0;
            &line[column..]
        };
        let mut open = vec![(String::new(), &value)];
        let mut checked = 0;
        while let Some((pointer, value)) = open.pop() {
            let name = pointer
                .rsplit('/')
                .next()
                .unwrap()
                .replace("~1", "/")
                .replace("~0", "~");
            let is_item = name.parse::<usize>().is_ok();
            if !is_item && !pointer.is_empty() {
                let written = at(document.place_of_name(&pointer));
                let written = written.trim_start_matches('"');
                assert!(written.starts_with(&name), "{pointer}: {written}");
            }
            match value {
                serde_json::Value::Object(map) => open.extend(map.iter().map(|(name, value)| {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    (format!("{pointer}/{name}"), value)
                })),
                serde_json::Value::Array(items) => {
                    let items = items.iter().enumerate();
                    open.extend(items.map(|(index, item)| (format!("{pointer}/{index}"), item)));
                }
                serde_json::Value::String(string) if string.contains(['\n', '"', '\\']) => {}
                scalar => {
                    let scalar = scalar.as_str().map_or(scalar.to_string(), str::to_owned);
                    let written = at(document.place(&pointer)).trim_start_matches('"');
                    assert!(written.starts_with(&scalar), "{pointer}: {written}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 90, "{checked}");
    }
}
