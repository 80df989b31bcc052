//! The workloads as flows: compiled, and as documents to load.

use flow_runtime::prelude::*;

use crate::nodes::*;

flow! {
    pub Single(total: u64) -> (total: u64) {
        start >> one >> end;
    }
}

flow! {
    pub Chain(total: u64) -> (total: u64) {
        start >> one >> two >> three >> four >> five >> six >> seven >> eight >> nine >> ten >> end;
    }
}

flow! {
    pub FallibleChain(total: u64) -> (total: u64) {
        start >> try_one >> try_two >> try_three >> try_four >> try_five
            >> try_six >> try_seven >> try_eight >> try_nine >> try_ten >> end;
    }
}

flow! {
    pub Loop(total: u64, limit: u64) -> (total: u64) {
        start >> one >> check;
        check - "again" >> one;
        check - "done" >> end;
    }
}

flow! {
    pub Branch(value: u64) -> (value: u64) {
        start >> choose;
        choose - "left" >> left >> meet;
        choose - "middle" >> middle >> meet;
        choose - "right" >> right >> meet;
        meet >> end;
    }
}

flow! {
    pub Fork(value: u64) -> (sum: u64) {
        start >> [a, b, c, d, e, f, g, h] >> sum >> end;
    }
}

flow! {
    pub Innermost(total: u64) -> (total: u64) {
        start >> four >> five >> six >> seven >> end;
    }
}

flow! {
    pub Inner(total: u64) -> (total: u64) {
        start >> two >> three >> Innermost >> eight >> nine >> end;
    }
}

flow! {
    pub Nested(total: u64) -> (total: u64) {
        start >> one >> Inner >> ten >> end;
    }
}

flow! {
    pub Payload(payload: Vec<u8>) -> (payload: Vec<u8>) {
        start >> large_one >> large_two >> large_three >> large_four >> large_five
            >> large_six >> large_seven >> large_eight >> large_nine >> large_ten >> end;
    }
}

flow! {
    pub Batch(items: Vec<u64>) -> (items: Vec<u64>, results: Vec<u64>) {
        node results: for item in items { doubled } with concurrency(16);
        start >> results >> end;
    }
}

flow! {
    pub WaitingBatch(items: Vec<u64>) -> (items: Vec<u64>, results: Vec<u64>) {
        node results: for item in items { slowly_doubled } with concurrency(16);
        start >> results >> end;
    }
}

flow! {
    pub WaitingChain(total: u64) -> (total: u64) {
        start >> waiting_one >> waiting_two >> waiting_three >> waiting_four >> waiting_five
            >> waiting_six >> waiting_seven >> waiting_eight >> waiting_nine >> waiting_ten >> end;
    }
}
