use flow_runtime::prelude::*;

#[derive(Action)]
enum Urgency { Urgent, Routine }

#[node(actions = Urgency)]
fn triage(case: &str) -> Urgency { if case.is_empty() { Urgency::Routine } else { Urgency::Urgent } }
#[node]
fn call() {}

flow! {
    Reception(case: String) {
        start >> triage;
        triage >> { "urgent": call, "routine": end }; //~
        call >> end;
    }
}

fn main() {}
