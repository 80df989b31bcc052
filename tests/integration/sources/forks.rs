flow! {
    TwoAtOnce(x: u64, gauge: Gauge) -> (total: String) {
        node all: [left, middle, right] with concurrency(2);

        start >> all >> total >> end;
    }
}

flow! {
    OneAtOnce(x: u64, gauge: Gauge) -> (total: String) {
        node all: [left, middle, right] with concurrency(1);

        start >> all >> total >> end;
    }
}

flow! {
    Chains(calls: Calls) -> (join: u64) {
        start >> [slow, quick >> after_quick] >> join >> end;
    }
}

flow! {
    OwnWrites(x: u64, y: u64) -> (x: u64, y: u64, raised: u64) {
        start >> [raise >> see_raised, raise_later] >> end;
    }
}

flow! {
    Rounds(x: u64, y: u64) -> (x: u64, y: u64) {
        start >> [double_x, add_to_y] >> below_fifty;
        below_fifty - "again"  >> [double_x, add_to_y];
        below_fifty - "enough" >> end;
    }
}

flow! {
    Fails(x: u64, calls: Calls) -> (seen: Option<String>, x: u64) {
        node check: fails_late { x <- limit };
        node limit: writes_at_once { x -> limit };

        start >> limit >> [holds, check, writes_at_once] >> end;
        [holds, check, writes_at_once] - "error" >> recover >> end("recovered");
    }
}

flow! {
    FailsUnrouted(x: u64, calls: Calls) {
        start >> [holds, fails_late] >> end;
    }
}

flow! {
    BothFail() {
        start >> [fails_second, fails_first] >> end;
    }
}

flow! {
    WaitsForRoom(calls: Calls) {
        node all: [fails_first, notes_its_run, fails_second] with concurrency(1);

        start >> all >> end;
    }
}

flow! {
    TakesUnique(unique: Unique, text: String) -> (consume: usize, count_vowels: usize) {
        start >> [consume, count_vowels] >> end;
    }
}

flow! {
    TakesAll(value: Cloned) -> (a: u64, b: u64, c: u64) {
        start >> [take_a, take_b, borrow_c] >> end;
    }
}

flow! {
    TakesOnce(value: Cloned, calls: Calls) -> (a: u64, slow: u64) {
        start >> [take_a, slow] >> end;
    }
}

flow! {
    TakesInChain(value: Cloned, calls: Calls) -> (b: u64, slow: u64) {
        start >> [take_a >> take_b, slow] >> end;
    }
}

flow! {
    TakesAndReturns(value: Cloned, calls: Calls) -> (a: u64, slow: u64, value: Cloned) {
        start >> [take_a, slow] >> end;
    }
}

flow! {
    TakesAndFails(text: String, calls: Calls) -> (report: Option<String>) {
        start >> [take_and_fail, slow] >> end;
        [take_and_fail, slow] - "error" >> report >> end;
    }
}

flow! {
    Searches(word: String) -> (note: Option<String>) {
        start >> search;
        search - "found"   >> end;
        search - "nothing" >> end;
    }
}

flow! {
    PanicsInside(word: String) -> (panics: u64) {
        start >> panics >> end;
    }
}

flow! {
    OneBranch(x: u64, gauge: Gauge, calls: Calls) -> (left: u64) {
        start >> [left >> wait(50ms)] >> [wait(1s), notes_its_run] >> end;
    }
}

flow! {
    Wide(n: [u64; 0]) -> (sum_of_nine: u64) {
        node n4: n1 { n1 -> n4 };
        node n5: n2 { n2 -> n5 };
        node n6: n3 { n3 -> n6 };
        node n7: n1 { n1 -> n7 };
        node n8: n2 { n2 -> n8 };

        start >> [n1, n2, n3, n4, n5, n6, n7, n8] >> sum_of_nine >> end;
    }
}

flow! {
    TwoFlaky(calls: Calls) -> (flaky: u32, other: u32) {
        node other: flaky { flaky -> other } with retry(attempts = 3, wait = "1ms");
        node flaky: flaky with retry(attempts = 3, wait = "10ms");

        start >> [flaky, other] >> end;
    }
}

flow! {
    Vote(question: String) -> (votes: Votes) {
        start >> [first_voter, second_voter] >> count_votes >> end;
    }
}

flow! {
    FailsOnce(text: String, calls: Calls) -> (takes_and_fails_once: String) {
        start >> takes_and_fails_once >> end;
    }
}

flow! {
    ReadsThenTakes(unique: Unique, x: u64, gauge: Gauge) -> (
        measure: usize,
        consume: usize,
        left: u64,
    ) {
        start >> [measure >> consume, left] >> end;
    }
}
