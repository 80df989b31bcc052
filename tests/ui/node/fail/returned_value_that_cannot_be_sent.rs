use flow_runtime::prelude::*;

use std::rc::Rc;

#[node]
fn amount() -> Rc<u64> { Rc::new(3) } //~

fn main() {}
