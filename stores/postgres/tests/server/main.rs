//! The store on a real server.

mod blobs;
mod breaks;
mod hints;
mod lost_answers;
mod opening;
mod proxy;
mod servers;
#[cfg(feature = "tls")]
mod tls;
mod transactions;

mod suite {
    mod direct {
        use crate::servers::Fresh;

        flow_store::suite!(|_folder| Fresh::direct());
    }

    mod with_prepared_statements {
        use crate::servers::Fresh;

        flow_store::suite!(|_folder| Fresh::with_prepared_statements());
    }

    mod through_a_pooler {
        use crate::servers::Fresh;

        flow_store::suite!(|_folder| Fresh::through_a_pooler());
    }

    mod by_its_clock {
        use crate::servers::Fresh;

        flow_store::clock_suite!(|_folder| Fresh::with_its_clock());
    }
}
