use flow_runtime::prelude::*;

mod images {
    use flow_runtime::prelude::*;

    #[node]
    pub fn darken() {}
}

flow! {
    Photo() {
        start >> images.darken >> end; //~
    }
}

fn main() {}
