flow! {
    WaitedPoll(flag: Flag, began: Instant, calls: Calls) -> (ready: Option<Duration>) {
        start >> wait(50ms) >> ready >> end;
        ready - "timeout" >> end;
    }
}

flow! {
    Routed(flag: Flag, began: Instant, calls: Calls) -> (impatient: Option<Duration>) {
        start >> impatient >> end;
        impatient - "timeout" >> end("late");
    }
}

flow! {
    RoutedAsError(flag: Flag, began: Instant, calls: Calls) -> (
        impatient: Option<Duration>,
        shown: Option<String>,
    ) {
        start >> impatient >> end;
        impatient - "error" >> show >> end("failed");
    }
}

flow! {
    RoutedTwice(flag: Flag, began: Instant) -> (
        impatient: Option<Duration>,
        shown: Option<String>,
    ) {
        start >> irritable >> end;
        irritable - "timeout" >> end("late");
        irritable - "error"   >> show >> end("failed");
    }
}

flow! {
    Unrouted(flag: Flag, began: Instant, calls: Calls) -> (impatient: Duration) {
        start >> impatient >> end;
    }
}

flow! {
    Fallible(broken_at: Vec<usize>, calls: Calls) -> (fallible: Option<usize>) {
        node fallible: fallible with retry(attempts = 2, wait = "100ms");

        start >> fallible >> end;
        fallible - "timeout" >> end("late");
    }
}

flow! {
    Hanging(calls: Calls) -> (hanging: Option<u32>) {
        node hanging: hanging with timeout = "200ms";

        start >> hanging >> end;
        hanging - "timeout" >> end("late");
    }
}

flow! {
    WithoutDeadline(calls: Calls) -> (number: usize, name: String) {
        start >> without_deadline >> end;
    }
}

flow! {
    Builds(builds: Vec<&'static str>, calls: Calls) -> (artifact: Option<String>) {
        start >> build_state;
        build_state - "built"   >> end;
        build_state - "broken"  >> end("broken");
        build_state - "timeout" >> end("late");
    }
}

flow! {
    Jobs(jobs: Vec<u64>, began: Instant) -> (done: Vec<Result<u64, NodeError>>) {
        node done: for job in jobs { done_after } with concurrency(8), collect_errors;

        start >> done >> end;
    }
}

flow! {
    JobInFork(job: u64, began: Instant, calls: Calls) -> (done_after: Option<u64>) {
        start >> [done_after, holds] >> end;
        [done_after, holds] - "error" >> end("failed");
    }
}
