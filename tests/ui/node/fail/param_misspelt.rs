use flow_runtime::Params;

#[derive(Params)]
struct Ask {
    #[param(secrt)] //~
    api_key: String,
}

fn main() {}
