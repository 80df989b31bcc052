//! The conditions of a branch: expressions in CEL, the Common Expression Language.

#[cfg(not(feature = "cel"))]
pub(crate) use without::Condition;

#[cfg(feature = "cel")]
pub(crate) use with::Condition;

#[cfg(feature = "cel")]
mod check;
#[cfg(feature = "cel")]
mod shown;
#[cfg(feature = "cel")]
mod types;

use crate::value::ValueType;

/// A key that a condition reads, with its type.
pub(crate) type TypedKey<'a> = (&'a str, Option<&'static ValueType>);

/// Something wrong in a condition, in words, and help if there is any.
#[derive(Debug, PartialEq)]
pub(crate) struct Mistyped {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

#[cfg(feature = "cel")]
mod with {
    use std::collections::{BTreeSet, HashMap};

    use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, MapExpr, StructExpr, operators};
    use cel::{Context, ParseError, Program, Value as CelValue};
    use serde_json::Value;

    use super::check::check;
    use super::{Mistyped, TypedKey};

    /// The names of the types of CEL.
    const TYPES: [&str; 11] = [
        "bool",
        "bytes",
        "double",
        "int",
        "list",
        "map",
        "null_type",
        "optional_type",
        "string",
        "type",
        "uint",
    ];

    /// A condition of a branch.
    pub(crate) struct Condition(Program);

    impl Condition {
        /// Reads a condition, over these keys.
        ///
        /// # Errors
        ///
        /// Why it cannot be used, in words.
        pub(crate) fn parse(text: &str, keys: &[&str]) -> Result<Self, String> {
            let program = compiled(text)?;
            if let Some(unknown) = unknown_function(&program) {
                return Err(format!("CEL has no function `{unknown}`"));
            }
            let names = names(&program);
            match names.iter().find(|name| !keys.contains(&name.as_str())) {
                Some(unknown) => Err(format!(
                    "it reads `{unknown}`, which is not among the inputs of the branch"
                )),
                None => Ok(Condition(program)),
            }
        }

        /// What would fail, or never be true, whatever the values of these keys are.
        pub(crate) fn mistyped(&self, keys: &[TypedKey<'_>]) -> Vec<Mistyped> {
            check(self.0.expression(), keys)
        }

        /// The keys that a condition names, sorted. None if it cannot be read.
        pub(crate) fn names(text: &str) -> Vec<String> {
            compiled(text).map_or_else(|_| Vec::new(), |program| names(&program))
        }

        /// Whether it holds for these values.
        ///
        /// # Errors
        ///
        /// Why that cannot be told, in words.
        pub(crate) fn holds(&self, values: &[(&str, Value)]) -> Result<bool, String> {
            let mut context = Context::default();
            for (name, value) in values {
                context.add_variable_from_value(*name, cel_value(value));
            }
            match self.0.execute(&context) {
                Ok(CelValue::Bool(holds)) => Ok(holds),
                Ok(_) => Err("a condition is not true or false".to_owned()),
                Err(error) => Err(error.to_string()),
            }
        }
    }

    /// A value with its numbers as CEL writes them: a whole number is an `int`, whatever its sign,
    /// since CEL calculates with no two kinds of numbers at once.
    fn cel_value(value: &Value) -> CelValue {
        match value {
            Value::Null => CelValue::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(int), _) => int.into(),
                (None, Some(unsigned)) => unsigned.into(),
                (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
            },
            Value::String(text) => text.as_str().into(),
            Value::Array(items) => items.iter().map(cel_value).collect::<Vec<_>>().into(),
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| (name.clone(), cel_value(value)));
                fields.collect::<HashMap<_, _>>().into()
            }
        }
    }

    fn compiled(text: &str) -> Result<Program, String> {
        // In the conditions of `flow!`, keys are references.
        let program = Program::compile(text)
            .or_else(|error| Program::compile(&without_references(text)).map_err(|_| error));
        program.map_err(|errors| match errors.errors.first() {
            Some(error) => format!("it is not an expression in CEL: {}", said(error)),
            None => "it is not an expression in CEL".to_owned(),
        })
    }

    /// A mistake with its place in the condition, and without the list of all that could stand there.
    fn said(ParseError { msg, pos, .. }: &ParseError) -> String {
        let text = msg.strip_prefix("Syntax error: ").unwrap_or(msg);
        let text = text.split(" expecting ").next().unwrap_or(text);
        let text = text
            .replace("mismatched input", "unexpected")
            .replace("'<EOF>'", "end");
        match *pos {
            (1, column) => format!("{text}, at its column {column}"),
            (line, column) => format!("{text}, at its line {line}, column {column}"),
        }
    }

    fn names(program: &Program) -> Vec<String> {
        let mut names = BTreeSet::new();
        add_names(program.expression(), &mut Vec::new(), &mut names);
        names.into_iter().map(str::to_owned).collect()
    }

    /// Adds the names in an expression that are not those of variables of its own, such as the item in
    /// `a.exists(item, item > 1)`.
    fn add_names<'e>(
        expression: &'e IdedExpr,
        own: &mut Vec<&'e str>,
        names: &mut BTreeSet<&'e str>,
    ) {
        if let Expr::Ident(name) = &expression.expr {
            if !own.contains(&name.as_str()) {
                names.insert(name);
            }
            return;
        }
        let mut add = |expression: &'e IdedExpr| add_names(expression, own, names);
        match &expression.expr {
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => {}
            Expr::Select(select) => add(&select.operand),
            Expr::Call(call) => {
                let operands = call.target.as_deref().into_iter().chain(&call.args);
                let operands = operands.filter(|operand| !names_type(operand, call));
                operands.for_each(add);
            }
            Expr::List(list) => list.elements.iter().for_each(add),
            Expr::Map(MapExpr { entries }) | Expr::Struct(StructExpr { entries, .. }) => {
                for entry in entries {
                    match &entry.expr {
                        EntryExpr::StructField(field) => add(&field.value),
                        EntryExpr::MapEntry(entry) => {
                            add(&entry.key);
                            add(&entry.value);
                        }
                    }
                }
            }
            Expr::Comprehension(all) => {
                add(&all.iter_range);
                add(&all.accu_init);
                let outer = own.len();
                own.extend([all.iter_var.as_str(), &all.accu_var]);
                own.extend(all.iter_var2.as_deref());
                for part in [&all.loop_cond, &all.loop_step, &all.result] {
                    add_names(part, own, names);
                }
                own.truncate(outer);
            }
        }
    }

    /// Returns true for the `int` of `type(a) == int`.
    fn names_type(operand: &IdedExpr, call: &CallExpr) -> bool {
        let compares = [operators::EQUALS, operators::NOT_EQUALS].contains(&&*call.func_name);
        let is_type =
            |one: &IdedExpr| matches!(&one.expr, Expr::Call(call) if call.func_name == "type");
        let is_name = matches!(&operand.expr, Expr::Ident(name) if TYPES.contains(&name.as_str()));
        compares && is_name && call.args.iter().any(is_type)
    }

    /// A function in an expression that CEL does not have.
    fn unknown_function(program: &Program) -> Option<String> {
        let references = program.references();
        let mut called = references.functions();
        called.sort_unstable();
        // Operators are functions whose names are not words.
        let is_word = |name: &&str| name.starts_with(|first: char| first.is_alphabetic());
        let mut called = called.into_iter().filter(is_word);
        // What CEL has cannot be added.
        let unknown = called.find(|name| Context::default().add_function(name, || true).is_ok());
        unknown.map(str::to_owned)
    }

    /// An expression without the operators `*` and `&` before a name.
    fn without_references(text: &str) -> String {
        let mut without = String::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '&' && letters.peek() == Some(&'&') {
                letters.next();
                without.push_str("&&");
                continue;
            }
            let before = without.trim_end().chars().last();
            let begins = before.is_none_or(|before| "(!&|<>=,+-/%".contains(before));
            if !(begins && matches!(letter, '*' | '&')) {
                without.push(letter);
            }
        }
        without
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn references_of_rust_are_left_out() {
            assert_eq!(
                without_references("*a >= 3 && &b == *c"),
                "a >= 3 && b == c"
            );
            assert_eq!(without_references("(*a * *b) > 2"), "(a * *b) > 2");
        }

        #[test]
        fn a_condition_compares_numbers_of_any_sign() {
            let holds = |text: &str, value: Value| {
                Condition::parse(text, &["a"])
                    .unwrap()
                    .holds(&[("a", value)])
            };
            assert_eq!(holds("a == 3", 3.into()), Ok(true));
            assert_eq!(holds("a > -1", 3.into()), Ok(true));
            assert_eq!(holds("a < 0", (-3).into()), Ok(true));
            assert_eq!(holds("a > 0.5", 0.75.into()), Ok(true));
            assert_eq!(holds("a in ['x', 'y']", "x".into()), Ok(true));
            assert_eq!(holds("size(a) > 3", "abc".into()), Ok(false));
            assert_eq!(holds("a.exists(one, one > 1)", vec![1, 2].into()), Ok(true));
            assert!(holds("a + 1", 3.into()).is_err());
            assert_eq!(holds("a + 1 > 3", 3.into()), Ok(true));
            assert_eq!(holds("a - 1 == -4", (-3).into()), Ok(true));
            assert_eq!(holds("a[0] * 2 == a[1]", vec![2, 4].into()), Ok(true));
            assert_eq!(holds("a > 1", u64::MAX.into()), Ok(true));
            assert_eq!(holds("type(a) == int", 3.into()), Ok(true));
            assert_eq!(holds("type(a) == int", "3".into()), Ok(false));
            assert_eq!(holds("null_type != type(a)", Value::Null), Ok(false));
        }

        #[test]
        fn a_condition_names_its_keys() {
            assert_eq!(Condition::names("b > 1 && size(a) > 0"), ["a", "b"]);
            let names = Condition::names("a.exists(one, one > b) && {'x': c}['x'] == [d][0]");
            assert_eq!(names, ["a", "b", "c", "d"]);
            // The name is a variable of its own only inside.
            let names = Condition::names("a.all(one, b.all(two, one == two)) && one");
            assert_eq!(names, ["a", "b", "one"]);
            assert!(Condition::parse("c > 1", &["a"]).is_err());
            // The name of a type is one only where types are compared.
            assert_eq!(
                Condition::names("type(a) == int || string != type(b)"),
                ["a", "b"]
            );
            assert_eq!(
                Condition::names("list == 3 && type(list) == list"),
                ["list"]
            );
            assert_eq!(Condition::names("type(a) == number"), ["a", "number"]);
            assert!(Condition::parse("c >", &["c"]).is_err());
        }

        #[test]
        fn what_is_no_expression_says_where() {
            for (text, said) in [
                ("a >", "unexpected end, at its column 4"),
                (
                    "a > 1\n  && (b",
                    "missing ')' at end, at its line 2, column 8",
                ),
                ("a = 1", "token recognition error at: '= ', at its column 3"),
                ("", "unexpected end, at its column 1"),
            ] {
                let error = Condition::parse(text, &["a", "b"]).err().unwrap();
                assert_eq!(error, format!("it is not an expression in CEL: {said}"));
            }
        }

        #[test]
        fn a_condition_calls_what_there_is() {
            let unknown = |text: &str| unknown_function(&compiled(text).unwrap());
            for known in [
                "size(a) > 1 && !(a[0] == -2) || a.exists(one, one in [1, 2 % 3])",
                "a.size() > 0 ? a.all(one, one.startsWith('x')) : has(a.b)",
                "int(a) + 1 - 2 * 3 / 4 < 1 && string(a).contains('b') && a.endsWith('x')",
            ] {
                assert_eq!(unknown(known), None, "{known}");
            }
            assert_eq!(unknown("a.len() > 1").as_deref(), Some("len"));
            assert_eq!(unknown("a == 1 || len(a) > 1").as_deref(), Some("len"));
            assert!(Condition::parse("a.len() > 1", &["a"]).is_err());
        }
    }
}

#[cfg(not(feature = "cel"))]
mod without {
    use std::convert::Infallible;

    use serde_json::Value;

    use super::{Mistyped, TypedKey};

    /// There is no condition without the feature `cel`.
    pub(crate) struct Condition(Infallible);

    impl Condition {
        /// Refuses a condition.
        pub(crate) fn parse(_text: &str, _keys: &[&str]) -> Result<Self, String> {
            let add = "cargo add flow-loader --features cel";
            Err(format!(
                "conditions need the feature `cel` of flow-loader: `{add}`"
            ))
        }

        /// Never called.
        pub(crate) fn mistyped(&self, _keys: &[TypedKey<'_>]) -> Vec<Mistyped> {
            match self.0 {}
        }

        /// None.
        pub(crate) fn names(_text: &str) -> Vec<String> {
            Vec::new()
        }

        /// Never called.
        pub(crate) fn holds(&self, _values: &[(&str, Value)]) -> Result<bool, String> {
            match self.0 {}
        }
    }
}
