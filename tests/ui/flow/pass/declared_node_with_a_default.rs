use flow_runtime::prelude::*;

#[derive(Default)]
struct Ask;
#[node(writes = answer)]
impl Ask {
    fn exec(&self) -> u64 { 1 }
}

flow! {
    Draft() -> (draft: u64) {
        node ask: Ask { answer -> draft };
        start >> ask >> end;
    }
}

fn main() {
    (Draft::new(), Draft::default(), Draft::builder().ask(Ask).build());
}
