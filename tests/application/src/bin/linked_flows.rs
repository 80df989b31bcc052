//! Prints the JSON of every flow that is linked into this program, one in each line. It runs none
//! of them, and names the library's crate only.

use flow_runtime::prelude::*;
use flow_tests_library as _;

#[node]
fn never_called(reason: &str) -> String {
    reason.to_owned()
}

flow! {
    /// A flow that nothing in the program uses.
    NobodyCallsIt(reason: String) -> (never_called: String) {
        start >> never_called >> end;
    }
}

fn main() {
    for flow in flow_runtime::flows() {
        println!("{}", flow.spec());
    }
}
