//! Workflows whose wiring the compiler checks: steps are functions, edges read `a >> b` and
//! `a - "action" >> c`, and every path leads somewhere and has the values that its steps read.
//!
//! ```
//! use typed_flows::prelude::*;
//!
//! #[derive(Action)]
//! enum Verdict {
//!     Approved { amount: u64 },
//!     Rejected,
//! }
//!
//! /// Reads `claim` and `limit`. Its verdict decides which step follows.
//! #[node(actions = Verdict)]
//! fn review(claim: &u64, limit: &u64) -> Verdict {
//!     if claim <= limit {
//!         Verdict::Approved { amount: *claim }
//!     } else {
//!         Verdict::Rejected
//!     }
//! }
//!
//! /// Reads `amount`, which only an approved claim has. Writes `receipt`.
//! #[node(writes = receipt)]
//! async fn pay(amount: &u64) -> String {
//!     format!("paid {amount}")
//! }
//!
//! flow! {
//!     /// Pays a claim that is within the limit.
//!     Expense(claim: u64, limit: u64) -> (receipt: Option<String>) {
//!         start >> review;
//!         review - "approved" >> pay >> end;
//!         review - "rejected" >> end("rejected");
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), FlowError> {
//!     let input = ExpenseInput::builder().claim(30).limit(50).build();
//!     let output = Expense::new().run(input).await?;
//!     assert_eq!(output.receipt.as_deref(), Some("paid 30"));
//!     Ok(())
//! }
//! ```
//!
//! The module [`language`] explains all of `flow!` and `#[node]` on one page; [`Flow`] and
//! [`RunOptions`] say how a flow is run.
//!
//! # Features
//!
//! By default, this crate is the runtime alone: `flow!`, the nodes, and runs in memory. Each
//! feature adds a module of its name.
//!
//! | feature | what it adds |
//! |---|---|
//! | `durable` | executions that survive crashes, wait for people, and run on many machines |
//! | `sqlite`, `postgres`, `redis` | where they are kept; each switches on `durable` |
//! | `blobs` | their large values in files, or in an object store |
//! | `schedule` | `durable::schedule`: executions on cron schedules |
//! | `server` | executions over HTTP, and a page for people |
//! | `documents` | flows in JSON or YAML, loaded while the program runs |
//! | `terminal` | questions at the terminal, and a command line of flows |
//! | `agents` | agents, models and tools |
//! | `otel` | traces and metrics for OpenTelemetry |
//! | `restate` | runs on a Restate server |
//!
//! These add to a module or to the root:
//!
//! | feature | adds to |
//! |---|---|
//! | `json`, `schemars`, `stored`, `tracing` | the root |
//! | `fetch`, `files`, `genai`, `knowledge`, `mcp`, `rag`, `time` | `agents` |
//! | `cel`, `credential-file`, `watch` | `documents` |
//! | `azure`, `gcp`, `s3` | `blobs` |
//! | `schema` | `durable` |
//! | `jwt`, `mcp` | `server` |
//! | `identity` | `restate` |
//!
//! `json` brings `Export`; [`Flow::SPEC`] needs no feature. `stored` brings questions to people
//! without `durable`.

pub use flow_runtime::*;

#[cfg(feature = "agents")]
#[doc(inline)]
pub use flow_agents as agents;
#[cfg(feature = "blobs")]
#[doc(inline)]
pub use flow_blobs as blobs;
#[cfg(feature = "durable")]
#[doc(inline)]
pub use flow_durable as durable;
#[cfg(feature = "documents")]
#[doc(inline)]
pub use flow_loader as documents;
#[cfg(feature = "otel")]
#[doc(inline)]
pub use flow_otel as otel;
#[cfg(feature = "postgres")]
#[doc(inline)]
pub use flow_postgres as postgres;
#[cfg(feature = "redis")]
#[doc(inline)]
pub use flow_redis as redis;
#[cfg(feature = "restate")]
#[doc(inline)]
pub use flow_restate as restate;
#[cfg(feature = "server")]
#[doc(inline)]
pub use flow_server as server;
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use flow_sqlite as sqlite;
#[cfg(feature = "terminal")]
#[doc(inline)]
pub use flow_terminal as terminal;

/// The programs of the README.
#[cfg(all(doctest, feature = "agents", feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;
