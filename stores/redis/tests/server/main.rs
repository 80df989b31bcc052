//! The store on a real server.

mod servers;

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
