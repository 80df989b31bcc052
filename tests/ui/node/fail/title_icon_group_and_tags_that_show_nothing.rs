use flow_runtime::prelude::*;

#[node(
    title = " ", //~
    icon = "bank\u{200b}", //~
    group = "1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 more", //~
    tags("slow", "slow"), //~
)]
fn review(claim: &u64) -> u64 {
    *claim
}

fn main() {
    review(&1);
}
