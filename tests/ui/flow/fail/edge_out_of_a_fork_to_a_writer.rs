use flow_runtime::prelude::*;

#[node]
fn weather(city: &str) -> String { format!("rain in {city}") }
#[node]
fn trains(city: &str) -> usize { city.len() }
#[node]
fn first(trains: &usize) -> usize { *trains }
#[node]
fn report(weather: &str, first: &usize) -> String { format!("{weather} {first}") }

flow! {
    Report(city: String) -> (report: String) {
        start >> [weather, trains] >> report >> end;
        trains >> first >> report; //~
    }
}
fn main() {}
