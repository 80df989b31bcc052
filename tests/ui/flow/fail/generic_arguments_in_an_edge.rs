use flow_runtime::prelude::*;

#[derive(Default)]
struct Pay<T>(T);
#[node]
impl<T: Send + Sync> Pay<T> {
    fn exec(&self) {}
}

flow! {
    Order() {
        start >> Pay<u64> >> end; //~
    }
}

fn main() {}
