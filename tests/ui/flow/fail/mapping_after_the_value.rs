use flow_runtime::prelude::*;

struct Voice { pitch: u8 }

#[node(writes = spoken)]
impl Voice {
    fn exec(&self, sentence: &str) -> String { format!("{sentence} at {}", self.pitch) }
}

flow! {
    Announcement(script: String) -> (spoken: String) {
        node voice: Voice = Voice { pitch: 3 } { sentence <- script }; //~
        start >> voice >> end;
    }
}

fn main() {}
