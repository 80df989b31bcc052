use flow_runtime::prelude::*;

struct Transaction;
struct Post;

#[node(transaction)]
impl Post {
    async fn exec(&self, tx: &mut Transaction) -> u32 {
        let _ = tx;
        1
    }
    async fn post(&self, exec_res: u32, tx: &mut Transaction) -> u32 { //~
        let _ = tx;
        exec_res
    }
}

fn main() {}
