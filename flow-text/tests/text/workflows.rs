//! Workflows of other tools: how they are told, and where their problems are.

use flow_spec::document::{MappingsDocument, RetrySettings};
use flow_text::{Format, Notation, read, read_all, to_yaml};
use insta::assert_snapshot;

use crate::said;

const RELEASE: &str = "\
# Deploys what was built.
id: release-app
steps:
  - id: build
    type: agent
    agent: app-builder@1.0.0-rc
    max_retries: 3
    retry_delay: 200 # ms
    on_success: deploy
    on_error: build
  - { id: deploy, type: agent, agent: deployer, on_success: end, on_error: end }
";

const DEFINITION: &str = r#"{
  "id": "ask", "startNode": "wait",
  "nodes": [
    { "id": "wait", "type": "wait", "durationMs": 50, "onSuccess": "who" },
    { "id": "who", "type": "human", "message": "Who is {it}?", "timeoutMs": 1000, "onError": "who" }
  ]
}"#;

#[test]
fn a_workflow_becomes_a_document() {
    let document = read(RELEASE.as_bytes(), Format::Yaml).unwrap();
    assert_eq!(document.notation(), Notation::OpenAgents);
    let flow = document.flow();
    assert_eq!(
        (&*flow.name, &*flow.namespace),
        ("release-app", "release_app")
    );
    let build = &flow.nodes[0];
    assert_eq!(
        (&*build.id, &*build.r#type),
        ("build", "app_builder@1.0.0-rc")
    );
    let retry = RetrySettings {
        attempts: 3,
        wait: Some("200ms".to_owned()),
        backoff: Some(2.0),
        max_wait: None,
        jitter: None,
        only_if: None,
    };
    assert_eq!(build.settings.retry, Some(retry));
    assert_ne!(build.mappings, MappingsDocument::default());
    let ends: Vec<(Option<&str>, &str)> = flow
        .ends
        .iter()
        .map(|end| (end.condition.as_deref(), &*end.label))
        .collect();
    assert_eq!(
        ends,
        [(Some("default"), "default"), (Some("error"), "failed")]
    );
    assert_eq!(document.check(), []);

    // What it became is a document like any other.
    let written = to_yaml(flow);
    let again = read(written.as_bytes(), Format::Yaml).unwrap();
    assert_eq!(again.notation(), Notation::Flow);
    assert_eq!(again.flow(), flow);
    assert_eq!(again.check(), []);
}

#[test]
fn a_place_is_that_in_the_workflow() {
    let document = read(RELEASE.as_bytes(), Format::Yaml).unwrap();
    for (pointer, in_text, place) in [
        ("/nodes/0/type", "/steps/0/agent", "6:12"),
        (
            "/nodes/0/settings/retry/attempts",
            "/steps/0/max_retries",
            "7:18",
        ),
        ("/nodes/1", "/steps/1", "11:5"),
        ("/edges/1/condition", "/steps/0/on_error", "10:15"),
        ("/ends/0", "/steps/1/on_success", "11:61"),
        ("/inputs/properties/input", "/id", "2:5"),
        ("/version", "", "2:1"),
    ] {
        assert_eq!(document.pointer_in_text(pointer), in_text);
        assert_eq!(document.place(pointer).to_string(), place, "{pointer}");
    }
}

#[test]
fn a_list_has_flows_of_all_kinds() {
    let release = read(RELEASE.as_bytes(), Format::Yaml).unwrap();
    let flow = release.flow().to_json();
    let list = format!("[{flow}, {DEFINITION}]");
    let documents = read_all(list.as_bytes(), Format::Json).unwrap();
    let kinds: Vec<Notation> = documents.iter().map(|one| one.notation()).collect();
    assert_eq!(kinds, [Notation::Flow, Notation::FlowDefinition]);
    assert_eq!(
        documents[1].pointer_in_text("/nodes/1/params"),
        "/1/nodes/1"
    );
    assert_eq!(
        documents[1].flow().nodes[1].params["prompt"],
        "Who is {{it}}?"
    );

    let broken = list.replace("\"onSuccess\": \"who\"", "\"onSuccess\": \"why\"");
    let problems = read_all(broken.as_bytes(), Format::Json).unwrap_err();
    assert_eq!(problems[0].pointer, "/1/nodes/0/onSuccess");
}

/// Without a registry, a node can fail if it is said what follows then.
#[test]
fn errors_lead_where_the_workflow_says() {
    let definition = r#"{ "id": "x", "startNode": "all", "nodes": [
        { "id": "all", "type": "parallel", "children": ["a", "w"], "onError": "sorry" },
        { "id": "a", "type": "agent" },
        { "id": "w", "type": "wait", "durationMs": 5, "pollCondition": "is_there", "label": "Is it there?" },
        { "id": "sorry", "type": "agent" }
    ] }"#;
    let workflow = r#"{ "id": "x", "steps": [
        { "id": "all", "type": "parallel", "agents": ["a", "b"], "on_success": "end", "on_error": "sorry" },
        { "id": "sorry", "type": "agent", "agent": "apologize", "on_success": "end" }
    ] }"#;
    for text in [definition, workflow] {
        assert_eq!(said(text, Format::Json), "");
        let alone = text
            .replace(r#", "onError": "sorry""#, "")
            .replace(r#", "on_error": "sorry""#, "");
        assert!(said(alone, Format::Json).contains("no edge leads to `sorry` [F005]"));
    }
    let document = read(definition.as_bytes(), Format::Json).unwrap();
    let titles = document
        .flow()
        .nodes
        .iter()
        .filter_map(|node| node.title.as_deref());
    assert_eq!(titles.collect::<Vec<_>>(), ["Is it there?"; 2]);
}

#[test]
fn all_problems_are_reported_at_once() {
    assert_snapshot!(said("{ id: [], steps: {} }", Format::Yaml), @"
    1:3: `id` is a list, and should be a string [F023]
    at /id
    1:11: `steps` is an object, and should be a list [F023]
    at /steps
    ");
    assert_snapshot!(said("{ steps: [x, { type: 3 }, {}, { type: agnet }] }", Format::Yaml), @r#"
    1:1: `id` is missing [F023]
    help: name the workflow: `id: "release"`
    1:11: a step is "x", and should be an object [F023]
    at /steps/0
    1:22: `type` is 3, and should be a string [F023]
    at /steps/1/type
    1:27: `type` is missing [F023]
    at /steps/2
    help: say what the step is: `agent`, `approval`, `parallel`, `condition`
    1:39: there is no type of step `agnet` [F004]
    at /steps/3/type
    help: did you mean `agent`?
    "#);
    assert_snapshot!(said("{ id: x, steps: [{ id: p, type: parallel, agents: [a, '', 3], on_sucess: p }] }", Format::Yaml), @r#"
    1:63: there is no field `on_sucess` here [F023]
    at /steps/0/on_sucess
    help: did you mean `on_success`?
    1:55: an agent is "", and should be its name [F023]
    at /steps/0/agents/1
    1:59: an agent is 3, and should be its name [F023]
    at /steps/0/agents/2
    "#);
    assert_snapshot!(said("{ startNode: a, nodes: [x, { id: a, type: loop }, { id: b, type: wait }] }", Format::Yaml), @r#"
    1:1: `id` is missing [F023]
    help: name the flow: `id: "research"`
    1:25: a node is "x", and should be an object [F023]
    at /nodes/0
    1:28: `loopNodeId` is missing [F023]
    at /nodes/1
    help: name the node that runs again and again: `loopNodeId: "improve"`
    1:28: `continueCondition` is missing [F023]
    at /nodes/1
    help: write the condition in CEL: `continueCondition: "count < 3"`
    1:51: `durationMs` is missing [F023]
    at /nodes/2
    help: say how long it waits, in milliseconds: `durationMs: 5000`; or name a registered node that polls: `pollCondition: "is_ready"`
    "#);
    assert_snapshot!(said("{ id: x, startNode: a, nodes: [{ id: a, type: wait, durationMs: 1e3, pollCondition: '' }] }", Format::Yaml), @"
    1:65: `durationMs` is 1000.0, and should be a number of milliseconds, from 1 to 1000000000000 [F023]
    at /nodes/0/durationMs
    1:85: `pollCondition` is empty [F023]
    at /nodes/0/pollCondition
    ");
}

/// The steps that lead to one that cannot be read are right.
#[test]
fn a_step_that_cannot_be_read_is_one_problem() {
    assert_snapshot!(said("{ id: x, steps: [{ id: a, type: agent, agent: one, on_success: b }, { id: b, type: agnet }] }", Format::Yaml), @"
    1:84: there is no type of step `agnet` [F004]
    at /steps/1/type
    help: did you mean `agent`?
    ");
    assert_snapshot!(said("{ id: x, startNode: b, nodes: [{ id: a, type: agent, onSuccess: b }, { id: b, type: agnet }] }", Format::Yaml), @"
    1:85: there is no type of node `agnet` [F004]
    at /nodes/1/type
    help: did you mean `agent`?
    ");
}

/// A workflow with everything that the engine of OpenAgents reads and a flow can say.
const ENGINE: &str = r#"{
  "id": "publish-post",
  "description": "Writes a post, and publishes it if it is good",
  "max_iterations": 12,
  "max_duration_ms": 600000,
  "initial_context": { "tone": "friendly" },
  "steps": [
    { "id": "draft", "type": "agent", "agent": "post-writer", "next": "look", "timeout_ms": 90000, "max_retries": 2, "retry_delay_ms": 500 },
    {
      "id": "look",
      "type": "parallel",
      "steps": [
        { "id": "spelling", "type": "agent", "agent": "speller", "input": "draft" },
        { "id": "fact-check", "type": "agent", "agent": "checker", "input": "draft", "max_retries": 1 }
      ],
      "min_success": 2,
      "next": "good",
      "on_error": "sorry"
    },
    { "id": "good", "type": "condition", "condition": "context.fact-check.wrong === 0 && spelling.errors.length < 3", "then": "ask", "else": "draft" },
    { "id": "ask", "type": "approval", "message": "Publish it?", "on_approve": "publish", "on_reject": "end", "timeout_ms": 60000 },
    { "id": "publish", "type": "agent", "agent": "publisher", "input": "draft" },
    { "id": "sorry", "type": "agent", "agent": "apologizer" }
  ]
}"#;

#[test]
fn a_workflow_of_the_engine_becomes_a_document() {
    let document = read(ENGINE.as_bytes(), Format::Json).unwrap();
    assert_eq!(document.notation(), Notation::OpenAgentsEngine);
    assert_eq!(document.check(), []);
    assert_snapshot!(to_yaml(document.flow()), @r#"
    version: 2.0.0
    namespace: publish_post
    name: publish-post
    description: Writes a post, and publishes it if it is good
    inputs:
      type: object
      properties:
        input: {}
        tone:
          default: friendly
      required:
        - input
    outputs:
      type: object
      properties:
        input: {}
        tone: {}
        draft: {}
        spelling: {}
        fact_check: {}
        publish: {}
        sorry: {}
      required:
        - input
        - tone
    nodes:
      - type: post_writer
        id: draft
        params: {}
        settings:
          retry:
            attempts: 3
            wait: 500ms
            backoff: 2.0
            maxWait: 30000ms
          timeout: 90000ms
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        fallible: true
        mappings:
          outputs:
            "*": draft
      - type: flow.fork
        id: look
        params:
          branches:
            - - spelling
            - - fact-check
      - type: speller
        id: spelling
        params: {}
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        fallible: true
        mappings:
          inputs:
            input: draft
          outputs:
            "*": spelling
      - type: checker
        id: fact-check
        params: {}
        settings:
          retry:
            attempts: 2
            wait: 1000ms
            backoff: 2.0
            maxWait: 30000ms
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        fallible: true
        mappings:
          inputs:
            input: draft
          outputs:
            "*": fact_check
      - type: flow.branch
        id: good
        params:
          cases:
            - when: fact_check.wrong == 0 && size(spelling.errors) < 3
              action: then
          otherwise: else
      - type: flow.human
        id: ask
        params:
          prompt: Publish it?
          expects: Approval
        settings:
          timeout: 60000ms
      - type: publisher
        id: publish
        params: {}
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        mappings:
          inputs:
            input: draft
          outputs:
            "*": publish
      - type: apologizer
        id: sorry
        params: {}
        outputs:
          type: object
          properties:
            "*": {}
          required:
            - "*"
        mappings:
          outputs:
            "*": sorry
    edges:
      - from: draft
        to: look
        condition: default
      - from: look
        to: good
        condition: default
      - from: look
        to: sorry
        condition: error
      - from: good
        to: ask
        condition: then
      - from: good
        to: draft
        condition: else
      - from: ask
        to: publish
        condition: approve
    ends:
      - from: ask
        condition: reject
        label: rejected
      - from: publish
        condition: default
        label: default
      - from: sorry
        condition: default
        label: default
    entryNodeId: draft
    dependencies: {}
    "#);
    let again = read(to_yaml(document.flow()).as_bytes(), Format::Yaml).unwrap();
    assert_eq!(again.flow(), document.flow());
    let left_out: Vec<String> = document
        .left_out()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_snapshot!(left_out.join("\n"), @"
    4:3: `max_iterations` is a limit of a run, and not part of a flow [F023]
    at /max_iterations
    help: limit each run: `RunOptions::new().step_budget(12)`
    5:3: `max_duration_ms` is a limit of a run, and not part of a flow [F023]
    at /max_duration_ms
    help: limit each run: `RunOptions::new().deadline(…)`
    ");
    for (pointer, in_text) in [
        ("/nodes/0/settings/timeout", "/steps/0/timeout_ms"),
        ("/nodes/3/mappings/inputs/input", "/steps/1/steps/1/input"),
        ("/nodes/4/params/cases/0/when", "/steps/2/condition"),
        ("/inputs/properties/tone/default", "/initial_context/tone"),
    ] {
        assert_eq!(document.pointer_in_text(pointer), in_text);
    }
}

/// The smallest workflow is one of the engine: the draft says what follows each step.
#[test]
fn the_format_of_a_workflow_is_told_by_its_fields() {
    for (steps, notation) in [
        (
            r#"{ "id": "a", "type": "agent", "agent": "a" }"#,
            Notation::OpenAgentsEngine,
        ),
        (
            r#"{ "id": "a", "type": "agent", "agent": "a", "next": "end" }"#,
            Notation::OpenAgentsEngine,
        ),
        (
            r#"{ "id": "a", "type": "agent", "agent": "a", "on_success": "end" }"#,
            Notation::OpenAgents,
        ),
    ] {
        let text = format!(r#"{{ "id": "x", "steps": [ {steps} ] }}"#);
        let document = read(text.as_bytes(), Format::Json).unwrap();
        assert_eq!(document.notation(), notation, "{text}");
        assert_eq!(document.check(), []);
    }
    assert_snapshot!(Notation::OpenAgents, @"a workflow of OpenAgents, in the format of its draft");
    assert_snapshot!(said("{ id: x, steps: [
        { id: a, type: agent, agent: one, on_success: b, timeout_ms: 5, on_error: b },
        { id: b, type: agent, agent: two, on_success: c },
        { id: c, type: agent, agent: two, next: end }] }", Format::Yaml), @"
        2:43: this workflow has the format of OpenAgents' engine, and `on_success` belongs to that of its draft [F023]
        at /steps/0/on_success
        `timeout_ms` is a field of the engine (line 2, column 70)
        help: write `next`
        3:43: this workflow has the format of OpenAgents' engine, and `on_success` belongs to that of its draft [F023]
        at /steps/1/on_success
        `timeout_ms` is a field of the engine (line 2, column 70)
        help: write `next`
        ");
}

#[test]
fn the_engine_begins_with_the_step_to_which_none_leads() {
    let text = r#"{ "id": "x", "steps": [
        { "id": "last", "type": "agent", "agent": "a" },
        { "id": "first", "type": "agent", "agent": "b", "next": "last" }
    ] }"#;
    let document = read(text.as_bytes(), Format::Json).unwrap();
    assert_eq!(document.flow().entry_node_id.as_deref(), Some("first"));
    assert_eq!(document.check(), []);
}

/// What no flow says is one problem where it stands.
#[test]
fn what_cannot_be_said_in_a_flow_is_refused_at_its_place() {
    let step = |step: &str| {
        said(
            format!("{{ id: x, steps: [{{ id: s, {step} }}] }}"),
            Format::Yaml,
        )
    };
    assert_snapshot!(step("type: transform, transform: 'plan.files', next: s"), @"
    1:55: a `transform` calculates in JavaScript, which a flow does not run [F023]
    at /steps/0/transform
    help: register a node that calculates it, and make the step one of the type `agent`
    ");
    assert_snapshot!(step("type: condition, condition: 'a.map(b => b)', then: s"), @r#"
    1:55: `a.map(` of this condition in JavaScript is not part of CEL, in which flows have their conditions [F023]
    at /steps/0/condition
    help: let an agent decide it, and compare its result: `condition: "check.passed === true"`
    "#);
    assert_snapshot!(step("type: condition, condition: 'a > 1', then: s, on_error: s"), @"
    1:73: `on_error` of a condition is not part of a flow: a condition that cannot be told ends the run [F023]
    at /steps/0/on_error
    help: remove it
    ");
    assert_snapshot!(step("type: parallel, timeout_ms: 5, min_success: 1, steps: [{ id: a, type: agent, agent: a, next: s }, { id: b, type: approval }]"), @"
    1:114: `a` runs in `s`, and leads nowhere itself [F023]
    at /steps/0/steps/0/next
    help: write `next` at `s`
    1:140: this is an approval, which cannot run in the parallel step `s` [F020]
    at /steps/0/steps/1/type
    help: let it follow after `s`
    1:71: `s` fails if one of its 2 steps fails, so `min_success` can only be 2 [F023]
    at /steps/0/min_success
    help: remove it, and let the agents of the steps that may fail return their errors as results
    1:43: `timeout_ms` of a parallel step is not part of a flow [F023]
    at /steps/0/timeout_ms
    help: write `timeout_ms` at each of its steps
    ");
    assert_snapshot!(step("type: agent, agent: a, input: plan, max_retries: -1, timeout_ms: 0"), @"
    1:76: `max_retries` is -1, and should be the number of calls after the first, at least 0 [F023]
    at /steps/0/max_retries
    1:92: `timeout_ms` is 0, and should be a number of milliseconds, from 1 to 1000000000000 [F023]
    at /steps/0/timeout_ms
    1:57: there is no step `plan` [F004]
    at /steps/0/input
    help: there is `s`
    ");
    assert_snapshot!(step("type: approval, message: Go?, on_approve: s"), @"
    1:18: `on_reject` is missing [F023]
    at /steps/0
    help: name the step that follows then, or `end`
    ");
    assert_snapshot!(said("{ id: x, max_iterations: many, context_retention: some, steps: [{ id: a, type: agent, agent: a, next: b, input: q }, { id: q, type: approval, message: Go?, on_approve: end, on_reject: end }] }", Format::Yaml), @r#"
    1:26: `max_iterations` is "many", and should be a whole number, at least 1 [F023]
    at /max_iterations
    1:51: `context_retention` is "some", and should be `all`, `recent` or `referenced` [F023]
    at /context_retention
    1:103: there is no step `b` [F004]
    at /steps/0/next
    help: there is `a`, `q`, `end`
    1:113: the step `q` has no result [F015]
    at /steps/0/input
    help: name a step of the type `agent`
    "#);
}

/// An id is the same however Unicode writes it: `é` is one character or two.
#[test]
fn ids_are_compared_in_the_composed_form() {
    for text in [
        "{ id: x, steps: [{ id: a, type: agent, agent: one, next: caf\u{e9} }, { id: cafe\u{301}, type: agent, agent: one, input: a }] }",
        "{ id: x, steps: [{ id: a, type: agent, agent: one, on_success: cafe\u{301} }, { id: caf\u{e9}, type: agent, agent: one, on_success: end }] }",
        "{ id: x, startNode: a, nodes: [{ id: a, type: parallel, children: [cafe\u{301}] }, { id: caf\u{e9}, type: agent }] }",
        "{ version: 2.0.0, entryNodeId: a, nodes: [{ type: t, id: a }, { type: t, id: cafe\u{301} }], edges: [{ from: a, to: caf\u{e9}, condition: default }] }",
        "{ version: 2.0.0, nodes: [{ type: flow.fork, id: a, params: { branches: [[cafe\u{301}]] } }, { type: t, id: caf\u{e9} }], edges: [] }",
        "{ version: 2.0.0, nodes: [{ type: flow.first, id: a, params: { branches: [{ steps: [cafe\u{301}] }] } }, { type: t, id: caf\u{e9} }], edges: [] }",
    ] {
        let document = read(text.as_bytes(), Format::Yaml).unwrap();
        let flow = document.flow();
        assert_eq!(flow.nodes[1].id, "caf\u{e9}", "{text}");
        assert!(flow.node("cafe\u{301}").is_some());
        assert_eq!(document.check(), [], "{text}");
    }
    let twice = "{ version: 2.0.0, nodes: [{ type: t, id: caf\u{e9} }, { type: t, id: cafe\u{301} }], edges: [], entryNodeId: cafe\u{301} }";
    assert_snapshot!(said(twice, Format::Yaml), @"
    1:65: a second node has the id `café` [F017]
    at /nodes/1/id
    the first one (line 1, column 42)
    help: give it another id
    ");
}

/// Ids, and the names of values that often are ids, in each form of Unicode and in several.
#[test]
fn ids_are_compared_in_the_composed_form_wherever_they_stand() {
    let definition = |defined: &str, named: &str| {
        format!(
            r#"{{ "id": "x", "startNode": "{named}", "initialState": {{ "{defined}0": 1 }},
            "nodes": [
            {{ "id": "{defined}", "type": "agent", "onSuccess": "b",
               "inputAdapter": {{ "a": "{named}0" }} }},
            {{ "id": "b", "type": "agent", "onSuccess": "c", "onError": "{named}",
               "inputAdapter": {{ "a": "{named}" }}, "outputAdapter": "{defined}2" }},
            {{ "id": "c", "type": "agent", "onSuccess": "d",
               "inputAdapter": {{ "a": "{named}2" }} }},
            {{ "id": "d", "type": "branch", "default": null,
               "cases": [{{ "condition": "1 > 2", "targetNode": "{named}" }}] }} ] }}"#
        )
    };
    let engine = |defined: &str, named: &str| {
        format!(
            r#"{{ "id": "x", "initial_context": {{ "{defined}0": 1 }}, "steps": [
            {{ "id": "{defined}", "type": "agent", "agent": "s", "next": "b" }},
            {{ "id": "b", "type": "agent", "agent": "s", "input": "{named}", "next": "c" }},
            {{ "id": "c", "type": "condition", "then": "{named}", "else": "end",
               "condition": "context.{named}.x > {named}.y && context['{named}'] < context.{named}0"
            }} ] }}"#
        )
    };
    let (one, two) = ("caf\u{e9}", "cafe\u{301}");
    for (text, entry) in [(definition as fn(&str, &str) -> String, one), (engine, one)] {
        let expected = read(text(one, one).as_bytes(), Format::Json).unwrap();
        assert_eq!(expected.flow().entry_node_id.as_deref(), Some(entry));
        for (defined, named) in [(one, two), (two, one), (two, two)] {
            let text = text(defined, named);
            let document = read(text.as_bytes(), Format::Json).unwrap();
            assert_eq!(document.flow(), expected.flow(), "{text}");
        }
    }
}

#[test]
fn two_values_whose_names_look_alike_are_a_mistake_at_the_second() {
    let values = "{ \"caf\u{e9}\": 1, \"cafe\u{301}\": 2 }";
    for text in [
        format!(
            r#"{{ "id": "x", "startNode": "a", "initialState": {values},
               "nodes": [{{ "id": "a", "type": "agent" }}] }}"#
        ),
        format!(
            r#"{{ "id": "x", "initial_context": {values},
               "steps": [{{ "id": "a", "type": "agent", "agent": "b", "next": "end" }}] }}"#
        ),
    ] {
        let problems = read(text.as_bytes(), Format::Json).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(
            problems[0].message,
            "a second value has the name `caf\u{e9}`"
        );
        assert!(
            problems[0].pointer.ends_with("/cafe\u{301}"),
            "{problems:?}"
        );
    }
}
