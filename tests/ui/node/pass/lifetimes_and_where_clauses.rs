#![deny(warnings)]
use flow_runtime::prelude::*;

struct Show<T>(std::marker::PhantomData<T>);
impl<T> Default for Show<T> { fn default() -> Self { Show(std::marker::PhantomData) } }
#[node(writes = shown)]
impl<T> Show<T> where T: ToString + Send + Sync {
    fn exec<'a>(&self, first: &'a T, _second: &'a T) -> String { first.to_string() }
}
#[node]
fn longest<'a>(left: &'a str, right: &'a str) -> String { if left.len() > right.len() { left } else { right }.into() }

fn main() {}
