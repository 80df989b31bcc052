//! The store on a real server.

mod blobs;
mod clocks;
mod crashes;
mod damage;
mod hints;
mod lost_answers;
mod opening;
mod proxy;
mod servers;
mod signals;
mod tls;
mod transactions;

mod suite {
    mod direct {
        use crate::servers::Fresh;

        flow_store::suite!(|_folder| Fresh::direct());
    }

    mod in_a_cluster {
        use crate::servers::Fresh;

        flow_store::suite!(|_folder| Fresh::in_a_cluster());
    }

    mod by_its_clock {
        use crate::servers::Fresh;

        flow_store::clock_suite!(|_folder| Fresh::with_its_clock());
    }

    mod by_its_clock_in_a_cluster {
        use crate::servers::Fresh;

        flow_store::clock_suite!(|_folder| Fresh::with_its_clock_in_a_cluster());
    }
}
