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

#[node]
fn one(number: &u64) -> Claim {
    Claim(*number)
}

#[node]
fn sum(ones: &[Demand]) -> u64 {
    ones.iter().map(|one| one.0).sum()
}

flow! {
    Sums(numbers: Vec<u64>) -> (sum: u64, ones: Vec<Demand>) {
        node ones: for number in numbers { one };
        start >> ones >> sum >> end;
    }
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
    let output = Sums::new().run(SumsInput { numbers: vec![2, 3] }).await?;
    assert_eq!((output.sum, output.ones.len()), (5, 2));
    Ok(())
}
