//! The growth of an expansion's time with the size of a flow.

use std::time::{Duration, Instant};

use super::rustc::{Rustc, parse};

/// The time of a flow with this many actions, each with its own end and output: the shortest of
/// several, since others also use the machine.
fn time(count: usize) -> Duration {
    let of_each = |text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let variants = of_each(&|index| format!("A{index} {{ o{index}: u64 }},"));
    let outputs = of_each(&|index| format!("o{index}: Option<u64>,"));
    let edges = of_each(&|index| format!("pick - \"a{index}\" >> end(\"e{index}\");"));
    let variants = parse(&format!("enum Way {{ {variants} }}"));
    let (settings, pick) = (
        parse("actions = Way"),
        parse("fn pick(n: &u64) -> Way { w() }"),
    );
    let flow = parse(&format!(
        "Many(n: u64) -> ({outputs}) {{ start >> pick; {edges} }}"
    ));
    let times = (0..3).map(|_| {
        let began = Instant::now();
        let mut rustc = Rustc::default();
        rustc.derive(&variants);
        rustc.node(settings.clone(), pick.clone());
        assert_eq!(rustc.flow(flow.clone()).len(), 2, "there are no mistakes");
        began.elapsed()
    });
    times.min().unwrap_or_default()
}

#[test]
fn five_times_as_many_ends_and_outputs_take_five_times_as_long() {
    // A machine that others use may be slow once.
    let is_near = (0..5).any(|_| time(300) < time(60) * 15);
    assert!(is_near, "it takes much longer than in proportion");
}
