//! A flow's own `run()` allocates nothing: neither for a step nor for the run itself. Counted, for
//! every allocation of the thread.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use flow_runtime::Running;
use flow_runtime::prelude::*;

/// How often a run allocates. It is ready at once, so that no runtime is needed, which would allocate.
fn allocations<T, R: Future<Output = Result<T, FlowError>>>(
    run: impl FnOnce() -> R,
    check: impl FnOnce(T),
) -> u64 {
    let mut ended = None;
    let counted = allocation_counter::measure(|| {
        let mut run = pin!(run());
        if let Poll::Ready(result) = run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            ended = Some(result);
        }
    });
    check(ended.expect("no node waits").unwrap());
    counted.count_total
}

macro_rules! add {
    ($($name:ident)*) => {
        $(
            #[node(writes = total)]
            async fn $name(total: u64) -> u64 {
                total + 1
            }
        )*
    };
}

add!(one two three four five six seven eight nine ten);

flow! {
    Chain(total: u64) -> (total: u64) {
        start >> one >> two >> three >> four >> five >> six >> seven >> eight >> nine >> ten >> end;
    }
}

#[test]
fn a_chain_of_ten_nodes_allocates_nothing() {
    let input = ChainInput::builder().total(0).build();
    let flow = Chain::new();
    let count = allocations(|| flow.run(input), |out| assert_eq!(out.total, 10));
    assert_eq!(count, 0);
}

/// Code that does not know the type of its flow gets a boxed future.
#[test]
fn a_run_of_a_flow_of_any_type_allocates_its_future() {
    fn run<F: flow_runtime::Unattended>(flow: &F, input: F::Input) -> Running<'_, F::Output> {
        flow.run(input)
    }
    let flow = Chain::new();
    let input = ChainInput::builder().total(0).build();
    let count = allocations(|| run(&flow, input), |out| assert_eq!(out.total, 10));
    assert_eq!(count, 1);
}

#[derive(Action)]
enum Round {
    Again,
    Done { rounds: u64 },
}

/// Fallible, with settings, and aware of its context.
struct Count {
    rounds: u64,
}

#[node(writes = total, actions = Round, retry(attempts = 3, wait = "1s"))]
impl Count {
    fn prep(&self, total: u64) -> u64 {
        total
    }

    async fn exec(&self, cx: &flow_runtime::Context, total: &u64) -> Result<u64, std::io::Error> {
        Ok(total + 1 + u64::from(cx.attempt()))
    }

    fn post(&self, exec_res: u64) -> (u64, Round) {
        match exec_res {
            rounds if rounds == self.rounds => (rounds, Round::Done { rounds }),
            rounds => (rounds, Round::Again),
        }
    }
}

flow! {
    Loop(total: u64) -> (rounds: u64) {
        node count: Count = Count { rounds: 1_000 };
        start >> count;
        count - "again" >> count;
        count - "done" >> end;
    }
}

#[test]
fn a_loop_of_a_thousand_rounds_allocates_nothing() {
    let input = LoopInput::builder().total(0).build();
    let flow = Loop::new();
    let count = allocations(|| flow.run(input), |out| assert_eq!(out.rounds, 1_000));
    assert_eq!(count, 0);
}

flow! {
    Middle(total: u64) -> (total: u64) {
        start >> Chain >> end;
    }
}

flow! {
    Nested(total: u64) -> (total: u64) {
        node again: Chain = Chain::new();
        start >> Middle >> again >> one >> end;
    }
}

#[test]
fn nested_flows_allocate_nothing() {
    let input = NestedInput::builder().total(0).build();
    let flow = Nested::new();
    let count = allocations(|| flow.run(input), |out| assert_eq!(out.total, 21));
    assert_eq!(count, 0);
}

#[derive(Action)]
enum Page {
    More { page: u64 },
    Last,
}

/// Returns the number of the page, which is added to a list, and 1, which is added to a sum.
#[node(writes(+pages, +requests), actions = Page)]
fn turn(page: &u64) -> (u64, u64, Page) {
    let next = match *page {
        999 => Page::Last,
        page => Page::More { page: page + 1 },
    };
    (*page, 1, next)
}

flow! {
    Adds(page: u64) -> (pages: Vec<u64>, requests: u64) {
        start >> turn;
        turn - "more" >> turn;
        turn - "last" >> end;
    }
}

#[test]
fn a_list_to_which_a_thousand_rounds_add_grows_as_by_hand() {
    let flow = Adds::new();
    let by_hand = allocation_counter::measure(|| {
        let mut pages = Vec::new();
        (0..1_000).for_each(|page| pages.push(page));
        assert_eq!(pages.len(), 1_000);
    });
    let count = allocations(
        || flow.run(AddsInput { page: 0 }),
        |out| assert_eq!((out.pages.len(), out.requests), (1_000, 1_000)),
    );
    assert_eq!(count, by_hand.count_total);
}

flow! {
    Race(total: u64) -> (total: u64) {
        node sooner: first { one >> two => "one", three => "three" };
        start >> sooner;
        sooner - "one" >> four >> end;
        sooner - "three" >> end;
    }
}

#[test]
fn a_race_allocates_nothing() {
    let flow = Race::new();
    let count = allocations(
        || flow.run(RaceInput { total: 0 }),
        |out| assert_eq!(out.total, 3),
    );
    assert_eq!(count, 0);
}

/// Takes a payment back.
#[node]
fn refund(requests: &u64) {
    assert!(*requests > 0);
}

flow! {
    Undoes(page: u64) -> (pages: Vec<u64>, requests: u64) {
        node pay: turn with undo = refund;
        start >> pay;
        pay - "more" >> pay;
        pay - "last" >> undo >> end;
    }
}

/// A visit allocates the two texts of its place, what is kept, and the frames around it while it is
/// under way. Its undo allocates the places of both, the future, and the frames.
#[test]
fn each_visit_that_is_undone_allocates_as_much() {
    let flow = Undoes::new();
    let of = |first| {
        allocations(
            || flow.run(UndoesInput { page: first }),
            |out| assert_eq!(out.requests, 1_000 - first),
        )
    };
    let (visit, undo) = (4, 6);
    assert_eq!(of(998) - of(999), visit + undo);
    // Lists grow.
    assert!(of(0) - of(999) < 999 * (visit + undo) + 30);
}

#[node]
fn boxed() -> Box<u64> {
    Box::new(1)
}

flow! {
    Allocates() -> (boxed: Box<u64>) {
        start >> boxed >> end;
    }
}

/// Shows that the others would notice.
#[test]
fn what_a_node_allocates_is_counted() {
    let input = AllocatesInput::builder().build();
    let flow = Allocates::new();
    let count = allocations(|| flow.run(input), |out| assert_eq!(*out.boxed, 1));
    assert_eq!(count, 1);
}
