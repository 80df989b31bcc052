#![deny(warnings)]
use flow_runtime::prelude::*;

#[derive(Debug, Action)]
enum Verdict<T> {
    #[action("ok")]
    Approved { value: T },
    #[action("needs-revision")]
    Again,
    HTTPFailure,
}
#[node(actions = Verdict<u64>)]
fn review() -> Verdict<u64> { Verdict::Approved { value: 3 } }
fn main() {
    assert_eq!(Verdict::<u64>::ACTIONS, ["ok", "needs-revision", "http_failure"]);
    assert_eq!(review().action(), "ok");
}
