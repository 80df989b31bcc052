use std::task;

use flow_runtime::prelude::*;

mod own {
    pub struct Context(pub u64);
}
#[node]
fn read(cx: &own::Context) -> u64 { cx.0 } //~
#[node]
fn waked(cx: &task::Context<'_>) -> bool { cx.waker().will_wake(cx.waker()) } //~
#[node(blocking)]
fn blocks(cx: &own::Context) -> u64 { cx.0 } //~
struct Tried;
#[node(retry(attempts = 2))]
impl Tried {
    async fn exec(&self, cx: &own::Context) -> Result<u64, String> { Ok(cx.0) } //~
}
fn main() {}
