use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask<T>(T);

#[node(writes = answer)]
impl<T: Send + Sync + 'static> Ask<T> {
    fn exec(&self) -> String { String::new() }
}

fn main() {
    let _ = registry![Ask<Nope> = Ask(1)]; //~
}
