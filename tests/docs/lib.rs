//! The programs on the pages in `docs` are compiled and run; see also `links` and `tutorial`.

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
