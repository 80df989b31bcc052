use flow_runtime::prelude::*;

#[node]
fn page(title: &str, limit: &usize) -> String { title.chars().take(*limit).collect() }

flow! {
    Page(title: String, limit: usize = "ten") -> (page: String) { //~
        start >> page >> end;
    }
}

fn main() {
    let input = PageInput::builder().title("Flows".into()).build();
    drop(Page::new().run(input));
}
