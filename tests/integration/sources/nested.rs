flow! {
    /// Pays a claim.
    ///
    /// A claim that is too high ends in "rejected".
    Claim(
        /// In "euros".
        claim: u64,
    ) -> (pay: Option<String>) {
        namespace "desk.claim";

        node pay: pay with retry(attempts = 3, wait = "1s", jitter = 0.5), timeout = "1m 30s";

        start >> review;
        review - "approved" >> wait(1h 30m) >> pay >> end;
        review - "rejected" >> end("rejected");
    }
}

flow! {
    Stamped(pay: String) -> (stamped: String) {
        node stamp: Stamp;

        start >> stamp >> end;
    }
}

flow! {
    Desk(claims: Vec<u64>, claim: u64) -> (paid: Vec<ClaimOutput>, stamped: Option<String>) {
        node paid: for claim in claims { Claim } with concurrency(4);
        node stamped: Stamped;

        start >> paid >> Claim >> stamped >> end;
        Claim - "rejected" >> end("rejected");
    }
}
