use flow_runtime::Params;

#[derive(Params)]
struct Ask {
    #[param] //~
    api_key: String,
}

fn main() {}
