//! Each rule of the layout.

use super::super::{Fault, lay_out};
use super::proof::checked;

/// Lays out a flow with these statements.
fn statements(before: &str, after: &str) {
    let in_flow = |text: &str| {
        let lines = text
            .trim_matches('\n')
            .lines()
            .map(|line| format!("{line}\n"));
        format!(
            "flow! {{\n    F() {{\n{}    }}\n}}\n",
            lines.collect::<String>()
        )
    };
    let laid_out = checked(&in_flow(before));
    assert_eq!(laid_out.faults, []);
    assert_eq!(laid_out.text, in_flow(after));
}

/// Lays out a source.
fn source(before: &str, after: &str) {
    let laid_out = checked(before);
    assert_eq!(laid_out.faults, []);
    assert_eq!(laid_out.text, after);
}

#[test]
fn a_statement_has_a_line() {
    statements(
        "node x:y;start>>x>>end;  x-\"error\">>wait( 5s )>>end( \"late\" );namespace  \"a.b\" ;",
        r#"
        node x: y;
        start >> x >> end;
        x - "error" >> wait(5s) >> end("late");
        namespace "a.b";
"#,
    );
}

#[test]
fn a_default_follows_its_type() {
    source(
        "flow! { F(a: u64=50,b:Map<u8,u8>  = Map::<u8, u8>::from([(1,2)]) ) {} }",
        "flow! {
    F(a: u64 = 50, b: Map<u8,u8> = Map::<u8, u8>::from([(1,2)])) {}
}",
    );
}

#[test]
fn actions_of_neighbours_line_up() {
    statements(
        r#"
start >> review;
review - "approved" >> pay >> end;
// A remark does not part them.
review - "no" >> end("rejected");
decide_again - "x" >> end;
other >> end;
other - "e" >> end;

x - "yes" >> end;
[a, b] - "error" >> end;
"#,
        r#"
        start >> review;
        review       - "approved" >> pay >> end;
        // A remark does not part them.
        review       - "no"       >> end("rejected");
        decide_again - "x"        >> end;
        other >> end;
        other - "e" >> end;

        x      - "yes"   >> end;
        [a, b] - "error" >> end;
"#,
    );
}

#[test]
fn letters_line_up_by_their_width() {
    statements(
        "x - \"承認\" >> end; x - \"abcde\" >> end;",
        "        x - \"承認\"  >> end;\n        x - \"abcde\" >> end;",
    );
}

#[test]
fn empty_lines_between_statements_stay() {
    statements(
        "\n\na >> b;\n\n\n\n// one\n\n// two\n\n\nc >> d; e >> f;\n\n",
        r#"
        a >> b;

        // one

        // two

        c >> d;
        e >> f;
"#,
    );
}

#[test]
fn a_long_chain_goes_on_below() {
    statements(
        "start >> a_step_with_a_long_name >> another_step_with_a_long_name >> one_more_of_them >> the_last >> end;",
        r#"
        start >> a_step_with_a_long_name >> another_step_with_a_long_name >> one_more_of_them
            >> the_last >> end;
"#,
    );
}

#[test]
fn a_long_fork_has_a_line_for_each_branch() {
    statements(
        "start >> load >> [check_the_content_of_the_post, check_the_safety_of_the_post, find_links >> look_up_the_links,] >> decide;
         start >> [check_the_content_of_the_post, check_safety >> check_it_again, find_links] >> decide;
         node checks: [check_the_content_of_the_post, check_the_safety_of_the_post, find_links >> look_up_the_links] with concurrency(2);
         node short: [ a>>b,c, ];",
        r#"
        start >> load >> [
            check_the_content_of_the_post,
            check_the_safety_of_the_post,
            find_links >> look_up_the_links,
        ] >> decide;
        start >> [check_the_content_of_the_post, check_safety >> check_it_again, find_links]
            >> decide;
        node checks: [
            check_the_content_of_the_post,
            check_the_safety_of_the_post,
            find_links >> look_up_the_links,
        ] with concurrency(2);
        node short: [a >> b, c];
"#,
    );
}

#[test]
fn races() {
    statements(
        r#"
node answer : first{fast,slow>>check,wait( 10s )=>"late",} ;
node outcome: first { fulfil_the_order_of_the_customer >> pack_it => "shipped", CancelRequest, wait(2d) => "late" };
node long: first { a_step_with_a_long_name >> another_step_with_a_long_name >> one_more_of_them >> last => "shipped" };
node some: first {
fast, // often
/* or */ slow /* maybe */ => // at last
"done" };
node none: first { };
"#,
        r#"
        node answer: first { fast, slow >> check, wait(10s) => "late" };
        node outcome: first {
            fulfil_the_order_of_the_customer >> pack_it => "shipped",
            CancelRequest,
            wait(2d) => "late",
        };
        node long: first {
            a_step_with_a_long_name >> another_step_with_a_long_name >> one_more_of_them
                >> last => "shipped",
        };
        node some: first {
            fast, // often
            /* or */ slow /* maybe */ => // at last
                "done",
        };
        node none: first {};
"#,
    );
}

#[test]
fn a_node_may_be_called_first() {
    statements(
        r#"
node a: first{text<-draft};
node b: first { first->+notes , } with timeout = "1s";
node c: first;
node d: first<A>{ text<-draft };
node e: first::of { text <- draft };
node first: first{first=>"first"};
start>>first - "first">>a>>end;
"#,
        r#"
        node a: first { text <- draft };
        node b: first { first -> +notes } with timeout = "1s";
        node c: first;
        node d: first<A> { text <- draft };
        node e: first::of { text <- draft };
        node first: first { first => "first" };
        start >> first - "first" >> a >> end;
"#,
    );
}

#[test]
fn declarations() {
    statements(
        r#"
node a : Ask<Open , 3>{prompt<-question,ask->answer}=Ask::new( 1,2 )with retry(attempts=3,wait="1s",),timeout="2s" ;
node b: for x in xs{average{values<-x}}with concurrency( 4 ),collect_errors;
node c: human   people::Release{version<-next}with timeout = "2h";
node d: human;
node stop: signal   shop::CancelRequest{reason->why,by->+names}with timeout="2d";
node stops: signal CancelRequest ;
node s: signal with retry(attempts = 3);
node t: signal{text<-draft};
node u: signal::of;
node with: with with timeout = "2h";
node g: look_up{look_up->+notes,seen -> + all};
node e: E = made.with(1) | with;
node f: E = E with retry(attempts=2,if=status::is_transient ) ;
"#,
        r#"
        node a: Ask<Open , 3> { prompt <- question, ask -> answer } = Ask::new( 1,2 )
            with retry(attempts = 3, wait = "1s"), timeout = "2s";
        node b: for x in xs { average { values <- x } } with concurrency(4), collect_errors;
        node c: human people::Release { version <- next } with timeout = "2h";
        node d: human;
        node stop: signal shop::CancelRequest { reason -> why, by -> +names } with timeout = "2d";
        node stops: signal CancelRequest;
        node s: signal with retry(attempts = 3);
        node t: signal { text <- draft };
        node u: signal::of;
        node with: with with timeout = "2h";
        node g: look_up { look_up -> +notes, seen -> +all };
        node e: E = made.with(1) | with;
        node f: E = E with retry(attempts = 2, if = status::is_transient);
"#,
    );
}

#[test]
fn undo() {
    statements(
        r#"
node charge: Charge=Charge::new()with undo=refund,retry( attempts = 5,);
node reserve: reserve  with timeout="5s",undo = crate::stock::release :: <Shelf,3>;
start>>reserve>>charge>>ship>>commit>>mail>>end;
ship-"error">>undo>>end("refused");
mail - "error" >> commit { a <- b } >> undo >> end;
"#,
        r#"
        node charge: Charge = Charge::new() with undo = refund, retry(attempts = 5);
        node reserve: reserve with timeout = "5s", undo = crate::stock::release :: <Shelf,3>;
        start >> reserve >> charge >> ship >> commit >> mail >> end;
        ship - "error" >> undo >> end("refused");
        mail - "error" >> commit { a <- b } >> undo >> end;
"#,
    );
}

#[test]
fn mappings_of_edges() {
    statements(
        r#"
start>>review{draft<-text}-"good">>shorten>>end{ draft<-shorter , };
review - "unclear" >> review {draft <- question};
review-"error">>[tell, log]{ problem <- error, number_of_the_attempt <- attempt, text_of_the_review <- draft };
"#,
        r#"
        start >> review { draft <- text } - "good" >> shorten >> end { draft <- shorter };
        review - "unclear" >> review { draft <- question };
        review - "error"   >> [tell, log] {
            problem <- error,
            number_of_the_attempt <- attempt,
            text_of_the_review <- draft,
        };
"#,
    );
}

#[test]
fn a_long_declaration_is_broken() {
    statements(
        r#"
node built: Inner { greeted -> built } = Inner::builder().greet(Greet { greeting: "built by the outer flow" }).build();
node guest: Greeting { name <- guest, title <- rank, greeting -> to_guest, shouted -> shout, x <- y } = Greeting::new();
node fetch: fetch with retry(attempts = 3, wait = "200ms", backoff = 2.0, max_wait = "10s", jitter = 0.5), timeout = "30s";
node all: for question_of_a_customer in questions_of_all_customers { answer { question <- question_of_a_customer } };
"#,
        r#"
        node built: Inner { greeted -> built } =
            Inner::builder().greet(Greet { greeting: "built by the outer flow" }).build();
        node guest: Greeting {
            name <- guest,
            title <- rank,
            greeting -> to_guest,
            shouted -> shout,
            x <- y,
        } = Greeting::new();
        node fetch: fetch with retry(
            attempts = 3,
            wait = "200ms",
            backoff = 2.0,
            max_wait = "10s",
            jitter = 0.5,
        ), timeout = "30s";
        node all: for question_of_a_customer in questions_of_all_customers {
            answer { question <- question_of_a_customer }
        };
"#,
    );
}

#[test]
fn a_branch_has_a_line_for_each_case() {
    statements(
        "branch left( a,b, ){a<b=>\"again\",matches!(a, 0..=9) =>\"x\",// why\n\n else=>\"done\"} branch none() {}",
        r#"
        branch left(a, b) {
            a<b => "again",
            matches!(a, 0..=9) => "x", // why

            else => "done",
        }
        branch none() {}
"#,
    );
}

#[test]
fn rust_stays_as_it_is_written() {
    statements(
        r##"
   node a: A = match  x {
     1=>"one
   two",

       // Why.
     _ => r#"
 raw"#,
   } with timeout = "1s";
"##,
        r##"
        node a: A = match  x {
          1=>"one
   two",

            // Why.
          _ => r#"
 raw"#,
        } with timeout = "1s";
"##,
    );
}

#[test]
fn the_suffix_of_a_literal_is_not_a_word() {
    statements(
        "node a: A = f('b'with, \"c\"end, r#\"d\"#node); node b: A = 'b'with retry(attempts = 2);",
        "        node a: A = f('b'with, \"c\"end, r#\"d\"#node);\n        node b: A = 'b'with retry(attempts = 2);",
    );
}

#[test]
fn comments_stay_where_they_are() {
    statements(
        r#"
// Before.
a >> b; // Behind.
/* block
 * of two */
c /* in between */ >> d >> // break
e; /* behind */
/* before */ f >> g;
h >> [i, // the first
j] >> k;
node m: M { a <- b /* why */, /* and */ c -> d };
   // At the end.
"#,
        r#"
        // Before.
        a >> b; // Behind.
        /* block
         * of two */
        c /* in between */ >> d >> // break
            e; /* behind */
        /* before */ f >> g;
        h >> [
            i, // the first
            j,
        ] >> k;
        node m: M { a <- b /* why */, /* and */ c -> d };
        // At the end.
"#,
    );
}

#[test]
fn signatures() {
    source(
        "flow! { /// Says.\n #[derive(Clone)] pub( crate )  F( a:A,b : Vec<(u8,u8)>, )->( c:C ){} }",
        "flow! {
    /// Says.
    #[derive(Clone)]
    pub( crate ) F(a: A, b: Vec<(u8,u8)>) -> (c: C) {}
}",
    );
    let outputs = "flow! {
    ExpenseClaim(employee: String, amount: u64, purpose: String) -> (
        receipt: Option<String>,
        message: Option<String>,
    ) {
        start >> end;
    }
}
";
    source(
        "flow! { ExpenseClaim(employee: String, amount: u64, purpose: String) -> (receipt: Option<String>, message: Option<String>) { start >> end; } }\n",
        outputs,
    );
    let all = "flow! {
    ExpenseClaim(
        employee: String,
        amount: u64,
        purpose: String,
        limit: Option<u64>,
        day: u64,
        month: u64,
        year: u64,
    ) -> (receipt: Option<String>) {
        // Nothing yet.
    }
}
";
    source(
        "flow! { ExpenseClaim(employee: String, amount: u64, purpose: String, limit: Option<u64>, day: u64, month: u64, year: u64)\n -> (receipt: Option<String>) { // Nothing yet.\n } }\n"
            .replace("{ // Nothing", "{\n// Nothing")
            .as_str(),
        all,
    );
    source(
        "flow! { F(/// The first.\n a: A, #[doc = \"x\"] b: B) {} }",
        "flow! {\n    F(\n        /// The first.\n        a: A,\n        #[doc = \"x\"] b: B,\n    ) {}\n}",
    );
}

#[test]
fn every_spelling_of_the_macro() {
    source(
        "mod x {\n  fn y() {\n    flow_runtime::flow!(F() { a >> b; });\n    ::flow_runtime::prelude::flow![F() {}];\n  }\n}\n",
        "mod x {
  fn y() {
    flow_runtime::flow!(
        F() {
            a >> b;
        }
    );
    ::flow_runtime::prelude::flow![
        F() {}
    ];
  }
}
",
    );
}

#[test]
fn what_is_no_flow_stays() {
    for text in [
        "// flow! { F(){} }\n/* flow! { F(){} } */\n",
        "/// flow! { F(){} }\nconst A: &str = \"flow! { F(){} }\";\nconst B: &str = r#\"flow! { F(){} }\"#;",
        "macro_rules! f { ($name:ident) => { flow! { $name(){} } }; () => { flow! { F(){} } } }",
        "quote! { flow! { #name(){} } }",
        "other::flow! { F(){} }",
        "flow! { $name(){} }",
        "fn flow() {}",
    ] {
        source(text, text);
    }
}

#[test]
fn lines_end_as_in_the_file() {
    source(
        "// A\r\nflow! { F() { a >> b; // c\r\n c >> d; } }\r\n",
        "// A\r\nflow! {\r\n    F() {\r\n        a >> b; // c\r\n        c >> d;\r\n    }\r\n}\r\n",
    );
}

#[test]
fn tabs_indent_as_in_the_file() {
    source(
        "mod x {\n\tflow! { F() { a >> b; } }\n}\n",
        "mod x {\n\tflow! {\n\t\tF() {\n\t\t\ta >> b;\n\t\t}\n\t}\n}\n",
    );
}

#[test]
fn faults_are_at_the_wrong_token() {
    let fault = |text: &str| {
        let laid_out = lay_out(text);
        assert_eq!(laid_out.text, text);
        let [Fault { at, message }] = &laid_out.faults[..] else {
            panic!("{text}: {:?}", laid_out.faults);
        };
        format!("{} — {message}", &text[*at..])
    };
    let body = |statement: &str| fault(&format!("flow! {{ F() {{ {statement} }} }}"));
    for (text, seen) in [
        (
            body("a - x >> b;"),
            "x >> b; } } — expected an action in quotes: `- \"action\" >>`",
        ),
        (
            body("a;"),
            "; } } — expected `>>` and a step, or `- \"action\" >>` and a step",
        ),
        (
            body("a >> b"),
            "} } — expected `;`, `>>` or `- \"action\" >>`",
        ),
        (
            body("a >> b(1);"),
            "(1); } } — expected `>>` or `;`: a node is wired by its name alone",
        ),
        (body("a >> [b c];"), "c]; } } — expected `]`"),
        (
            body("node a b;"),
            "b; } } — expected `:` and what the node is: `node name: path;`",
        ),
        (
            body("a >> ; b >> c;"),
            "; b >> c; } } — expected a step: a node, `end`, `wait(5s)` or a fork `[a, b]`",
        ),
        (
            body("node a: first { b => c };"),
            "c }; } } — expected an action in quotes: `=> \"action\"`",
        ),
        (
            body("branch b(x) { x => y }"),
            "y } } } — expected an action in quotes",
        ),
        (fault("flow! {}"), "} — expected the flow's name"),
        (
            fault("flow! { F(a: Vec<u8, b: u8) {} }"),
            ") {} } — expected `>`",
        ),
        (
            fault("flow! { F() {} G() {} }"),
            "G() {} } — expected nothing after the flow: each flow has a `flow!` of its own",
        ),
        (
            fault("fn f() { flow! { F() {} }"),
            "{ flow! { F() {} } — this bracket is not closed",
        ),
        (
            fault("flow! { F() {} } \"a"),
            "\"a — this literal is not closed",
        ),
        (
            fault("/* flow! { F() {} }"),
            "/* flow! { F() {} } — this comment is not closed",
        ),
    ] {
        assert_eq!(text, seen);
    }
}

#[test]
fn a_fault_leaves_the_other_flows_to_be_formatted() {
    let laid_out = checked("flow!{F(){a}}\nflow!{F(){}}\nflow!{F(){b}}\n");
    assert_eq!(
        laid_out.text,
        "flow!{F(){a}}\nflow!{\n    F() {}\n}\nflow!{F(){b}}\n"
    );
    let places: Vec<usize> = laid_out.faults.iter().map(|fault| fault.at).collect();
    assert_eq!(places, [11, 38]);
}
