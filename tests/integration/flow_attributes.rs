//! `#[cfg]` on a flow removes all of it.

use flow_runtime::prelude::*;

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
    nodes: [double],
    flows: [
        Doubles,
        Doubles,
    ],
}
