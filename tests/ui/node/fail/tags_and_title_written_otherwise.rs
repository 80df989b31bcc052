use flow_runtime::prelude::*;

#[node(tags())] //~
fn sorted(claims: &[u64]) -> usize {
    claims.len()
}

#[node(tags = "slow")] //~
fn first(claims: &[u64]) -> u64 {
    claims[0]
}

#[node(title = Review)] //~
fn last(claims: &[u64]) -> u64 {
    claims[claims.len() - 1]
}

fn main() {}
