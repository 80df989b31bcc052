use flow_runtime::prelude::*;

#[node]
fn profile(limit: &u64) -> u64 { *limit }

flow! {
    Triage(limit: u64, amount: u64) {
        branch urgent(amount) {
            *amount > 9 || *amount > *profile => "high", //~
            else => "low",
        }
        start >> profile >> urgent;
        urgent - "high" >> end("high");
        urgent - "low" >> end;
    }
}

fn main() {}
