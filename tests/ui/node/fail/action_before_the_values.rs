use flow_runtime::prelude::*;

#[derive(Action)]
enum Route { Van, Bike }

#[node(writes = distance, actions = Route)]
fn plan(depot: &u32) -> (Route, u32) { (if *depot > 9 { Route::Van } else { Route::Bike }, *depot) } //~
#[node(writes = price)]
fn price(distance: &u32) -> u32 { *distance }

flow! {
    Delivery(depot: u32) -> (price: u32) {
        start >> plan;
        plan - "van" >> price >> end;
        plan - "bike" >> price;
    }
}

fn main() {}
