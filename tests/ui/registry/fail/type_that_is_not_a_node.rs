use flow_loader::registry;

struct Prompt;

fn main() {
    let _ = registry![Prompt]; //~
}
