flow! {
    ChunkSums(numbers: Vec<u64>, size: usize) -> (sums: Vec<u64>) {
        node sums: for chunk in chunks { add_up };

        start >> split >> sums >> end;
    }
}

flow! {
    MapReduce(numbers: Vec<u64>, size: usize) -> (reduce: u64) {
        node sums: for chunk in chunks { add_up } with concurrency(3);

        start >> split >> sums >> reduce >> end;
    }
}

flow! {
    Sequential(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double };

        start >> doubles >> end;
    }
}

flow! {
    FourAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(4);

        start >> doubles >> end;
    }
}

flow! {
    ThreeAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(3);

        start >> doubles >> end;
    }
}

flow! {
    AllAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(1000000);

        start >> doubles >> end;
    }
}

flow! {
    Uneven(times: Vec<u64>, gauge: Gauge) -> (taken: Vec<u64>) {
        node taken: for millis in times { take_as_long } with concurrency(2);

        start >> taken >> end;
    }
}

flow! {
    GroupItems(opened: Group, calls: Calls) -> (doubles: Vec<u64>) {
        node open: open_group { group <- opened };
        node doubles: for item in items { see } with concurrency(8);

        start >> open >> doubles >> end;
    }
}

flow! {
    Leaves(twig: Vec<u64>) -> (tripled: Vec<u64>) {
        node tripled: for leaf in twig { triple } with concurrency(2);

        start >> tripled >> end;
    }
}

flow! {
    JudgeSteps(drafts: Vec<String>) -> (verdicts: Vec<Verdict>) {
        node verdicts: for draft in drafts { judge } with concurrency(2);

        start >> verdicts >> end;
    }
}

flow! {
    NotesOne(item: u64, calls: Calls) {
        start >> note_item >> end;
    }
}

flow! {
    Collections(
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
        node pairs: for entry in map { pair };
        node shouts: for word in set { shout };
        node of_queue: for word in queue { shout_taken };
        node of_box: for word in boxed { maybe_shout };
        node of_array: for text in array { shout { word <- text } };

        start >> pairs >> shouts >> of_queue >> of_box >> of_array >> end;
    }
}

flow! {
    Parse(texts: Vec<String>, calls: Calls) -> (numbers: Option<Vec<u64>>, failed: Option<String>) {
        node numbers: for text in texts { parse } with concurrency(3);

        start >> numbers >> end;
        numbers - "error" >> explain >> end("failed");
    }
}

flow! {
    ParseUnrouted(texts: Vec<String>, calls: Calls) -> (numbers: Vec<u64>) {
        node numbers: for text in texts { parse } with retry(attempts = 1);

        start >> numbers >> end;
    }
}

flow! {
    ParseAll(texts: Vec<String>, calls: Calls) -> (numbers: Vec<Result<u64, NodeError>>) {
        node numbers: for text in texts { parse } with concurrency(2), collect_errors;

        start >> numbers >> end;
    }
}

flow! {
    Guesses(questions: Vec<String>) -> (guesses: Vec<usize>) {
        node guess: Guess with retry(attempts = 2);
        node guesses: for question in questions { guess } with concurrency(2);

        start >> guesses >> end;
    }
}

flow! {
    Checked(word: String) -> (checked: usize) {
        start >> checked >> end;
    }
}

flow! {
    PanicsInItem(words: Vec<String>) -> (lengths: Vec<usize>) {
        node lengths: for word in words { checked } with concurrency(2);

        start >> lengths >> end;
    }
}

flow! {
    BatchInChain(numbers: Vec<u64>, factor: u64) -> (
        products: Vec<u64>,
        largest: u64,
        elsewhere: u64,
        factor: u64,
    ) {
        node products: for number in numbers { multiplied } with concurrency(2);

        start >> [raise_factor >> products >> largest, elsewhere] >> end;
    }
}

flow! {
    BatchFirstInChain(numbers: Vec<u64>, factor: u64) -> (
        products: Vec<u64>,
        largest: u64,
        elsewhere: u64,
    ) {
        node products: for number in numbers { multiplied };

        start >> [products >> raise_factor >> largest, elsewhere] >> end;
    }
}

flow! {
    BatchInLoop(numbers: Vec<u64>, factor: u64) -> (numbers: Vec<u64>) {
        node products: for number in numbers { multiplied };

        start >> products >> feed_back >> below_hundred;
        below_hundred - "again" >> products;
        below_hundred - "done"  >> end;
    }
}

flow! {
    Page(topic: String) -> (page: String) {
        start >> [draft, picture] >> page >> end;
    }
}

flow! {
    Deliver(parcels: Vec<u64>) -> (delivered: Vec<u64>) {
        node courier: Courier with retry(attempts = 9), timeout = "2h";
        node delivered: for parcel in parcels { courier } with retry(attempts = 3), timeout = "5s";

        start >> delivered >> end;
    }
}
