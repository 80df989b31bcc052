use flow_runtime::prelude::*;

#[derive(Action)]
enum Weather { Dry, Wet }

#[node(actions = Weather)]
fn look(rain: &u32) -> Weather { if *rain > 0 { Weather::Wet } else { Weather::Dry } }

flow! {
    Garden(rain: u32) {
        start >> look;
        look - 'dry' >> end; //~
        look - "wet" >> end("wet");
    }
}

fn main() {}
