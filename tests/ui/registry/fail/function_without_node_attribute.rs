use flow_loader::registry;

fn review(claim: &str) -> bool { !claim.is_empty() }

fn main() {
    let _ = registry![review]; //~
}
