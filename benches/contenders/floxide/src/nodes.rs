//! The nodes.

use bench_harness::work;
use floxide::{FloxideError, Transition, node};
use serde::{Deserialize, Serialize};

node! {
    pub struct Add {};
    context = ();
    input = u64;
    output = u64;
    |_ctx, total| {
        Ok(Transition::Next(work::add(total)))
    }
}

node! {
    pub struct TryAdd {};
    context = ();
    input = u64;
    output = u64;
    |_ctx, total| {
        match work::checked_add(total) {
            Ok(total) => Ok(Transition::Next(total)),
            Err(error) => Err(FloxideError::Generic(error.to_string())),
        }
    }
}

node! {
    pub struct WaitingAdd {};
    context = ();
    input = u64;
    output = u64;
    |_ctx, total| {
        work::give_way().await;
        Ok(Transition::Next(work::add(total)))
    }
}

node! {
    pub struct Touch {};
    context = ();
    input = Vec<u8>;
    output = Vec<u8>;
    |_ctx, payload| {
        Ok(Transition::Next(work::touch(payload)))
    }
}

/// The context of the loop.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Limit(pub u64);

#[derive(Debug, Clone)]
pub enum Round {
    Again(u64),
    Enough(u64),
}

node! {
    pub struct LimitedAdd {};
    context = Limit;
    input = u64;
    output = u64;
    |_ctx, total| {
        Ok(Transition::Next(work::add(total)))
    }
}

node! {
    pub struct Check {};
    context = Limit;
    input = u64;
    output = Round;
    |ctx, total| {
        Ok(Transition::Next(match work::is_enough(total, ctx.0) {
            true => Round::Enough(total),
            false => Round::Again(total),
        }))
    }
}

node! {
    pub struct Done {};
    context = Limit;
    input = u64;
    output = u64;
    |_ctx, total| {
        Ok(Transition::Next(total))
    }
}

#[derive(Debug, Clone)]
pub enum Way {
    Left(u64),
    Middle(u64),
    Right(u64),
}

node! {
    pub struct Choose {};
    context = ();
    input = u64;
    output = Way;
    |_ctx, value| {
        Ok(Transition::Next(match work::way(value) {
            0 => Way::Left(value),
            1 => Way::Middle(value),
            _ => Way::Right(value),
        }))
    }
}

node! {
    pub struct Plus { more: u64 };
    context = ();
    input = u64;
    output = u64;
    |_ctx, value| {
        Ok(Transition::Next(work::plus(value, self.more)))
    }
}

node! {
    pub struct Double {};
    context = ();
    input = u64;
    output = u64;
    |_ctx, value| {
        Ok(Transition::Next(work::double(value)))
    }
}

node! {
    pub struct SlowDouble {};
    context = ();
    input = u64;
    output = u64;
    |_ctx, value| {
        work::give_way().await;
        Ok(Transition::Next(work::double(value)))
    }
}
