//! Flows that are undone, as people write them: orders that are paid and shipped, or not.

use flow_runtime::prelude::*;

use crate::nodes::*;

flow! {
    /// Pays. It undoes what it has done if the check fails, and may be tried again.
    pub Pay(a: u64) -> (out: u64) {
        node u1: unbook { w <- k1 };
        node n1: tried_book { a <- a, w -> k1 } with undo = u1;
        node n2: risky { a <- k1, w -> k2 };
        node last: work { a <- k2, w -> sum };
        start >> n1 >> n2 >> last >> end { out <- sum };
    }
}

flow! {
    /// Ships one parcel.
    pub Parcel(a: u64) -> (out: u64) {
        node u1: unbook { w <- k1 };
        node n1: risky_book { a <- a, w -> k1 } with undo = u1;
        node last: work { a <- k1, w -> sum };
        start >> n1 >> last >> end { out <- sum };
    }
}

flow! {
    /// The order of the example `order_saga`: reserve, charge, ship three parcels, mail. Shipping is
    /// what may fail in a way that the flow knows of.
    pub Order(a: u64) -> (out: u64) {
        node u1: unbook { w <- k1 };
        node n1: risky_book { a <- a, w -> k1 } with undo = u1;
        node u2: unbook { w <- k2 };
        node n2: tried_book { a <- k1, w -> k2 } with undo = u2;
        node n3: three { a <- k2, list -> k3 };
        node b1: for a in k3 { Parcel };
        node n4: sum { items <- b1, w -> k4 };
        node n5: risky { a <- k4, w -> k5 };
        node last: work { a <- k1, w -> sum };
        start >> n1 >> n2 >> n3 >> b1 >> n4 >> commit >> n5 >> last;
        b1 - "error" >> undo >> last;
        last >> end { out <- sum };
    }
}

flow! {
    /// All that can be undone: steps, a flow, a fork, a loop of flows and a race. Some failures lead
    /// to `undo`, others nowhere.
    pub Saga(a: u64) -> (out: u64) {
        node u1: unbook { w <- k1 };
        node n1: risky_book { a <- a, w -> k1 } with undo = u1;
        node n2: Pay { a <- k1, out -> k2 } = Pay::new() with retry(attempts = 2, wait = "10s"), timeout = "2h";
        node u3: unbook { w <- k3 };
        node n3: tried_book { a <- k2, w -> k3 } with undo = u3;
        node u4: unbook { w <- k4 };
        node n4: book { a <- k2, w -> k4 } with undo = u4;
        node n5: Parcel { a <- k2, out -> k5 } = Parcel::new();
        node f1: [n3 >> n5, n4];
        node n6: three { a <- k2, list -> k6 };
        node b1: for a in k6 { Pay } with concurrency(2);
        node n7: sum { items <- b1, w -> k7 };
        node u8: unbook { w <- k8 };
        node n8: book { a <- k7, w -> k8 } with undo = u8;
        node n9: work { a <- k7, w -> k9 };
        node n10: Kept { a <- k7, out -> k10 } = Kept::new();
        node r1: first { n8 >> wait(3s), n9 >> wait(2s), n10 >> wait(1s), wait(20s) };
        node u11: unbook { w <- k11 };
        node n11: book { a <- k1, w -> k11 } with undo = u11;
        node n12: tried { a <- k1, w -> k12 };
        node n13: work { a <- k1, w -> k13 };
        node last: work { a <- k1, w -> sum };
        start >> n1 >> n2 >> f1 >> n6 >> b1 >> n7 >> r1 >> commit >> n11 >> n12 >> last;
        b1 - "error" >> undo >> n13 >> last;
        n12 - "error" >> undo >> last;
        last >> end { out <- sum };
    }
}

flow! {
    /// Keeps what it has done first, and says so.
    pub Kept(a: u64) -> (out: u64) {
        node u1: unbook { w <- k1 };
        node n1: book { a <- a, w -> k1 } with undo = u1;
        node u2: unbook { w <- k2 };
        node n2: book { a <- k1, w -> k2 } with undo = u2;
        node last: work { a <- k2, w -> sum };
        start >> n1 >> commit >> n2 >> last >> end { out <- sum };
    }
}
