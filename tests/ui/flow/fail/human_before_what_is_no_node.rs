use flow_runtime::prelude::*;

struct Check;

flow! {
    Release() {
        node check: human Check; //~ //~
        start >> check >> end;
    }
}

fn main() {}
