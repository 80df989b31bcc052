flow! {
    OneNode() -> (current: i64) {
        node num: Num;

        start >> num >> end;
    }
}

flow! {
    Chain() -> (current: i64) {
        node num: Num;
        node add: Add;
        node mul: Mul;

        start >> num >> add >> mul >> end;
    }
}

flow! {
    EdgeByEdge() -> (current: i64) {
        node num: Num;
        node add: Add;
        node mul: Mul;

        start >> num >> add >> mul >> end;
    }
}

flow! {
    Reordered() -> (current: i64) {
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
    Branch() -> (current: i64) {
        node num: Num;
        node add_ten: Add;
        node subtract_twenty: Add;

        start >> num >> check;
        add_ten >> end;
        subtract_twenty >> end;
        check - "positive" >> add_ten;
        check - "negative" >> subtract_twenty;
    }
}

flow! {
    Cycle() -> (current: i64) {
        node num: Num;
        node sub3: Add;

        start >> num >> check;
        check - "positive" >> sub3 >> check;
        check - "negative" >> end("cycle_done");
    }
}

flow! {
    Nothing() {
        start >> end("at_once");
    }
}
