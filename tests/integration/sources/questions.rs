flow! {
    ReleaseAgain(version: u32, place: String) -> (report: Option<String>) {
        namespace "release";

        start >> Approval;
        Approval - "approved" >> deploy >> end;
        Approval - "not_now"  >> explain >> end("refused");
        Approval - "later"    >> Approval;
    }
}

flow! {
    WalkAgain(known: bool) -> (steps: Option<u8>) {
        namespace "walk";

        start >> guess;
        guess - "left"  >> Way;
        guess - "right" >> end;
        Way   - "left"  >> end;
        Way   - "right" >> end("right");
    }
}

flow! {
    ContractAgain(contract: u32) -> (signature: Option<Signature>) {
        namespace "contract";

        node signature: human Signature with timeout = "24h";

        start >> signature >> end;
        signature - "timeout" >> end("too_late");
    }
}

flow! {
    RemindedAgain(contract: u32) -> (signature: Option<Signature>) {
        namespace "reminded";

        node signature: human Signature with timeout = "24h";

        start >> signature >> end;
        signature - "error" >> end("failed");
    }
}

flow! {
    StrictAgain(contract: u32) -> (signature: Signature) {
        namespace "strict";

        node signed: human Signature { signature -> signature } with timeout = "2h";

        start >> signed >> end;
    }
}

flow! {
    HurriedAgain(version: u32, place: String) -> (report: Option<String>) {
        namespace "hurried";

        node soon: human Approval with timeout = "1m 30s";

        start >> soon;
        soon - "approved" >> deploy >> end;
        soon - "not_now"  >> explain >> end;
        soon - "later"    >> end;
        soon - "timeout"  >> end("nobody");
    }
}

flow! {
    HumanAgain() -> (human: u8) {
        namespace "human";

        node x: human;
        node y: human with timeout = "1s";

        start >> x >> y >> end;
    }
}
