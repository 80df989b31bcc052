flow! {
    ChunkSumsAgain(numbers: Vec<u64>, size: usize) -> (sums: Vec<u64>) {
        namespace "chunk_sums";

        node sums: for chunk in chunks { add_up };

        start >> split >> sums >> end;
    }
}

flow! {
    MapReduceAgain(numbers: Vec<u64>, size: usize) -> (reduce: u64) {
        namespace "map_reduce";

        node sums: for chunk in chunks { add_up } with concurrency(3);

        start >> split >> sums >> reduce >> end;
    }
}

flow! {
    SequentialAgain(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        namespace "sequential";

        node doubles: for number in numbers { double };

        start >> doubles >> end;
    }
}

flow! {
    FourAtOnceAgain(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        namespace "four_at_once";

        node doubles: for number in numbers { double } with concurrency(4);

        start >> doubles >> end;
    }
}

flow! {
    ThreeAtOnceAgain(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        namespace "three_at_once";

        node doubles: for number in numbers { double } with concurrency(3);

        start >> doubles >> end;
    }
}

flow! {
    AllAtOnceAgain(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        namespace "all_at_once";

        node doubles: for number in numbers { double } with concurrency(1000000);

        start >> doubles >> end;
    }
}

flow! {
    UnevenAgain(times: Vec<u64>, gauge: Gauge) -> (taken: Vec<u64>) {
        namespace "uneven";

        node taken: for millis in times { take_as_long } with concurrency(2);

        start >> taken >> end;
    }
}

flow! {
    GroupItemsAgain(opened: Group, calls: Calls) -> (doubles: Vec<u64>) {
        namespace "group_items";

        node open: open_group { group <- opened };
        node doubles: for item in items { see } with concurrency(8);

        start >> open >> doubles >> end;
    }
}

flow! {
    LeavesAgain(twig: Vec<u64>) -> (tripled: Vec<u64>) {
        namespace "leaves";

        node tripled: for leaf in twig { triple } with concurrency(2);

        start >> tripled >> end;
    }
}

flow! {
    JudgeStepsAgain(drafts: Vec<String>) -> (verdicts: Vec<Verdict>) {
        namespace "judge_steps";

        node verdicts: for draft in drafts { judge } with concurrency(2);

        start >> verdicts >> end;
    }
}

flow! {
    NotesOneAgain(item: u64, calls: Calls) {
        namespace "notes_one";

        start >> note_item >> end;
    }
}

flow! {
    CollectionsAgain(
        map: BTreeMap<String, u64>,
        offset: u64,
        set: BTreeSet<String>,
        queue: VecDeque<String>,
        boxed: Box<[String]>,
        array: [String; 2],
    ) -> (
        pairs: Vec<String>,
        shouts: Vec<String>,
        of_queue: Vec<String>,
        of_box: Vec<usize>,
        of_array: Vec<String>,
    ) {
        namespace "collections";

        node pairs: for entry in map { pair };
        node shouts: for word in set { shout };
        node of_queue: for word in queue { shout_taken };
        node of_box: for word in boxed { maybe_shout };
        node of_array: for text in array { shout { word <- text } };

        start >> pairs >> shouts >> of_queue >> of_box >> of_array >> end;
    }
}

flow! {
    ParseAgain(texts: Vec<String>, calls: Calls) -> (
        numbers: Option<Vec<u64>>,
        failed: Option<String>,
    ) {
        namespace "parse";

        node numbers: for text in texts { parse } with concurrency(3);

        start >> numbers >> end;
        numbers - "error" >> explain >> end("failed");
    }
}

flow! {
    ParseUnroutedAgain(texts: Vec<String>, calls: Calls) -> (numbers: Vec<u64>) {
        namespace "parse_unrouted";

        node numbers: for text in texts { parse } with retry(attempts = 1);

        start >> numbers >> end;
    }
}

flow! {
    ParseAllAgain(texts: Vec<String>, calls: Calls) -> (numbers: Vec<Result<u64, NodeError>>) {
        namespace "parse_all";

        node numbers: for text in texts { parse } with concurrency(2), collect_errors;

        start >> numbers >> end;
    }
}

flow! {
    GuessesAgain(questions: Vec<String>) -> (guesses: Vec<usize>) {
        namespace "guesses";

        node guess: Guess with retry(attempts = 2);
        node guesses: for question in questions { guess } with concurrency(2);

        start >> guesses >> end;
    }
}

flow! {
    CheckedAgain(word: String) -> (checked: usize) {
        namespace "checked";

        start >> checked >> end;
    }
}

flow! {
    PanicsInItemAgain(words: Vec<String>) -> (lengths: Vec<usize>) {
        namespace "panics_in_item";

        node lengths: for word in words { checked } with concurrency(2);

        start >> lengths >> end;
    }
}

flow! {
    BatchInChainAgain(numbers: Vec<u64>, factor: u64) -> (
        products: Vec<u64>,
        largest: u64,
        elsewhere: u64,
        factor: u64,
    ) {
        namespace "batch_in_chain";

        node products: for number in numbers { multiplied } with concurrency(2);

        start >> [raise_factor >> products >> largest, elsewhere] >> end;
    }
}

flow! {
    BatchFirstInChainAgain(numbers: Vec<u64>, factor: u64) -> (
        products: Vec<u64>,
        largest: u64,
        elsewhere: u64,
    ) {
        namespace "batch_first_in_chain";

        node products: for number in numbers { multiplied };

        start >> [products >> raise_factor >> largest, elsewhere] >> end;
    }
}

flow! {
    BatchInLoopAgain(numbers: Vec<u64>, factor: u64) -> (numbers: Vec<u64>) {
        namespace "batch_in_loop";

        node products: for number in numbers { multiplied };

        start >> products >> feed_back >> below_hundred;
        below_hundred - "again" >> products;
        below_hundred - "done"  >> end;
    }
}

flow! {
    PageAgain(topic: String) -> (page: String) {
        namespace "page";

        start >> [draft, picture] >> page >> end;
    }
}

flow! {
    DeliverAgain(parcels: Vec<u64>) -> (delivered: Vec<u64>) {
        namespace "deliver";

        node courier: Courier with retry(attempts = 9), timeout = "2h";
        node delivered: for parcel in parcels { courier } with retry(attempts = 3), timeout = "5s";

        start >> delivered >> end;
    }
}
