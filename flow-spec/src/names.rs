//! Names of the language.

/// The words of the language that cannot be names of nodes.
pub const RESERVED_NAMES: [&str; 6] = ["start", "end", "wait", "node", "branch", "namespace"];

/// A name of Rust in snake case, which is the name of a node without a declaration.
///
/// # Examples
///
/// ```
/// use flow_spec::snake_case;
///
/// assert_eq!(snake_case("NeedsRevision"), "needs_revision");
/// assert_eq!(snake_case("HTTPRequest2"), "http_request2");
/// ```
pub fn snake_case(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (index, &letter) in letters.iter().enumerate() {
        if letter.is_uppercase() && index > 0 {
            let after_small = !letters[index - 1].is_uppercase() && letters[index - 1] != '_';
            let before_small = letters
                .get(index + 1)
                .is_some_and(|next| next.is_lowercase());
            if after_small || (letters[index - 1].is_uppercase() && before_small) {
                snake.push('_');
            }
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
