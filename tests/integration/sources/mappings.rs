flow! {
    MapsReadsAgain(question: String) -> (done: String) {
        namespace "maps_reads";

        node consumer: consumer { action <- chat_response, cost <- tokens };

        start >> producer;
        producer - "complete" >> consumer >> end;
    }
}

flow! {
    MapsWritesAgain(question: String) -> (done: String) {
        namespace "maps_writes";

        node producer: producer { chat_response -> action, tokens -> cost };

        start >> producer;
        producer - "complete" >> consumer >> end;
    }
}

flow! {
    MapsBothAgain(question: String) -> (done: String) {
        namespace "maps_both";

        node producer: producer { question <- question, chat_response -> said, tokens -> spent };
        node consumer: consumer { action <- said, cost <- spent, done -> done };

        start >> producer;
        producer - "complete" >> consumer >> end;
    }
}

flow! {
    MapsOntoWhatIsThereAgain(question: String, action: String, cost: u32) -> (
        done: String,
        action: String,
    ) {
        namespace "maps_onto_what_is_there";

        node producer: producer { chat_response -> action, tokens -> cost };

        start >> producer;
        producer - "complete" >> consumer >> end;
    }
}

flow! {
    RevisesThriceAgain(draft: String) -> (revised: String, second: String) {
        namespace "revises_thrice";

        node again: revise { draft <- revised, revised -> second };
        node in_place: revise { draft <- second, revised -> second };

        start >> revise >> again >> in_place >> end;
    }
}

flow! {
    CountsAgain(apples: u32, pears: u32) -> (apples: u32, pears: u32) {
        namespace "counts";

        node first_apples: Counter { total <- apples, total -> apples };
        node first_pears: Counter { total <- pears, total -> pears };
        node more_pears: Counter { total <- pears, total -> pears };
        node apples_again: Counter { total <- apples, total -> apples };

        start >> first_apples >> first_pears >> more_pears >> apples_again >> end;
    }
}

flow! {
    CountsOnAgain(before: u32) -> (before: u32, after: u32) {
        namespace "counts_on";

        node count: Counter { total <- before, total -> after };

        start >> count >> end;
    }
}

flow! {
    GreetingAgain(name: String, title: Option<String>) -> (
        greeting: String,
        shouted: Option<String>,
    ) {
        namespace "greeting";

        node greet: greet { salutation -> greeting };

        start >> greet >> is_loud;
        is_loud - "loud"  >> shout >> end("loud");
        is_loud - "quiet" >> end;
    }
}
