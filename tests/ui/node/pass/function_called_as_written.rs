#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(writes = twice, retry(attempts = 3))]
/// Doubles.
fn double(number: &u64) -> Result<u64, String> { Ok(number * 2) }
fn main() {
    assert_eq!(double(&2), Ok(4));
    assert_eq!([1, 2].iter().filter_map(|number| double(number).ok()).sum::<u64>(), 6);
}
