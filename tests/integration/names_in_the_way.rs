//! Names of the user's that generated code, or std, uses as well.

/// Types that are named as generated code might name its own.
mod types {
    use flow_runtime::prelude::*;

    #[derive(Clone)]
    pub(super) struct State {
        pub(super) rounds: u32,
    }

    pub(super) struct Sized;

    #[node(writes = state)]
    fn step(state: State) -> State {
        State {
            rounds: state.rounds + 1,
        }
    }

    #[node]
    fn look(state: State) -> u32 {
        state.rounds
    }

    flow! {
        pub(super) E(state: State, marker: Sized) -> (state: State, look: u32, marker: Sized) {
            start >> step >> look >> end;
        }
    }
}

#[tokio::test]
async fn types_are_named_like_those_of_generated_code() {
    use types::{E, EInput, Sized, State};

    let input = EInput::builder()
        .state(State { rounds: 1 })
        .marker(Sized)
        .build();
    let out = E::new().run(input).await.unwrap();
    assert_eq!((out.state.rounds, out.look), (2, 2));
}

/// Nodes named like macros of std, in the module that uses both.
mod like_std_macros {
    use flow_runtime::prelude::*;

    #[node]
    fn format(number: &u32) -> String {
        format!("<{number}>")
    }

    #[node(writes = printed)]
    fn print(format: &str) -> String {
        quoted(format)
    }

    fn quoted(text: &str) -> String {
        format!("{text:?}")
    }

    flow! {
        pub(super) Prints(number: u32) -> (printed: String) {
            start >> format >> print >> end;
        }
    }
}

#[tokio::test]
async fn nodes_named_like_std_macros_leave_them_to_their_module() {
    use like_std_macros::{Prints, PrintsInput};

    let input = PrintsInput::builder().number(1).build();
    let out = Prints::new().run(input).await.unwrap();
    assert_eq!(out.printed, r#""<1>""#);
}
