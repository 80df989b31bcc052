// Nothing says of which type the key is: a condition looks at any.
use flow_runtime::prelude::*;

#[node(writes = +log)]
fn note() -> String { "begun".to_owned() }

flow! {
    Notes() {
        branch enough(log) { log.len() > 3 => "yes", else => "no" }
        start >> note >> enough; //~
        enough - "yes" >> end;
        enough - "no" >> note;
    }
}

fn main() {}
