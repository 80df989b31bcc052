//! Workflows of other tools, in each command.

use insta::assert_snapshot;

use crate::program::Folder;

const RELEASE: &str = "\
id: release
description: Deploys what somebody approves of.
context: { region: eu }
steps:
  - { id: build, type: agent, agent: builder, max_retries: 3, on_success: approve }
  - { id: approve, type: approval, message: 'Deploy {it}?', on_approve: deploy, on_reject: end }
  - { id: deploy, type: agent, agent: deployer, on_success: end, on_error: build }
";

#[test]
fn a_workflow_is_a_flow_in_each_command() {
    let folder = Folder::new().with("release.yaml", RELEASE);
    assert_snapshot!(folder.run("check release.yaml"), @"
    [stderr]
    release.yaml:1:1: this is a workflow of OpenAgents, in the format of its draft
    release.yaml: it does not say what `approve` reads and writes, so values are checked only when a program loads it
    ");
    assert_snapshot!(folder.run("list release.yaml"), @"
    FLOW     NAMESPACE  NODES  INPUTS   OUTPUTS  ENDS
    release  release    3      input    input    rejected
                               region?  region   default
                                        build?
                                        deploy?
    ");
    assert_snapshot!(folder.run("render release.yaml"), @r#"
    release (release)
    start
    ↓ build · builder · 3 attempts    {input, region}
    ↓ approve · asks: Deploy {{it}}?  {build}
    ├ reject → end "rejected"
    ↓ approve → deploy · deployer
    ├ error → build ↑                 {deploy}
    ↓ end                             {deploy}
    "#);
    assert_snapshot!(folder.run("source release.yaml"), @"
    [stderr]
    error: this cannot be said in `flow!`
           release.yaml:1:5: the type of `input` is not known
             at /id
           release.yaml:3:20: the type of `region` is not known
             at /context/region
           release.yaml:1:5: the type of `input` is not known
             at /id
           release.yaml:3:20: the type of `region` is not known
             at /context/region
           release.yaml:5:5: the type of `build` is not known
             at /steps/0
           release.yaml:7:5: the type of `deploy` is not known
             at /steps/2
           release.yaml:5:5: nothing says what the program calls the value `build`
             at /steps/0
           release.yaml:7:5: nothing says what the program calls the value `deploy`
             at /steps/2
    [exit code 2]
    ");
    assert_snapshot!(folder.run("fmt release.yaml"), @"
    [stderr]
    error: cannot format `release.yaml:1:1`: this is a workflow of another tool, and would become a flow document: `cargo flow export` writes one
    [exit code 2]
    ");
    assert_eq!(folder.read("release.yaml"), RELEASE);
    assert_snapshot!(folder.run("export release.yaml --out flow.yaml"), @"
    [stderr]
    wrote flow.yaml
    release.yaml:1:1: this is a workflow of OpenAgents, in the format of its draft
    ");
    assert_snapshot!(folder.run("check flow.yaml"), @"
    [stderr]
    flow.yaml: it does not say what `approve` reads and writes, so values are checked only when a program loads it
    ");
    assert_eq!(folder.run("diff release.yaml flow.yaml"), "no changes\n");
    assert_snapshot!(folder.read("flow.yaml"), @r#"
    version: 2.0.0
    namespace: release
    name: release
    description: Deploys what somebody approves of.
    inputs:
      type: object
      properties:
        input: {}
        region:
          default: eu
      required:
        - input
    outputs:
      type: object
      properties:
        input: {}
        region: {}
        build: {}
        deploy: {}
      required:
        - input
        - region
    nodes:
      - type: builder
        id: build
        params: {}
        settings:
          retry:
            attempts: 3
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        fallible: true
        mappings:
          outputs:
            "*": build
      - type: flow.human
        id: approve
        params:
          prompt: Deploy {{it}}?
          expects: Approval
      - type: deployer
        id: deploy
        params: {}
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        fallible: true
        mappings:
          outputs:
            "*": deploy
    edges:
      - from: build
        to: approve
        condition: default
      - from: approve
        to: deploy
        condition: approve
      - from: deploy
        to: build
        condition: error
    ends:
      - from: approve
        condition: reject
        label: rejected
      - from: deploy
        condition: default
        label: default
    entryNodeId: build
    dependencies: {}
    "#);
}

#[test]
fn what_is_wrong_is_where_it_was_written() {
    let broken = RELEASE
        .replace("on_success: approve", "on_success: aprove")
        .replace(", on_reject: end", "")
        .replace("max_retries: 3", "max_retries: 0, retries: 3");
    // Nothing leads to the last step, which leads back to the first one for ever.
    let unsound = RELEASE
        .replace("on_approve: deploy", "on_approve: end")
        .replace("on_success: end, ", "on_success: build, ");
    let folder = Folder::new()
        .with("broken.yaml", broken)
        .with("unsound.yaml", unsound);
    assert_snapshot!(folder.run("check broken.yaml unsound.yaml"), @"
    broken.yaml:5:63: there is no field `retries` here [F023]
      at /steps/0/retries
      help: there is `id`, `type`, `agent`, `on_success`, `on_error`, `max_retries`, `retry_delay`
    broken.yaml:5:60: `max_retries` is 0, and should be the number of all calls, at least 1 [F023]
      at /steps/0/max_retries
    broken.yaml:6:5: `on_reject` is missing [F023]
      at /steps/1
      help: name the step that follows then, or `end`
    broken.yaml:5:87: there is no step `aprove` [F004]
      at /steps/0/on_success
      help: did you mean `approve`?
    unsound.yaml:7:5: no edge leads to `deploy` [F005]
      at /steps/2
      help: lead an edge to it from the step before it, or remove it
    [stderr]
    unsound.yaml:1:1: this is a workflow of OpenAgents, in the format of its draft
    unsound.yaml: it does not say what `approve` reads and writes, so values are checked only when a program loads it
    [exit code 1]
    ");
}

/// What a workflow says of its runs is told, and is no mistake.
#[test]
fn what_no_flow_says_is_told() {
    let workflow = r#"{
  "id": "look",
  "max_iterations": 9,
  "steps": [{ "id": "look", "type": "agent", "agent": "looker", "timeout_ms": 500 }]
}"#;
    let folder = Folder::new().with("look.json", workflow);
    let notes = "\
look.json:1:1: this is a workflow of OpenAgents, in the format of its engine
look.json:3:3: `max_iterations` is a limit of a run, and not part of a flow: limit each run: `RunOptions::new().step_budget(9)`
";
    assert_eq!(folder.run("check look.json"), format!("[stderr]\n{notes}"));
    let exported = folder.run("export look.json --out flow.yaml");
    assert_eq!(exported, format!("[stderr]\nwrote flow.yaml\n{notes}"));
}
