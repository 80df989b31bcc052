use flow_runtime::Unattended;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node(human = "Deploy?")]
#[derive(Serialize, Deserialize)]
struct Approval;

flow! { Release() { start >> Approval >> end; } }

fn twice<F: Unattended>(_flow: F) {}

fn main() {
    twice(Release::new()); //~
}
