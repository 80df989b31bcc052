//! Where nodes may live, what they may be called, and which types they may be.

use std::fmt::Display;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

mod arabic {
    use flow_runtime::prelude::*;

    /// A node like any other; its documentation stays.
    #[node]
    pub(crate) fn spell(number: &u32) -> String {
        number.to_string()
    }

    #[node(writes = doubled)]
    pub(super) async fn double(number: &u32) -> u32 {
        number * 2
    }
}

mod roman {
    use flow_runtime::prelude::*;

    #[node(writes = roman)]
    pub(crate) fn spell(number: &u32) -> String {
        "I".repeat(*number as usize)
    }

    pub(crate) mod deeper {
        use flow_runtime::prelude::*;

        #[derive(Default)]
        pub(crate) struct Reverse;

        #[node(writes = reversed)]
        impl Reverse {
            fn exec(&self, spell: &str) -> String {
                spell.chars().rev().collect()
            }
        }
    }
}

flow! {
    Spells(number: u32) -> (spell: String, roman: String, doubled: u32, reversed: String) {
        node in_roman: roman::spell;
        start >> arabic::spell >> in_roman >> arabic::double >> roman::deeper::Reverse >> end;
    }
}

#[tokio::test]
async fn nodes_of_one_name_live_in_two_modules() {
    let input = SpellsInput::builder().number(12).build();
    let out = Spells::new().run(input).await.unwrap();
    assert_eq!((out.spell.as_str(), out.roman.len()), ("12", 12));
    assert_eq!((out.doubled, out.reversed.as_str()), (24, "21"));
}

mod importing {
    use super::arabic::{self, spell as spell_out};
    use super::roman::{deeper::*, spell};
    use flow_runtime::prelude::*;

    flow! {
        pub(super) Imported(number: u32) -> (spell: String, roman: String, doubled: u32, reversed: String) {
            start >> spell_out >> spell >> self::arabic::double >> Reverse >> end;
        }
    }
}

#[tokio::test]
async fn nodes_are_imported_and_renamed_like_functions() {
    let input = importing::ImportedInput::builder().number(21).build();
    let out = importing::Imported::new().run(input).await.unwrap();
    assert_eq!((out.spell.as_str(), out.roman.len()), ("21", 21));
    assert_eq!((out.doubled, out.reversed.as_str()), (42, "12"));
    let names: Vec<_> = importing::ImportedNode::ALL
        .iter()
        .map(|node| node.as_str())
        .collect();
    assert_eq!(names, ["spell_out", "spell", "double", "reverse"]);
}

#[tokio::test]
async fn a_node_stays_the_function_that_was_written() {
    assert_eq!(arabic::spell(&3), "3");
    assert_eq!(arabic::double(&3).await, 6);
    let as_value: fn(&u32) -> String = roman::spell;
    assert_eq!(as_value(&3), "III");
    assert_eq!([1, 2].iter().map(roman::spell).collect::<String>(), "III");
}

#[tokio::test]
async fn nodes_and_flows_live_inside_functions() {
    #[derive(Action)]
    enum Parity {
        Even,
        Odd { rest: u32 },
    }

    #[node(actions = Parity)]
    fn parity(number: &u32) -> Parity {
        match number % 2 {
            0 => Parity::Even,
            rest => Parity::Odd { rest },
        }
    }

    struct Halve {
        by: u32,
    }

    #[node(writes = half)]
    impl Halve {
        fn exec(&self, number: &u32) -> u32 {
            number / self.by
        }
    }

    flow! {
        Halves(number: u32) -> (half: Option<u32>, rest: Option<u32>) {
            node halve: Halve = Halve { by: 2 };
            start >> parity;
            parity - "even" >> halve >> end;
            parity - "odd" >> end("odd");
        }
    }

    flow! {
        HalvesInside(number: u32) -> (half: Option<u32>) {
            start >> Halves;
            Halves - "default" >> end;
            Halves - "odd" >> end;
        }
    }

    let out = Halves::new()
        .run(HalvesInput::builder().number(8).build())
        .await
        .unwrap();
    assert_eq!((out.half, out.rest), (Some(4), None));
    let out = Halves::new()
        .run(HalvesInput::builder().number(7).build())
        .await
        .unwrap();
    assert_eq!(
        (out.half, out.rest, out.end),
        (None, Some(1), HalvesEnd::Odd)
    );
    let input = HalvesInsideInput::builder().number(8).build();
    assert_eq!(HalvesInside::new().run(input).await.unwrap().half, Some(4));
}

/// Nodes named like macros of std, which go on using those macros.
mod like_std_macros {
    use flow_runtime::prelude::*;

    #[node]
    pub(super) fn format(number: &u32) -> String {
        format!("<{number}>")
    }

    #[node]
    pub(super) fn vec(format: &str) -> Vec<String> {
        vec![format.to_owned(); 2]
    }

    #[node]
    pub(crate) fn matches(vec: &[String]) -> bool {
        matches!(vec, [first, ..] if first.starts_with('<'))
    }

    #[node]
    pub(super) fn write(vec: &[String], matches: &bool) -> String {
        use std::fmt::Write as _;

        let mut text = String::new();
        write!(text, "{vec:?}{matches}").unwrap();
        text
    }

    #[node]
    pub(super) fn print(write: &str) {
        print!("{write}");
        println!();
    }

    #[node(writes = asserted)]
    pub(super) fn assert(write: &str) -> usize {
        assert!(
            !write.is_empty(),
            "{}",
            concat!("never ", stringify!(empty))
        );
        assert_eq!(write.len(), write.chars().count());
        write.len()
    }
}

mod using_those_like_std_macros {
    use super::like_std_macros::{
        self, assert, assert_node, format, format_node, print, print_node, vec, vec_node, write,
        write_node,
    };
    use flow_runtime::prelude::*;

    flow! {
        pub(super) LikeStdMacros(number: u32) -> (write: String, asserted: usize) {
            start >> format >> vec >> like_std_macros::matches >> write >> print >> assert >> end;
        }
    }

    pub(super) fn with_the_macros_of_std(number: u32) -> String {
        assert!(matches!(number, 0..10));
        let mut text = String::new();
        std::fmt::Write::write_fmt(&mut text, format_args!("{number}")).unwrap();
        format!("{text} {:?}", vec![number; 2])
    }
}

#[tokio::test]
async fn nodes_are_named_like_macros_of_std() {
    use using_those_like_std_macros::{LikeStdMacros, LikeStdMacrosInput, with_the_macros_of_std};

    let out = LikeStdMacros::new()
        .run(LikeStdMacrosInput::builder().number(1).build())
        .await;
    let out = out.unwrap();
    assert_eq!(out.write, r#"["<1>", "<1>"]true"#);
    assert_eq!(out.asserted, 18);
    assert_eq!(with_the_macros_of_std(3), "3 [3, 3]");
}

/// What answers questions.
trait Model: Send + Sync {
    fn answer(&self, question: &str) -> String;
}

struct Parrot;

impl Model for Parrot {
    fn answer(&self, question: &str) -> String {
        question.to_owned()
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn answer(&self, question: &str) -> String {
        (**self).answer(question)
    }
}

struct Ask<M> {
    model: M,
}

#[node(writes = answer)]
impl<M: Model> Ask<M> {
    async fn exec(&self, question: &str) -> String {
        self.model.answer(question)
    }
}

/// Several parameters, a constant, a bound, and a type that is written.
struct Collect<T, const N: usize>
where
    T: Clone + Display,
{
    suffix: T,
}

#[node(writes(collected, suffix))]
impl<T, const N: usize> Collect<T, N>
where
    T: Clone + Display + Send + Sync + 'static,
{
    fn exec(&self, answer: &str) -> (Vec<String>, T) {
        (
            vec![format!("{answer}{}", self.suffix); N],
            self.suffix.clone(),
        )
    }
}

flow! {
    AsksParrot(question: String) -> (answer: String) {
        node ask: Ask<Parrot> = Ask { model: Parrot };
        start >> ask >> end;
    }
}

flow! {
    AsksAny(question: String) -> (collected: Vec<String>, suffix: char) {
        node ask: Ask<Box<dyn Model>>;
        node collect: Collect<char, 3> = Collect { suffix: '!' };
        start >> ask >> collect >> end;
    }
}

#[tokio::test]
async fn node_types_are_generic() {
    let input = AsksParrotInput::builder().question("who".into()).build();
    assert_eq!(AsksParrot::new().run(input).await.unwrap().answer, "who");

    let ask: Ask<Box<dyn Model>> = Ask {
        model: Box::new(Parrot),
    };
    let flow = AsksAny::builder().ask(ask).build();
    let input = AsksAnyInput::builder().question("who".into()).build();
    let out = flow.run(input).await.unwrap();
    assert_eq!(
        (out.collected, out.suffix),
        (vec!["who!".to_owned(); 3], '!')
    );
}

/// The type that an action carries is that of the node.
#[derive(Debug, Action, Serialize, Deserialize)]
enum Measured<T, U = u8> {
    #[action("x-large")]
    Big {
        big: T,
    },
    #[action("tiny")]
    Small {
        small: U,
        smallest: Option<T>,
    },
    Nothing,
}

#[node(actions = Measured<usize>, writes = seen)]
fn size(text: &str) -> (String, Measured<usize>) {
    let size = match text.len() {
        0 => Measured::Nothing,
        small @ 1..=3 => Measured::Small {
            small: u8::try_from(small).unwrap(),
            smallest: Some(1),
        },
        big => Measured::Big { big },
    };
    (format!("{size:?}"), size)
}

flow! {
    Sizes(text: String) -> (seen: String, big: Option<usize>, small: Option<u8>, smallest: Option<Option<usize>>) {
        start >> size;
        size - "x-large" >> end("big");
        size - "tiny" >> end("small");
        size - "nothing" >> end;
    }
}

#[tokio::test]
async fn actions_are_renamed_and_generic() {
    assert_eq!(Measured::<u8>::ACTIONS, ["x-large", "tiny", "nothing"]);
    assert_eq!(Measured::<u8>::Big { big: 1 }.action(), "x-large");

    let run = |text: &str| Sizes::new_and_run(text.to_owned());
    let out = run("carrot").await;
    assert_eq!(
        (out.end, out.big, out.small),
        (SizesEnd::Big, Some(6), None)
    );
    let out = run("pea").await;
    assert_eq!(
        (out.end, out.small, out.smallest),
        (SizesEnd::Small, Some(3), Some(Some(1)))
    );
    let out = run("").await;
    assert_eq!((out.end, out.seen.as_str()), (SizesEnd::Default, "Nothing"));
}

impl Sizes {
    async fn new_and_run(text: String) -> SizesOutput {
        Sizes::new()
            .run(SizesInput::builder().text(text).build())
            .await
            .unwrap()
    }
}

/// Actions that are defined elsewhere.
mod verdicts {
    use flow_runtime::prelude::*;

    #[derive(Debug, Clone, Copy, PartialEq, Action)]
    pub(crate) enum Verdict {
        Accept,
        NeedsWork,
    }
}

#[node(actions = verdicts::Verdict)]
fn judge(verdict: &verdicts::Verdict) -> verdicts::Verdict {
    *verdict
}

#[node(actions = self::verdicts::Verdict)]
async fn judge_or_fail(verdict: &verdicts::Verdict) -> Result<verdicts::Verdict, String> {
    Ok(*verdict)
}

flow! {
    Judges(verdict: verdicts::Verdict) {
        start >> judge;
        judge - "accept" >> judge_or_fail;
        judge - "needs_work" >> end("rejected");
        judge_or_fail - "accept" >> end("accepted");
        judge_or_fail - "needs_work" >> end("rejected");
    }
}

#[tokio::test]
async fn actions_may_be_defined_elsewhere() {
    use verdicts::Verdict;

    for (verdict, end) in [
        (Verdict::Accept, "accepted"),
        (Verdict::NeedsWork, "rejected"),
    ] {
        let input = JudgesInput::builder().verdict(verdict).build();
        assert_eq!(Judges::new().run(input).await.unwrap().end.as_str(), end);
    }
}

#[node(actions = FlowAction)]
fn act(action: &FlowAction) -> FlowAction {
    *action
}

#[node]
fn after_complete() {}

#[node]
fn after_error() {}

#[node]
fn after_success() {}

flow! {
    Acts(action: FlowAction) {
        start >> act;
        act - "complete" >> after_complete >> end("complete");
        act - "error" >> after_error >> end("went_wrong");
        act - "success" >> after_success >> end("success");
        act - "failure" >> end("failure");
        act - "retry" >> end("retry");
        act >> end;
    }
}

/// BP-02
#[tokio::test]
async fn the_standard_actions_lead_where_they_are_routed() {
    let strings = [
        "complete", "error", "success", "failure", "retry", "default",
    ];
    assert_eq!(FlowAction::ACTIONS, strings);
    let all = [
        (FlowAction::Complete, "complete", "act after_complete"),
        (FlowAction::Error, "went_wrong", "act after_error"),
        (FlowAction::Success, "success", "act after_success"),
        (FlowAction::Failure, "failure", "act"),
        (FlowAction::Retry, "retry", "act"),
        (FlowAction::Default, "default", "act"),
    ];
    for ((action, end, trace), string) in all.into_iter().zip(strings) {
        assert_eq!(action.action(), string);
        let input = ActsInput::builder().action(action).build();
        let (out, run) = crate::support::traced(&Acts::new(), input).await;
        assert_eq!((out.end.as_str(), run.as_str()), (end, trace));
    }
}

/// The `Ok` type is found through an alias.
mod aliases {
    use flow_runtime::prelude::*;

    type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

    #[node]
    fn parse(text: &str) -> Result<u32> {
        Ok(text.parse()?)
    }

    #[node]
    fn read(path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }

    #[node]
    fn check(parse: &u32) -> Result<()> {
        if *parse == 0 {
            Err("zero".into())
        } else {
            Ok(())
        }
    }

    flow! {
        pub(super) Parses(text: String, path: String) -> (parse: Option<u32>, read: Option<String>) {
            start >> parse >> check >> read >> end;
            parse - "error" >> end("no_number");
            check - "error" >> end("zero");
            read - "error" >> end("no_file");
        }
    }
}

#[tokio::test]
async fn a_result_may_have_an_alias() {
    use aliases::{Parses, ParsesInput};

    for (text, parsed, end) in [
        ("x", None, "no_number"),
        ("0", Some(0), "zero"),
        ("7", Some(7), "no_file"),
    ] {
        let input = ParsesInput::builder()
            .text(text.into())
            .path(String::new())
            .build();
        let out = Parses::new().run(input).await.unwrap();
        assert_eq!((out.parse, out.end.as_str(), out.read), (parsed, end, None));
    }
}

/// Names that are keywords, and lifetimes that are written out.
#[node]
fn r#match<'a>(r#type: &'a str, r#in: &'a Option<String>) -> String {
    r#in.as_deref().unwrap_or(r#type).to_owned()
}

#[node(writes = r#type)]
fn set_type(r#match: String) -> String {
    r#match + "!"
}

flow! {
    Raw(r#type: String, input: Option<String>) -> (r#match: String, r#type: String) {
        start >> wrap_in >> r#match >> set_type >> end;
    }
}

#[node(writes = r#in)]
fn wrap_in(input: Option<String>) -> Option<String> {
    input
}

#[tokio::test]
async fn names_may_be_keywords() {
    let input = RawInput::builder()
        .r#type("t".into())
        .input("i".into())
        .build();
    let out = Raw::new().run(input).await.unwrap();
    assert_eq!((out.r#match.as_str(), out.r#type.as_str()), ("i", "i!"));
    assert_eq!(RawNode::Match.as_str(), "match");
}

/// Keys and nodes that generated code might use itself.
mod named_like_generated_code {
    use flow_runtime::prelude::*;

    #[expect(clippy::too_many_arguments, reason = "each is a name to try")]
    #[node]
    pub(super) fn run(
        engine: &u8,
        scope: &u8,
        state: &u8,
        input: &u8,
        routes: &u8,
        route: &u8,
        visit: &u8,
        outcome: &u8,
        work: &u8,
        inner: &u8,
        attempts: &u8,
        failed: &u8,
        argument_0: &u8,
        written_0: &u8,
        node: &u8,
        options: &u8,
        this: &u8,
    ) -> u8 {
        engine
            + scope
            + state
            + input
            + routes
            + route
            + visit
            + outcome
            + work
            + inner
            + attempts
            + failed
            + argument_0
            + written_0
            + node
            + options
            + this
    }

    macro_rules! chain {
        ($($node:ident reads $key:ident;)*) => {
            $(
                #[node]
                fn $node($key: u8) -> Result<u8, String> {
                    Ok($key + 1)
                }
            )*
        };
    }

    chain! {
        engine reads run;
        scope reads engine;
        state reads scope;
        drive reads state;
        new reads drive;
        visit reads new;
        work reads visit;
        outcome reads work;
        value reads outcome;
    }

    flow! {
        pub(super) LikeGeneratedCode(
            engine: u8, scope: u8, state: u8, input: u8, routes: u8, route: u8, visit: u8, outcome: u8, work: u8,
            inner: u8, attempts: u8, failed: u8, argument_0: u8, written_0: u8, node: u8, options: u8, this: u8,
        ) -> (value: u8) {
            start >> run >> engine >> scope >> state >> drive >> new >> visit >> work >> outcome >> value >> end;
        }
    }
}

#[tokio::test]
async fn names_of_generated_code_are_free_to_use() {
    use named_like_generated_code::{LikeGeneratedCode, LikeGeneratedCodeInput};

    let input = LikeGeneratedCodeInput::builder()
        .engine(1)
        .scope(1)
        .state(1)
        .input(1)
        .routes(1)
        .route(1)
        .visit(1)
        .outcome(1)
        .work(1)
        .inner(1)
        .attempts(1)
        .failed(1)
        .argument_0(1)
        .written_0(1)
        .node(1)
        .options(1)
        .this(1)
        .build();
    let out = LikeGeneratedCode::new().run(input).await.unwrap();
    assert_eq!(out.value, 17 + 9);
}

/// A module where the names of the prelude mean something else.
#[expect(dead_code, reason = "their names are what matters")]
mod without_prelude {
    pub(super) struct Box;
    pub(super) struct Default;
    pub(super) struct Err;
    pub(super) struct Future;
    pub(super) struct None;
    pub(super) struct Ok;
    pub(super) struct Option;
    pub(super) struct Result;
    pub(super) struct Send;
    pub(super) struct Some;
    pub(super) struct String;

    #[flow_runtime::node]
    pub(super) fn one() -> u8 {
        1
    }

    #[derive(flow_runtime::Action)]
    pub(super) enum Next {
        Go { next: u8 },
        Stay,
    }

    #[flow_runtime::node(actions = Next, retry(attempts = 2), timeout = "1s")]
    pub(super) async fn go(one: u8) -> Next {
        Next::Go { next: one + 1 }
    }

    pub(super) struct Add(pub(super) u8);

    #[flow_runtime::node(writes = sum)]
    impl Add {
        fn exec(&self, next: &u8) -> u8 {
            next + self.0
        }
    }

    flow_runtime::flow! {
        pub(super) Adds() -> (sum: u8) {
            node add: Add = Add(5);
            start >> one >> go;
            go - "go" >> add >> end;
            go - "stay" >> one;
            go - "error" >> one;
        }
    }
}

#[tokio::test]
async fn the_macros_need_no_prelude() {
    use without_prelude::{Adds, AddsInput};

    assert_eq!(
        Adds::new()
            .run(AddsInput::builder().build())
            .await
            .unwrap()
            .sum,
        7
    );
}

/// Nodes and flows that a macro of the user's defines, more than once.
mod from_macros {
    use flow_runtime::prelude::*;

    macro_rules! define {
        ($module:ident, $value:expr) => {
            pub(super) mod $module {
                use flow_runtime::prelude::*;

                #[node]
                pub(crate) fn constant() -> u32 {
                    $value
                }

                flow! {
                    pub(crate) Constant() -> (constant: u32) {
                        start >> constant >> end;
                    }
                }
            }
        };
    }

    define!(three, 3);
    define!(four, 4);

    #[node]
    fn sum(three: &u32, four: &u32) -> u32 {
        three + four
    }

    macro_rules! pipeline {
        ($flow:ident: $first:ident, $second:ident, $third:ident) => {
            #[node]
            fn $first(id: &u32) -> u32 {
                id + 1
            }

            #[node]
            fn $second($first: &u32) -> u32 {
                $first * 2
            }

            #[node]
            fn $third($second: &u32) -> u32 {
                $second + 3
            }

            flow! {
                pub(super) $flow(id: u32) -> ($third: u32) {
                    start >> $first >> $second >> $third >> end;
                }
            }
        };
    }

    // The variants of its enum all end alike, of which clippy would say something.
    pipeline!(Orders: load_order, check_order, pay_order);

    flow! {
        pub(super) Sums() -> (sum: u32) {
            node three: three::Constant { constant -> three } = three::Constant::new();
            node four: four::constant { constant -> four };
            start >> three >> four >> sum >> end;
        }
    }
}

#[tokio::test]
async fn a_macro_of_the_users_defines_nodes_and_flows() {
    use from_macros::{Orders, OrdersInput, Sums, SumsInput};

    assert_eq!(
        Sums::new()
            .run(SumsInput::builder().build())
            .await
            .unwrap()
            .sum,
        7
    );
    let paid = Orders::new().run(OrdersInput { id: 1 }).await.unwrap();
    assert_eq!(paid.pay_order, 7);
}

/// A node that revises a value in place: its parameter is named as the function is.
#[node]
fn draft(draft: &str) -> String {
    format!("{draft}+")
}

#[node(retry(attempts = 2))]
async fn polish(polish: String) -> Result<String, String> {
    Ok(polish + "!")
}

flow! {
    Drafts(draft: String, polish: String) -> (draft: String, polish: String) {
        start >> draft >> polish >> end;
    }
}

#[tokio::test]
async fn a_parameter_is_named_as_its_function() {
    let input = DraftsInput::builder()
        .draft("d".into())
        .polish("p".into())
        .build();
    let out = Drafts::new().run(input).await.unwrap();
    assert_eq!((out.draft.as_str(), out.polish.as_str()), ("d+", "p!"));
    assert_eq!(draft("e"), "e+");
}

flow_law::law! {
    nodes: [size, act, after_complete, after_error, after_success, r#match, wrap_in, set_type, draft, polish],
    flows: [
        AsksParrot with [Ask<Parrot> = Ask { model: Parrot }],
        Sizes,
        Raw,
        Drafts,
    ],
    not_json: [Acts],
}
