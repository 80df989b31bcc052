use flow_runtime::prelude::*;

fn start<F: Flow>(flow: &F, input: F::Input) {
    let _ = flow.run(input); //~
}

fn main() {}
