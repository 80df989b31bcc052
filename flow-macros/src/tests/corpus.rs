//! Flows, nodes and enums that together use the whole language, to be expanded unchanged and with
//! mutations.

/// `#[node(settings)] item`
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSource {
    pub(super) settings: &'static str,
    pub(super) item: &'static str,
}

const fn node(settings: &'static str, item: &'static str) -> NodeSource {
    NodeSource { settings, item }
}

/// The text between the braces of `flow!`.
pub(super) const FLOWS: [&str; 27] = [
    r#"
    /// Approves an expense claim.
    pub ExpenseApproval(claim: Claim, policy: Policy) -> (receipt: Option<Receipt>) {
        start >> review;
        review - "approved"       >> pay >> end;
        review - "needs_revision" >> revise >> review;
        review - "rejected"       >> end("rejected");
    }"#,
    "Nothing() { start >> hello >> end; }",
    r#"
    #[derive(PartialEq, serde::Serialize)]
    #[must_use]
    pub(crate) Research(question: String, #[doc = "How deep."] depth: Option<u8>)
        -> (answer: String, sources: Vec<String>)
    {
        namespace "sales.research";
        node ask: Ask<OpenAi> { prompt <- question, ask -> answer } = Ask::new("gpt", [1, 2]).cheap()
            with retry(attempts = 3, wait = "200ms", backoff = 2.0, max_wait = "10s", jitter = 0.5, if = ask::is_busy), timeout = "30s";
        node find: nodes::Search<{ 3 }, 'static> { hits -> sources };
        start >> find >> ask >> end;
    }"#,
    r#"
    Checks(text: String) -> (verdict: String) {
        node both: [spelling >> style, facts] with concurrency(2);
        start >> both >> judge >> end;
        both - "error" >> report >> end("failed");
    }"#,
    r#"
    Grades(files: Vec<File>) -> (averages: Vec<f64>, grade: Vec<Result<u8, NodeError>>) {
        node averages: for file in files { average { values <- file } } with concurrency(4);
        node grade: for file in files { Grader } with collect_errors, retry(attempts = 2, if = is_transient);
        start >> averages >> grade >> end;
    }"#,
    r#"
    Route(amount: u64, known: bool) -> (receipt: Option<Receipt>) {
        branch choose(amount, known) {
            *amount > 1_000 && !known => "check",
            matches!(amount, 0..=9) => "drop",
            else => "pay",
        }
        start >> choose;
        choose - "check" >> wait(5s) >> pay >> end;
        choose - "drop" >> end("dropped");
        choose - "pay" >> pay;
    }"#,
    r#"
    Orders(order: Order) -> (pickup: Option<String>, refunded: Option<String>) {
        start >> Payment >> crate::stock::Inventory >> Shipping >> end("shipped");
        Inventory - "out_of_stock" >> refund >> end("refunded");
        Payment - "error" >> end("unpaid");
    }"#,
    r#"
    Wired(order: Order) {
        node first: Payment with timeout = "1m";
        node other_payment: Payment { order <- order, confirmation -> second } with retry(attempts = 2);
        start >> first >> [other_payment, refund >> notify] >> end;
        [other_payment, refund >> notify] - "error" >> end("late");
    }"#,
    r#"
    Waits(job: Job) -> (result: Option<String>) {
        start >> poll_job;
        poll_job - "timeout" >> wait(1h) >> wait(1h 30m) >> poll_job;
        poll_job >> end;
        poll_job - "error" >> explain >> end("failed");
    }"#,
    r##"
    r#Match(r#type: r#u8, r#in: Vec<&'static str>) -> (r#fn: Option<Box<dyn Fn(u8) -> u8 + Send>>) {
        node r#loop: r#yield { r#type <- r#type, r#fn -> r#fn };
        start >> r#loop >> end(r"raw");
        r#loop - "r#match" >> end("r#match");
    }"##,
    r#"
    Types(a: [u8; 3], b: (u8, Vec<Option<u8>>), c: <T as Trait>::Out, d: impl Fn(), e: &'static mut str, f: fn(u8) -> !)
        -> (g: Option<Option<u8>>, h: std::option::Option<dyn Any>, i: *const u8, j: _)
    {
        node closure: Ask = { let x = |y| y + 1; match x(2) { 3 => Ask(x), _ => loop {} } };
        node with_: Ask = Ask { model: "x", ..Ask::default() } with timeout = "2s";
        start >> closure >> with_ >> end;
    }"#,
    r#"
    Half(claim: Claim) {
        start >> review
        review - "approved" >> ;
        review - approved >> pay;
        node : review;
        node x y;
        node z: ;
        namespace sales;
        branch b() { }
        [review, ] >> end("a", "b");
        review -> pay; review => pay; review > pay;
        end >> review; pay >> start;
        branch c(x) { else => "z", else => "w", true => "y" }
    }"#,
    "Unfinished(claim: Claim)",
    "Unfinished(claim: ) -> ",
    "pub",
    "Generic<T>(value: T) { start >> end; }",
    r#"
    Wrong(a: A, a: B, end: C) -> (end: D, a: E, x: F) {
        node start: review;
        node a: Wrong;
        node a: review { claim <- a, claim <- b, nothing <- c, amount -> a };
        node b: for b in b { b };
        node c: for d in e { f { x -> y } } with timeout = "soon", retry(tries = 3), retry(wait = "0s"), speed = 3;
        node d: [start, [a, b], end, wait(0s)] with concurrency(0);
        start >> a - "" >> end("");
        start >> a - "x y" >> end("1 2");
        a - "error" >> end("a-b");
        a - "default" >> end("a_b");
        unreachable >> Wrong >> wait(1y) >> wait(99999999999999999999y);
    }"#,
    r#"
    Conditions(x: X) -> (y: Y) {
        branch b(x) { x.is_y() => "y", *x == X { a: 1 } => "z", else => "y" }
        node made: Ask = match 3 { _ => Ask }.with(2) | Ask;
        start >> b - "y" >> make_y >> end;
        b - "z" >> std >> end;
    }"#,
    r#"
    Keys(text: String) -> (spelling: Option<String>, averages: Vec<f64>) {
        node averages: for text in lines { average };
        start >> lines >> [averages >> spelling, facts] >> take_text >> end;
    }"#,
    r#"
    Asking(version: u32, next: u32) -> (price: Option<Price>) {
        node again: human crate::people::Release { version <- next } with timeout = "2h";
        node all: for version in next { Release };
        node human: human Price;
        node wrong: human review = Review;
        start >> Release - "yes" >> again >> all >> human >> end;
        Release - "never" >> end;
        again - "timeout" >> end("late");
    }"#,
    r#"
    Stopped(order: Order) -> (reason: Option<String>, street: Option<String>, bids: Vec<Bid>) {
        node stop: signal CancelRequest { reason -> why, by -> +names } with timeout = "2d";
        node next: first { Change, Paid => "paid", wait(2h) => "late" };
        start >> Bid >> [Ping, notify] >> next - "paid" >> stop >> end;
        next - "cancel" >> end("cancelled"); next - "address" >> Bid; next - "late" >> stop;
        stop - "timeout" >> end("late");
    }"#,
    r#"
    Signals(ids: Vec<u64>) -> (all: Vec<Ping>) {
        node signal: signal crate::people::Change;
        node wrong: signal review { claim <- ids } = Change with retry(attempts = 2);
        node other: human CancelRequest; node bare: CancelRequest; node asked: signal Release;
        node all: for id in ids { Ping } with spread(2), collect_errors;
        start >> signal - "cancel" >> all >> wrong >> other >> bare - "error" >> asked >> end;
        signal - "timeout" >> end("late");
    }"#,
    r#"
    Agreement(claim: Claim) -> (claim: Claim, length: u64) {
        node one: revise;
        node two: revise with retry(attempts = 5, wait = "1s"), timeout = "1h 2m";
        start >> feed >> one >> two - "error" >> explain >> measure >> end;
        two >> measure;
    }"#,
    r#"
    Mapped(note: String, text: String) -> (spelling: Option<String>, claim: Option<Claim>, told: Option<String>) {
        start >> spelling { text <- note } >> lines { text <- spelling, r#type <- note, } >> measure { claim <- lines };
        measure >> take_text >> end("told") { told <- spelling };
        lines - "error" >> explain >> end {};
    }"#,
    r#"
    Added(topic: String, files: Vec<String>, log: Vec<String>) -> (log: Vec<String>, hits: Option<u64>) {
        node found: facts { text <- topic, facts -> +log };
        node spelled: for text in files { spelling { spelling -> +log } } with spread(4), concurrency(2);
        node again: note;
        start >> note >> [found, again >> show, spelled] >> look - "found" >> spelled >> end;
        look - "nothing" >> end("nothing");
    }"#,
    r#"
    Fulfil(order: Order, note: String) -> (charged: Option<String>) {
        node recall: crate::back::call_back { parcel <- label } with retry(attempts = 5), timeout = "1m";
        node charge: charge_card with undo = pay_back, retry(attempts = 2);
        node send: send_parcel { parcel -> label } with undo = recall;
        node parts: [send >> hello, Payment];
        node late: first { again => "done", wait(2h) >> spell => "late" };
        node spell: spelling { text <- note };
        node again: charge_card with undo = pay_back;
        start >> charge >> parts >> late - "done" >> commit >> Spare >> commit >> end;
        late - "late" >> undo >> hello_again >> undo >> end("late");
        parts - "error" >> undo >> end("refused");
    }"#,
    r#"
    Undone(text: String, lines: Vec<String>) -> (refund: Option<String>) {
        node refund: refund with undo = review;
        node inner: Payment with undo = refund;
        node all: for text in lines { spelling } with undo = undo;
        node both: [spelling, undo >> facts] with undo = commit, undo = wait;
        node undo: start; node x: undo; node y: style with undo = y; node z: style with undo = Ask<u8>, undone = refund;
        node w: pay with undo = "refund"; node v: pay with undo(refund); node u: pay with undo = refund { a <- b };
        start >> refund >> inner >> all >> both >> undo() >> x >> y >> z >> commit("a") >> end;
        undo - "error" >> undo { a <- b } >> commit;
    }"#,
];

/// The items after `#[node]`.
pub(super) const NODES: [NodeSource; 53] = [
    node("", "async fn hello() {}"),
    node(
        "actions = Verdict",
        "/// Reviews.\npub async fn review(claim: &Claim, policy: &Policy) -> Verdict { Verdict::Rejected }",
    ),
    node(
        r#"writes = claim, retry(attempts = 3, wait = "200ms", backoff = 2.0), timeout = "30s""#,
        "async fn revise(claim: Claim, feedback: &str) -> Result<Claim, ReviseError> { Err(ReviseError) }",
    ),
    node(
        "writes = receipt",
        "#[must_use]\npub(crate) fn pay(claim: &Claim, amount: &u64) -> Result<Receipt, PayError> { Ok(Receipt) }",
    ),
    node(
        "writes(feedback, length)",
        "fn feed<'a>(claim: &'a Claim, depth: Option<&u8>, name: Option<&str>, next: Option<String>) -> (String, u64) \
         where 'a: 'static { (String::new(), 3) }",
    ),
    node(
        "writes(a, b), actions = crate::verdicts::Verdict",
        "async fn both(_claim: Claim, context: &Context) -> Result<(u8, Vec<u8>, Verdict), Box<dyn Error>> { loop {} }",
    ),
    node(
        r#"poll(every = "1s", timeout = "1h"), writes = result"#,
        "async fn poll_job(job: &Job) -> Result<Option<String>, JobError> { Ok(None) }",
    ),
    node(
        "blocking, retry(attempts = 2, if = io::Error::is_busy)",
        "fn lines(text: &str, limit: Option<&usize>, name: Option<&str>, r#type: String, cx: &Context) -> io::Result<Vec<String>> \
         { Ok(vec![]) }",
    ),
    node(
        r##"timeout = "5s", writes = r#fn"##,
        "fn r#yield(r#type: r#u8) -> r#u8 { r#type }",
    ),
    node(
        "retry(attempts = 2), writes = r#fn",
        "fn raw(r#type: Vec<u8>, r#in: Option<String>) -> Result<u8, E> { Ok(r#type) }",
    ),
    node("writes = +log", "fn note(topic: &str, log: &[String]) -> String { topic.into() }"),
    node("", "fn show(log: &[String]) { println!(\"{log:?}\") }"),
    node(
        "writes(+hits, log), actions = Looked",
        "async fn look(topic: &str) -> Result<(u64, Vec<String>, Looked), E> { Err(E) }",
    ),
    node("", "fn spelling(text: &str) -> String { text.into() }"),
    node("", "fn style(spelling: String) -> String { spelling }"),
    node(
        "",
        "fn facts(text: &[u8]) -> Result<String, E> { Err(E) }",
    ),
    node(
        "writes = verdict",
        "fn judge(style: &str, facts: Option<&str>) -> String { style.into() }",
    ),
    node("", "fn average(values: &[u8]) -> f64 { 0.0 }"),
    node("writes = spelling", "fn take_text(text: String) -> String { text }"),
    node("", "fn report(error: &NodeError) { println!(\"{error}\") }"),
    node("writes = feedback", "fn explain(error: NodeError) -> String { loop {} }"),
    node("writes = length", "fn measure(claim: &Claim) -> u64 { 1 }"),
    node("writes = refunded", "fn refund(confirmation: Option<&str>) -> String { loop {} }"),
    node("", "fn notify(refunded: &str, order: &Order) { loop {} }"),
    node("writes = charged", "async fn charge_card(order: Order) -> Result<String, E> { Err(E) }"),
    node("", "async fn pay_back(charged: &str, order: Order) -> Result<(), E> { Ok(()) }"),
    node("", "fn call_back(parcel: &str, order: Option<&Order>) -> Result<(), E> { Ok(()) }"),
    node("writes = parcel", "fn send_parcel(note: String) -> String { note }"),
    node("", "fn make_y(x: &X) -> Y { loop {} }"),
    node("writes = y", "fn std(x: &X) -> Y { loop {} }"),
    node(
        "",
        "impl<M: Model<Out = [u8; 3]> + ?Sized> Ask<M> where M: Send + for<'a> Sync<'a> {
            const X: u8 = 3;
            pub async fn exec(&self, prompt: &str) -> Result<String, AskError> { self.0.ask(prompt).await }
            fn exec_fallback(&self, prompt: &str, error: &NodeError, cx: &Context) -> Result<String, AskError> { loop {} }
            fn helper(self) {}
        }",
    ),
    node(
        r#"writes = hits, retry(attempts = 4, if = Self::is_worth_it), timeout = "1s""#,
        "unsafe impl<const N: usize, 'a> Search<N, 'a> {
            fn prep(&self, question: &str, depth: Option<u8>) -> Result<Query, E> { Ok(Query) }
            async fn exec(&self, query: Query, cx: &Context) -> Result<Vec<String>, E> { Err(E) }
            fn exec_fallback(query: Query, error: &NodeError) -> Vec<String> { vec![] }
            async fn post(&self, prep_res: Query, exec_res: Vec<String>, question: &str) -> Result<Vec<String>, E> { Ok(exec_res) }
        }",
    ),
    node(
        "actions = Verdict",
        "impl Grader {
            fn exec(&mut self, file: &File) -> u8 { 3 }
            fn post<T>(self, exec_res: &u8, prep_res: (), file: File) -> Verdict { loop {} }
            fn prep() {}
            async fn
        }",
    ),
    node(
        "writes = grade",
        "impl Grader { fn exec(&self, file: &File) -> Result<u8, E> { Ok(3) } }",
    ),
    node(r#"human = "Deploy?""#, "pub enum Deploy<T> where T: Copy { Yes, No { reason: T } }"),
    node(r#"human = """#, "struct Price(u8);"),
    node(
        r#"human = "Deploy {version} to {r#type}, {{now}}?", timeout = "24h""#,
        "/// Whether to.\n#[derive(Debug)] pub(crate) enum Release { Yes { by: String }, #[action(\"never\")] No, }",
    ),
    node(r#"human = "How much?", writes = price"#, "pub struct Price { amount: u64 }"),
    node(
        r#"human = "{a b} {", actions = X, writes(a, b), retry(attempts = 2), poll(every = "1s"), blocking, timeout = "1s""#,
        "#[derive(Clone, flow_runtime::Action)] enum Wrong { Timeout, #[action(\"timeout\")] B(u8) }",
    ),
    node(r#"human = "}""#, "fn code() {}"),
    node("signal", "/// Stop.\npub struct CancelRequest { reason: String, pub by: Option<String> }"),
    node(r#"signal, timeout = "2h""#, "#[derive(Debug)] pub enum Change { Cancel { reason: String }, #[action(\"address\")] Move { street: String } }"),
    node("signal", "struct Ping;"),
    node("signal, writes = +bids", "struct Bid(u32);"),
    node("signal, writes = paid", "pub struct Paid { r#type: u64 }"),
    node("signal", "struct Wrong<T>(#[cfg(x)] T, u8);"),
    node(
        r#"signal, human = "Stop?", actions = X, writes(a, b), retry(attempts = 2), poll(every = "1s"), blocking, transaction, timeout = "1s""#,
        "#[derive(Clone, flow_runtime::Action)] enum Wrong { #[cfg(x)] Timeout { a: u8 }, B(u8) }",
    ),
    node(r#"signal = "now""#, "impl Code { fn exec(&self) {} }"),
    node(
        r#"writes, actions, retry, timeout = 3, poll(), poll(each = "1s"), speed = { 3 }, concurrency(3), blocking = 2"#,
        "fn wrong<T>(self, (a, b): (u8, u8), c: &mut u8, d: impl Fn(), ref e: u8, _: u8) -> &str { }",
    ),
    node(
        "writes = a, writes(a, a), timeout = \"1s\", timeout = \"2s\" retry(attempts = 0, attempts = 2, jitter = 2.0, if = |x| x)",
        "const unsafe extern \"C\" fn odd(a: u8, ...) -> impl Fn() -> ! { }",
    ),
    node("actions = Vec<u8>::new", "trait Node { fn exec(&self); }"),
    node("\"text\"", "mod nodes { fn half(a: ) -> ; }"),
    node("retry(attempts = 99999999999, wait = \"\", if = x)", "fn half(a: u8, b)"),
];

/// The items after `#[derive(Action)]`.
pub(super) const ENUMS: [&str; 9] = [
    "#[derive(Clone)] pub enum Verdict { Approved { amount: u64 }, NeedsRevision { feedback: String }, Rejected { reason: String } }",
    r#"
    pub(crate) enum Odd<'a, T: Copy = u8, const N: usize = 3> where T: Send {
        #[action("a.b-c")] First,
        #[doc = "x"] #[action("second")] HTTPCall { r#type: &'a T, list: [u8; N] } = 3,
        r#Self_ {},
        Error,
        #[action("ü")] Ü,
    }"#,
    r#"enum Wrong { A(u8), B(u8, Vec<u8>), #[action] C, #[action = "d"] D, #[action("")] E, #[action("f g")] F, #[action(3)] G,
        #[action("h")] #[action("i")] H, a_, A_, Error { why: u8 }, I() }"#,
    "enum Looked { Found { #[action(add)] seen: Vec<String>, #[action(add)] cost: u64 }, Nothing }",
    "enum Empty {}",
    "struct Verdict<T>(T) where T: Copy;",
    "union U { a: u8, b: f32 }",
    "enum Half { A { x: , B } }",
    r##"enum Quotes { #[action("\"")] A, #[action(r#"b"c"#)] B, #[action("\u{1f600}\0\n")] C, #[action("r#d")] D }"##,
];
