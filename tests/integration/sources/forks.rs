flow! {
    TwoAtOnceAgain(x: u64, gauge: Gauge) -> (total: String) {
        namespace "two_at_once";

        node all: [left, middle, right] with concurrency(2);

        start >> all >> total >> end;
    }
}

flow! {
    OneAtOnceAgain(x: u64, gauge: Gauge) -> (total: String) {
        namespace "one_at_once";

        node all: [left, middle, right] with concurrency(1);

        start >> all >> total >> end;
    }
}

flow! {
    ChainsAgain(calls: Calls) -> (join: u64) {
        namespace "chains";

        start >> [slow, quick >> after_quick] >> join >> end;
    }
}

flow! {
    OwnWritesAgain(x: u64, y: u64) -> (x: u64, y: u64, raised: u64) {
        namespace "own_writes";

        start >> [raise >> see_raised, raise_later] >> end;
    }
}

flow! {
    RoundsAgain(x: u64, y: u64) -> (x: u64, y: u64) {
        namespace "rounds";

        start >> [double_x, add_to_y] >> below_fifty;
        below_fifty - "again"  >> [double_x, add_to_y];
        below_fifty - "enough" >> end;
    }
}

flow! {
    FailsAgain(x: u64, calls: Calls) -> (seen: Option<String>, x: u64) {
        namespace "fails";

        node check: fails_late { x <- limit };
        node limit: writes_at_once { x -> limit };

        start >> limit >> [holds, check, writes_at_once] >> end;
        [holds, check, writes_at_once] - "error" >> recover >> end("recovered");
    }
}

flow! {
    FailsUnroutedAgain(x: u64, calls: Calls) {
        namespace "fails_unrouted";

        start >> [holds, fails_late] >> end;
    }
}

flow! {
    BothFailAgain() {
        namespace "both_fail";

        start >> [fails_second, fails_first] >> end;
    }
}

flow! {
    WaitsForRoomAgain(calls: Calls) {
        namespace "waits_for_room";

        node all: [fails_first, notes_its_run, fails_second] with concurrency(1);

        start >> all >> end;
    }
}

flow! {
    TakesUniqueAgain(unique: Unique, text: String) -> (consume: usize, count_vowels: usize) {
        namespace "takes_unique";

        start >> [consume, count_vowels] >> end;
    }
}

flow! {
    TakesAllAgain(value: Cloned) -> (a: u64, b: u64, c: u64) {
        namespace "takes_all";

        start >> [take_a, take_b, borrow_c] >> end;
    }
}

flow! {
    TakesOnceAgain(value: Cloned, calls: Calls) -> (a: u64, slow: u64) {
        namespace "takes_once";

        start >> [take_a, slow] >> end;
    }
}

flow! {
    TakesInChainAgain(value: Cloned, calls: Calls) -> (b: u64, slow: u64) {
        namespace "takes_in_chain";

        start >> [take_a >> take_b, slow] >> end;
    }
}

flow! {
    TakesAndReturnsAgain(value: Cloned, calls: Calls) -> (a: u64, slow: u64, value: Cloned) {
        namespace "takes_and_returns";

        start >> [take_a, slow] >> end;
    }
}

flow! {
    TakesAndFailsAgain(text: String, calls: Calls) -> (report: Option<String>) {
        namespace "takes_and_fails";

        start >> [take_and_fail, slow] >> end;
        [take_and_fail, slow] - "error" >> report >> end;
    }
}

flow! {
    SearchesAgain(word: String) -> (note: Option<String>) {
        namespace "searches";

        start >> search;
        search - "found"   >> end;
        search - "nothing" >> end;
    }
}

flow! {
    PanicsInsideAgain(word: String) -> (panics: u64) {
        namespace "panics_inside";

        start >> panics >> end;
    }
}

flow! {
    OneBranchAgain(x: u64, gauge: Gauge, calls: Calls) -> (left: u64) {
        namespace "one_branch";

        start >> [left >> wait(50ms)] >> [wait(1s), notes_its_run] >> end;
    }
}

flow! {
    WideAgain(n: [u64; 0]) -> (sum_of_nine: u64) {
        namespace "wide";

        node n4: n1 { n1 -> n4 };
        node n5: n2 { n2 -> n5 };
        node n6: n3 { n3 -> n6 };
        node n7: n1 { n1 -> n7 };
        node n8: n2 { n2 -> n8 };

        start >> [n1, n2, n3, n4, n5, n6, n7, n8] >> sum_of_nine >> end;
    }
}

flow! {
    TwoFlakyAgain(calls: Calls) -> (flaky: u32, other: u32) {
        namespace "two_flaky";

        node other: flaky { flaky -> other } with retry(attempts = 3, wait = "1ms");
        node flaky: flaky with retry(attempts = 3, wait = "10ms");

        start >> [flaky, other] >> end;
    }
}

flow! {
    VoteAgain(question: String) -> (votes: Votes) {
        namespace "vote";

        start >> [first_voter, second_voter] >> count_votes >> end;
    }
}

flow! {
    FailsOnceAgain(text: String, calls: Calls) -> (takes_and_fails_once: String) {
        namespace "fails_once";

        start >> takes_and_fails_once >> end;
    }
}

flow! {
    ReadsThenTakesAgain(unique: Unique, x: u64, gauge: Gauge) -> (
        measure: usize,
        consume: usize,
        left: u64,
    ) {
        namespace "reads_then_takes";

        start >> [measure >> consume, left] >> end;
    }
}
