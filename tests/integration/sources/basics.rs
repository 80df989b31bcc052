flow! {
    OneNodeAgain() -> (current: i64) {
        namespace "one_node";

        node num: Num;

        start >> num >> end;
    }
}

flow! {
    ChainAgain() -> (current: i64) {
        namespace "chain";

        node num: Num;
        node add: Add;
        node mul: Mul;

        start >> num >> add >> mul >> end;
    }
}

flow! {
    EdgeByEdgeAgain() -> (current: i64) {
        namespace "edge_by_edge";

        node num: Num;
        node add: Add;
        node mul: Mul;

        start >> num >> add >> mul >> end;
    }
}

flow! {
    ReorderedAgain() -> (current: i64) {
        namespace "reordered";

        node mul: Mul;
        node num: Num;
        node add: Add;

        start >> num;
        mul >> end;
        add >> mul;
        num >> add;
    }
}

flow! {
    BranchAgain() -> (current: i64) {
        namespace "branch";

        node num: Num;
        node add_ten: Add;
        node subtract_twenty: Add;

        start >> num >> check;
        check - "positive" >> add_ten >> end;
        check - "negative" >> subtract_twenty >> end;
    }
}

flow! {
    CycleAgain() -> (current: i64) {
        namespace "cycle";

        node num: Num;
        node sub3: Add;

        start >> num >> check;
        check - "positive" >> sub3 >> check;
        check - "negative" >> end("cycle_done");
    }
}

flow! {
    NothingAgain() {
        namespace "nothing";

        start >> end("at_once");
    }
}
