//! A field from a `macro_rules!` that is called is not a method.
use flow_runtime::prelude::*;

struct Rule {
    is_big: fn(u64) -> bool,
}
static RULE: Rule = Rule { is_big: |number| number > 3 };

#[node(writes = kept)]
fn keep(number: u64) -> u64 { number }

macro_rules! define {
    ($rule:expr) => {
        flow! {
            Choose(number: u64) -> (kept: u64) {
                branch big(number) { $rule(*number) => "yes", else => "no" }
                start >> big;
                big - "yes" >> keep;
                big - "no" >> keep;
                keep >> end;
            }
        }
    };
}
define!(RULE.is_big);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let output = runtime.block_on(async { Choose::new().run(ChooseInput { number: 4 }).await });
    assert_eq!(output.unwrap().kept, 4);
}
