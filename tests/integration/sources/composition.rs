flow! {
    FiveAgain() -> (current: i64) {
        namespace "five";

        node num: Num;

        start >> num >> end;
    }
}

flow! {
    TenPlusTenAgain() -> (current: i64) {
        namespace "ten_plus_ten";

        node num: Num;
        node add: Add;

        start >> num >> add >> end;
    }
}

flow! {
    OnlyAAgain() -> (current: i64) {
        namespace "only_a";

        start >> a >> end;
    }
}

flow! {
    EndsWithLastAgain(prepared: String) -> (prepared: String) {
        namespace "ends_with_last";

        start >> keep;
        keep - "last" >> end("last");
    }
}

flow! {
    ResearchAgentAgain(question: String, found: Option<String>) -> (
        answer: String,
        found: Option<String>,
    ) {
        namespace "research_agent";

        start >> decide;
        decide - "search" >> search;
        search - "decide" >> decide;
        decide - "answer" >> answer >> end;
    }
}
