pub mod orders {
    use flow_runtime::prelude::*;

    struct Order(u64);

    #[node(writes = order)]
    fn load(id: &u64) -> Order { Order(*id) }

    flow! {
        pub Loading(id: u64) -> (order: Order) { //~
            start >> load >> end;
        }
    }
}

fn main() { let _ = orders::Loading::new(); }
