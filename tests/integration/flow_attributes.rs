//! `#[cfg]` on a flow removes all of it, and documentation can come from a file.

use flow_runtime::prelude::*;
use serde_json::Value;

#[node]
fn double(number: &u32) -> u32 {
    number * 2
}

flow! {
    #[cfg(test)]
    Doubles(number: u32) -> (double: u32) {
        start >> double >> end;
    }
}

flow! {
    #[cfg(not(test))]
    Doubles(number: u32) {
        start >> double >> end("not_compiled");
    }
}

#[tokio::test]
async fn cfg_removes_a_flow() {
    let input = DoublesInput::builder().number(2).build();
    let out = Doubles::new().run(input).await.unwrap();
    assert_eq!((out.double, out.end), (4, DoublesEnd::Default));
}

flow_law::law! {
    nodes: [double, weigh],
    flows: [
        Doubles,
        Doubles,
        Claims,
    ],
}

#[doc = include_str!("claim.txt")]
#[node]
fn weigh(
    #[doc = concat!("What is ", "claimed.")] claim: &str,
    #[doc = include_str!("claim.txt")] rules: &str,
) -> usize {
    claim.len().max(rules.len())
}

flow! {
    #[doc = include_str!("claim.txt")]
    Claims(#[doc = include_str!("claim.txt")] claim: String, rules: String) -> (weigh: usize) {
        start >> weigh >> end;
    }
}

/// What a macro of std writes as documentation is in the flow's JSON as if it were written there.
#[test]
fn documentation_comes_from_a_file() {
    let of_file = "Weighs a claim.\n\nIt has a second paragraph.";
    let flow: Value = serde_json::from_str(Claims::SPEC).unwrap();
    assert_eq!(flow["description"], of_file);
    assert_eq!(
        flow["inputs"]["properties"]["claim"]["description"],
        of_file
    );
    let node = &flow["nodes"][0];
    assert_eq!(node["description"], of_file);
    let reads = &node["inputs"];
    assert_eq!(
        reads["properties"]["claim"]["description"], "What is claimed.",
        "{node}"
    );
    assert_eq!(reads["properties"]["rules"]["description"], of_file);
}
