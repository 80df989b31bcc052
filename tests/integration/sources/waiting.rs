flow! {
    WaitedPollAgain(flag: Flag, began: Instant, calls: Calls) -> (ready: Option<Duration>) {
        namespace "waited_poll";

        start >> wait(50ms) >> ready >> end;
        ready - "timeout" >> end;
    }
}

flow! {
    RoutedAgain(flag: Flag, began: Instant, calls: Calls) -> (impatient: Option<Duration>) {
        namespace "routed";

        start >> impatient >> end;
        impatient - "timeout" >> end("late");
    }
}

flow! {
    RoutedAsErrorAgain(flag: Flag, began: Instant, calls: Calls) -> (
        impatient: Option<Duration>,
        shown: Option<String>,
    ) {
        namespace "routed_as_error";

        start >> impatient >> end;
        impatient - "error" >> show >> end("failed");
    }
}

flow! {
    RoutedTwiceAgain(flag: Flag, began: Instant) -> (
        impatient: Option<Duration>,
        shown: Option<String>,
    ) {
        namespace "routed_twice";

        start >> irritable >> end;
        irritable - "timeout" >> end("late");
        irritable - "error"   >> show >> end("failed");
    }
}

flow! {
    UnroutedAgain(flag: Flag, began: Instant, calls: Calls) -> (impatient: Duration) {
        namespace "unrouted";

        start >> impatient >> end;
    }
}

flow! {
    FallibleAgain(broken_at: Vec<usize>, calls: Calls) -> (fallible: Option<usize>) {
        namespace "fallible";

        node fallible: fallible with retry(attempts = 2, wait = "100ms");

        start >> fallible >> end;
        fallible - "timeout" >> end("late");
    }
}

flow! {
    HangingAgain(calls: Calls) -> (hanging: Option<u32>) {
        namespace "hanging";

        node hanging: hanging with timeout = "200ms";

        start >> hanging >> end;
        hanging - "timeout" >> end("late");
    }
}

flow! {
    WithoutDeadlineAgain(calls: Calls) -> (number: usize, name: String) {
        namespace "without_deadline";

        start >> without_deadline >> end;
    }
}

flow! {
    BuildsAgain(builds: Vec<String>, calls: Calls) -> (artifact: Option<String>) {
        namespace "builds";

        start >> build_state;
        build_state - "built"   >> end;
        build_state - "broken"  >> end("broken");
        build_state - "timeout" >> end("late");
    }
}

flow! {
    JobsAgain(jobs: Vec<u64>, began: Instant) -> (done: Vec<Result<u64, NodeError>>) {
        namespace "jobs";

        node done: for job in jobs { done_after } with concurrency(8), collect_errors;

        start >> done >> end;
    }
}

flow! {
    JobInForkAgain(job: u64, began: Instant, calls: Calls) -> (done_after: Option<u64>) {
        namespace "job_in_fork";

        start >> [done_after, holds] >> end;
        [done_after, holds] - "error" >> end("failed");
    }
}
