//! Advice in the format of the text.
//!
//! Problems of documents quote JSON, because documents are described in JSON. In YAML, people omit
//! the quotes of names, and forget those of texts that need them.

use flow_spec::Problem;

use crate::Format;

/// Words the advice of a problem in this format.
pub(crate) fn in_format(mut problem: Problem, format: Format) -> Problem {
    if format == Format::Json {
        return problem;
    }
    problem.help = problem.help.map(|help| without_quotes(&help));
    problem.message = without_quotes(&problem.message);
    let is_object = problem
        .message
        .ends_with(" is an object, and should be a string");
    if is_object && problem.help.is_none() {
        problem.help = Some("write the text in quotes: in YAML, `{` begins an object".to_owned());
    }
    problem
}

/// Removes the quotes around field names from the JSON that the text quotes.
fn without_quotes(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| {
        // Every second part stands between two backquotes.
        if index % 2 == 1 && part.starts_with('"') && part.contains("\": ") {
            unquoted(part)
        } else {
            part.to_owned()
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// JSON without the quotes of its names.
fn unquoted(json: &str) -> String {
    let mut text = String::new();
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('"') {
        text += before;
        let Some((quoted, after)) = after.split_once('"') else {
            text.push('"');
            rest = after;
            break;
        };
        if after.starts_with(": ") {
            text += quoted;
        } else {
            text += &format!("\"{quoted}\"");
        }
        rest = after;
    }
    text + rest
}

/// The advice for a line that is not YAML, if a text in it probably lacks its quotes.
pub(crate) fn quotes(line: &str) -> Option<String> {
    let entry = line.trim_start().trim_start_matches("- ");
    // Inside a list or an object, the last name of the line is the one.
    let entry = entry.trim_start_matches(['{', '[', ' ']);
    let (name, value) = entry.split_once(": ")?;
    let value = value.trim();
    let is_quoted = value.starts_with(['"', '\'', '|', '>']);
    let begins_value = value.starts_with(['*', '&', '!', '@', '`', '%']);
    // A list or an object may continue in the next line, but nothing follows its end.
    let begins_collection = value.starts_with(['{', '[']);
    let after = value
        .rsplit(['}', ']'])
        .next()
        .filter(|after| *after != value);
    let goes_on = after.is_some_and(|after| !after.trim().is_empty() && !after.starts_with(','));
    let is_text = if begins_collection {
        goes_on
    } else {
        begins_value || value.contains(": ") || value.ends_with(':')
    };
    (!is_quoted && is_text).then(|| format!("write the value of `{name}` in quotes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_quotes() {
        let json = "list them: `\"cases\": [{ \"when\": \"score > 3\", \"action\": \"high\" }]`";
        let yaml = "list them: `cases: [{ when: \"score > 3\", action: \"high\" }]`";
        assert_eq!(without_quotes(json), yaml);
        for text in [
            "did you mean \"a\"?",
            "write `\"a\"`",
            "`a` is \"b\": `c",
            "`\"nodes\": [ … ]",
        ] {
            let names = text.replace("\"nodes\": ", "nodes: ");
            assert_eq!(without_quotes(text), names);
        }
    }

    #[test]
    fn a_text_that_needs_quotes() {
        assert!(quotes("  prompt: Publish: {text}").is_some());
        assert!(quotes("  - prompt: {text} now").is_some());
        assert_eq!(quotes("prompt: 'Publish: {text}'"), None);
        assert_eq!(quotes("name: Qa"), None);
        assert_eq!(quotes("nodes: ["), None);
        assert_eq!(quotes("nodes: [a, b], edges: []"), None);
    }
}
