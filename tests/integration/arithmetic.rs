//! The nodes of PocketFlow's own tests: they compute with the key `current`.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug)]
pub(crate) struct Num(pub(crate) i64);

#[node(writes = current)]
impl Num {
    fn exec(&self) -> i64 {
        self.0
    }
}

pub(crate) struct Add(pub(crate) i64);

#[node(writes = current)]
impl Add {
    fn exec(&self, current: &i64) -> i64 {
        current + self.0
    }
}

pub(crate) struct Mul(pub(crate) i64);

#[node(writes = current)]
impl Mul {
    fn exec(&self, current: &i64) -> i64 {
        current * self.0
    }
}

#[derive(Debug, Action, Serialize, Deserialize)]
pub(crate) enum Sign {
    Positive,
    Negative,
}

#[node(actions = Sign)]
pub(crate) fn check(current: &i64) -> Sign {
    if *current >= 0 {
        Sign::Positive
    } else {
        Sign::Negative
    }
}
