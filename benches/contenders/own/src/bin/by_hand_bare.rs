//! The bare floor: the same loops without a `Result` from each step and without a limit on them.

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

/// Ten steps over a state of one value.
macro_rules! chain {
    (
        $run:ident, $field:ident: $type:ty, $([or $instead:literal])?
        $one:ident $two:ident $three:ident $four:ident $five:ident
        $six:ident $seven:ident $eight:ident $nine:ident $ten:ident
    ) => {
        async fn $run($field: $type) -> $type {
            enum Node { One, Two, Three, Four, Five, Six, Seven, Eight, Nine, Ten }
            struct State {
                $field: $type,
            }
            let mut state = State { $field };
            let mut node = Node::One;
            loop {
                node = match node {
                    Node::One => {
                        state.$field = $one(state.$field).await$(.unwrap_or($instead))?;
                        Node::Two
                    }
                    Node::Two => {
                        state.$field = $two(state.$field).await$(.unwrap_or($instead))?;
                        Node::Three
                    }
                    Node::Three => {
                        state.$field = $three(state.$field).await$(.unwrap_or($instead))?;
                        Node::Four
                    }
                    Node::Four => {
                        state.$field = $four(state.$field).await$(.unwrap_or($instead))?;
                        Node::Five
                    }
                    Node::Five => {
                        state.$field = $five(state.$field).await$(.unwrap_or($instead))?;
                        Node::Six
                    }
                    Node::Six => {
                        state.$field = $six(state.$field).await$(.unwrap_or($instead))?;
                        Node::Seven
                    }
                    Node::Seven => {
                        state.$field = $seven(state.$field).await$(.unwrap_or($instead))?;
                        Node::Eight
                    }
                    Node::Eight => {
                        state.$field = $eight(state.$field).await$(.unwrap_or($instead))?;
                        Node::Nine
                    }
                    Node::Nine => {
                        state.$field = $nine(state.$field).await$(.unwrap_or($instead))?;
                        Node::Ten
                    }
                    Node::Ten => return $ten(state.$field).await$(.unwrap_or($instead))?,
                };
            }
        }
    };
}

chain! {
    plain, total: u64,
    one two three four five
    six seven eight nine ten
}

// A failure counts as 0: the least that a program can do with a `Result`.
chain! {
    can_fail, total: u64, [or 0]
    try_one try_two try_three try_four try_five
    try_six try_seven try_eight try_nine try_ten
}

chain! {
    large, payload: Vec<u8>,
    large_one large_two large_three large_four large_five
    large_six large_seven large_eight large_nine large_ten
}

chain! {
    waiting, total: u64,
    waiting_one waiting_two waiting_three waiting_four waiting_five
    waiting_six waiting_seven waiting_eight waiting_nine waiting_ten
}

async fn rounds(total: u64, limit: u64) -> u64 {
    enum Node {
        One,
        Check,
    }
    struct State {
        total: u64,
        limit: u64,
    }
    let mut state = State { total, limit };
    let mut node = Node::One;
    loop {
        node = match node {
            Node::One => {
                state.total = one(state.total).await;
                Node::Check
            }
            Node::Check => match check(state.total, state.limit).await {
                Round::Again => Node::One,
                Round::Done => return state.total,
            },
        };
    }
}

async fn ways(value: u64) -> u64 {
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
    let mut node = Node::Choose;
    loop {
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
            Node::Meet => return meet(state.value).await,
        };
    }
}

async fn fork(value: u64) -> u64 {
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
    sum(a, b, c, d, e, f, g, h).await
}

mod nested {
    use super::*;

    macro_rules! flow {
        (
            $run:ident, $first:ident,
            $($node:ident $function:ident => $next:ident;)*
            => $last:ident $last_function:ident;
        ) => {
            pub(super) async fn $run(total: u64) -> u64 {
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
                    node = match node {
                        $(Node::$node => {
                            state.total = $function(state.total).await;
                            Node::$next
                        })*
                        Node::$last => return $last_function(state.total).await,
                    };
                }
            }
        };
    }

    flow! {
        innermost, Four,
        Four four => Five;
        Five five => Six;
        Six six => Seven;
        => Seven seven;
    }

    flow! {
        inner, Two,
        Two two => Three;
        Three three => Innermost;
        Innermost innermost => Eight;
        Eight eight => Nine;
        => Nine nine;
    }

    flow! {
        run, One,
        One one => Inner;
        Inner inner => Ten;
        => Ten ten;
    }
}

struct Bare;

impl Contender for Bare {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        Ok(match workload {
            Workload::Single => task(one),
            Workload::Chain => task(plain),
            Workload::FallibleChain => task(can_fail),
            Workload::Loop => task(async |total| rounds(total, total + ROUNDS).await),
            Workload::Branch => task(ways),
            Workload::Fork => task(fork),
            Workload::Nested => task(nested::run),
            Workload::Payload => {
                let mut value = work::payload();
                task(async move |_| {
                    let before = work::first_of(&value);
                    value = large(mem::take(&mut value)).await;
                    work::changes(before, &value)
                })
            }
            Workload::Batch => {
                let items: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| {
                    let work = futures::stream::iter(&items).map(doubled);
                    let results: Vec<u64> = work.buffered(BATCH_CONCURRENCY).collect().await;
                    results.iter().sum()
                })
            }
            Workload::WaitingBatch => {
                let items: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| {
                    let work = futures::stream::iter(&items).map(slowly_doubled);
                    let results: Vec<u64> = work.buffered(BATCH_CONCURRENCY).collect().await;
                    results.iter().sum()
                })
            }
            Workload::Concurrent => task_on_two_workers(async |total| {
                let mut chains = tokio::task::JoinSet::new();
                for _ in 0..CHAINS {
                    chains.spawn(waiting(total));
                }
                chains.join_all().await.iter().sum()
            }),
            Workload::Observed | Workload::ObservedChain => return Err("nobody to tell"),
            Workload::Load => return Err("its loops are in the program"),
        })
    }
}

fn main() -> ExitCode {
    contend::<Bare>()
}
