use std::ops::Deref;

use flow_runtime::prelude::*;

pub struct Claim(u64);
pub type Demand = Claim;
pub struct Checked(Claim);
pub struct Name(String);

impl Deref for Checked {
    type Target = Claim;
    fn deref(&self) -> &Claim {
        &self.0
    }
}

impl Deref for Name {
    type Target = String;
    fn deref(&self) -> &String {
        &self.0
    }
}

#[node]
fn load(id: &u64) -> Claim {
    Claim(*id)
}

#[node]
fn check(load: &Demand) -> Checked {
    Checked(Claim(load.0 + 1))
}

#[node]
fn name(check: &Claim) -> Name {
    Name(check.0.to_string())
}

#[node]
fn length(name: &str) -> usize {
    name.len()
}

#[node]
fn keep(load: Demand) -> Demand {
    load
}

flow! {
    Inner(keep: Demand) -> (keep: Claim) {
        start >> look >> end;
    }
}

#[node]
fn look(keep: &Claim) {
    let _ = keep.0;
}

flow! {
    Claims(id: u64) -> (length: usize, keep: Claim) {
        start >> load >> check >> name >> length >> keep >> Inner >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let output = Claims::new().run(ClaimsInput { id: 99 }).await?;
    assert_eq!((output.length, output.keep.0), (3, 99));
    Ok(())
}
