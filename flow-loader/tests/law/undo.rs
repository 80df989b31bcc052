//! Flows whose visits are undone: a loaded flow undoes what the compiled one does, on every engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use flow_durable::Durable;
use flow_loader::Registry;
use flow_runtime::CancellationToken;
use flow_runtime::engine::{AnyFlow, Direct, Observed, Run, Saved, run_any};
use tokio::time::sleep;

use super::support::{Ran, all, did, done, loaded};
use super::*;

/// Does what its name says. It takes as many times 20 ms as its name has letters, and is done after
/// half of them. `fate` has the names of those that fail, and `-` with the names of those that
/// cannot be taken back.
#[node(writes = receipt)]
async fn act(name: &str, fate: &str) -> Result<String, String> {
    let half = Duration::from_millis(10 * name.len() as u64);
    sleep(half).await;
    if fate.split(' ').any(|other| other == name) {
        return Err(format!("{name} fails"));
    }
    did(name.to_owned());
    sleep(half).await;
    Ok(name.to_owned())
}

#[node]
async fn take_back(receipt: &str, fate: &str) -> Result<(), String> {
    sleep(Duration::from_millis(10)).await;
    if fate
        .split(' ')
        .any(|other| other.strip_prefix('-') == Some(receipt))
    {
        return Err(format!("{receipt} stays"));
    }
    did(format!("-{receipt}"));
    Ok(())
}

fn nodes() -> Registry {
    registry![
        act, take_back, pop, fails, add_note, show_notes, take_notes, decide, take_name, Slow
    ]
}

/// Runs the compiled and the loaded flow in every way, and compares all of it. `expected` is what
/// their nodes have done.
async fn same<F>(compiled: impl Fn() -> F, spec: &str, input: Value, expected: &str) -> Ran
where
    F: AnyFlow<Direct> + AnyFlow<Durable> + for<'r> AnyFlow<Observed<'r>> + 'static,
{
    let loaded = loaded(spec, &nodes());
    let compiled = all(compiled(), &input, &Value::Null).await;
    let loaded = all(loaded, &input, &Value::Null).await;
    let [plain, observed, durable] = &compiled;
    for ran in [plain, observed] {
        assert_eq!(ran.done.join(" "), expected, "{input}: {:?}", ran.ended);
    }
    // Steps that take no time take turns in another order there.
    let sorted = |done: &mut dyn Iterator<Item = &str>| {
        let mut done: Vec<String> = done.map(str::to_owned).collect();
        done.sort();
        done
    };
    let in_durable = durable.done.join(" ");
    assert_eq!(
        sorted(&mut in_durable.split(' ')),
        sorted(&mut expected.split(' ')),
        "{input}: {durable:?}"
    );
    for (compiled, loaded) in compiled.iter().zip(&loaded) {
        assert_eq!(loaded.done, compiled.done, "{input}");
        assert_eq!(loaded.ended, compiled.ended, "{input}");
        assert_eq!(
            loaded.happened.join("\n"),
            compiled.happened.join("\n"),
            "{input}"
        );
    }
    let [plain, ..] = loaded;
    plain
}

flow! {
    Chain(a: String, b: String, c: String, fate: String) -> () {
        node step_a: act { name <- a, receipt -> done_a } with undo = undo_a;
        node step_b: act { name <- b, receipt -> done_b } with undo = undo_b;
        node step_c: act { name <- c, receipt -> done_c } with undo = undo_c;
        node undo_a: take_back { receipt <- done_a };
        node undo_b: take_back { receipt <- done_b } with retry(attempts = 2, wait = "1s");
        node undo_c: take_back { receipt <- done_c };
        start >> step_a >> step_b >> step_c >> end;
    }
}

fn abc(fate: &str) -> Value {
    json!({ "a": "a", "b": "b", "c": "c", "fate": fate })
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_fails_at_each_step() {
    for (fate, expected) in [
        ("a", ""),
        ("b", "a -a"),
        ("c", "a b -b -a"),
        ("nobody", "a b c"),
    ] {
        same(Chain::new, Chain::SPEC, abc(fate), expected).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_undo_node_that_fails() {
    let ran = same(Chain::new, Chain::SPEC, abc("c -b"), "a b").await;
    assert_eq!(
        ran.ended.unwrap_err(),
        "what `chain.step_b` did was not undone: node `chain.step_b!undo` failed after 2 attempts: b stays; \
         it was to be undone because node `chain.step_c` failed after 1 attempt: c fails"
    );
}

flow! {
    Part(name: String, other: String, fate: String) -> (receipt: String) {
        node undo_one: take_back { receipt <- one };
        node first: act { receipt -> one } with undo = undo_one;
        node second: act { name <- other } with undo = take_back;
        start >> first >> second >> end;
    }
}

flow! {
    Whole(a: String, b: String, c: String, d: String, fate: String) -> () {
        node step_a: act { name <- a } with undo = take_back;
        node part: Part { name <- b, other <- c, receipt -> of_part } with retry(attempts = 2, wait = "1s");
        node step_d: act { name <- d, receipt -> done_d };
        start >> step_a >> part >> step_d >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_in_a_flow() {
    for (fate, expected) in [
        ("b", "a -a"),
        // Each attempt is undone before the next one.
        ("c", "a b -b b -b -a"),
        ("d", "a b c -c -b -a"),
        ("nobody", "a b c d"),
        // Nothing more is tried.
        ("c -b", "a b"),
    ] {
        let input = json!({ "a": "a", "b": "b", "c": "c", "d": "d", "fate": fate });
        same(Whole::new, Whole::SPEC, input, expected).await;
    }
}

#[node(writes(name, names, left))]
fn pop(mut names: Vec<String>) -> (String, Vec<String>, usize) {
    let name = names.remove(0);
    let left = names.len();
    (name, names, left)
}

flow! {
    Repeated(names: Vec<String>, other: String, fate: String) -> () {
        node part: Part { receipt -> of_part };
        branch more(left) { *left > 0 => "more", else => "done" }
        start >> pop >> part >> more;
        more - "more" >> pop;
        more - "done" >> fails >> end;
        part - "error" >> end("failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_fails_undoes_no_earlier_visit() {
    for (fate, expected) in [
        ("b", "a c"),
        ("c", "a -a"),
        ("fails", "a c b c -c -b -c -a"),
    ] {
        let input = json!({ "names": ["a", "b"], "other": "c", "fate": fate });
        same(Repeated::new, Repeated::SPEC, input, expected).await;
    }
}

flow! {
    Timed(a: String, b: String, c: String, fate: String) -> () {
        node step_a: act { name <- a } with undo = take_back;
        node part: Part { name <- b, other <- c, receipt -> of_part } with timeout = "50ms";
        start >> step_a >> part >> end;
        part - "error" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_takes_too_long() {
    // It is finished first, and `c` does not begin.
    let input = json!({ "a": "a", "b": "bbbb", "c": "c", "fate": "" });
    same(Timed::new, Timed::SPEC, input, "a bbbb -bbbb").await;
    let input = json!({ "a": "a", "b": "b", "c": "cccc", "fate": "" });
    same(Timed::new, Timed::SPEC, input, "a b cccc -cccc -b").await;
}

flow! {
    Forked(a: String, b: String, c: String, d: String, fate: String) -> () {
        node step_a: act { name <- a, receipt -> done_a } with undo = undo_a;
        node step_b: act { name <- b, receipt -> done_b } with undo = undo_b;
        node step_c: act { name <- c, receipt -> done_c } with undo = undo_c;
        node step_d: act { name <- d, receipt -> done_d } with undo = undo_d;
        node undo_a: take_back { receipt <- done_a };
        node undo_b: take_back { receipt <- done_b };
        node undo_c: take_back { receipt <- done_c };
        node undo_d: take_back { receipt <- done_d };
        start >> step_a >> [step_b >> step_c, step_d] >> fails >> end;
    }
}

#[node]
fn fails(fate: &str) -> Result<(), String> {
    if fate.contains("fails") {
        Err("it fails".to_owned())
    } else {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork() {
    let input = |fate: &str| json!({ "a": "a", "b": "b", "c": "c", "d": "dddd", "fate": fate });
    for (fate, expected) in [
        // `d` is under way, and is finished.
        ("b", "a dddd -dddd -a"),
        ("c", "a b dddd -dddd -b -a"),
        ("dddd", "a b c -c -b -a"),
        // As they were done.
        ("fails", "a b c dddd -dddd -c -b -a"),
    ] {
        same(Forked::new, Forked::SPEC, input(fate), expected).await;
    }
    let late = json!({ "a": "a", "b": "bb", "c": "c", "d": "d", "fate": "d" });
    // `c` does not begin.
    same(Forked::new, Forked::SPEC, late, "a bb -bb -a").await;
}

flow! {
    Raced(a: String, b: String, c: String, fate: String) -> () {
        node step_a: act { name <- a, receipt -> done_a } with undo = undo_a;
        node step_b: act { name <- b, receipt -> done_b } with undo = undo_b;
        node step_c: act { name <- c, receipt -> done_c } with undo = undo_c;
        node undo_a: take_back { receipt <- done_a };
        node undo_b: take_back { receipt <- done_b };
        node undo_c: take_back { receipt <- done_c };
        node race: first { step_a, step_b >> step_c };
        start >> race >> fails >> end;
        fails - "error" >> undo >> end("undone");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_loser_of_a_race_has_done_stays_on_the_list() {
    for (a, b, fate, expected) in [
        ("aaa", "b", "", "b aaa c"),
        ("aaa", "b", "fails", "b aaa c -aaa -c -b"),
        ("aaaa", "b", "fails", "b c aaaa -aaaa -c -b"),
        ("a", "bb", "fails", "a bb -bb -a"),
        ("a", "bb", "", "a bb"),
        ("a", "bb", "a", "bb -bb"),
    ] {
        let input = json!({ "a": a, "b": b, "c": "c", "fate": fate });
        same(Raced::new, Raced::SPEC, input, expected).await;
    }
}

flow! {
    Each(name: String, fate: String) -> (receipt: String) {
        node step: act with undo = take_back;
        start >> step >> end;
    }
}

flow! {
    OneByOne(names: Vec<String>, fate: String) -> (all: Vec<String>) {
        node all: for name in names { Each };
        start >> all >> fails >> end;
    }
}

flow! {
    AtOnce(names: Vec<String>, fate: String) -> (all: Vec<String>) {
        node all: for name in names { Each } with concurrency(2);
        start >> all >> fails >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_over_flows() {
    for (fate, expected) in [
        ("c", "a bb -bb -a"),
        ("fails", "a bb c d -d -c -bb -a"),
        ("", "a bb c d"),
    ] {
        let input = json!({ "names": ["a", "bb", "c", "d"], "fate": fate });
        same(OneByOne::new, OneByOne::SPEC, input, expected).await;
    }
    for (fate, expected) in [
        ("a", "bbbb -bbbb"),
        ("c", "a bbbb -bbbb -a"),
        ("fails", "a c bbbb d -bbbb -d -c -a"),
    ] {
        let input = json!({ "names": ["a", "bbbb", "c", "d"], "fate": fate });
        same(AtOnce::new, AtOnce::SPEC, input, expected).await;
    }
}

flow! {
    Committed(a: String, b: String, c: String, fate: String) -> () {
        node step_a: act { name <- a, receipt -> done_a } with undo = undo_a;
        node step_b: act { name <- b, receipt -> done_b } with undo = undo_b;
        node step_c: act { name <- c, receipt -> done_c } with undo = undo_c;
        node undo_a: take_back { receipt <- done_a };
        node undo_b: take_back { receipt <- done_b };
        node undo_c: take_back { receipt <- done_c };
        start >> step_a >> commit >> step_b >> step_c >> fails >> end;
        step_c - "error" >> undo >> fails;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_committed_is_not_undone() {
    for (fate, expected) in [
        ("b", "a"),
        ("c", "a b -b"),
        ("c fails", "a b -b"),
        ("fails", "a b c -c -b"),
    ] {
        same(Committed::new, Committed::SPEC, abc(fate), expected).await;
    }
}

#[node(writes = +notes)]
fn add_note(name: &str) -> String {
    did(name.to_owned());
    name.to_owned()
}

#[node]
fn show_notes(notes: &[String]) {
    did(format!("{notes:?}"));
}

#[node(writes = taken)]
fn take_notes(notes: Vec<String>) -> usize {
    notes.len()
}

flow! {
    /// What is kept is what there is when a visit is done: in a branch, with what that has added.
    Noted(name: String, other: String, notes: Vec<String>, fate: String) -> (notes: Vec<String>) {
        node one: add_note with undo = show_notes;
        node two: add_note { name <- other } with undo = show_notes;
        node three: add_note { name <- other } with undo = show_notes;
        node four: add_note with undo = show_notes;
        start >> one >> [two >> four, three] >> fails >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_branch_has_added_is_kept() {
    let input = json!({ "name": "a", "other": "b", "notes": ["z"], "fate": "fails" });
    let expected = r#"a b a b ["z", "a", "b"] ["z", "a", "b", "a"] ["z", "a", "b"] ["z", "a"]"#;
    same(Noted::new, Noted::SPEC, input, expected).await;
}

flow! {
    /// The owner takes what its undo node reads, and so do later nodes.
    Taken(notes: Vec<String>, fate: String) -> (taken: usize) {
        node one: take_notes with undo = show_notes;
        start >> one >> fails >> end;
    }
}

flow! {
    TakenInBranch(name: String, notes: Vec<String>, fate: String) -> (taken: usize) {
        node show: show_notes;
        node one: act { receipt -> _done } with undo = show;
        start >> [one >> take_notes, act] >> fails >> end;
    }
}

#[node]
fn take_name(name: String) {
    did(format!("-{name}"));
}

flow! {
    /// The edge behind the owner takes and replaces what its undo node reads.
    Mapped(name: String, other: String, fate: String) -> () {
        node one: act { receipt -> _one } with undo = take_name;
        node two: act { receipt -> _two };
        start >> one >> two { name <- other } >> fails >> end;
    }
}

flow! {
    MovedByEdge(name: String, fate: String) -> () {
        node one: act { receipt -> _one } with undo = take_name;
        node two: act { name <- moved, receipt -> _two };
        start >> one >> two { moved <- name } >> fails >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn values_that_others_take() {
    let notes = json!({ "notes": ["z"], "fate": "fails" });
    same(Taken::new, Taken::SPEC, notes, r#"["z"]"#).await;
    let notes = json!({ "name": "a", "notes": ["z"], "fate": "fails" });
    same(
        TakenInBranch::new,
        TakenInBranch::SPEC,
        notes,
        r#"a a ["z"]"#,
    )
    .await;
    let names = json!({ "name": "a", "other": "b", "fate": "fails" });
    same(Mapped::new, Mapped::SPEC, names, "a b -a").await;
    let names = json!({ "name": "a", "fate": "fails" });
    same(MovedByEdge::new, MovedByEdge::SPEC, names, "a a -a").await;
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum Decision {
    Paid { receipt: String },
    Error,
    Timeout,
}

#[node(actions = Decision)]
fn decide(name: &str) -> Decision {
    did(name.to_owned());
    match name {
        "error" => Decision::Error,
        "timeout" => Decision::Timeout,
        _ => Decision::Paid {
            receipt: name.to_owned(),
        },
    }
}

flow! {
    /// A visit that takes "error" or "timeout" is not done, whoever says so.
    Decided(name: String, fate: String) -> () {
        node one: decide with undo = take_back;
        start >> one;
        one - "paid" >> fails;
        one - "error" >> fails;
        one - "timeout" >> fails;
        fails >> end;
    }
}

flow! {
    DecidedInRace(name: String, fate: String) -> () {
        node one: decide with undo = take_back;
        node race: first { one };
        start >> race;
        race - "paid" >> fails;
        race - "error" >> fails;
        race - "timeout" >> fails;
        fails >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn visits_that_are_not_done() {
    for (name, expected) in [
        ("paid", "paid -paid"),
        ("error", "error"),
        ("timeout", "timeout"),
    ] {
        let input = json!({ "name": name, "fate": "fails" });
        same(Decided::new, Decided::SPEC, input, expected).await;
    }
    for (name, expected) in [("paid", "paid -paid"), ("timeout", "timeout")] {
        let input = json!({ "name": name, "fate": "fails" });
        same(DecidedInRace::new, DecidedInRace::SPEC, input, expected).await;
    }
}

/// A run with a token that is cancelled then.
async fn cancelled<F>(flow: F, input: &Value, after: u64) -> (String, String)
where
    F: for<'r> AnyFlow<Observed<'r>>,
{
    let token = CancellationToken::new();
    let run = Run::numbered(RunOptions::new().cancellation(token.clone()));
    let engine = Observed::new(&run);
    let cancel = async {
        sleep(Duration::from_millis(after)).await;
        token.cancel();
    };
    let input = Saved::from_json(input.clone()).unwrap();
    let (ended, ()) = tokio::join!(run_any(&flow, &engine, input), cancel);
    let ended = match ended {
        Ok(output) => output.into_json().to_string(),
        Err(error) => error.to_string(),
    };
    (ended, done().join(" "))
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cancelled() {
    let whole = json!({ "a": "a", "b": "b", "c": "c", "d": "d", "fate": "" });
    let forked = json!({ "a": "a", "b": "b", "c": "c", "d": "dddd", "fate": "" });
    let mut seen = BTreeSet::new();
    for after in 0..130 {
        let compiled = cancelled(Whole::new(), &whole, after).await;
        let loaded_flow = loaded(Whole::SPEC, &nodes());
        assert_eq!(
            cancelled(loaded_flow, &whole, after).await,
            compiled,
            "{after} ms"
        );
        seen.insert(compiled.1);
        let compiled = cancelled(Forked::new(), &forked, after).await;
        let loaded_flow = loaded(Forked::SPEC, &nodes());
        assert_eq!(
            cancelled(loaded_flow, &forked, after).await,
            compiled,
            "{after} ms"
        );
        seen.insert(compiled.1);
    }
    let seen: Vec<String> = seen.into_iter().collect();
    assert_eq!(
        seen,
        [
            "a -a",
            "a b -b -a",
            "a b c -c -b -a",
            "a b c d",
            "a b c d -c -b -a",
            "a b c dddd",
            "a b c dddd -dddd -c -b -a",
            "a b dddd -dddd -b -a",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_durable_execution_that_is_cancelled() {
    let forked = json!({ "a": "a", "b": "b", "c": "c", "d": "dddd", "fate": "" });
    let mut seen = BTreeSet::new();
    for after in (0..130).step_by(7).map(Duration::from_millis) {
        let run =
            async |flow| support::durable_until(flow, &forked, &Value::Null, Some(after)).await;
        let compiled = run(Arc::new(Forked::new())).await;
        let loaded = run(Arc::new(loaded(Forked::SPEC, &nodes()))).await;
        assert_eq!(loaded, compiled, "{after:?}");
        seen.insert(compiled.done.join(" "));
    }
    let seen: Vec<String> = seen.into_iter().collect();
    assert_eq!(
        seen,
        [
            "a -a",
            "a b c dddd",
            "a b c dddd -dddd -c -b -a",
            "a b dddd -dddd -b -a",
        ]
    );
}

#[derive(Clone, Default)]
struct Slow;

#[node(writes = receipt)]
impl Slow {
    async fn exec(&self, name: &str) -> String {
        sleep(Duration::from_millis(10)).await;
        assert!(name != "panics", "it panics");
        did(name.to_owned());
        name.to_owned()
    }
}

flow! {
    Panics(name: String, other: String, fate: String) -> () {
        node one: Slow with undo = take_back;
        node two: Slow { name <- other, receipt -> _two };
        start >> one >> two >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics() {
    let input = json!({ "name": "a", "other": "panics", "fate": "" });
    let flow = loaded(Panics::SPEC, &nodes());
    let compiled = support::plain(&Panics::new(), &input).await;
    let run = support::plain(&flow, &input).await;
    assert_eq!(run, compiled);
    assert_eq!(run.done, ["a", "-a"]);
    assert!(
        flow.run(input)
            .await
            .unwrap_err()
            .to_string()
            .contains("it panics")
    );
    assert_eq!(done(), ["a", "-a"]);
}
