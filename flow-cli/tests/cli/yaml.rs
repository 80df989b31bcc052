//! Flows as YAML, in each command.

use insta::assert_snapshot;

use crate::files::*;
use crate::program::{EXPENSE, Folder, QA};

/// A flow as a person writes it.
const DRAFT: &str = "\
# Who may spend what.
version: 2.0.0
namespace: expense_approval
name: ExpenseApproval
inputs:
  type: object
  properties:
    claim: { rustType: Claim }
  required: [claim]
nodes:
  - type: review
    id: review
    inputs: &reads
      type: object
      properties: { claim: {} }
      required: [claim]
    actions:
      - name: approved # by a person
      - name: rejected
  - { type: pay, id: pay, inputs: *reads }
edges:
  - { from: review, to: pay, condition: approved }
ends:
  - { from: pay, condition: default, label: default }
  - { from: review, condition: rejected, label: rejected }
entryNodeId: review
";

#[test]
fn a_flow_is_written_as_yaml_and_read_again() {
    let folder = Folder::new()
        .with("qa.json", QA)
        .with("app", elf(&records(&[QA, EXPENSE])));
    assert_snapshot!(folder.run("export qa.json --out qa.yaml"), @"
    [stderr]
    wrote qa.yaml
    ");
    let yaml = folder.read("qa.yaml");
    assert_eq!(folder.run("export qa.json --format yaml"), yaml);
    assert_eq!(folder.run("export qa.yaml"), QA);
    assert_eq!(folder.run("check qa.yaml"), "");
    assert_eq!(folder.run("list qa.yaml"), folder.run("list qa.json"));
    assert_eq!(folder.run("diff qa.json qa.yaml"), "no changes\n");
    assert_snapshot!(yaml, @"
    version: 2.0.0
    namespace: qa
    name: Qa
    inputs:
      type: object
      properties:
        question:
          type: string
          rustType: String
      required:
        - question
    outputs:
      type: object
      properties:
        answer:
          type: string
          rustType: String
      required:
        - answer
    nodes:
      - type: answer
        id: answer
        params: {}
        inputs:
          type: object
          properties:
            question:
              type: string
              rustType: String
          required:
            - question
        outputs:
          type: object
          properties:
            answer:
              type: string
              rustType: String
          required:
            - answer
        actions:
          - name: default
            writes:
              - answer
    edges: []
    ends:
      - from: answer
        condition: default
        label: default
    entryNodeId: answer
    dependencies: {}
    ");

    let list = folder.run("export app --format yaml");
    let folder = folder.with("all.yml", &list);
    assert_eq!(folder.run("export all.yml"), folder.run("export app"));
    assert!(
        list.starts_with("- version: 2.0.0\n  namespace: "),
        "{list}"
    );
}

#[test]
fn a_folder_of_yaml_is_kept_up_to_date() {
    let folder = Folder::new().with("app", elf(&records(&[QA, EXPENSE])));
    folder.run("export app --format yaml --out flows");
    assert_eq!(folder.names("flows"), ["expense_approval.yaml", "qa.yaml"]);
    assert_eq!(folder.run("check flows app"), "");
    assert_eq!(folder.run("diff flows app"), "no changes\n");
    let old = folder.read("flows/qa.yaml").replace("name: Qa", "name: Q");
    let folder = folder.with("flows/qa.yaml", old);
    assert_snapshot!(folder.run("check flows app"), @"
    flows/qa.yaml is not up to date
    Qa (qa)
      breaking:
        the flow was renamed from `Q` to `Qa` (callers, executions)
    [stderr]
    help: `cargo flow export app --format yaml --out flows` updates them
    [exit code 1]
    ");
}

#[test]
fn a_draft() {
    let folder = Folder::new().with("draft.yaml", DRAFT);
    assert_eq!(folder.run("check draft.yaml"), "");
    assert_snapshot!(folder.run("render draft.yaml"), @r#"
    ExpenseApproval (expense_approval)
    start
    ↓ review                     {claim}
    ├ rejected → end "rejected"
    ↓ approved → pay
    ↓ end
    "#);
    let folder = folder.with(
        "next.yml",
        DRAFT
            .replace("claim", "bill")
            .replace("label: rejected", "label: refused"),
    );
    assert_snapshot!(folder.run("diff draft.yaml next.yml"), @r#"
    ExpenseApproval (expense_approval)
      breaking:
        input `claim` was renamed to `bill` (callers, executions)
        end "refused" was added: whoever matches on the ends has to expect it (callers)
        end "rejected" was removed (callers)
      compatible:
        `review` reads `bill` instead of `claim` (executions)
        `pay` reads `bill` instead of `claim` (executions)
        `review` - "rejected" leads to end "refused", and led to end "rejected" (executions)
    [exit code 1]
    "#);
}

#[test]
fn a_draft_with_mistakes() {
    let broken = DRAFT
        .replace("to: pay", "to: pya")
        .replace("- name: rejected", "- nmae: rejected");
    let folder = Folder::new()
        .with("broken.yaml", broken)
        .with(
            "unsound.yaml",
            DRAFT
                .replace(
                    "properties: { claim: {} }",
                    "properties: { claim: {}, limit: {} }",
                )
                .replace("[claim]\n    actions", "[claim, limit]\n    actions"),
        )
        .with("text.yml", "nodes: [\n  - a\n");
    assert_snapshot!(folder.run("check broken.yaml unsound.yaml text.yml"), @r#"
    broken.yaml:19:9: there is no field `nmae` here [F023]
      at /nodes/0/actions/1/nmae
      help: did you mean `name`?
    broken.yaml:22:25: there is no node `pya` [F004]
      at /edges/0/to
      help: did you mean `pay`?
    unsound.yaml:15:32: `review` reads `limit`, which nothing writes [F007]
      at /nodes/0/inputs/properties/limit
      `pay` reads it too (line 20, column 5)
      help: write it before, remove it from `required` in the `inputs` of the node, or add it to those of the flow
    text.yml:2:3: this is not YAML: "-" is only valid inside a block [F023]
    [exit code 1]
    "#);
    assert_snapshot!(folder.run("render text.yml"), @r#"
    [stderr]
    error: `text.yml` is not a flow
           2:3: this is not YAML: "-" is only valid inside a block [F023]
    [exit code 2]
    "#);
}

#[test]
fn documents_are_formatted() {
    let list = format!("[{}]", crate::files::compact(QA));
    let folder = Folder::new()
        .with("qa.json", crate::files::compact(QA))
        .with("list.json", &list)
        .with("qa.yaml", QA)
        .with("draft.yaml", DRAFT)
        .with(
            "anchors.yaml",
            DRAFT
                .replace("# Who may spend what.\n", "")
                .replace(" # by a person", ""),
        )
        .with("broken.yml", "nodes: 1\n");
    assert_snapshot!(folder.run("fmt --check list.json"), @r#"
    list.json is not formatted
    @@ -1 +1,80 @@
    -[{"version":"2.0.0","namespace":"qa","name":"Qa","inputs":{"type":"object","properties":{"question":{"type":"string","rustType":"String"}},"required":["question"]},"outputs":{"type":"object","properties":{"answer":{"type":"string","rustType":"String"}},"required":["answer"]},"nodes":[{"type":"answer","id":"answer","params":{},"inputs":{"type":"object","properties":{"question":{"type":"string","rustType":"String"}},"required":["question"]},"outputs":{"type":"object","properties":{"answer":{"type":"string","rustType":"String"}},"required":["answer"]},"actions":[{"name":"default","writes":["answer"]}]}],"edges":[],"ends":[{"from":"answer","condition":"default","label":"default"}],"entryNodeId":"answer","dependencies":{}}]
    \ no newline at the end
    +[
    +  {
    +    "version": "2.0.0",
    +    "namespace": "qa",
    +    "name": "Qa",
    +    "inputs": {
    +      "type": "object",
    +      "properties": {
    +        "question": {
    +          "type": "string",
    +          "rustType": "String"
    +        }
    +      },
    +      "required": [
    +        "question"
    +      ]
    +    },
    +    "outputs": {
    +      "type": "object",
    +      "properties": {
    +        "answer": {
    +          "type": "string",
    +          "rustType": "String"
    +        }
    +      },
    +      "required": [
    +        "answer"
    +      ]
    +    },
    +    "nodes": [
    +      {
    +        "type": "answer",
    +        "id": "answer",
    +        "params": {},
    +        "inputs": {
    +          "type": "object",
    +          "properties": {
    +            "question": {
    +              "type": "string",
    +              "rustType": "String"
    +            }
    +          },
    +          "required": [
    +            "question"
    +          ]
    +        },
    +        "outputs": {
    +          "type": "object",
    +          "properties": {
    +            "answer": {
    +              "type": "string",
    +              "rustType": "String"
    +            }
    +          },
    +          "required": [
    +            "answer"
    +          ]
    +        },
    +        "actions": [
    +          {
    +            "name": "default",
    +            "writes": [
    +              "answer"
    +            ]
    +          }
    +        ]
    +      }
    +    ],
    +    "edges": [],
    +    "ends": [
    +      {
    +        "from": "answer",
    +        "condition": "default",
    +        "label": "default"
    +      }
    +    ],
    +    "entryNodeId": "answer",
    +    "dependencies": {}
    +  }
    +]
    [exit code 1]
    "#);
    assert_snapshot!(folder.run("fmt qa.json list.json qa.yaml draft.yaml anchors.yaml broken.yml"), @r#"
    [stderr]
    formatted qa.json
    formatted list.json
    formatted qa.yaml
    error: cannot format `draft.yaml:1:1`: this comment would be lost
    error: cannot format `anchors.yaml:13:7`: this anchor would be lost
    error: `broken.yml` is not a flow
           1:1: `version` is missing [F023]
             help: write `version: "2.0.0"`
           1:1: `edges` is missing [F023]
             help: list the flow's edges, each with `from`, `to` and `condition`: `edges: [ … ]`
           1:8: `nodes` is 1, and should be a list [F023]
             at /nodes
    [exit code 2]
    "#);
    assert_eq!(folder.read("qa.json"), QA);
    assert!(
        folder
            .read("list.json")
            .starts_with("[\n  {\n    \"version\"")
    );
    assert_eq!(
        folder.run("export qa.json --format yaml"),
        folder.read("qa.yaml")
    );
    assert_eq!(folder.read("draft.yaml"), DRAFT);
    assert_eq!(folder.run("fmt --check qa.json list.json qa.yaml"), "");
}
