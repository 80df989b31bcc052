use flow_runtime::prelude::*;

struct Ask<T>(T);
#[node(writes = answer)]
impl<T: Send + Sync + 'static> Ask<T> { fn exec(&self) -> String { String::new() } }

flow! {
    Qa() -> (answer: String) {
        start >> Ask<u8> >> end; //~
    }
}

fn main() {
    let _ = Qa::builder().ask(Ask(1_u8)).build();
}
