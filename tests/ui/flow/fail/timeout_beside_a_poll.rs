use flow_runtime::prelude::*;

#[node(poll(every = "10s"), timeout = "1m")]
async fn job() -> Option<u64> { None }

flow! {
    Job() {
        start >> job >> end;
        job - "timeout" >> end("gave_up"); //~
    }
}

fn main() {}
