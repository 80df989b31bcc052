use flow_runtime::prelude::*;

#[node(writes = quiz)]
fn questions(topic: &str, count: &usize) -> String { topic.repeat(*count) }

flow! {
    Quiz(topic: String) -> (quiz: String) {
        start >> questions { count <- 5 } >> end; //~
    }
}
flow! {
    Test(topic: String) -> (quiz: String) {
        node quiz: questions { count <- "5" }; //~
        start >> quiz >> end;
    }
}

fn main() {}
