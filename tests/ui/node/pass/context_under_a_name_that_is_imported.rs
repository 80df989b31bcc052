use flow_runtime::prelude::*;

mod other {
    pub trait Context: Sized {
        fn context(self, text: &str) -> Result<Self, String> {
            if text.is_empty() { Err(text.to_owned()) } else { Ok(self) }
        }
    }

    impl Context for u64 {}
}

use other::Context;

#[node]
fn read(cx: &Context, display: &str) -> Result<u64, String> {
    let read: u64 = display.parse().map_err(|_| format!("attempt {}", cx.attempt()))?;
    read.context("what was read")
}

mod with_an_import_of_its_own {
    #![deny(unused_imports)]
    use flow_runtime::{Context, node};

    #[node]
    pub fn attempt(cx: &Context) -> u32 {
        cx.attempt()
    }
}
use with_an_import_of_its_own::attempt;

mod without_an_import {
    #![deny(unused_imports)]
    use flow_runtime::node;

    #[node]
    pub fn first(cx: &Context) -> u32 {
        cx.attempt()
    }

    #[node]
    pub fn second(first: &u32, cx: &Context) -> u32 {
        first + cx.attempt()
    }
}
use without_an_import::{first, second};

flow! {
    Meter(display: String) -> (read: u64, attempt: u32, second: u32) {
        start >> attempt >> first >> second >> read >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let output = Meter::new().run(MeterInput { display: "7".into() }).await?;
    assert_eq!((output.read, output.attempt, output.second), (7, 0, 0));
    Ok(())
}
