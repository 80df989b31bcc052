use flow_runtime::prelude::*;

pub trait Ext: Sized {
    fn take(self) -> u64 { 1 }
    fn into(self) -> u64 { 2 }
    fn push(self, _: u8) -> u64 { 3 }
    fn as_str(self) -> u64 { 4 }
    fn as_ref(self) -> u64 { 5 }
    fn field(self) -> u64 { 6 }
    fn with_retry(self) -> u64 { 7 }
    fn default() -> u64 { 8 }
    fn context(&mut self) -> u64 { 9 }
}
impl<T> Ext for T {}
#[node] fn one(n: &u64) -> u64 { n + 1 }
#[node(retry(attempts = 2))] async fn two(_cx: &Context, one: &u64) -> Result<u64, std::io::Error> { Ok(*one) }
#[node(writes = one)] async fn late(n: &u64) -> u64 { *n }
#[node] fn many(two: &u64) -> Vec<u64> { vec![*two] }
#[derive(Debug, Action)] pub enum V { A { k: u64 }, B }
#[node(actions = V)] fn pick(n: u64) -> V { V::A { k: n } }
#[derive(Clone)] pub struct T;
#[node] impl T { async fn exec(&self, k: &u64) -> u64 { *k } }
flow! { pub Plain(n: u64) -> (one: u64) { start >> one >> end; } }
flow! { pub Faults(one: u64) -> (two: Option<u64>) {
    node two: two with retry(attempts = 3), timeout = "1s"; start >> two >> end; two - "error" >> end("e"); } }
flow! { pub Loop(two: u64) -> (all: Vec<u64>) { node all: for n in many { one } with concurrency(2); start >> many >> all >> end; } }
flow! { pub Decide(n: u64) -> (t: Option<u64>) { node t: T = T; start >> pick - "a" >> t >> end; pick - "b" >> end("b"); } }
flow! { pub Fork(n: u64, k: u64) -> (one: u64, t: u64) { node t: T; start >> [one, t] >> end; } }
flow! { pub Late(n: u64) -> (one: u64) { start >> late >> end; } }
flow! { pub Nested(n: u64, d: u64 = 3) -> (one: u64, d: u64) {
    node inner: Late with retry(attempts = 2), timeout = "1s"; start >> inner >> end; } }

fn main() { println!("{:?}", NestedInput::builder().n(1).build()); let _ = Fork::builder().t(T).build(); }
