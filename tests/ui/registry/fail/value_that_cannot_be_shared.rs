use flow_loader::registry;
use flow_runtime::prelude::*;

struct Ask {
    model: std::rc::Rc<str>,
}

#[node(writes = answer)]
impl Ask { //~
    fn exec(&self) -> String { self.model.to_string() }
}

fn main() {
    let _ = registry![Ask = Ask { model: "m".into() }];
}
