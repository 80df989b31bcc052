flow! {
    Five() -> (current: i64) {
        node num: Num;

        start >> num >> end;
    }
}

flow! {
    TenPlusTen() -> (current: i64) {
        node num: Num;
        node add: Add;

        start >> num >> add >> end;
    }
}

flow! {
    OnlyA() -> (current: i64) {
        start >> a >> end;
    }
}

flow! {
    EndsWithLast(prepared: String) -> (prepared: String) {
        start >> keep;
        keep - "last" >> end("last");
    }
}

flow! {
    ResearchAgent(question: String, found: Option<String>) -> (
        answer: String,
        found: Option<String>,
    ) {
        start >> decide;
        decide - "search" >> search;
        search - "decide" >> decide;
        decide - "answer" >> answer >> end;
    }
}
