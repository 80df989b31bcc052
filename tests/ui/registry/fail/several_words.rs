use flow_loader::registry;

fn main() {
    let _ = registry!["review"]; //~
    let _ = registry![review @, pay]; //~
    let _ = registry![self]; //~
}
