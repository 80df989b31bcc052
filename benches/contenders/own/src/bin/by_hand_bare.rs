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

/// Ten steps over a store of one value.
macro_rules! chain {
    (
        $run:ident, $field:ident: $type:ty,
        $($node:ident $function:ident $(or $instead:literal)? => $next:ident;)*
        => $last:ident $last_function:ident $(or $last_instead:literal)?;
    ) => {
        async fn $run($field: $type) -> $type {
            enum Node {
                $($node,)*
                $last,
            }
            struct Store {
                $field: $type,
            }
            let mut store = Store { $field };
            let mut node = Node::One;
            loop {
                node = match node {
                    $(Node::$node => {
                        store.$field = $function(store.$field).await$(.unwrap_or($instead))?;
                        Node::$next
                    })*
                    Node::$last => {
                        return $last_function(store.$field).await$(.unwrap_or($last_instead))?;
                    }
                };
            }
        }
    };
}

chain! {
    plain, total: u64,
    One one => Two;
    Two two => Three;
    Three three => Four;
    Four four => Five;
    Five five => Six;
    Six six => Seven;
    Seven seven => Eight;
    Eight eight => Nine;
    Nine nine => Ten;
    => Ten ten;
}

// What fails is worth nothing: that is the least one can do with a `Result`.
chain! {
    can_fail, total: u64,
    One try_one or 0 => Two;
    Two try_two or 0 => Three;
    Three try_three or 0 => Four;
    Four try_four or 0 => Five;
    Five try_five or 0 => Six;
    Six try_six or 0 => Seven;
    Seven try_seven or 0 => Eight;
    Eight try_eight or 0 => Nine;
    Nine try_nine or 0 => Ten;
    => Ten try_ten or 0;
}

chain! {
    large, payload: Vec<u8>,
    One large_one => Two;
    Two large_two => Three;
    Three large_three => Four;
    Four large_four => Five;
    Five large_five => Six;
    Six large_six => Seven;
    Seven large_seven => Eight;
    Eight large_eight => Nine;
    Nine large_nine => Ten;
    => Ten large_ten;
}

chain! {
    waiting, total: u64,
    One waiting_one => Two;
    Two waiting_two => Three;
    Three waiting_three => Four;
    Four waiting_four => Five;
    Five waiting_five => Six;
    Six waiting_six => Seven;
    Seven waiting_seven => Eight;
    Eight waiting_eight => Nine;
    Nine waiting_nine => Ten;
    => Ten waiting_ten;
}

async fn rounds(total: u64, limit: u64) -> u64 {
    enum Node {
        One,
        Check,
    }
    struct Store {
        total: u64,
        limit: u64,
    }
    let mut store = Store { total, limit };
    let mut node = Node::One;
    loop {
        node = match node {
            Node::One => {
                store.total = one(store.total).await;
                Node::Check
            }
            Node::Check => match check(store.total, store.limit).await {
                Round::Again => Node::One,
                Round::Done => return store.total,
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
    struct Store {
        value: u64,
    }
    let mut store = Store { value };
    let mut node = Node::Choose;
    loop {
        node = match node {
            Node::Choose => match choose(store.value).await {
                Way::Left => Node::Left,
                Way::Middle => Node::Middle,
                Way::Right => Node::Right,
            },
            Node::Left => {
                store.value = left(store.value).await;
                Node::Meet
            }
            Node::Middle => {
                store.value = middle(store.value).await;
                Node::Meet
            }
            Node::Right => {
                store.value = right(store.value).await;
                Node::Meet
            }
            Node::Meet => return meet(store.value).await,
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
                struct Store {
                    total: u64,
                }
                let mut store = Store { total };
                let mut node = Node::$first;
                loop {
                    node = match node {
                        $(Node::$node => {
                            store.total = $function(store.total).await;
                            Node::$next
                        })*
                        Node::$last => return $last_function(store.total).await,
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
        })
    }
}

fn main() -> ExitCode {
    contend::<Bare>()
}
