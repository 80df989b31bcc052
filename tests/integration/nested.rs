//! Flows in flows that are written as `flow!` again: as nodes, and as the body of a loop over
//! items. Their nodes are in a module of their own, because the flows are defined twice here.

use nodes::*;

mod nodes {
    use flow_runtime::prelude::*;

    #[derive(Action)]
    pub(super) enum Verdict {
        Approved { amount: u64 },
        Rejected,
    }

    #[node(actions = Verdict)]
    pub(super) fn review(claim: &u64) -> Verdict {
        match claim {
            0..100 => Verdict::Approved { amount: *claim },
            _ => Verdict::Rejected,
        }
    }

    #[node(timeout = "1m")]
    pub(super) async fn pay(amount: &u64) -> Result<String, String> {
        Ok(format!("{amount} paid"))
    }

    pub(super) struct Stamp;

    #[node(writes = stamped)]
    impl Stamp {
        fn exec(&self, pay: &str) -> String {
            format!("{pay}, stamped")
        }
    }
}

mod first {
    use super::*;
    use flow_runtime::prelude::*;

    flow! {
        /// Pays a claim.
        ///
        /// A claim that is too high ends in "rejected".
        pub Claim(
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
        pub Stamped(pay: String) -> (stamped: String) {
            node stamp: Stamp;

            start >> stamp >> end;
        }
    }

    flow! {
        pub Desk(claims: Vec<u64>, claim: u64) -> (paid: Vec<ClaimOutput>, stamped: Option<String>) {
            node paid: for claim in claims { Claim } with concurrency(4);
            node stamped: Stamped;

            start >> paid >> Claim >> stamped >> end;
            Claim - "rejected" >> end("rejected");
        }
    }
}

mod again {
    use super::*;
    use flow_runtime::prelude::*;

    include!("sources/nested.rs");

    pub(super) const SPECS: [&str; 3] = [Claim::SPEC, Stamped::SPEC, Desk::SPEC];
    pub(super) const NAMESPACE: &str = Claim::NAMESPACE;
}

#[test]
fn same_flows() {
    use first::{Claim, Desk, Stamped};
    use flow_runtime::prelude::Flow;
    let written = include_str!("sources/nested.rs");
    let flows = [Claim::SPEC, Stamped::SPEC, Desk::SPEC];
    crate::sources::check("nested.rs", written, &flows, &again::SPECS);
    assert_eq!(Claim::NAMESPACE, again::NAMESPACE);
}
