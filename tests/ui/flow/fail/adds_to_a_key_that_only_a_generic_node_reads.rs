// Nothing says of which type the key is: the flow alone knows the parameters of its reader.
use flow_runtime::prelude::*;

pub struct Entry(u64);
struct Keep<T>(T);
#[node(writes = +log)]
fn note() -> Entry { Entry(3) }
#[node]
impl<T: Send + Sync> Keep<T> {
    fn exec(&self, log: &[Entry]) -> u64 { log.iter().map(|entry| entry.0).sum() }
}
flow! {
    Notes() -> (keep: u64) {
        node keep: Keep<u64> = Keep(1);
        start >> note >> keep >> end; //~
    }
}
fn main() {}
