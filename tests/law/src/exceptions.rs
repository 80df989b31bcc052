//! The flows of the test-suite that are not under the law, all of them: see [`hold`](crate::hold).

/// Flows that are listed in `law!` and not compared: the reason, and for whom it holds.
pub(crate) const LEFT_OUT: &[(&str, &[(&str, &str)])] = &[
    (
        "its nodes count across runs",
        &[
            ("tests/durable/copied.rs", "Polls"),
            ("tests/durable/leases.rs", "Asks"),
            ("tests/durable/leases.rs", "Tries"),
            ("tests/durable/places.rs", "Beside"),
            ("tests/durable/places.rs", "Fickle"),
            ("tests/durable/places.rs", "Sided"),
            ("tests/durable/retries.rs", "Falls"),
            ("tests/durable/retries.rs", "Job"),
            ("tests/durable/retries.rs", "Luck"),
            ("tests/durable/steps.rs", "Once"),
            ("tests/durable/timing.rs", "Inner"),
            ("tests/durable/timing.rs", "Retried"),
            ("tests/integration/retry_if.rs", "Reads"),
        ],
    ),
    (
        "its conditions are Rust",
        &[
            ("examples/law/research_agent.rs", "ResearchAgent"),
            ("examples/law/research_agent.rs", "SearchVideos"),
            ("examples/law/research_agent.rs", "YoutubeResearch"),
            ("tests/integration/branches.rs", "Bounded"),
            ("tests/integration/branches.rs", "ReadsNothing"),
            ("tests/integration/branches.rs", "Triage"),
            ("tests/integration/branches.rs", "UnluckyNames"),
            ("tests/integration/branches.rs", "Write"),
            ("tests/integration/documents.rs", "Everything"),
            ("tests/integration/documents.rs", "Inner"),
            ("tests/integration/documents.rs", "Named"),
            ("tests/integration/documents.rs", "Outer"),
        ],
    ),
    (
        "two nodes of one type have different values",
        &[
            ("tests/integration/basics.rs", "Branch"),
            ("tests/integration/documents.rs", "Around"),
            ("tests/integration/documents.rs", "AroundUnmarked"),
            ("tests/integration/documents.rs", "Settings"),
            ("tests/integration/documents.rs", "Unmarked"),
            ("tests/integration/generated.rs", "Greets"),
            ("tests/integration/mappings.rs", "Counts"),
            ("tests/integration/sync_and_async.rs", "Outer"),
        ],
    ),
    (
        "its node waits until a test opens its gate",
        &[
            ("tests/durable/gates.rs", "Later"),
            ("tests/durable/gates.rs", "Stops"),
            ("tests/durable/outcomes.rs", "Buy"),
            ("tests/durable/outcomes.rs", "Shop"),
            ("tests/durable/recovery.rs", "Gated"),
            ("tests/durable/simulated.rs", "Beside"),
            ("tests/durable/snapshots.rs", "Rounds"),
        ],
    ),
    (
        "a test changes what its node does",
        &[
            ("tests/durable/copied.rs", "Hurried"),
            ("tests/durable/copied.rs", "Switch"),
            ("tests/durable/recovery.rs", "Told"),
        ],
    ),
    (
        "its flow is given with a value",
        &[
            ("tests/durable/accesses.rs", "Reported"),
            ("tests/durable/told.rs", "Outer"),
            ("tests/durable/writes.rs", "Everything"),
        ],
    ),
    (
        "its document does not say a default",
        &[
            ("tests/integration/defaults.rs", "Pauses"),
            ("tests/integration/defaults.rs", "PausesInside"),
        ],
    ),
    (
        "a test sees what its nodes register",
        &[
            ("tests/integration/lifecycles.rs", "Around"),
            ("tests/integration/lifecycles.rs", "Inside"),
        ],
    ),
    (
        "nothing says what would be an answer",
        &[("tests/durable/elsewhere.rs", "Tags")],
    ),
    (
        "its node takes the real time",
        &[("tests/durable/steps.rs", "Watched")],
    ),
    (
        "the loader has no pairs of references",
        &[("tests/integration/batches.rs", "Collections")],
    ),
    (
        "its threads end in any order",
        &[("tests/integration/blocking.rs", "Explodes")],
    ),
    (
        "the node has another value in the flow that is compiled again",
        &[("tests/integration/mappings.rs", "CountsOn")],
    ),
    (
        "loaded, an option in an option that is read as its content is the content",
        &[("tests/integration/options.rs", "Contents")],
    ),
    (
        "its pauses are random",
        &[("tests/integration/retry_and_fallback.rs", "Shaken")],
    ),
    (
        "`&'static str` cannot be read from JSON",
        &[("tests/integration/state.rs", "Shouts")],
    ),
    (
        "its maps have another order in each run",
        &[("examples/law/map_reduce.rs", "MapReduce")],
    ),
    (
        "its node charges at a bank that has a memory",
        &[("examples/law/crash.rs", "Order")],
    ),
];

/// Flows of the tests of flows that `law!` cannot name: they are inside test functions, or in modules of
/// their own. `Inner`, `Outer` and `Mixed` of `transactions.rs` need a database, which no run here has.
pub const IN_TEST_FUNCTIONS_OF_INTEGRATION: &[&str] = &[
    "Adds",
    "AllBatches",
    "AllImages",
    "AllKinds",
    "Article",
    "AsksAny",
    "AsyncOne",
    "AsyncThree",
    "AsyncTwo",
    "Claim",
    "Constant",
    "Counted",
    "CountedFlows",
    "CountsCells",
    "Deciding",
    "DeepResearch",
    "Desk",
    "E",
    "Empty",
    "Everything",
    "FailsInTheEnd",
    "Finds",
    "FindsPlace",
    "ForEachKey",
    "Forked",
    "GuessesPlace",
    "Halves",
    "HalvesInside",
    "Heavy",
    "Imported",
    "Inner",
    "Inventory",
    "Judged",
    "Judges",
    "LikeGeneratedCode",
    "LikeStdMacros",
    "Lines",
    "Local",
    "Mixed",
    "One",
    "OneBatch",
    "OrderPipeline",
    "Orders",
    "Outer",
    "Parses",
    "Part",
    "Payment",
    "PerKey",
    "Polling",
    "Polls",
    "Prints",
    "Process",
    "Recipes",
    "RunningStatistics",
    "Sends",
    "Shipping",
    "Spells",
    "Stamped",
    "Sums",
    "TextConverter",
    "Three",
    "Two",
];

/// Flows of the tests of durable runs that `law!` cannot name: they are inside test functions, or in modules of
/// their own. `Once` and `Posts` need a database.
pub const IN_TEST_FUNCTIONS_OF_DURABLE: &[&str] = &[
    "Again", "Around", "Attempts", "Changing", "Clock", "Delayed", "Moved", "Once", "Parent",
    "Posts", "Racing", "Release", "Shapes", "Three",
];
