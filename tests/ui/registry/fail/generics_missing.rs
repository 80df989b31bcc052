use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask<M>(M);

#[node(writes = answer)]
impl<M: Fn(&str) -> String + Send + Sync + 'static> Ask<M> {
    fn exec(&self, question: &str) -> String {
        (self.0)(question)
    }
}

fn main() {
    let _ = registry![Ask]; //~
}
