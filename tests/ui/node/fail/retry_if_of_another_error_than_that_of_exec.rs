use flow_runtime::prelude::*;

fn is_busy(status: &u16) -> bool {
    *status == 503
}

struct Load<P>(P);

#[node(retry(attempts = 3, if = is_busy))] //~
impl<P: AsRef<str> + Send + Sync> Load<P> {
    fn exec(&self) -> std::io::Result<String> {
        std::fs::read_to_string(self.0.as_ref())
    }
}

fn main() {}
