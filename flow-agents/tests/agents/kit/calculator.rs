use flow_agents::kit::{Operation, calculator};
use flow_agents::tools;
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::call;

async fn calculate(arguments: Value) -> Result<String, String> {
    call(&tools![calculator], "calculator", arguments).await
}

#[tokio::test]
async fn each_operation_has_its_result() {
    let cases = [
        (json!({ "operation": "add", "a": 2, "b": 3.5 }), 5.5),
        (json!({ "operation": "subtract", "a": 2, "b": 3.5 }), -1.5),
        (json!({ "operation": "multiply", "a": -2, "b": 3.5 }), -7.0),
        (json!({ "operation": "divide", "a": 7, "b": -2 }), -3.5),
        (json!({ "operation": "power", "a": 2, "b": 10 }), 1024.0),
        (json!({ "operation": "power", "a": -2, "b": -1 }), -0.5),
        (json!({ "operation": "modulo", "a": -7, "b": 3 }), -1.0),
        (json!({ "operation": "nth_root", "a": 1000, "b": 3 }), 10.0),
        (json!({ "operation": "nth_root", "a": -32, "b": 5 }), -2.0),
        (json!({ "operation": "nth_root", "a": 4, "b": -2 }), 0.5),
        (json!({ "operation": "sqrt", "a": 2 }), 2_f64.sqrt()),
        (json!({ "operation": "abs", "a": -4.5 }), 4.5),
        (json!({ "operation": "negate", "a": 4.5 }), -4.5),
        (
            json!({ "operation": "percentage", "a": 30, "b": 120 }),
            25.0,
        ),
        (json!({ "operation": "sum", "values": [1, 2, 3.5] }), 6.5),
        (json!({ "operation": "average", "values": [1, 2, 6] }), 3.0),
        (json!({ "operation": "min", "values": [4, -2, 3] }), -2.0),
        (json!({ "operation": "max", "values": [-4, -2, -3] }), -2.0),
        (json!({ "operation": "round", "a": -2.5 }), -3.0),
        (
            json!({ "operation": "round", "a": 1.005, "precision": 2 }),
            1.01,
        ),
        (json!({ "operation": "floor", "a": -2.1 }), -3.0),
        (
            json!({ "operation": "floor", "a": 0.29, "precision": 2 }),
            0.29,
        ),
        (json!({ "operation": "ceil", "a": -2.9 }), -2.0),
        (
            json!({ "operation": "ceil", "a": 1.1, "precision": 1 }),
            1.1,
        ),
        (json!({ "operation": "ln", "a": 1 }), 0.0),
        (json!({ "operation": "log10", "a": 1000 }), 3.0),
        (json!({ "operation": "log", "a": 125, "b": 5 }), 3.0),
        (json!({ "operation": "sin", "a": 0 }), 0.0),
        (json!({ "operation": "cos", "a": 0 }), 1.0),
        (json!({ "operation": "tan", "a": 1 }), 1_f64.tan()),
        (json!({ "operation": "factorial", "a": 10 }), 3_628_800.0),
        (json!({ "operation": "factorial", "a": 0 }), 1.0),
        (json!({ "operation": "gcd", "a": -12, "b": 18 }), 6.0),
        (json!({ "operation": "lcm", "a": 4, "b": -6 }), 12.0),
        (json!({ "operation": "lcm", "a": 0, "b": 6 }), 0.0),
        (
            json!({ "operation": "divide", "a": 2, "b": 3, "precision": 12 }),
            0.666_666_666_667,
        ),
        (
            json!({ "operation": "add", "a": 0.1, "b": 0.2, "precision": 10 }),
            0.3,
        ),
        // A model that has to give all arguments gives `null`.
        (
            json!({ "operation": "add", "a": 1, "b": 2, "values": null, "precision": null }),
            3.0,
        ),
    ];
    for (arguments, result) in &cases {
        assert_eq!(
            calculate(arguments.clone()).await,
            Ok(json!(result).to_string()),
            "{arguments}"
        );
    }
    for operation in Operation::ALL {
        let name = json!(operation);
        assert!(
            cases
                .iter()
                .any(|(arguments, _)| arguments["operation"] == name),
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_has_no_result_is_refused_with_the_reason() {
    let cases = [
        (
            json!({ "operation": "add", "a": 1 }),
            "b is required for this operation",
        ),
        (
            json!({ "operation": "add", "b": 1 }),
            "a is required for this operation",
        ),
        (
            json!({ "operation": "sqrt" }),
            "a is required for this operation",
        ),
        (
            json!({ "operation": "sum" }),
            "values is required for this operation",
        ),
        (
            json!({ "operation": "sum", "values": [] }),
            "values is required for this operation",
        ),
        (
            json!({ "operation": "sum", "values": [1], "a": 1 }),
            "a is not used by this operation",
        ),
        (
            json!({ "operation": "sqrt", "a": 4, "b": 2 }),
            "b is not used by this operation",
        ),
        (
            json!({ "operation": "add", "a": 1, "b": 2, "values": [3] }),
            "values is not used",
        ),
        (
            json!({ "operation": "divide", "a": 1, "b": 0 }),
            "division by zero",
        ),
        (
            json!({ "operation": "percentage", "a": 1, "b": 0 }),
            "division by zero",
        ),
        (
            json!({ "operation": "modulo", "a": 1, "b": -0.0 }),
            "modulo by zero",
        ),
        (
            json!({ "operation": "power", "a": 0, "b": -1 }),
            "zero has no negative power",
        ),
        (
            json!({ "operation": "power", "a": -2, "b": 0.5 }),
            "no power with a fraction",
        ),
        (
            json!({ "operation": "power", "a": 10, "b": 400 }),
            "the result must be a finite number",
        ),
        (
            json!({ "operation": "sqrt", "a": -1 }),
            "a negative number has only odd roots",
        ),
        (
            json!({ "operation": "nth_root", "a": -4, "b": 0.5 }),
            "only odd roots",
        ),
        (
            json!({ "operation": "nth_root", "a": 4, "b": 0 }),
            "there is no zeroth root",
        ),
        (
            json!({ "operation": "nth_root", "a": 0, "b": -2 }),
            "zero has no negative root",
        ),
        (
            json!({ "operation": "ln", "a": 0 }),
            "a logarithm is of a positive number",
        ),
        (
            json!({ "operation": "log", "a": 8, "b": 1 }),
            "the base of a logarithm is positive",
        ),
        (
            json!({ "operation": "factorial", "a": -1 }),
            "an integer that is not negative",
        ),
        (
            json!({ "operation": "factorial", "a": 1e15 }),
            "the result must be a finite number",
        ),
        (
            json!({ "operation": "factorial", "a": 2.5 }),
            "a must be an integer",
        ),
        (
            json!({ "operation": "gcd", "a": 4, "b": 1e300 }),
            "b must be an integer",
        ),
        (
            json!({ "operation": "sum", "values": [1e308, 1e308] }),
            "the result must be a finite",
        ),
        (
            json!({ "operation": "round", "a": 1.5, "precision": 13 }),
            "precision must be from 0 to 12",
        ),
        // Arguments of a wrong shape.
        (
            json!({ "operation": "eval", "a": 1 }),
            "unknown variant `eval`",
        ),
        (
            json!({ "operation": "Add", "a": 1, "b": 2 }),
            "unknown variant `Add`",
        ),
        (
            json!({ "operation": "__proto__", "a": 1 }),
            "unknown variant `__proto__`",
        ),
        (json!({ "operation": ["add"], "a": 1 }), "invalid type"),
        (
            json!({ "operation": "add", "a": "1", "b": 2 }),
            "invalid type: string",
        ),
        (
            json!({ "operation": "add", "a": "2+2", "b": 2 }),
            "invalid type: string",
        ),
        (
            json!({ "operation": "add", "a": true, "b": 2 }),
            "invalid type: boolean",
        ),
        (
            json!({ "operation": "add", "a": [1], "b": 2 }),
            "invalid type: sequence",
        ),
        (
            json!({ "operation": "sum", "values": "1, 2" }),
            "invalid type: string",
        ),
        (
            json!({ "operation": "sum", "values": [1, null] }),
            "invalid type: null",
        ),
        (
            json!({ "operation": "round", "a": 1, "precision": -1 }),
            "invalid value: integer `-1`",
        ),
        (
            json!({ "operation": "round", "a": 1, "precision": 2.5 }),
            "invalid type: floating point",
        ),
        (
            json!({ "operation": "add", "a": 1, "b": 2, "c": 3 }),
            "the tool has no argument `c`",
        ),
        (json!({ "a": 1, "b": 2 }), "`operation` is missing"),
        (json!([1, 2]), "the arguments are not a JSON object"),
        (json!("2 + 2"), "the arguments are not a JSON object"),
    ];
    for (arguments, reason) in cases {
        let said = calculate(arguments.clone()).await.unwrap_err();
        assert!(said.contains(reason), "{arguments}: {said}");
    }
}

#[test]
fn numbers_that_json_does_not_have_are_refused() {
    let infinite = calculator(Operation::Abs, Some(f64::INFINITY), None, None, None);
    assert_eq!(
        infinite.unwrap_err().to_string(),
        "a must be a finite number"
    );
    let values = Some(vec![1.0, f64::NAN]);
    let none = calculator(Operation::Max, None, None, values, None);
    assert_eq!(
        none.unwrap_err().to_string(),
        "values must be a finite number"
    );
}

/// M-047
#[test]
fn the_schema_has_the_27_names() {
    let schema = SchemaGenerator::default().into_root_schema_for::<Operation>();
    let names = schema.get("enum").and_then(Value::as_array).unwrap();
    assert_eq!(names.len(), 27);
    assert!(names.contains(&json!("nth_root")) && names.contains(&json!("log10")));
    let arguments = &tools![calculator].definitions()[0].parameters["properties"];
    let meaning = arguments["operation"]["description"].as_str().unwrap();
    for name in names {
        assert!(meaning.contains(name.as_str().unwrap()), "{name}");
    }
}
