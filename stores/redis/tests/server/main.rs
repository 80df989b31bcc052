//! The store on a real server.

mod crashes;
mod damage;
mod lost_answers;
mod opening;
mod proxy;
mod servers;
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
}
