//! The fair floor: what a careful programmer writes instead of a flow. A loop over a `match`, a struct as the store, a
//! `Result` from each step, and a limit on the steps.

use std::error::Error;
use std::fmt;
use std::mem;
use std::process::ExitCode;

use bench_harness::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, Contender, PAYLOAD_BYTES, ROUNDS, Task, Workload,
    main as contend, task, task_on_two_workers,
};
use futures::StreamExt as _;

#[path = "../nodes.rs"]
mod nodes;

use nodes::*;

/// Why a run ended before its end.
#[derive(Debug)]
enum RunError {
    StepLimit {
        node: String,
    },
    Node {
        node: String,
        source: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::StepLimit { node } => write!(f, "too many steps before {node}"),
            RunError::Node { node, source } => write!(f, "{node}: {source}"),
        }
    }
}

/// Boxed, so that what every step returns is small.
type Failed = Box<RunError>;

#[cold]
fn failed(node: &str, source: impl Error + Send + Sync + 'static) -> Failed {
    Box::new(RunError::Node {
        node: node.into(),
        source: source.into(),
    })
}

/// How many steps are left.
struct Budget(u64);

impl Budget {
    fn new() -> Self {
        Budget(1_000_000)
    }

    #[inline]
    fn count(&mut self, node: impl fmt::Debug) -> Result<(), Failed> {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Ok(())
            }
            None => Err(step_limit(&node)),
        }
    }
}

#[cold]
fn step_limit(node: &dyn fmt::Debug) -> Failed {
    Box::new(RunError::StepLimit {
        node: format!("{node:?}"),
    })
}

/// Ten steps over a store of one value.
macro_rules! chain {
    (
        $module:ident, $field:ident: $type:ty, $call:ident,
        $($node:ident $function:ident => $next:expr;)*
    ) => {
        mod $module {
            use super::*;

            #[derive(Debug, Clone, Copy)]
            enum Node {
                $($node,)*
            }

            use Node::*;

            struct Store {
                $field: $type,
            }

            #[inline]
            async fn step(node: Node, store: &mut Store) -> Result<Option<Node>, Failed> {
                match node {
                    $($node => {
                        store.$field = $call!($function, store.$field);
                        Ok($next)
                    })*
                }
            }

            pub(super) async fn run($field: $type) -> Result<$type, Failed> {
                let mut store = Store { $field };
                let mut budget = Budget::new();
                let mut node = One;
                loop {
                    budget.count(node)?;
                    match step(node, &mut store).await? {
                        Some(next) => node = next,
                        None => return Ok(store.$field),
                    }
                }
            }
        }
    };
}

macro_rules! sure {
    ($function:ident, $value:expr) => {
        $function($value).await
    };
}

macro_rules! moved {
    ($function:ident, $value:expr) => {
        $function(mem::take(&mut $value)).await
    };
}

macro_rules! fallible {
    ($function:ident, $value:expr) => {
        match $function($value).await {
            Ok(value) => value,
            Err(error) => return Err(failed(stringify!($function), error)),
        }
    };
}

chain! {
    plain, total: u64, sure,
    One one => Some(Two);
    Two two => Some(Three);
    Three three => Some(Four);
    Four four => Some(Five);
    Five five => Some(Six);
    Six six => Some(Seven);
    Seven seven => Some(Eight);
    Eight eight => Some(Nine);
    Nine nine => Some(Ten);
    Ten ten => None;
}

chain! {
    can_fail, total: u64, fallible,
    One try_one => Some(Two);
    Two try_two => Some(Three);
    Three try_three => Some(Four);
    Four try_four => Some(Five);
    Five try_five => Some(Six);
    Six try_six => Some(Seven);
    Seven try_seven => Some(Eight);
    Eight try_eight => Some(Nine);
    Nine try_nine => Some(Ten);
    Ten try_ten => None;
}

chain! {
    large, payload: Vec<u8>, moved,
    One large_one => Some(Two);
    Two large_two => Some(Three);
    Three large_three => Some(Four);
    Four large_four => Some(Five);
    Five large_five => Some(Six);
    Six large_six => Some(Seven);
    Seven large_seven => Some(Eight);
    Eight large_eight => Some(Nine);
    Nine large_nine => Some(Ten);
    Ten large_ten => None;
}

chain! {
    waiting, total: u64, sure,
    One waiting_one => Some(Two);
    Two waiting_two => Some(Three);
    Three waiting_three => Some(Four);
    Four waiting_four => Some(Five);
    Five waiting_five => Some(Six);
    Six waiting_six => Some(Seven);
    Seven waiting_seven => Some(Eight);
    Eight waiting_eight => Some(Nine);
    Nine waiting_nine => Some(Ten);
    Ten waiting_ten => None;
}

mod rounds {
    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Node {
        One,
        Check,
    }

    struct Store {
        total: u64,
        limit: u64,
    }

    #[inline]
    async fn step(node: Node, store: &mut Store) -> Result<Option<Node>, Failed> {
        Ok(match node {
            Node::One => {
                store.total = one(store.total).await;
                Some(Node::Check)
            }
            Node::Check => match check(store.total, store.limit).await {
                Round::Again => Some(Node::One),
                Round::Done => None,
            },
        })
    }

    pub(super) async fn run(total: u64, limit: u64) -> Result<u64, Failed> {
        let mut store = Store { total, limit };
        let mut budget = Budget::new();
        let mut node = Node::One;
        loop {
            budget.count(node)?;
            match step(node, &mut store).await? {
                Some(next) => node = next,
                None => return Ok(store.total),
            }
        }
    }
}

mod ways {
    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Node {
        Choose,
        Left,
        Middle,
        Right,
        Meet,
    }

    struct Store {
        value: u64,
    }

    #[inline]
    async fn step(node: Node, store: &mut Store) -> Result<Option<Node>, Failed> {
        Ok(match node {
            Node::Choose => Some(match choose(store.value).await {
                Way::Left => Node::Left,
                Way::Middle => Node::Middle,
                Way::Right => Node::Right,
            }),
            Node::Left => {
                store.value = left(store.value).await;
                Some(Node::Meet)
            }
            Node::Middle => {
                store.value = middle(store.value).await;
                Some(Node::Meet)
            }
            Node::Right => {
                store.value = right(store.value).await;
                Some(Node::Meet)
            }
            Node::Meet => {
                store.value = meet(store.value).await;
                None
            }
        })
    }

    pub(super) async fn run(value: u64) -> Result<u64, Failed> {
        let mut store = Store { value };
        let mut budget = Budget::new();
        let mut node = Node::Choose;
        loop {
            budget.count(node)?;
            match step(node, &mut store).await? {
                Some(next) => node = next,
                None => return Ok(store.value),
            }
        }
    }
}

mod fork {
    use super::*;

    pub(super) async fn run(value: u64) -> Result<u64, Failed> {
        let mut budget = Budget::new();
        for branch in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            budget.count(branch)?;
        }
        let value = &value;
        let (a, b, c, d, e, f, g, h) = futures::join!(
            a(value),
            b(value),
            c(value),
            d(value),
            e(value),
            f(value),
            g(value),
            h(value)
        );
        budget.count("sum")?;
        Ok(sum(a, b, c, d, e, f, g, h).await)
    }
}

/// Each flow is a loop of its own; they share the budget.
mod nested {
    use super::*;

    macro_rules! flow {
        ($module:ident, $first:ident, $($node:ident($store:ident, $budget:ident) $work:expr => $next:expr;)*) => {
            mod $module {
                use super::*;

                #[derive(Debug, Clone, Copy)]
                enum Node {
                    $($node,)*
                }

                use Node::*;

                struct Store {
                    total: u64,
                }

                #[inline]
                async fn step(node: Node, store: &mut Store, budget: &mut Budget) -> Result<Option<Node>, Failed> {
                    match node {
                        $($node => {
                            let ($store, $budget) = (&mut *store, &mut *budget);
                            let total = $work;
                            $store.total = total;
                            Ok($next)
                        })*
                    }
                }

                pub(super) async fn run(total: u64, budget: &mut Budget) -> Result<u64, Failed> {
                    let mut store = Store { total };
                    let mut node = $first;
                    loop {
                        budget.count(node)?;
                        match step(node, &mut store, budget).await? {
                            Some(next) => node = next,
                            None => return Ok(store.total),
                        }
                    }
                }
            }
        };
    }

    flow! {
        innermost, Four,
        Four(store, _budget) four(store.total).await => Some(Five);
        Five(store, _budget) five(store.total).await => Some(Six);
        Six(store, _budget) six(store.total).await => Some(Seven);
        Seven(store, _budget) seven(store.total).await => None;
    }

    flow! {
        inner, Two,
        Two(store, _budget) two(store.total).await => Some(Three);
        Three(store, _budget) three(store.total).await => Some(Innermost);
        Innermost(store, budget) innermost::run(store.total, budget).await? => Some(Eight);
        Eight(store, _budget) eight(store.total).await => Some(Nine);
        Nine(store, _budget) nine(store.total).await => None;
    }

    flow! {
        outer, One,
        One(store, _budget) one(store.total).await => Some(Inner);
        Inner(store, budget) inner::run(store.total, budget).await? => Some(Ten);
        Ten(store, _budget) ten(store.total).await => None;
    }

    pub(super) async fn run(total: u64) -> Result<u64, Failed> {
        outer::run(total, &mut Budget::new()).await
    }
}

mod batch {
    use super::*;

    pub(super) async fn run(items: &[u64]) -> Result<Vec<u64>, Failed> {
        Budget::new().count("results")?;
        let work = futures::stream::iter(items).map(doubled);
        Ok(work.buffered(BATCH_CONCURRENCY).collect().await)
    }

    pub(super) async fn run_waiting(items: &[u64]) -> Result<Vec<u64>, Failed> {
        Budget::new().count("results")?;
        let work = futures::stream::iter(items).map(slowly_doubled);
        Ok(work.buffered(BATCH_CONCURRENCY).collect().await)
    }
}

struct ByHand;

impl Contender for ByHand {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        Ok(match workload {
            Workload::Chain => task(async |total| value_of(plain::run(total).await)),
            Workload::FallibleChain => task(async |total| value_of(can_fail::run(total).await)),
            Workload::Loop => {
                task(async |total| value_of(rounds::run(total, total + ROUNDS).await))
            }
            Workload::Branch => task(async |value| value_of(ways::run(value).await)),
            Workload::Fork => task(async |value| value_of(fork::run(value).await)),
            Workload::Nested => task(async |total| value_of(nested::run(total).await)),
            Workload::Payload => {
                let mut value = vec![0_u8; PAYLOAD_BYTES];
                task(async move |_| {
                    let before = value[0];
                    value = value_of(large::run(mem::take(&mut value)).await);
                    u64::from(value[0].wrapping_sub(before))
                })
            }
            Workload::Batch => {
                let items: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| value_of(batch::run(&items).await).iter().sum())
            }
            Workload::WaitingBatch => {
                let items: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| value_of(batch::run_waiting(&items).await).iter().sum())
            }
            Workload::Concurrent => task_on_two_workers(async |total| {
                let mut chains = tokio::task::JoinSet::new();
                for _ in 0..CHAINS {
                    chains.spawn(async move { value_of(waiting::run(total).await) });
                }
                chains.join_all().await.iter().sum()
            }),
            Workload::Observed | Workload::ObservedChain => return Err("nobody to tell"),
        })
    }
}

/// Of a run that failed, what shows in the check.
fn value_of<T: Default>(result: Result<T, Failed>) -> T {
    result.unwrap_or_else(|failed| {
        eprintln!("{failed}");
        T::default()
    })
}

fn main() -> ExitCode {
    contend::<ByHand>()
}
