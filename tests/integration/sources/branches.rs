flow! {
    Triage(plan: String, size: u32) -> (taken: String) {
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
        technical >> end;
        big >> end;
        simple >> end;
        triage - "technical" >> technical;
        triage - "big"       >> big;
        triage - "empty"     >> simple;
        triage - "simple"    >> simple;
    }
}

flow! {
    Write(draft: Draft, calls: Calls, least: usize) -> (length: usize) {
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
    ElseOnly(draft: Draft) -> (length: usize) {
        branch always(draft) {
            else => "default",
        }

        start >> always >> hand_in >> end;
    }
}

flow! {
    ReadsNothing() {
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
    UnluckyNames(state: u64, engine: u64, scope: String, own: u64) {
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
    Bounded(rounds: Vec<u64>, calls: Calls, draft: Draft) -> (draft: Draft) {
        branch left(draft, rounds) {
            draft.words.len() < rounds.len() => "again",
            else => "done",
        }

        start >> left;
        left - "again" >> [add_word, wait(1s)] >> left;
        left - "done"  >> end;
    }
}
