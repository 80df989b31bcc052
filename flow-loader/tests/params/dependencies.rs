//! Values that documents name and programs provide.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow_loader::{Dependency, DependencyError, Format, LoadedFlow, Registry, load, registry};
use flow_runtime::prelude::*;
use flow_runtime::{Export as _, ExportOptions, Params};
use serde::Deserialize;
use serde_json::json;

use super::{answer, loaded, refused};

trait Model: Send + Sync {
    fn complete(&self, prompt: &str) -> String;
}

trait Embedder: Send + Sync {}

struct Named(&'static str);

impl Model for Named {
    fn complete(&self, prompt: &str) -> String {
        format!("{}: {prompt}", self.0)
    }
}

impl Embedder for Named {}

#[derive(Debug, Deserialize, Params)]
#[serde(deny_unknown_fields)]
struct Ask {
    model: Dependency<dyn Model>,
    #[serde(default)]
    mark: String,
}

#[node(writes = answer)]
impl Ask {
    fn exec(&self, question: &str) -> String {
        self.model.complete(question) + &self.mark
    }
}

flow! {
    Qa(question: String) -> (answer: String) {
        node ask: Ask;
        start >> ask >> end;
    }
}

fn models() -> Registry {
    registry![Ask]
        .provide::<dyn Model>("fast", Arc::new(Named("fast")))
        .provide::<dyn Model>("thorough", Arc::new(Named("thorough")))
        .provide::<dyn Embedder>("vectors", Arc::new(Named("vectors")))
}

#[tokio::test]
async fn two_documents_that_differ_in_one_param() {
    let registry = models();
    for model in ["fast", "thorough"] {
        let flow = loaded("Ask", &json!({ "model": model }), &registry).unwrap();
        assert_eq!(answer(&flow).await, format!("{model}: why?"));
    }
}

#[test]
fn dependencies_that_are_not_provided() {
    let registry = models();
    let refused = |model: &str| refused("Ask", &json!({ "model": model }), &registry);
    assert_eq!(
        refused("fats"),
        "no `dyn Model` is provided as `fats` [F015]\nat /nodes/0/params/model\nhelp: did you mean `fast`?"
    );
    assert_eq!(
        refused("vectors"),
        "`vectors` is a `dyn Embedder`, and a `dyn Model` is needed [F008]\nat /nodes/0/params/model\n\
         help: there is `fast`, `thorough`"
    );
}

#[test]
fn a_dependency_of_a_type_of_which_none_is_provided() {
    let refused = refused("Ask", &json!({ "model": "fast" }), &registry![Ask]);
    assert_eq!(
        refused,
        "no `dyn Model` is provided as `fast` [F015]\nat /nodes/0/params/model\n\
         help: provide it: `registry.provide::<dyn Model>(\"fast\", …)`"
    );
}

#[test]
fn a_dependency_is_named_by_a_text() {
    let refused = refused("Ask", &json!({ "model": 3 }), &models());
    assert_eq!(
        refused,
        "these are not the settings of `Ask`: invalid type: integer `3`, expected the name of a `dyn Model` \
         [F016]\nat /nodes/0/params/model"
    );
}

#[test]
fn a_dependency_is_read_only_while_a_flow_is_loaded() {
    let error = serde_json::from_str::<Ask>(r#"{ "model": "fast" }"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fast` is the name of a dependency, which is known only while a flow is loaded at line 1 column 17"
    );
}

#[test]
fn dependencies_of_a_registry() {
    let registry = models();
    let known: Vec<&str> = registry.dependencies().map(|(name, _)| name).collect();
    assert_eq!(known, ["fast", "thorough", "vectors"]);
    let fast = registry.dependency::<dyn Model>("fast").unwrap();
    assert_eq!(fast.complete("why?"), "fast: why?");
    assert_eq!(format!("{fast:?}"), r#"Dependency("fast")"#);
    let error = registry.dependency::<String>("fast").unwrap_err();
    assert!(
        matches!(error, DependencyError::WrongType { .. }),
        "{error}"
    );

    let other = Registry::new().provide::<dyn Model>("fast", Arc::new(Named("faster")));
    let both = registry.clone().with(other);
    assert_eq!(both.dependencies().count(), 3);
    let model = |registry: &Registry| registry.dependency::<dyn Model>("fast").unwrap();
    assert_eq!(model(&both).complete("why?"), "faster: why?");
    assert_eq!(model(&registry).complete("why?"), "fast: why?");
}

#[test]
fn a_value_is_made_when_it_is_asked_for_first() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = made.clone();
    let registry = registry![Ask].provide_with::<dyn Model>("fast", move || {
        count.fetch_add(1, Ordering::Relaxed);
        Arc::new(Named("fast"))
    });
    let copy = registry.clone();
    assert_eq!(made.load(Ordering::Relaxed), 0);
    for registry in [&registry, &copy, &registry] {
        loaded("Ask", &json!({ "model": "fast" }), registry).unwrap();
    }
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

#[test]
fn loads_at_the_same_time_do_not_mix() {
    let load = |own: &'static str| {
        let registry = registry![Ask].provide::<dyn Model>("model", Arc::new(Named(own)));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        for _ in 0..200 {
            let flow = loaded("Ask", &json!({ "model": "model" }), &registry).unwrap();
            let said = runtime.block_on(answer(&flow));
            assert_eq!(said, format!("{own}: why?"));
        }
    };
    std::thread::scope(|scope| {
        for own in ["one", "two", "three"] {
            scope.spawn(move || load(own));
        }
    });
}

/// Loads a flow with another registry before it takes its own dependency.
#[derive(Deserialize)]
#[serde(from = "Inside")]
struct Outside {
    flow: LoadedFlow,
    model: Dependency<dyn Model>,
}

#[derive(Deserialize)]
struct Inside {
    inner: Inner,
    model: Dependency<dyn Model>,
}

struct Inner(LoadedFlow);

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let model = String::deserialize(deserializer)?;
        let registry = registry![Ask].provide::<dyn Model>(&*model, Arc::new(Named("inner")));
        let flow = loaded("Ask", &json!({ "model": model }), &registry);
        flow.map(Inner).map_err(serde::de::Error::custom)
    }
}

impl From<Inside> for Outside {
    fn from(Inside { inner, model }: Inside) -> Self {
        Outside {
            flow: inner.0,
            model,
        }
    }
}

#[node(writes = answer)]
impl Outside {
    async fn exec(&self, question: &str) -> String {
        let inner = answer(&self.flow).await;
        format!("{inner}, {}", self.model.complete(question))
    }
}

#[tokio::test]
async fn a_load_inside_of_a_load() {
    let registry = registry![Outside].provide::<dyn Model>("fast", Arc::new(Named("outer")));
    let flow = loaded(
        "Outside",
        &json!({ "inner": "fast", "model": "fast" }),
        &registry,
    );
    assert_eq!(answer(&flow.unwrap()).await, "inner: why?, outer: why?");
}

/// Serde keeps what a flattened struct or an untagged enum reads before it knows its type.
#[derive(Deserialize)]
struct Team {
    #[serde(flatten)]
    first: Ask,
    others: Vec<Member>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Member {
    Model { model: Dependency<dyn Model> },
    Embedder { model: Dependency<dyn Embedder> },
}

#[node(writes = answer)]
impl Team {
    fn exec(&self, question: &str) -> String {
        let kind = |member: &Member| match member {
            Member::Model { model } => model.complete(question),
            Member::Embedder { model } => model.name().to_owned(),
        };
        let others: Vec<String> = self.others.iter().map(kind).collect();
        format!(
            "{}, {}",
            self.first.model.complete(question),
            others.join(", ")
        )
    }
}

#[tokio::test]
async fn dependencies_in_types_of_every_shape() {
    let registry = models().with(registry![Team]);
    let others = json!([{ "model": "thorough" }, { "model": "vectors" }]);
    let flow = loaded(
        "Team",
        &json!({ "model": "fast", "others": others }),
        &registry,
    );
    assert_eq!(
        answer(&flow.unwrap()).await,
        "fast: why?, thorough: why?, vectors"
    );
    // The first is refused, and another one is taken: the error is that of the last one refused.
    let others = json!([{ "model": "vectors" }, { "model": "none" }]);
    assert_eq!(
        refused(
            "Team",
            &json!({ "model": "fast", "others": others }),
            &registry
        ),
        "no `dyn Embedder` is provided as `none` [F015]\nat /nodes/0/params/others/1\nhelp: there is `vectors`"
    );
}

#[tokio::test]
async fn an_exported_dependency_is_loaded_by_its_name() {
    let model = Dependency::new("fast", Arc::new(Named("compiled")) as Arc<dyn Model>);
    let mark = String::new();
    let exported = Qa::builder().ask(Ask { model, mark }).build();
    let exported = exported.export(ExportOptions::default());
    assert_eq!(exported.nodes[0].params["model"], "fast");
    let flow = load(exported.to_json(), Format::Json, &models()).unwrap();
    assert_eq!(answer(&flow).await, "fast: why?");
    assert_eq!(flow.document(), &exported);
}

/// Fails in a way that nobody expects.
#[derive(Debug)]
struct Broken;

impl<'de> Deserialize<'de> for Broken {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("on purpose")
    }
}

#[node(writes = answer)]
impl Broken {
    fn exec(&self, question: &str) -> String {
        format!("{question}{self:?}")
    }
}

#[test]
fn a_load_that_panics_leaves_nothing_behind() {
    let registry = registry![Broken].with(models());
    let load = std::panic::AssertUnwindSafe(|| loaded("Broken", &json!({}), &registry));
    assert!(std::panic::catch_unwind(load).is_err());
    let outside = serde_json::from_str::<Ask>(r#"{ "model": "fast" }"#);
    let message = outside.unwrap_err().to_string();
    assert!(
        message.contains("known only while a flow is loaded"),
        "{message}"
    );
}

#[derive(Deserialize)]
struct Served {
    member: Member,
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, u16>,
    port: u16,
}

#[node(writes = answer)]
impl Served {
    fn exec(&self, question: &str) -> String {
        let is_model = matches!(self.member, Member::Model { .. });
        format!("{question}{}{is_model}{}", self.port, self.rest.len())
    }
}

#[test]
fn an_error_is_not_that_of_a_dependency_that_was_found_elsewhere() {
    let registry = models().with(registry![Served]);
    // As a model, `vectors` is refused, before it is taken as an embedder.
    let params = json!({ "member": { "model": "vectors" }, "port": "x" });
    assert_eq!(
        refused("Served", &params, &registry),
        "these are not the settings of `Served`: invalid type: string \"x\", expected u16 [F016]\n\
         at /nodes/0/params/port"
    );
}
