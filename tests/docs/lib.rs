//! The programs on the pages in `docs` and `docs/guides` are compiled and run; see also `links` and `tutorial`.

/// `docs/recipes.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/recipes.md")]
struct Recipes;

/// `docs/choosing.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/choosing.md")]
struct Choosing;

/// `docs/workers.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/workers.md")]
struct Workers;

/// `docs/from-langgraph.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/from-langgraph.md")]
struct FromLangGraph;

/// `docs/from-temporal.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/from-temporal.md")]
struct FromTemporal;

/// `docs/pocketflow-programs.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/pocketflow-programs.md")]
struct PocketFlowPrograms;

/// `docs/guides/agent-by-hand.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/agent-by-hand.md")]
struct AgentByHand;

/// `docs/guides/budget.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/budget.md")]
struct Budget;

/// `docs/guides/changed-flow.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/changed-flow.md")]
struct ChangedFlow;

/// `docs/guides/compensation.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/compensation.md")]
struct Compensation;

/// `docs/guides/limits.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/limits.md")]
struct Limits;

/// `docs/guides/mcp.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/mcp.md")]
struct Mcp;

/// `docs/guides/opentelemetry.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/opentelemetry.md")]
struct OpenTelemetry;

/// `docs/guides/repair.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/repair.md")]
struct Repair;

/// `docs/guides/retention.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/retention.md")]
struct Retention;

/// `docs/guides/testing.md`
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/testing.md")]
struct Testing;
