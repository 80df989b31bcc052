flow! {
    Release(version: u32, place: &'static str) -> (report: Option<String>) {
        start >> Approval;
        Approval - "approved" >> deploy >> end;
        Approval - "not_now"  >> explain >> end("refused");
        Approval - "later"    >> Approval;
    }
}

flow! {
    Walk(known: bool) -> (steps: Option<u8>) {
        start >> guess;
        guess - "left"  >> Way;
        guess - "right" >> end;
        Way   - "left"  >> end;
        Way   - "right" >> end("right");
    }
}

flow! {
    Contract(contract: u32) -> (signature: Option<Signature>) {
        node signature: human Signature with timeout = "24h";

        start >> signature >> end;
        signature - "timeout" >> end("too_late");
    }
}

flow! {
    Reminded(contract: u32) -> (signature: Option<Signature>) {
        node signature: human Signature with timeout = "24h";

        start >> signature >> end;
        signature - "error" >> end("failed");
    }
}

flow! {
    Strict(contract: u32) -> (signature: Signature) {
        node signed: human Signature { signature -> signature } with timeout = "2h";

        start >> signed >> end;
    }
}

flow! {
    Hurried(version: u32, place: String) -> (report: Option<String>) {
        node soon: human Approval with timeout = "1m 30s";

        start >> soon;
        soon - "approved" >> deploy >> end;
        soon - "not_now"  >> explain >> end;
        soon - "later"    >> end;
        soon - "timeout"  >> end("nobody");
    }
}

flow! {
    Human() -> (human: u8) {
        node x: human;
        node y: human with timeout = "1s";

        start >> x >> y >> end;
    }
}
