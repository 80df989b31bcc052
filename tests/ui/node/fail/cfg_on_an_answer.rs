use flow_runtime::prelude::*;

#[node(human = "Deploy?")]
#[derive(serde::Serialize, serde::Deserialize)]
enum Approval {
    Yes,
    #[cfg(any())] //~
    Maybe,
    #[cfg_attr(all(), action("never"))] //~
    Never,
    No { #[cfg(any())] why: String, who: String }, //~
}

flow! { Deploy() -> () { start >> Approval - "yes" >> end; Approval - "no" >> end("no"); } }

fn main() {}
