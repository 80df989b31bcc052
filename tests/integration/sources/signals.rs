flow! {
    CancelledAgain() -> (told: String, reason: String) {
        namespace "cancelled";

        start >> CancelRequest >> tell >> end;
    }
}

flow! {
    /// Every form of a signal.
    FormsAgain() -> (
        cents: u64,
        by: Option<String>,
        address: NewAddress,
        bids: Vec<Bid>,
        reason: Option<String>,
    ) {
        namespace "forms";

        node second: signal Bid { bids -> +bids };
        node paid: signal Paid;
        node ping: signal Ping;
        node new_address: signal NewAddress;
        node bid: signal Bid { bids -> +bids };

        start >> paid >> ping >> new_address >> bid >> second >> Change;
        Change - "stop"  >> end("stopped");
        Change - "go_on" >> end;
    }
}

flow! {
    /// Two steps wait for one signal at once.
    WaitersAgain() -> (first_told: String, second_told: String) {
        namespace "waiters";

        node one: signal CancelRequest { reason -> one };
        node two: signal CancelRequest { reason -> two };
        node first: tell_first { reason <- one };
        node second: tell_second { reason <- two };

        start >> [one >> first, two >> second] >> end;
    }
}

flow! {
    RoutedAgain() -> (reason: Option<String>) {
        namespace "routed";

        node stop: signal CancelRequest with timeout = "2h";

        start >> stop >> end;
        stop - "timeout" >> end("late");
    }
}

flow! {
    FailingAgain() -> (reason: Option<String>, failure: Option<String>) {
        namespace "failing";

        node stop: signal CancelRequest with timeout = "2h";

        start >> stop >> end;
        stop - "error" >> explain >> end("failed");
    }
}

flow! {
    /// A signal beside a work, in a race.
    RacedAgain(millis: u64) -> (reason: Option<String>, done: Option<u64>) {
        namespace "raced";

        node next: first { CancelRequest => "cancelled", work => "done" };

        start >> next;
        next - "cancelled" >> end("cancelled");
        next - "done"      >> end;
    }
}

flow! {
    /// What is there in the same turn is decided by the order in which the branches are written. A
    /// signal that another branch drops is not taken.
    OrderedAgain() -> (reason: Option<String>, cents: Option<u64>) {
        namespace "ordered";

        node next: first { Ping => "ping", Paid => "paid", wait(1s) => "late" };
        node second_ping: signal Ping;
        node second_paid: signal Paid;
        node again: first { second_paid => "paid", second_ping => "ping" };

        start >> next;
        next  - "ping" >> again;
        next  - "paid" >> end("paid_first");
        next  - "late" >> end("late");
        again - "paid" >> CancelRequest >> end;
        again - "ping" >> end("ping_twice");
    }
}

flow! {
    InnerAgain(millis: u64) -> (reason: String, done: u64) {
        namespace "inner";

        start >> work >> CancelRequest >> end;
    }
}
