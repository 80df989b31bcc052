//! The workloads, and their expected results, so that no contender is fast by omitting work.

use std::fmt;
use std::str::FromStr;

/// The number of rounds of the loop.
pub const ROUNDS: u64 = 1_000;
/// The number of chains that run at the same time.
pub const CHAINS: u64 = 1_000;
/// The number of items of the batch.
pub const BATCH_ITEMS: u64 = 10_000;
/// The number of items that are processed at once.
pub const BATCH_CONCURRENCY: usize = 16;
/// The number of nodes of the loaded document.
pub const LOADED_NODES: u64 = 10_000;
/// The size of the large value, in bytes.
pub const PAYLOAD_BYTES: usize = 64 * 1024;

/// The work of a contender in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// One node, which adds one.
    Single,
    /// Ten nodes one after the other, each adding one.
    Chain,
    /// The chain with nodes that return a `Result`.
    FallibleChain,
    /// Two nodes in a loop: one adds one, the other decides whether to continue.
    Loop,
    /// A node that chooses one of three others, followed by a common node.
    Branch,
    /// Eight nodes at the same time, and one that adds up their results.
    Fork,
    /// The chain, spread over three nested flows.
    Nested,
    /// Ten nodes that change a value of 64 KiB and pass it on.
    Payload,
    /// A node for each of 10,000 items, 16 at once.
    Batch,
    /// The batch with a node that yields once.
    WaitingBatch,
    /// A thousand chains at the same time on two threads. Each node yields once.
    Concurrent,
    /// The loop, with an observer that ignores everything.
    Observed,
    /// The chain, with an observer that ignores everything.
    ObservedChain,
    /// Reads and checks a document of a chain of 10,000 nodes.
    Load,
}

impl Workload {
    /// All workloads.
    pub const ALL: [Workload; 14] = [
        Workload::Single,
        Workload::Chain,
        Workload::FallibleChain,
        Workload::Loop,
        Workload::Branch,
        Workload::Fork,
        Workload::Nested,
        Workload::Payload,
        Workload::Batch,
        Workload::WaitingBatch,
        Workload::Concurrent,
        Workload::Observed,
        Workload::ObservedChain,
        Workload::Load,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Workload::Single => "single",
            Workload::Chain => "chain",
            Workload::FallibleChain => "fallible_chain",
            Workload::Loop => "loop",
            Workload::Branch => "branch",
            Workload::Fork => "fork",
            Workload::Nested => "nested",
            Workload::Payload => "payload",
            Workload::Batch => "batch",
            Workload::WaitingBatch => "waiting_batch",
            Workload::Concurrent => "concurrent",
            Workload::Observed => "observed",
            Workload::ObservedChain => "observed_chain",
            Workload::Load => "load",
        }
    }

    /// The expected result of a run with this seed.
    pub fn expected(self, seed: u64) -> u64 {
        match self {
            Workload::Single => seed + 1,
            Workload::Chain
            | Workload::FallibleChain
            | Workload::Nested
            | Workload::ObservedChain => seed + 10,
            Workload::Loop | Workload::Observed => seed + ROUNDS,
            Workload::Branch => match seed & 3 {
                0 => (seed + 1) * 2,
                1 => (seed + 2) * 2,
                _ => (seed + 3) * 2,
            },
            Workload::Fork => 8 * seed + 36,
            Workload::Payload => 10,
            Workload::Batch | Workload::WaitingBatch => BATCH_ITEMS * (BATCH_ITEMS - 1),
            Workload::Concurrent => CHAINS * (seed + 10),
            Workload::Load => LOADED_NODES,
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Workload::ALL
            .into_iter()
            .find(|workload| workload.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Workload::ALL
                .iter()
                .map(|workload| workload.name())
                .collect();
            format!("no workload `{name}`; there are {}", names.join(", "))
        })
    }
}
