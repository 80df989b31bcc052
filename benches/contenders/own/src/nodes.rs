//! The nodes: the same functions for the flows and for the code by hand.
//!
//! Each program compiles them anew, like its own.

use bench_harness::work;
use bench_harness::work::Overflow;
use flow_runtime::prelude::*;

macro_rules! chain {
    ($($plain:ident $fallible:ident $large:ident $waiting:ident)*) => {
        $(
            #[node(writes = total)]
            pub async fn $plain(total: u64) -> u64 {
                work::add(total)
            }

            #[node(writes = total)]
            pub async fn $fallible(total: u64) -> Result<u64, Overflow> {
                work::checked_add(total)
            }

            #[node(writes = payload)]
            pub async fn $large(payload: Vec<u8>) -> Vec<u8> {
                work::touch(payload)
            }

            #[node(writes = total)]
            pub async fn $waiting(total: u64) -> u64 {
                work::give_way().await;
                work::add(total)
            }
        )*
    };
}

chain! {
    one try_one large_one waiting_one
    two try_two large_two waiting_two
    three try_three large_three waiting_three
    four try_four large_four waiting_four
    five try_five large_five waiting_five
    six try_six large_six waiting_six
    seven try_seven large_seven waiting_seven
    eight try_eight large_eight waiting_eight
    nine try_nine large_nine waiting_nine
    ten try_ten large_ten waiting_ten
}

#[derive(Action)]
pub enum Round {
    Again,
    Done,
}

#[node(actions = Round)]
pub async fn check(total: u64, limit: u64) -> Round {
    match work::is_enough(total, limit) {
        true => Round::Done,
        false => Round::Again,
    }
}

#[derive(Action)]
pub enum Way {
    Left,
    Middle,
    Right,
}

#[node(actions = Way)]
pub async fn choose(value: u64) -> Way {
    match work::way(value) {
        0 => Way::Left,
        1 => Way::Middle,
        _ => Way::Right,
    }
}

#[node(writes = value)]
pub async fn left(value: u64) -> u64 {
    work::plus(value, 1)
}

#[node(writes = value)]
pub async fn middle(value: u64) -> u64 {
    work::plus(value, 2)
}

#[node(writes = value)]
pub async fn right(value: u64) -> u64 {
    work::plus(value, 3)
}

#[node(writes = value)]
pub async fn meet(value: u64) -> u64 {
    work::double(value)
}

macro_rules! branches {
    ($($name:ident $more:literal)*) => {
        $(
            #[node]
            pub async fn $name(value: &u64) -> u64 {
                work::plus(*value, $more)
            }
        )*
    };
}

branches! { a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 }

#[node]
#[expect(
    clippy::too_many_arguments,
    reason = "it reads what eight branches wrote"
)]
pub async fn sum(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
    a + b + c + d + e + f + g + h
}

#[node]
pub async fn doubled(item: &u64) -> u64 {
    work::double(*item)
}

#[node]
pub async fn slowly_doubled(item: &u64) -> u64 {
    work::give_way().await;
    work::double(*item)
}
