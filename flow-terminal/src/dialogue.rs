//! Asks for a value of a shape, part by part. The prompts are behind a trait, so that tests need no
//! terminal.

use serde_json::{Map, Number, Value};

use flow_runtime::BoxError;
use flow_runtime::engine::parse_json;
use flow_runtime::shape::{Content, Field, Shape, Variant};

use crate::legible::{Legible, Size};

/// Asks one thing at a time.
pub(crate) trait Prompts {
    /// The size of the screen.
    fn size(&self) -> Size;
    /// Shows a line.
    fn show(&mut self, line: &str);
    /// Asks for one of these items, and returns its index.
    fn select(&mut self, prompt: &str, items: &[&str]) -> Result<usize, BoxError>;
    /// Asks for yes or no.
    fn confirm(&mut self, prompt: &str) -> Result<bool, BoxError>;
    /// Asks for a line that passes the check, which explains why other lines do not.
    fn input(&mut self, prompt: &str, check: &Check<'_>) -> Result<String, BoxError>;
}

/// Checks a line. The error says what is wrong with it.
pub(crate) type Check<'a> = dyn Fn(&str) -> Result<(), String> + 'a;

/// Shows the question, and asks until the value is an answer. If a value composed of its parts is
/// not an answer, asks for JSON instead.
///
/// Everything passed to the prompts is [`Legible`].
pub(crate) fn ask(
    prompts: &mut impl Prompts,
    question: &str,
    expected: &str,
    shape: &Shape,
    check: impl Fn(&Value) -> Result<(), String>,
) -> Result<Value, BoxError> {
    let prompts = &mut Legible(prompts);
    prompts.ask(question);
    let value = match shape {
        Shape::Unit => {
            prompts.input("press Enter", &|_| Ok(()))?;
            Value::Null
        }
        shape => value(prompts, expected, shape)?,
    };
    let Err(reason) = check(&value) else {
        return Ok(value);
    };
    prompts.show(&format!("that is no `{expected}`: {reason}"));
    let line = prompts.input(&format!("{expected}, as JSON"), &|line| check(&json(line)?))?;
    Ok(json(&line)?)
}

/// Asks for a value named `label`.
fn value(prompts: &mut impl Prompts, label: &str, shape: &Shape) -> Result<Value, BoxError> {
    Ok(match shape {
        Shape::Unit => Value::Null,
        Shape::Bool => prompts.confirm(label)?.into(),
        Shape::Option(inner) => optional(prompts, label, inner)?,
        Shape::Struct(fields) => self::fields(prompts, label, fields)?,
        Shape::Enum(variants) => one_of(prompts, label, variants)?,
        shape => {
            let line = prompts.input(&described(label, shape), &|line| {
                parse(line, shape).map(drop)
            })?;
            parse(&line, shape)?
        }
    })
}

/// Asks for an optional value. A line may be left empty; for anything else, the person is first
/// asked if there is a value.
fn optional(prompts: &mut impl Prompts, label: &str, inner: &Shape) -> Result<Value, BoxError> {
    match inner {
        Shape::Unit | Shape::Bool | Shape::Option(_) | Shape::Struct(_) | Shape::Enum(_) => {
            if prompts.confirm(&format!("is there a {label}?"))? {
                value(prompts, label, inner)
            } else {
                Ok(Value::Null)
            }
        }
        inner => {
            let parse = |line: &str| {
                if line.trim().is_empty() {
                    Ok(Value::Null)
                } else {
                    parse(line, inner)
                }
            };
            let prompt = format!("{}, or nothing", described(label, inner));
            let line = prompts.input(&prompt, &|line| parse(line).map(drop))?;
            Ok(parse(&line)?)
        }
    }
}

/// Asks for the fields of `label`, each under its path.
fn fields(prompts: &mut impl Prompts, label: &str, fields: &[Field]) -> Result<Value, BoxError> {
    let mut object = Map::new();
    for Field { name, shape } in fields {
        let value = value(prompts, &format!("{label}.{name}"), shape)?;
        object.insert((*name).to_owned(), value);
    }
    Ok(Value::Object(object))
}

fn one_of(
    prompts: &mut impl Prompts,
    label: &str,
    variants: &[Variant],
) -> Result<Value, BoxError> {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
    let chosen = if names.is_empty() {
        None
    } else {
        variants.get(prompts.select(label, &names)?)
    };
    let Some(Variant { name, content }) = chosen else {
        return Err(format!("there is no `{label}` to choose").into());
    };
    let content = match content {
        Content::Unit => return Ok((*name).into()),
        Content::Unknown => Value::Null,
        Content::Value(shape) => value(prompts, name, shape)?,
        Content::Fields(fields) => self::fields(prompts, name, fields)?,
    };
    Ok(Value::Object(Map::from_iter([(
        (*name).to_owned(),
        content,
    )])))
}

/// Returns the prompt for a value of this name.
fn described(label: &str, shape: &Shape) -> String {
    match shape {
        Shape::Text => label.to_owned(),
        Shape::Integer { .. } => format!("{label}, a whole number"),
        Shape::Number => format!("{label}, a number"),
        Shape::Char => format!("{label}, one letter"),
        Shape::List(_) => format!("{label}, a list as JSON"),
        _ => format!("{label}, as JSON"),
    }
}

/// Parses a line as a value.
fn parse(line: &str, shape: &Shape) -> Result<Value, String> {
    match shape {
        Shape::Text => Ok(line.into()),
        Shape::Integer { least, greatest } => {
            let is_in_range = |number: &i128| (least..=greatest).contains(&number);
            let number = line.trim().parse().ok().filter(is_in_range);
            let number = number.and_then(Number::from_i128);
            let number =
                number.ok_or_else(|| format!("write a whole number from {least} to {greatest}"));
            Ok(Value::Number(number?))
        }
        Shape::Number => {
            let number = line.trim().parse().ok().and_then(Number::from_f64);
            Ok(Value::Number(number.ok_or("write a number, such as 1.5")?))
        }
        Shape::Char if line.chars().count() != 1 => Err("write one letter".to_owned()),
        Shape::Char => Ok(line.into()),
        Shape::List(_) => match json(line)? {
            list @ Value::Array(_) => Ok(list),
            _ => Err("write a list, such as [1, 2]".to_owned()),
        },
        _ => json(line),
    }
}

fn json(line: &str) -> Result<Value, String> {
    parse_json(line.as_bytes()).map_err(|error| format!("that is no JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use flow_runtime::shape::shape_of_type as shape_of;

    use super::*;

    /// Answers with these lines, and records what was asked. A line that fails its check is
    /// recorded with the reason.
    struct Script {
        lines: std::vec::IntoIter<&'static str>,
        asked: Vec<String>,
    }

    impl Script {
        fn of(lines: &[&'static str]) -> Self {
            let lines = Vec::from(lines);
            Script {
                lines: lines.into_iter(),
                asked: Vec::new(),
            }
        }

        fn next(&mut self) -> Result<&'static str, BoxError> {
            self.lines.next().ok_or_else(|| "no more lines".into())
        }
    }

    impl Prompts for Script {
        fn size(&self) -> Size {
            let (rows, columns) = (24, 80);
            Size { rows, columns }
        }

        fn show(&mut self, line: &str) {
            self.asked.push(format!("! {line}"));
        }

        fn select(&mut self, prompt: &str, items: &[&str]) -> Result<usize, BoxError> {
            self.asked.push(format!("{prompt}: {}", items.join(" | ")));
            let chosen = self.next()?;
            let index = items.iter().position(|item| *item == chosen);
            index.ok_or_else(|| format!("no `{chosen}`").into())
        }

        fn confirm(&mut self, prompt: &str) -> Result<bool, BoxError> {
            self.asked.push(format!("{prompt} (yes or no)"));
            Ok(self.next()? == "yes")
        }

        fn input(&mut self, prompt: &str, check: &Check<'_>) -> Result<String, BoxError> {
            self.asked.push(prompt.to_owned());
            loop {
                let line = self.next()?;
                match check(line) {
                    Ok(()) => return Ok(line.to_owned()),
                    Err(reason) => self.asked.push(format!("! {reason}")),
                }
            }
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Approval {
        Approved {
            by: String,
            urgency: u8,
            copies: Option<i16>,
            tags: Vec<String>,
        },
        Refused(String),
        Later,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Address {
        street: String,
        letter: Option<char>,
        known: bool,
        gift: Option<bool>,
        approval: Option<Approval>,
        weight: f64,
        more: serde_json::Value,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Done;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String")]
    struct Even(String);

    impl TryFrom<String> for Even {
        type Error = &'static str;

        fn try_from(text: String) -> Result<Self, &'static str> {
            match text.len() % 2 {
                0 => Ok(Even(text)),
                _ => Err("an odd number of letters"),
            }
        }
    }

    /// Returns the answer, and what was asked.
    fn answered<T: serde::de::DeserializeOwned>(
        lines: &[&'static str],
    ) -> (Result<T, String>, Vec<String>) {
        let mut script = Script::of(lines);
        let check = |value: &Value| {
            T::deserialize(value)
                .map(drop)
                .map_err(|error| error.to_string())
        };
        let name = std::any::type_name::<T>()
            .rsplit("::")
            .next()
            .unwrap_or_default();
        let answer = ask(&mut script, "", name, &shape_of::<T>(), check);
        let answer = answer.map(|value| serde_json::from_value(value).expect("it was checked"));
        assert_eq!(script.lines.len(), 0, "all lines are asked for");
        (answer.map_err(|error| error.to_string()), script.asked)
    }

    #[test]
    fn an_enum_is_chosen_and_its_fields_are_asked_for() {
        let lines = ["Approved", "Ann", "300", "x", "3", "", "{}", "[\"a\"]"];
        let (answer, asked) = answered::<Approval>(&lines);
        let expected = Approval::Approved {
            by: "Ann".into(),
            urgency: 3,
            copies: None,
            tags: vec!["a".into()],
        };
        assert_eq!(answer, Ok(expected));
        assert_eq!(
            asked,
            [
                "Approval: Approved | Refused | Later",
                "Approved.by",
                "Approved.urgency, a whole number",
                "! write a whole number from 0 to 255",
                "! write a whole number from 0 to 255",
                "Approved.copies, a whole number, or nothing",
                "Approved.tags, a list as JSON",
                "! write a list, such as [1, 2]",
            ]
        );
        assert_eq!(answered(&["Later"]).0, Ok(Approval::Later));
        let refused = Approval::Refused("no".into());
        assert_eq!(answered(&["Refused", "no"]).0, Ok(refused));
    }

    #[test]
    fn a_struct_is_asked_for_field_by_field() {
        let lines = [
            "Main",
            "ab",
            "b",
            "yes",
            "no",
            "yes",
            "Later",
            "heavy",
            "2.5",
            "{",
            "{\"x\": 1}",
        ];
        let (answer, asked) = answered::<Address>(&lines);
        let expected = Address {
            street: "Main".into(),
            letter: Some('b'),
            known: true,
            gift: None,
            approval: Some(Approval::Later),
            weight: 2.5,
            more: json!({ "x": 1 }),
        };
        assert_eq!(answer, Ok(expected));
        assert_eq!(
            asked,
            [
                "Address.street",
                "Address.letter, one letter, or nothing",
                "! write one letter",
                "Address.known (yes or no)",
                "is there a Address.gift? (yes or no)",
                "is there a Address.approval? (yes or no)",
                "Address.approval: Approved | Refused | Later",
                "Address.weight, a number",
                "! write a number, such as 1.5",
                "Address.more, as JSON",
                "! that is no JSON: EOF while parsing an object at line 1 column 1",
            ]
        );
    }

    #[test]
    fn what_the_type_refuses_is_asked_for_as_json() {
        let (answer, asked) = answered::<Even>(&["abc", "\"abcde\"", "\"abcd\""]);
        assert_eq!(answer, Ok(Even("abcd".into())));
        assert_eq!(
            asked,
            [
                "Even",
                "! that is no `Even`: an odd number of letters",
                "Even, as JSON",
                "! an odd number of letters",
            ]
        );
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Forged {
        #[serde(rename = "Refuse\r\u{1b}[2KApprove")]
        Refuse {
            #[serde(rename = "by\u{9b}1A\u{202e}")]
            by: Echo,
            #[serde(rename = "of\u{200b}\n> Approve")]
            of: u8,
        },
    }

    /// Refuses everything but `ok`, and prints it in the error.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(try_from = "String")]
    struct Echo(String);

    impl TryFrom<String> for Echo {
        type Error = String;

        fn try_from(text: String) -> Result<Self, String> {
            match text.as_str() {
                "ok" => Ok(Echo(text)),
                _ => Err(format!("{text}\u{7}\u{2028}")),
            }
        }
    }

    #[test]
    fn nothing_that_is_shown_can_steer_the_terminal() {
        let as_json =
            r#"{"Refuse\r\u001b[2KApprove":{"by\u009b1A\u202e":"ok","of\u200b\n> Approve":1}}"#;
        let lines = [r"Refuse\r\u{1b}[2KApprove", "\u{1b}", "x", "1", as_json];
        let (answer, asked) = answered::<Forged>(&lines);
        let expected = Forged::Refuse {
            by: Echo("ok".into()),
            of: 1,
        };
        assert_eq!(answer, Ok(expected));
        assert_eq!(
            asked,
            [
                r"Forged: Refuse\r\u{1b}[2KApprove",
                r"Refuse\r\u{1b}[2KApprove.by\u{9b}1A\u{202e}",
                r"Refuse\r\u{1b}[2KApprove.of\u{200b}\n> Approve, a whole number",
                "! write a whole number from 0 to 255",
                r"! that is no `Forged`: \u{1b}\u{7}\u{2028}",
                "Forged, as JSON",
            ]
        );
    }

    #[test]
    fn a_type_of_one_value_is_confirmed() {
        assert_eq!(answered(&[""]), (Ok(Done), vec!["press Enter".to_owned()]));
    }

    #[test]
    fn a_dialogue_that_breaks_off_is_no_answer() {
        let (answer, _) = answered::<Approval>(&["Approved", "Ann"]);
        assert_eq!(answer, Err("no more lines".to_owned()));
    }
}
