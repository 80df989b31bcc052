flow! {
    TriageAgain(plan: String, size: u32) -> (taken: String) {
        namespace "triage";

        node technical: note_target;
        node big: note_target;
        node simple: note_target;
        branch triage(plan, size) {
            plan.contains("technical") => "technical",
            *size > 3 && plan.len() < 100 => "big",
            plan.is_empty() => "empty",
            else => "simple",
        }

        start >> triage;
        triage - "technical" >> technical >> end;
        triage - "big"       >> big >> end;
        triage - "empty"     >> simple >> end;
        triage - "simple"    >> simple;
    }
}

flow! {
    WriteAgain(draft: Draft, calls: Calls, least: usize) -> (length: usize) {
        namespace "write";

        branch enough(draft, least) {
            draft.words.len() >= *least => "yes",
            else => "no",
        }

        start >> enough;
        enough - "no"  >> add_word >> enough;
        enough - "yes" >> hand_in >> end;
    }
}

flow! {
    ElseOnlyAgain(draft: Draft) -> (length: usize) {
        namespace "else_only";

        branch always(draft) {
            else => "default",
        }

        start >> always >> hand_in >> end;
    }
}

flow! {
    ReadsNothingAgain() {
        namespace "reads_nothing";

        branch always() {
            cfg!(test) => "yes",
            else => "no",
        }

        start >> always;
        always - "yes" >> end("yes");
        always - "no"  >> end("no");
    }
}

flow! {
    UnluckyNamesAgain(state: u64, engine: u64, scope: String, own: u64) {
        namespace "unlucky_names";

        branch route(state, engine, scope, own) {
            state == engine => "same",
            scope.len() as u64 > *own => "long",
            else => "else",
        }

        start >> route;
        route - "same" >> end("same");
        route - "long" >> end("long");
        route - "else" >> end("else");
    }
}

flow! {
    BoundedAgain(rounds: Vec<u64>, calls: Calls, draft: Draft) -> (draft: Draft) {
        namespace "bounded";

        branch left(draft, rounds) {
            draft.words.len() < rounds.len() => "again",
            else => "done",
        }

        start >> left;
        left - "again" >> [add_word, wait(1s)] >> left;
        left - "done"  >> end;
    }
}
