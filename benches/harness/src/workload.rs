//! What is done, and what has to come out, so that nobody is fast by leaving something out.

use std::fmt;
use std::str::FromStr;

/// How many rounds the loop makes.
pub const ROUNDS: u64 = 1_000;
/// How many chains run at the same time.
pub const CHAINS: u64 = 1_000;
/// How many items the batch has.
pub const BATCH_ITEMS: u64 = 10_000;
/// How many of them are worked on at once.
pub const BATCH_CONCURRENCY: usize = 16;
/// How many nodes the document has that is loaded.
pub const LOADED_NODES: u64 = 10_000;
/// How large the value is that is handed on.
pub const PAYLOAD_BYTES: usize = 64 * 1024;

/// What a contender does in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// One node, which adds one.
    Single,
    /// Ten nodes one after the other, each of which adds one.
    Chain,
    /// The same ten nodes, each of which returns a `Result`.
    FallibleChain,
    /// Two nodes in a loop: one adds one, the other decides whether that is enough.
    Loop,
    /// A node that decides between three others, which meet again.
    Branch,
    /// Eight nodes at the same time, and one that adds up what they found.
    Fork,
    /// The chain, its nodes spread over three flows, one in the other.
    Nested,
    /// Ten nodes that hand on a value of 64 KiB, and change it.
    Payload,
    /// A node for each of 10,000 items, 16 at once.
    Batch,
    /// The same with a node that gives way to others once.
    WaitingBatch,
    /// A thousand chains at the same time on two threads. Each node gives way to others once.
    Concurrent,
    /// The loop, with an observer that ignores everything.
    Observed,
    /// The chain, with an observer that ignores everything.
    ObservedChain,
    /// A document of a chain of 10,000 nodes is read and checked.
    Load,
}

impl Workload {
    /// All of them.
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

    /// What a run of this seed has to come to.
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
