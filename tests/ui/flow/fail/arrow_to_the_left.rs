use flow_runtime::prelude::*;

#[node]
fn bake() {}
#[node]
fn frost() {}

flow! {
    Cake() {
        start >> bake;
        frost << bake; //~
        bake <- frost; //~
        frost |> bake; //~
        frost ~> bake; //~
        frost >> end;
    }
}

fn main() {}
