flow! {
    /// The faster of two, with the same action.
    FasterAgain(question: String, calls: Calls) -> (answer: String, calls: Calls) {
        namespace "faster";

        node answer: first { slow, fast };

        start >> answer >> end;
    }
}

flow! {
    /// A deadline over two steps.
    InTimeAgain(question: String, millis: u64) -> (answer: Option<String>, draft: Option<String>) {
        namespace "in_time";

        node outcome: first { draft >> polish => "done", wait(1s) => "late" };

        start >> outcome;
        outcome - "done" >> end;
        outcome - "late" >> end("late");
    }
}

flow! {
    /// A branch without an action has those of its last node.
    DecidesAgain(claim: u64) -> (
        amount: Option<u64>,
        reason: Option<String>,
        note: Option<String>,
    ) {
        namespace "decides";

        node outcome: first { check >> review, wait(500ms) => "late" };

        start >> outcome;
        outcome - "approved" >> end;
        outcome - "rejected" >> end("rejected");
        outcome - "late"     >> end("late");
        outcome - "error"    >> recover >> end("failed");
    }
}

flow! {
    AtOnceAgain() -> (text: String) {
        namespace "at_once";

        node text: first { one, two };

        start >> text >> end;
    }
}

flow! {
    /// A branch that loses has taken what is read beside it and behind it.
    KeepsAgain(text: String) -> (length: usize, loud: String) {
        namespace "keeps";

        node outcome: first { holds => "held", measure => "measured" };
        node measure_again: measure;

        start >> outcome;
        outcome - "measured" >> shout >> end;
        outcome - "held"     >> measure_again >> shout;
    }
}

flow! {
    /// A loop over items and conditions in branches.
    OverItemsAgain(numbers: Vec<u64>, limit: u64) -> (squares: Option<Vec<u64>>) {
        namespace "over_items";

        node squares: for number in numbers { square };
        node outcome: first { wait(35ms) >> few, squares => "squared" };
        branch few(limit) {
            *limit < 10 => "few",
            else => "many",
        }

        start >> outcome;
        outcome - "squared" >> end;
        outcome - "few"     >> end("few");
        outcome - "many"    >> end("many");
    }
}
