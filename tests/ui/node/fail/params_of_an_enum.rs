use flow_runtime::Params;

#[derive(Params)]
enum Model { //~
    Small,
    Large,
}

fn main() {}
