#![deny(warnings, clippy::pedantic)]
use flow_runtime::prelude::*;

mod limits {
    pub(super) const MOST: u32 = 10;
}

#[node]
fn page(title: &str, limit: &u32, r#type: char, names: &[String]) -> String {
    format!("{title} {limit} {type} {names:?}")
}

flow! {
    pub(crate) Page(
        title: String,
        /// How much.
        limit: u32 = limits::MOST + { 1 } + 1,
        r#type: char = 'x',
        names: Vec<String> = vec!["a, b".to_owned()],
    ) -> (page: String) {
        start >> page >> end;
    }
}

flow! {
    Outer(title: String, limit: Option<u32>) -> (page: String) {
        start >> Page >> end;
    }
}

fn main() {
    let input = PageInput::builder().title("Flows".into()).build();
    assert_eq!((input.limit, input.r#type, input.names.len()), (12, 'x', 1));
    let input = PageInput::builder().limit(3).title("Flows".into()).r#type('y').build();
    assert_eq!((input.limit, input.r#type), (3, 'y'));
    let _ = Outer::new();
    assert!(Page::SPEC.contains(r#""defaultOmitted":true"#));
    assert!(Page::SPEC.contains(r#""default":["a, b"]"#));
}
