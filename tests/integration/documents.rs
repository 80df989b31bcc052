//! What a flow says of itself: `SPEC`, `flows()`, and exports with values. Sound flows of all kinds
//! are linked into this program, and the laws are asked of all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use flow_runtime::flow_spec::document::SCHEMA;
use flow_runtime::flow_spec::{FlowDocument, NodeDocument};
use flow_runtime::prelude::*;
use flow_runtime::{Export as _, ExportOptions, Params, flows};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn document<F: Flow>() -> FlowDocument {
    FlowDocument::parse_spec(F::SPEC).expect("the macro writes a document")
}

fn node<'d>(document: &'d FlowDocument, id: &str) -> &'d NodeDocument {
    let found = document.nodes.iter().find(|node| node.id == id);
    found.unwrap_or_else(|| panic!("no `{id}` in {}", document.to_json()))
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Every flow of this program: what the macro wrote is read and written again byte for byte, it is the same after it was
/// YAML, it is valid by the shipped JSON Schema, and the analysis that accepted the macro's graph accepts the document's.
#[test]
fn the_document_of_every_flow_is_sound_and_survives_a_round_trip() {
    let flows = flows();
    assert!(flows.len() > 200, "there are {} flows", flows.len());
    let schema = serde_json::from_str(SCHEMA).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut all = String::new();
    for flow in flows {
        let document = match FlowDocument::parse(flow.spec()) {
            Ok(document) => document,
            Err(problems) => panic!("{}: {problems:#?}\n{}", flow.name(), flow.spec()),
        };
        assert_eq!(document.to_compact_json(), flow.spec());
        assert_eq!(FlowDocument::parse(&document.to_json()).unwrap(), document);
        let yaml = flow_text::to_yaml(&document);
        let again = flow_text::read(yaml.as_bytes(), flow_text::Format::Yaml).unwrap();
        assert_eq!(again.into_flow(), document, "{yaml}");
        for error in schema.iter_errors(&serde_json::from_str(flow.spec()).unwrap()) {
            let _ = writeln!(all, "{}: {error}", flow.name());
        }
        for problem in document.check() {
            let _ = writeln!(all, "{}: {problem}", flow.name());
        }
        assert_eq!(document.name, flow.name());
        assert_eq!(document.namespace, flow.namespace());
    }
    assert!(all.is_empty(), "{all}");
}

/// What the macro told the outer flow about the ends of an inner one is what the analysis of the
/// document finds.
#[test]
fn each_node_that_is_a_flow_writes_what_its_flow_writes_at_its_ends() {
    let mut compared = 0;
    for flow in flows() {
        let document = FlowDocument::parse_spec(flow.spec()).unwrap();
        for node in &document.nodes {
            let Some(inner) = &node.internal_flow else {
                continue;
            };
            let ends = inner.written_at_ends().expect("the flow is sound");
            let actions = node.actions.as_ref().expect("the macro writes actions");
            assert_eq!(actions.len(), ends.len());
            for (action, end) in actions.iter().zip(ends) {
                assert_eq!(action.name, end.name);
                let writes = action.writes.iter().map(|name| (name, false));
                let may_write = action.may_write.iter().map(|name| (name, true));
                let told: BTreeSet<_> = writes.chain(may_write).collect();
                let found = end.writes.iter().map(|write| (&write.key, write.optional));
                assert_eq!(told, found.collect(), "{} of {}", node.id, flow.name());
                compared += told.len();
            }
        }
    }
    assert!(compared > 50, "{compared} outputs");
}

#[node]
fn first(start_at: &u64) -> u64 {
    *start_at
}

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Big { excess: u64 },
    Small,
}

/// Decides by the size.
///
/// Second paragraph with "quotes" and \ a backslash.
#[node(actions = Size, retry(attempts = 3, wait = "200ms", backoff = 2.0), timeout = "90s")]
async fn weigh(first: &u64, limit: Option<&u64>) -> Result<Size, std::io::Error> {
    let limit = limit.copied().unwrap_or(10);
    Ok(match first.checked_sub(limit) {
        Some(excess) if excess > 0 => Size::Big { excess },
        _ => Size::Small,
    })
}

#[node(writes = half, blocking)]
fn halve(excess: &u64) -> u64 {
    excess / 2
}

flow! {
    /// Weighs a number.
    Weighing(
        /// Where it begins.
        start_at: u64,
        limit: Option<u64>,
    ) -> (half: Option<u64>) {
        node weigh: weigh with timeout = "1s";

        start >> first >> weigh;
        weigh - "big"   >> halve >> end("halved");
        weigh - "small" >> end;
        weigh - "error" >> end("broken");
    }
}

/// PRD-004's order of fields, with what this format adds between them (B-038).
#[test]
fn a_document_has_the_fields_of_prd_004_in_their_order() {
    let value: Value = serde_json::from_str(Weighing::SPEC).unwrap();
    let fields: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        [
            "version",
            "namespace",
            "name",
            "description",
            "inputs",
            "outputs",
            "nodes",
            "edges",
            "ends",
            "entryNodeId",
            "dependencies"
        ]
    );
}

#[test]
fn a_node_says_its_contract_and_its_settings() {
    let document = document::<Weighing>();
    assert_eq!(
        json(node(&document, "weigh")),
        json!({
            "type": "weigh",
            "id": "weigh",
            "description": "Decides by the size.\n\nSecond paragraph with \"quotes\" and \\ a backslash.",
            "params": {},
            "settings": {
                "retry": { "attempts": 3, "wait": "200ms", "backoff": 2.0 },
                "timeout": "1s"
            },
            "inputs": {
                "type": "object",
                "properties": {
                    "first": { "type": "integer", "minimum": 0, "rustType": "u64" },
                    "limit": { "type": "integer", "minimum": 0, "rustType": "u64" }
                },
                "required": ["first"]
            },
            "outputs": {
                "type": "object",
                "properties": { "excess": { "type": "integer", "minimum": 0, "rustType": "u64" } }
            },
            "actions": [{ "name": "big", "writes": ["excess"] }, { "name": "small" }],
            "fallible": true
        })
    );
    assert!(node(&document, "halve").settings.blocking);
}

/// BP-14: all edges of a node are there, in the order written; where the flow ends is no edge.
#[test]
fn edges_lead_to_nodes_and_ends_are_apart() {
    let document = document::<Weighing>();
    assert_eq!(document.entry_node_id.as_deref(), Some("first"));
    assert_eq!(
        json(&document.edges),
        json!([
            { "from": "first", "to": "weigh", "condition": "default" },
            { "from": "weigh", "to": "halve", "condition": "big" }
        ])
    );
    assert_eq!(
        json(&document.ends),
        json!([
            { "from": "halve", "condition": "default", "label": "halved" },
            { "from": "weigh", "condition": "small", "label": "default" },
            { "from": "weigh", "condition": "error", "label": "broken" }
        ])
    );
}

#[test]
fn a_signature_says_what_is_optional_and_its_documentation() {
    let document = document::<Weighing>();
    assert_eq!(document.description.as_deref(), Some("Weighs a number."));
    assert_eq!(document.inputs.required, ["start_at"]);
    let described = &document.inputs.properties["start_at"]["description"];
    assert_eq!(described, "Where it begins.");
    assert!(document.outputs.required.is_empty());
}

#[node(poll(every = "1s", timeout = "1h"))]
fn answer_of_the_bank(half: &u64) -> Option<String> {
    (*half > 1).then(|| "yes".to_owned())
}

#[node(writes = doubled)]
fn double(number: &u64) -> Result<u64, std::io::Error> {
    Ok(number * 2)
}

flow! {
    /// One of everything.
    Everything(numbers: Vec<u64>, limit: u64) -> (all: Vec<Result<u64, NodeError>>, half: u64, bank: Option<String>) {
        namespace "of.everything";
        node all: for number in numbers { double } with concurrency(4), collect_errors;
        node both: [halve_limit >> wait(90s), first_of_limit];
        node halve_limit: halve { excess <- limit };
        node first_of_limit: first { start_at <- limit, first -> begun };
        node bank: answer_of_the_bank { answer_of_the_bank -> bank };
        branch large(begun, limit) { *begun > 3 && -(*limit as i64) < 7 => "large", else => "small" }

        start >> all >> both >> large;
        large - "large" >> bank >> end;
        large - "small" >> end;
        bank - "timeout" >> end("late");
    }
}

#[test]
fn forks_loops_branches_and_waits_are_nodes_of_built_in_types() {
    let document = document::<Everything>();
    let built_in: Vec<Value> = document
        .nodes
        .iter()
        .filter(|node| node.r#type.starts_with("flow."))
        .map(|node| json!([node.r#type, node.id, node.params]))
        .collect();
    assert_eq!(
        json(built_in),
        json!([
            ["flow.each", "all", { "item": "number", "over": "numbers", "body": "all-double" }],
            ["flow.fork", "both", { "branches": [["halve_limit", "wait"], ["first_of_limit"]] }],
            ["flow.branch", "large", {
                "cases": [{ "when": "*begun > 3 && -(*limit as i64) < 7", "action": "large" }],
                "otherwise": "small"
            }],
            ["flow.wait", "wait", { "duration": "1m 30s" }]
        ])
    );
    let settings = &node(&document, "all").settings;
    assert_eq!(
        json(settings),
        json!({ "concurrency": 4, "collectErrors": true })
    );
    assert_eq!(
        node(&document, "all").outputs.rust_type("all"),
        Some("Vec<Result<u64, NodeError>>")
    );
    assert_eq!(
        json(&node(&document, "bank").settings),
        json!({ "poll": { "every": "1s", "timeout": "1h" } })
    );
    let bank = node(&document, "bank").actions.as_ref().unwrap();
    let actions: Vec<&str> = bank.iter().map(|action| action.name.as_str()).collect();
    assert_eq!(actions, ["default", "timeout"]);
}

#[node(writes = r#type)]
async fn नमस्ते(text: &str) -> Result<String, std::io::Error> {
    Ok(text.to_owned())
}

flow! {
    Named(text: String) -> (r#type: String) {
        branch quoted(text) { text == "a  b" || text.is_empty() => "odd", else => "plain" }
        start >> quoted;
        quoted - "odd"   >> नमस्ते >> end;
        quoted - "plain" >> नमस्ते;
    }
}

/// Names are those that Rust takes, without their `r#`; and a text in a condition stays as it is.
#[test]
fn names_and_texts_are_written_as_they_are() {
    let document = Named::new().export(ExportOptions::default());
    assert_eq!(node(&document, "नमस्ते").outputs.required, ["type"]);
    let case = &node(&document, "quoted").params["cases"][0];
    assert_eq!(case["when"], r#"text == "a  b" || text.is_empty()"#);
}

/// BP-20: a mapping is exported with its node, which keeps the names of its own contract.
#[test]
fn mappings_are_exported() {
    let document = document::<Everything>();
    let renamed = node(&document, "first_of_limit");
    assert_eq!(
        json(&renamed.mappings),
        json!({ "inputs": { "start_at": "limit" }, "outputs": { "first": "begun" } })
    );
    assert_eq!(renamed.inputs.required, ["start_at"]);
}

flow! {
    Inner(limit: u64, numbers: Vec<u64>) -> (half: u64) {
        node deep: Everything;
        start >> deep >> end;
        deep - "late" >> end("late");
    }
}

flow! {
    Outer(limit: u64, numbers: Vec<u64>) -> (half: u64) {
        namespace "a.b";
        node left: Inner;
        node right: Inner;
        start >> left >> right >> end;
        left - "late" >> end;
        right - "late" >> end;
    }
}

/// BP-01, B-022, D-13: a nested flow's namespace is that of its node, and composites are known before any run. B-036:
/// it is nested, not flattened.
#[test]
fn a_nested_flow_has_the_namespace_of_its_node() {
    let document = document::<Outer>();
    let namespaces: Vec<&str> = document
        .nodes
        .iter()
        .map(|node| node.internal_flow.as_ref().unwrap())
        .flat_map(|inner| {
            let deep = inner.nodes[0].internal_flow.as_ref().unwrap();
            [inner.namespace.as_str(), deep.namespace.as_str()]
        })
        .collect();
    assert_eq!(
        namespaces,
        ["a.b.left", "a.b.left.deep", "a.b.right", "a.b.right.deep"]
    );
    assert_eq!(
        document.nodes[0].r#type, "Inner",
        "the type of a composite is its flow"
    );
}

#[derive(Serialize)]
struct Chat {
    model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[node(writes = half)]
impl Chat {
    fn exec(&self, limit: &u64) -> u64 {
        let letters = self.model.len() as f64 * self.temperature.unwrap_or(1.0);
        limit / 2 + letters as u64
    }
}

struct Client {
    connection: u64,
}

#[node(writes = half)]
impl Client {
    fn exec(&self, limit: &u64) -> u64 {
        limit / self.connection
    }
}

#[derive(Params)]
struct Keyed {
    base_url: String,
    #[param(secret)]
    password: String,
    token: SecretString,
    spare: Option<SecretString>,
    keys: Vec<SecretString>,
    client: Client,
    /// Secret and of a type that serde does not know: not even its name must be missing from what is masked.
    #[param(secret)]
    vault: Client,
}

#[node(writes = half)]
impl Keyed {
    fn exec(&self, limit: &u64) -> u64 {
        limit / self.client.connection / self.vault.connection
            + (self.base_url.len() + self.password.len()) as u64
    }
}

flow! {
    Settings(limit: u64) -> (half: u64) {
        node chat: Chat = Chat { model: "small", temperature: None };
        node warm: Chat = Chat { model: "small", temperature: Some(0.5) };
        node client: Client = Client { connection: 2 };
        node keyed: Keyed;
        start >> chat >> warm >> client >> keyed >> end;
    }
}

flow! {
    Around(limit: u64) -> (half: u64) {
        node settings: Settings;
        start >> settings >> end;
    }
}

fn settings() -> Settings {
    let client = || Client { connection: 1 };
    let keyed = Keyed {
        base_url: "https://a".to_owned(),
        password: "hunter2".to_owned(),
        token: SecretString::from("t-1"),
        spare: Some(SecretString::from("t-2")),
        keys: vec![SecretString::from("t-3")],
        client: client(),
        vault: client(),
    };
    Settings::builder().keyed(keyed).build()
}

/// All values, secrets too.
fn with_sensitive() -> ExportOptions {
    ExportOptions {
        include_sensitive: true,
        ..ExportOptions::default()
    }
}

/// BP-13: the settings that a node has, and of those that are optional only the ones that are there.
#[test]
fn settings_that_serde_can_write_are_params_if_asked_for() {
    let document = settings().export(with_sensitive());
    let (chat, warm) = (node(&document, "chat"), node(&document, "warm"));
    assert_eq!(json(&chat.params), json!({ "model": "small" }));
    assert_eq!(
        json(&warm.params),
        json!({ "model": "small", "temperature": 0.5 })
    );
    assert!(chat.params_omitted.is_empty() && warm.params_omitted.is_empty());
    assert_is_sound(&document);
}

fn assert_is_sound(document: &FlowDocument) {
    let problems = FlowDocument::parse(&document.to_json()).unwrap().check();
    assert!(problems.is_empty(), "{problems:#?}");
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    assert!(schema.is_valid(&json(document)), "{}", document.to_json());
}

/// What serde writes of a type says nothing of which of its fields are secret.
#[derive(Serialize)]
struct OnlySerialize {
    model: String,
    api_key: String,
}

#[node(writes = half)]
impl OnlySerialize {
    fn exec(&self, limit: &u64) -> u64 {
        limit / 2 + (self.model.len() + self.api_key.len()) as u64
    }
}

/// It must not even be asked.
struct NotToBeWritten(u64);

impl Serialize for NotToBeWritten {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("nobody asked for values");
    }
}

#[node(writes = half)]
impl NotToBeWritten {
    fn exec(&self, half: u64) -> u64 {
        half / self.0
    }
}

/// It has no field that could be missing.
#[derive(Default, Serialize)]
struct WithoutFields;

#[node(writes = half)]
impl WithoutFields {
    fn exec(&self, half: u64) -> u64 {
        half
    }
}

flow! {
    Unmarked(limit: u64) -> (half: u64) {
        node model: OnlySerialize;
        node quiet: NotToBeWritten = NotToBeWritten(1);
        start >> model >> quiet >> WithoutFields >> end;
    }
}

flow! {
    AroundUnmarked(limit: u64) -> (half: u64) {
        node inner: Unmarked;
        start >> inner >> end;
    }
}

/// D-18: secrets are `***` unless asked for. Of a type that is only `Serialize` nobody has said what is secret, so that no
/// value of it leaves the program unless asked for, also in a flow inside.
#[test]
fn settings_of_a_type_that_is_only_serialize_stay_inside() {
    let model = OnlySerialize {
        model: "small".to_owned(),
        api_key: "sk-live-1".to_owned(),
    };
    let inner = Unmarked::builder().model(model).build();
    let around = AroundUnmarked::builder().inner(inner).build();
    let document = around.export(ExportOptions::default());
    let text = document.to_json();
    assert!(
        !text.contains("sk-live-1") && !text.contains("small"),
        "{text}"
    );
    let inner = document.nodes[0].internal_flow.as_ref().unwrap();
    for (id, omitted) in [
        ("model", &["*"][..]),
        ("quiet", &["*"]),
        ("without_fields", &[]),
    ] {
        assert!(node(inner, id).params.is_empty(), "{id}");
        assert_eq!(node(inner, id).params_omitted, omitted, "{id}");
    }
    assert_is_sound(&document);
}

/// BP-15, CF-13: what serde cannot write is said to be missing, not left out silently.
#[test]
fn settings_that_serde_cannot_write_are_named() {
    let document = settings().export(ExportOptions::default());
    let client = node(&document, "client");
    assert_eq!(client.params_omitted, ["*"]);
    assert!(client.params.is_empty());
    assert_eq!(node(&document, "keyed").params_omitted, ["client"]);
}

/// D-18: a secret is `***` unless asked, also in a flow inside.
#[test]
fn secrets_are_masked_unless_asked_for() {
    let around = Around::builder().settings(settings()).build();
    let keyed = |options| {
        let document = around.export(options);
        let inner = document.nodes[0].internal_flow.as_ref().unwrap();
        json(&node(inner, "keyed").params)
    };
    assert_eq!(
        keyed(ExportOptions::default()),
        json!({ "base_url": "https://a", "password": "***", "token": "***", "spare": "***", "keys": "***", "vault": "***" })
    );
    assert_eq!(
        keyed(with_sensitive()),
        json!({ "base_url": "https://a", "password": "hunter2", "token": "t-1", "spare": "t-2", "keys": ["t-3"] })
    );
}

/// No value of a setting is in the program: it could be a secret.
#[test]
fn the_structure_alone_has_no_values() {
    let document = document::<Settings>();
    for node in &document.nodes {
        assert!(node.params.is_empty() && node.params_omitted.is_empty());
    }
}

/// BP-04, D-17: below the depth, a flow is left out, and its node says so.
#[test]
fn an_export_is_as_deep_as_asked() {
    let around = Around::builder().settings(settings()).build();
    let document = around.export(ExportOptions {
        depth: 0,
        ..ExportOptions::default()
    });
    assert!(document.nodes[0].internal_flow.is_none());
    assert!(document.nodes[0].internal_flow_omitted);
    assert!(around.export(ExportOptions::default()).nodes[0].is_flow());
}

#[derive(Clone, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Claim {
    /// In cents.
    amount: u64,
    lines: Vec<Line>,
}

#[derive(Clone, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Line {
    text: String,
    parts: Vec<Line>,
}

struct Opaque;

#[node]
fn accept(claim: &Claim) -> Opaque {
    let _ = claim;
    Opaque
}

#[node(writes = half)]
fn look(bill: &Claim, accept: &Opaque) -> u64 {
    let (_, Opaque) = (bill, accept);
    0
}

flow! {
    Claims(claim: Claim) -> (half: u64) {
        node look: look { bill <- claim };
        start >> accept >> look >> end;
    }
}

/// The schema of a type that has one is there, under whatever name a node reads it; others have their Rust type.
#[test]
fn a_type_with_a_schema_brings_it_along() {
    let document = Claims::new().export(ExportOptions::default());
    for property in [
        &document.inputs.properties["claim"],
        &node(&document, "accept").inputs.properties["claim"],
        &node(&document, "look").inputs.properties["bill"],
    ] {
        assert_eq!(property["properties"]["amount"]["description"], "In cents.");
        assert_eq!(property["rustType"], "Claim");
    }
    assert_eq!(
        json(&node(&document, "accept").outputs.properties["accept"]),
        json!({ "rustType": "Opaque" })
    );
    assert!(document_without_schema().contains("\"claim\":{\"rustType\":\"Claim\"}"));
}

fn document_without_schema() -> &'static str {
    Claims::SPEC
}

/// BP-02: names of actions are what the flow writes, whatever they are.
#[test]
fn standard_actions_round_trip_as_text() {
    #[derive(Action, Serialize, Deserialize)]
    enum Standard {
        Complete,
        Success,
        Failure,
        Retry,
    }
    #[node(actions = Standard)]
    fn decide(which: &u8) -> Standard {
        match which {
            0 => Standard::Complete,
            1 => Standard::Success,
            2 => Standard::Failure,
            _ => Standard::Retry,
        }
    }
    flow! {
        Deciding(which: u8) -> () {
            start >> decide;
            decide - "complete" >> end("a");
            decide - "success"  >> end("b");
            decide - "failure"  >> end("c");
            decide - "retry"    >> decide;
        }
    }
    let document = document::<Deciding>();
    let conditions: Vec<&str> = document
        .edges
        .iter()
        .map(|edge| edge.condition.as_str())
        .chain(
            document
                .ends
                .iter()
                .filter_map(|end| end.condition.as_deref()),
        )
        .collect();
    assert_eq!(conditions, ["retry", "complete", "success", "failure"]);
}

#[node(
    title = "Look up the price",
    icon = "🏷",
    group = "shop",
    tags("remote", "slow"),
    writes = price
)]
fn look_up(item: &str) -> usize {
    item.len()
}

#[derive(Default)]
struct Discount;

#[node(title = "Grant a discount", writes = price)]
impl Discount {
    fn exec(&self, price: usize) -> usize {
        price - 1
    }
}

/// Whether to buy it.
#[node(human = "Buy for {price}?", title = "Purchase", tags("people"))]
#[derive(serde::Serialize, serde::Deserialize)]
enum Purchase {
    Bought,
    Left,
}

flow! {
    Shop(item: String) -> (price: usize) {
        node cheaper: Discount = Discount;
        start >> look_up >> cheaper >> Purchase;
        Purchase - "bought" >> end;
        Purchase - "left" >> end("left");
    }
}

#[test]
fn titles_icons_groups_and_tags_are_exported() {
    let document = FlowDocument::parse_spec(Shop::SPEC).unwrap();
    let shown = |id: &str| {
        let node = document.nodes.iter().find(|node| node.id == id).unwrap();
        let texts = [&node.title, &node.icon, &node.group].map(Option::as_deref);
        (texts, node.tags.join(" "))
    };
    let price = [Some("Look up the price"), Some("🏷"), Some("shop")];
    assert_eq!(shown("look_up"), (price, "remote slow".to_owned()));
    let discount = [Some("Grant a discount"), None, None];
    assert_eq!(shown("cheaper"), (discount, String::new()));
    assert_eq!(
        shown("purchase"),
        ([Some("Purchase"), None, None], "people".to_owned())
    );
    let purchase = &document.nodes[2];
    assert_eq!(purchase.description.as_deref(), Some("Whether to buy it."));
    assert_eq!(purchase.params["prompt"], "Buy for {price}?");
}

flow_law::law! {
    nodes: [first, weigh, halve, answer_of_the_bank, double, नमस्ते, accept, look, look_up, Purchase],
    flows: [
        Weighing,
        Shop with [Discount = Discount],
    ],
    not_json: [Claims],
    left_out: [Settings, Around, Unmarked, AroundUnmarked, Everything, Inner, Outer, Named],
}
