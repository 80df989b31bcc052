#![doc = include_str!("../README.md")]
//!
//! # Steps and flows
//!
//! A step is a function or a type marked [`#[node]`](macro@node). Its parameters say what it reads,
//! its return type says what it writes. [`flow!`] says which step follows which. From both, the
//! compiler knows every path that a run can take, so a misspelt action, an action that leads
//! nowhere, or a value that some path does not write is an error at the place where it was written.
//! The result is a plain `async` loop over the steps: it allocates nothing per step and does no
//! lookups.
//!
//! Waits, polls, timeouts and deadlines use tokio's timer, and blocking nodes use its threads. A
//! flow without them runs on any executor.
//!
//! # What is checked
//!
//! - Every action of every node leads somewhere, and every edge is for an action that exists.
//! - Every node can be reached from `start`, and every node can reach an `end`.
//! - Every value is written on every path before it is read, and with the type that the reader
//!   wants.
//! - Every output is written at every `end`, unless it is an `Option`.
//! - A value that is taken and read later can be cloned.
//! - Branches that run at the same time neither write the same value nor read what another one
//!   writes.
//! - The caller gives every input.
//!
//! A mistake is reported with the path on which it happens and with a way to fix it. If
//! `"rejected"` led to `pay` as well in the flow above:
//!
//! ```text
//! error: `pay` reads `amount`, which is not written on every path to it [F007]
//!        this path does not write it: start >> review - "rejected" >> pay
//!        `review` writes `amount` only on "approved"
//!        help: write `amount` before, read it as `Option<&u64>`, or add it to the flow's inputs: `amount: u64`
//! ```
//!
//! # Where to go next
//!
//! - [`language`] explains the whole language on one page.
//! - [`Flow`] is the trait of every flow: its signature, its routing table, and its run methods.
//! - [`RunOptions`] limits, cancels and observes a run.
//! - [`FlowError`] is the reason why a run did not reach an end.
//! - [`engine`] contains the traits for writing your own engine.
//! - [`Flow::SPEC`] and [`flows`] have flows as JSON; `flow_spec` reads, checks and compares it.
//! - The crate `flow-durable` keeps executions in a store: they survive crashes, and wait for
//!   people.
//! - The folder `docs` of the repository has a tutorial, recipes to copy from, and pages for users
//!   of LangGraph or PocketFlow.

extern crate self as flow_runtime;

#[path = "private/mod.rs"]
#[doc(hidden)]
pub mod __private;
// rustc names these in its messages. A path through `__private` would tell the reader nothing.
pub use __private::Node;
#[doc(hidden)]
pub use __private::stored;
#[cfg(feature = "stored")]
#[doc(hidden)]
pub use external::SubmittedValue;
#[doc(hidden)]
pub use flow_macros::every_node_needs_the_attribute_node;
#[doc(hidden)]
pub use question::NoAnswers;
#[cfg(feature = "stored")]
#[doc(hidden)]
pub use signal::TakesSignals;
#[doc(hidden)]
pub use visit::Attempts;
mod accumulate;
mod action;
pub mod bounds;
mod checked;
mod concurrent;
mod context;
mod embed;
pub mod engine;
mod error;
#[cfg(feature = "stored")]
mod error_types;
#[cfg(feature = "stored")]
mod exact;
#[cfg(feature = "json")]
mod export;
#[cfg(feature = "stored")]
mod external;
mod flow;
mod frame;
mod history;
#[cfg(feature = "stored")]
mod input;
#[cfg(feature = "stored")]
mod json;
mod lifecycle;
mod nesting;
mod node_error;
mod observer;
mod options;
mod ordered;
mod panics;
mod policy;
mod question;
mod requirement;
mod run;
mod scope;
#[cfg(feature = "stored")]
pub mod shape;
#[cfg(feature = "stored")]
mod signal;
mod spec_text;
mod step;
mod step_id;
mod step_key;
#[cfg(feature = "stored")]
mod stored;
#[cfg(feature = "stored")]
mod stored_error;
mod supervise;
pub mod testing;
mod transaction;
mod undo_list;
mod visit;
mod within;

pub mod language;
pub mod prelude;

/// Makes the variants of an enum actions: the named outcomes that edges route. It implements the
/// trait [`Action`](trait@Action).
///
/// The variant `NeedsRevision` is the action `"needs_revision"`; `#[action("…")]` on a variant
/// renames it. The named fields of a variant are the keys that a node writes when it takes that
/// action; `#[action(add)]` on a field [adds](language#adding-to-a-value) it to the key's value.
/// Variants with unnamed fields are refused, and so are two variants of one name. The enum may be
/// generic; a node then names it with its arguments, as in `#[node(actions = Found<Page>)]`.
///
/// See [Actions](language#actions) for how a flow routes them.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[derive(Action)]
/// enum Found<T> {
///     /// The action `"found"` writes `page`.
///     Found { page: T },
///     /// The action `"missing"` writes nothing.
///     #[action("missing")]
///     NotFound,
/// }
///
/// #[node(actions = Found<String>)]
/// fn find(name: &str) -> Found<String> {
///     match name {
///         "index" => Found::Found { page: "Welcome".into() },
///         _ => Found::NotFound,
///     }
/// }
///
/// flow! {
///     Find(name: String) -> (page: Option<String>) {
///         start >> find;
///         find - "found" >> end;
///         find - "missing" >> end("not_found");
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// # let output = Find::new().run(FindInput { name: "index".into() }).await?;
/// # assert_eq!(output.page.as_deref(), Some("Welcome"));
/// # Ok(()) }
/// ```
pub use flow_macros::Action;
/// Defines how each setting of a node is exported: see the trait [`Params`](trait@Params).
///
/// `#[param(secret)]` makes a field a secret, and so does a type of the crate `secrecy`. A field of
/// a type that is not `Serialize` is not a mistake: an export names it in `paramsOmitted`.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
/// use flow_runtime::{Export as _, ExportOptions, Params};
///
/// #[derive(Default)]
/// struct Connection(u64);
///
/// #[derive(Params, Default)]
/// struct Fetch {
///     base_url: String,
///     #[param(secret)]
///     password: String,
///     connection: Connection,
/// }
///
/// #[node]
/// impl Fetch {
///     fn exec(&self, path: &str) -> String {
///         format!("{}{path} over {}, {}", self.base_url, self.connection.0, self.password.len())
///     }
/// }
///
/// flow! {
///     Download(path: String) -> (fetch: String) {
///         start >> Fetch >> end;
///     }
/// }
///
/// let document = Download::new().export(ExportOptions::default());
/// let fetch = &document.nodes[0];
/// assert_eq!(fetch.params["base_url"], "");
/// assert_eq!(fetch.params["password"], "***");
/// assert_eq!(fetch.params_omitted, ["connection"]);
/// ```
#[cfg(feature = "json")]
pub use flow_macros::Params;
/// Wires nodes into a flow.
///
/// A flow is written as a signature and statements. The signature names the keys that the caller
/// passes and gets back. The statements are edges, declarations of nodes and of branches, and a
/// namespace:
///
/// | statement | meaning |
/// |---|---|
/// | `start >> a;` | the run begins at `a` |
/// | `a >> b >> c;` | `b` follows `a`, and `c` follows `b` |
/// | `a - "action" >> b;` | `b` follows `a` when `a` took this action |
/// | `a >> [b, c >> d] >> e;` | `b`, and `c` with `d` after it, run at the same time; `e` follows when both are done |
/// | `a >> wait(5s) >> b;` | `b` follows `a` after a pause |
/// | `a >> end;`, `a >> end("label");` | the run ends; the output's field `end` says where |
/// | `node name: Type = value;` | a node that is a type, and its value |
/// | `node name: Type;` | the same, with a value that the flow's builder asks for |
/// | `node name: human Type;` | a node whose value a person submits, under another name than its own |
/// | `node name: signal Type;` | a node that waits for a signal, under another name than its type's |
/// | `node name: path { parameter <- key, key -> other };` | a node that reads and writes other keys than its own |
/// | `node name: path { result -> +key };` | a node whose result is added to the value of a key |
/// | `node name: path with retry(attempts = 3), timeout = "5s";` | a node with settings for this flow |
/// | `node name: path with was = "old_name";` | a node that had another name, under which earlier executions continue |
/// | `node name: [a, b, c] with concurrency(2);` | a fork with a name, and a limit on how many branches run at once |
/// | `node name: first { a, b >> c, wait(5s) => "late" };` | a race: the first branch that is done decides the action |
/// | `node name: for item in items { path };` | a loop that runs a node or a flow for each item; its results are a `Vec` |
/// | `node name: for item in items { path } with concurrency(4), collect_errors;` | the same for up to four items at once, with errors among the results |
/// | `node name: for item in items { path } with spread(16);` | in durable runs, parts of sixteen items, which any worker can run |
/// | `branch name(key) { *key > 3 => "many", else => "few" }` | a node whose action is that of the first condition that holds |
/// | `namespace "orders.europe";` | the first part of each node's path |
///
/// For a flow `Qa` it defines the structs `Qa`, `QaInput` and `QaOutput`, the enums `QaNode`
/// and `QaEnd`, and the implementation of [`Flow`] for `Qa`, all with the visibility of the
/// flow. A flow can be a node of another flow.
///
/// The page [`language`] explains each part: [flows](language#flows), [forks](language#forks),
/// [races](language#races), [loops over items](language#loops-over-items), [branches](language#branches),
/// [waiting](language#waiting), [what is generated](language#what-is-generated), and [what is
/// refused](language#what-the-compiler-checks).
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node(writes = draft)]
/// fn write_draft(topic: &str) -> String {
///     format!("All about {topic}")
/// }
///
/// #[derive(Action)]
/// enum Length { Fine, TooLong }
///
/// #[node(actions = Length)]
/// fn check_length(draft: &str) -> Length {
///     if draft.len() <= 14 { Length::Fine } else { Length::TooLong }
/// }
///
/// #[node(writes = draft)]
/// fn shorten(draft: String) -> String {
///     draft.chars().take(14).collect()
/// }
///
/// flow! {
///     /// Writes a headline of at most 14 letters.
///     pub Headline(topic: String) -> (draft: String) {
///         start >> write_draft >> check_length;
///         check_length - "fine"     >> end;
///         check_length - "too_long" >> shorten >> check_length;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let input = HeadlineInput::builder().topic("railways".into()).build();
/// let output = Headline::new().run(input).await?;
/// assert_eq!(output.draft, "All about rail");
/// # Ok(()) }
/// ```
pub use flow_macros::flow;
/// Makes a function or a type a node, so that [`flow!`] can wire it.
///
/// On a function, each parameter reads the key of the same name, and the returned value is written
/// under the function's name. The function itself does not change. On an `impl` block, the methods
/// `prep`, `exec`, `exec_fallback` and `post` make a step with settings of its own; only `exec` is
/// required.
///
/// | setting | meaning |
/// |---|---|
/// | `writes = key` | the returned value is written under `key` |
/// | `writes(a, b)` | a tuple is returned, and its elements are written under `a` and `b` |
/// | `writes = +key` | the returned value is [added](language#adding-to-a-value) to the value of `key` |
/// | `actions = X` | the returned value, or the last element of the returned tuple, is the action: an enum with `#[derive(Action)]` |
/// | `retry(attempts = 3)` | the number of attempts, including the first. Only for a node that can fail: one that returns a `Result` or has a `timeout` |
/// | `retry(…, wait = "200ms")` | the pause between attempts |
/// | `retry(…, backoff = 2.0)` | the factor by which the pause grows each time; at least 1 |
/// | `retry(…, max_wait = "10s")` | the longest pause |
/// | `retry(…, jitter = 0.5)` | the part of the pause that is random, from 0 to 1 |
/// | `retry(…, if = is_transient)` | another attempt follows only if this function says so: `fn(&E) -> bool` of the returned error |
/// | `timeout = "30s"` | how long one attempt may take. Only for an `async fn`, or with `blocking` |
/// | `poll(every = "1s", timeout = "1h")` | the function returns an `Option`, and is asked again while it is `None`. The `timeout` may be left out |
/// | `blocking` | a plain `fn` that blocks: it runs on tokio's threads for blocking work |
/// | `transaction` | an `async` node with a parameter such as `tx: &mut flow_sqlite::Transaction`: what it writes there is committed together with its outcome, or not at all |
/// | `human = "Deploy {version}?"` | on an `enum` or a `struct`: a person submits the value. Each `{key}` shows a value that is read |
/// | `signal` | on an `enum` or a `struct`: a message that is sent to a run from outside. A node waits for it |
/// | `crate = path` | where the generated code finds this crate, if `Cargo.toml` names neither it nor `typed-flows` |
///
/// On a type, `retry` and `timeout` apply to `exec`. A flow can replace both by `with` where it
/// declares the node. `poll` and `blocking` are settings of functions.
///
/// The page [`language`] explains [reads](language#reads), [writes](language#writes),
/// [types](language#nodes-as-types), [human nodes](language#asking-people), [signals](language#signals),
/// [faults](language#faults), [polls](language#waiting) and [work that
/// blocks](language#work-that-blocks).
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn words(text: &str) -> Vec<String> {
///     text.split_whitespace().map(str::to_owned).collect()
/// }
///
/// struct Lookup {
///     known: &'static [&'static str],
/// }
///
/// #[node(writes(known, unknown), retry(attempts = 2, wait = "50ms"), timeout = "5s")]
/// impl Lookup {
///     async fn exec(&self, words: &[String]) -> Result<(usize, Vec<String>), std::io::Error> {
///         let (known, unknown): (Vec<_>, Vec<_>) =
///             words.iter().cloned().partition(|word| self.known.contains(&word.as_str()));
///         Ok((known.len(), unknown))
///     }
/// }
///
/// flow! {
///     SpellCheck(text: String) -> (known: usize, unknown: Vec<String>) {
///         node lookup: Lookup = Lookup { known: &["a", "flow"] };
///         start >> words >> lookup >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let input = SpellCheckInput::builder().text("a tpyed flow".into()).build();
/// let output = SpellCheck::new().run(input).await?;
/// assert_eq!((output.known, output.unknown), (2, vec!["tpyed".to_owned()]));
/// # Ok(()) }
/// ```
pub use flow_macros::node;
/// A boxed future, as methods of object-safe traits return it.
pub use futures_util::future::BoxFuture;
pub use tokio_util::sync::CancellationToken;

pub use accumulate::Accumulate;
pub use action::{Action, FlowAction};
pub use context::Context;
pub use embed::{LinkedFlow, flows};
pub use error::{BoxError, FlowError};
#[cfg(feature = "json")]
pub use export::{Export, ExportOptions, Params, ParamsWriter};
#[cfg(feature = "stored")]
pub use external::{External, Submission};
pub use flow::{Flow, Route, Running, Target, Unattended};
#[cfg(feature = "json")]
pub use flow_spec;
pub use frame::Path;
pub use lifecycle::Lifecycle;
pub use node_error::{NodeError, Phase, TimedOut};
pub use observer::{Event, EventKind, Observer, RunId, observer_failures};
pub use options::{DEFAULT_STEP_BUDGET, RunOptions};
pub use ordered::{Ordered, Sequence};
pub use panics::Panicked;
pub use policy::{Policy, Retry, RetryIf};
#[cfg(feature = "stored")]
pub use question::{Answer, Human, Question};
#[cfg(feature = "stored")]
pub use signal::{Signal, SignalError, SignalSender};
pub use transaction::{OpenTransaction, Transactions};
