//! The fair floor: the code of a careful programmer instead of a flow. A loop over a `match`, a
//! struct as the state, a `Result` that names the failed node, and a limit on the steps.

use std::error::Error;
use std::fmt;
use std::mem;
use std::process::ExitCode;

use bench_harness::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, Contender, ROUNDS, Task, Workload, main as contend,
    task, task_on_two_workers, work,
};
use futures::StreamExt as _;

#[path = "../nodes.rs"]
mod nodes;

use nodes::*;

/// The reason why a run stopped early.
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

/// Boxed, so that the return value of every step is small.
type Failed = Box<RunError>;

#[cold]
fn failed(node: &str, source: impl Error + Send + Sync + 'static) -> Failed {
    Box::new(RunError::Node {
        node: node.into(),
        source: source.into(),
    })
}

/// The number of steps left.
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

/// Ten steps over a state of one value.
macro_rules! chain {
    (
        $run:ident, $field:ident: $type:ty, $call:ident,
        $one:ident $two:ident $three:ident $four:ident $five:ident
        $six:ident $seven:ident $eight:ident $nine:ident $ten:ident
    ) => {
        async fn $run($field: $type) -> Result<$type, Failed> {
            #[derive(Debug, Clone, Copy)]
            enum Node {
                One,
                Two,
                Three,
                Four,
                Five,
                Six,
                Seven,
                Eight,
                Nine,
                Ten,
            }
            struct State {
                $field: $type,
            }
            let mut state = State { $field };
            let mut budget = Budget::new();
            let mut node = Node::One;
            loop {
                budget.count(node)?;
                node = match node {
                    Node::One => {
                        state.$field = $call!($one, state.$field);
                        Node::Two
                    }
                    Node::Two => {
                        state.$field = $call!($two, state.$field);
                        Node::Three
                    }
                    Node::Three => {
                        state.$field = $call!($three, state.$field);
                        Node::Four
                    }
                    Node::Four => {
                        state.$field = $call!($four, state.$field);
                        Node::Five
                    }
                    Node::Five => {
                        state.$field = $call!($five, state.$field);
                        Node::Six
                    }
                    Node::Six => {
                        state.$field = $call!($six, state.$field);
                        Node::Seven
                    }
                    Node::Seven => {
                        state.$field = $call!($seven, state.$field);
                        Node::Eight
                    }
                    Node::Eight => {
                        state.$field = $call!($eight, state.$field);
                        Node::Nine
                    }
                    Node::Nine => {
                        state.$field = $call!($nine, state.$field);
                        Node::Ten
                    }
                    Node::Ten => return Ok($call!($ten, state.$field)),
                };
            }
        }
    };
}

macro_rules! sure {
    ($function:ident, $value:expr) => {
        $function($value).await
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
    one two three four five
    six seven eight nine ten
}

chain! {
    can_fail, total: u64, fallible,
    try_one try_two try_three try_four try_five
    try_six try_seven try_eight try_nine try_ten
}

chain! {
    large, payload: Vec<u8>, sure,
    large_one large_two large_three large_four large_five
    large_six large_seven large_eight large_nine large_ten
}

chain! {
    waiting, total: u64, sure,
    waiting_one waiting_two waiting_three waiting_four waiting_five
    waiting_six waiting_seven waiting_eight waiting_nine waiting_ten
}

async fn single(total: u64) -> Result<u64, Failed> {
    Budget::new().count("one")?;
    Ok(one(total).await)
}

async fn rounds(total: u64, limit: u64) -> Result<u64, Failed> {
    #[derive(Debug, Clone, Copy)]
    enum Node {
        One,
        Check,
    }
    struct State {
        total: u64,
        limit: u64,
    }
    let mut state = State { total, limit };
    let mut budget = Budget::new();
    let mut node = Node::One;
    loop {
        budget.count(node)?;
        node = match node {
            Node::One => {
                state.total = one(state.total).await;
                Node::Check
            }
            Node::Check => match check(state.total, state.limit).await {
                Round::Again => Node::One,
                Round::Done => return Ok(state.total),
            },
        };
    }
}

async fn ways(value: u64) -> Result<u64, Failed> {
    #[derive(Debug, Clone, Copy)]
    enum Node {
        Choose,
        Left,
        Middle,
        Right,
        Meet,
    }
    struct State {
        value: u64,
    }
    let mut state = State { value };
    let mut budget = Budget::new();
    let mut node = Node::Choose;
    loop {
        budget.count(node)?;
        node = match node {
            Node::Choose => match choose(state.value).await {
                Way::Left => Node::Left,
                Way::Middle => Node::Middle,
                Way::Right => Node::Right,
            },
            Node::Left => {
                state.value = left(state.value).await;
                Node::Meet
            }
            Node::Middle => {
                state.value = middle(state.value).await;
                Node::Meet
            }
            Node::Right => {
                state.value = right(state.value).await;
                Node::Meet
            }
            Node::Meet => return Ok(meet(state.value).await),
        };
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

/// Each flow is a separate loop. They share the budget.
mod nested {
    use super::*;

    macro_rules! flow {
        (
            $run:ident($total:ident, $budget:ident), $first:ident,
            $($node:ident { $work:expr } => $next:ident;)*
            => $last:ident { $last_work:expr };
        ) => {
            pub(super) async fn $run(total: u64, $budget: &mut Budget) -> Result<u64, Failed> {
                #[derive(Debug, Clone, Copy)]
                enum Node {
                    $($node,)*
                    $last,
                }
                struct State {
                    total: u64,
                }
                let mut state = State { total };
                let mut node = Node::$first;
                loop {
                    $budget.count(node)?;
                    let $total = state.total;
                    node = match node {
                        $(Node::$node => {
                            state.total = $work;
                            Node::$next
                        })*
                        Node::$last => return Ok($last_work),
                    };
                }
            }
        };
    }

    flow! {
        innermost(total, budget), Four,
        Four { four(total).await } => Five;
        Five { five(total).await } => Six;
        Six { six(total).await } => Seven;
        => Seven { seven(total).await };
    }

    flow! {
        inner(total, budget), Two,
        Two { two(total).await } => Three;
        Three { three(total).await } => Innermost;
        Innermost { innermost(total, budget).await? } => Eight;
        Eight { eight(total).await } => Nine;
        => Nine { nine(total).await };
    }

    flow! {
        outer(total, budget), One,
        One { one(total).await } => Inner;
        Inner { inner(total, budget).await? } => Ten;
        => Ten { ten(total).await };
    }

    pub(super) async fn run(total: u64) -> Result<u64, Failed> {
        outer(total, &mut Budget::new()).await
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
            Workload::Single => task(async |total| value_of(single(total).await)),
            Workload::Chain => task(async |total| value_of(plain(total).await)),
            Workload::FallibleChain => task(async |total| value_of(can_fail(total).await)),
            Workload::Loop => task(async |total| value_of(rounds(total, total + ROUNDS).await)),
            Workload::Branch => task(async |value| value_of(ways(value).await)),
            Workload::Fork => task(async |value| value_of(fork::run(value).await)),
            Workload::Nested => task(async |total| value_of(nested::run(total).await)),
            Workload::Payload => {
                let mut value = work::payload();
                task(async move |_| {
                    let before = work::first_of(&value);
                    value = value_of(large(mem::take(&mut value)).await);
                    work::changes(before, &value)
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
                    chains.spawn(async move { value_of(waiting(total).await) });
                }
                chains.join_all().await.iter().sum()
            }),
            Workload::Observed | Workload::ObservedChain => return Err("nobody to tell"),
            Workload::Load => return Err("its loops are in the program"),
        })
    }
}

/// Returns a default for a failed run, which the check notices.
fn value_of<T: Default>(result: Result<T, Failed>) -> T {
    result.unwrap_or_else(|failed| {
        eprintln!("{failed}");
        T::default()
    })
}

fn main() -> ExitCode {
    contend::<ByHand>()
}
