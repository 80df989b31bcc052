//! The values in the recorded outcome of a step.
//!
//! The journal has outcomes as serde writes the types of the nodes. A structure does not say how a
//! type is written, so an enum of actions is recognized by its expected fields. A signal has its
//! fields under their names.

use flow_spec::{DEFAULT_ACTION, NodeDocument};
use serde_json::Value;

use super::layout::written;

/// The values in the outcome of a step that took this action, in the order of [`written`]. `None`
/// for a value that cannot be told from the others.
pub(crate) fn values(node: &NodeDocument, action: &str, outcome: &Value) -> Vec<Option<Value>> {
    let names: Vec<&str> = written(node, action).collect();
    if !decides(node) {
        if writes_fields(node) {
            return names
                .iter()
                .map(|name| outcome.get(name).cloned())
                .collect();
        }
        return match (&names[..], outcome) {
            ([_], value) => vec![Some(value.clone())],
            (names, Value::Array(values)) if names.len() == values.len() => {
                values.iter().cloned().map(Some).collect()
            }
            (names, _) => vec![None; names.len()],
        };
    }
    // Values that are written on every action stand before the action.
    let (always, decision) = match outcome {
        Value::Array(parts) => match parts.split_last() {
            Some((decision, always)) if always.len() <= names.len() => (always, decision),
            _ => return vec![None; names.len()],
        },
        decision => (&[][..], decision),
    };
    let fields = fields(decision, &names[always.len()..]);
    always.iter().cloned().map(Some).chain(fields).collect()
}

/// Returns true if a node waits for a signal of a type that is a struct, and writes its fields. If it
/// writes the signal as a whole, the type of that is its type.
fn writes_fields(node: &NodeDocument) -> bool {
    let mut types = node.outputs.properties.keys();
    let is_whole = types.any(|name| node.outputs.rust_type(name) == node.signal());
    node.signal().is_some() && node.params.contains_key("expects") && !is_whole
}

/// Returns true if the outcome of a node has an action in it.
fn decides(node: &NodeDocument) -> bool {
    let actions = node.actions.iter().flatten();
    let mut actions = actions.filter(|it| it.name != "error" && it.name != "timeout");
    let first = actions.next().map(|it| it.name.as_str());
    actions.next().is_some() || first.is_some_and(|name| name != DEFAULT_ACTION)
}

/// The fields of a variant, however serde tags it.
fn fields(decision: &Value, names: &[&str]) -> Vec<Option<Value>> {
    let Value::Object(object) = decision else {
        return vec![None; names.len()];
    };
    let inner = object.values().filter_map(Value::as_object);
    let mut variants = inner
        .chain([object])
        .filter(|object| names.iter().all(|name| object.contains_key(*name)));
    let variant = match (variants.next(), variants.next()) {
        (Some(variant), None) => variant,
        _ => return vec![None; names.len()],
    };
    names
        .iter()
        .map(|name| variant.get(*name).cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use flow_spec::document::ActionDocument;
    use serde_json::json;

    use super::*;

    fn node(actions: &[(&str, &[&str])]) -> NodeDocument {
        let action = |(name, writes): &(&str, &[&str])| ActionDocument {
            name: (*name).to_owned(),
            writes: writes.iter().map(|name| (*name).to_owned()).collect(),
            may_write: Vec::new(),
        };
        NodeDocument {
            actions: Some(actions.iter().map(action).collect()),
            ..NodeDocument::default()
        }
    }

    #[test]
    fn one_value_is_the_outcome_and_several_are_its_elements() {
        let one = node(&[("default", &["a"]), ("timeout", &[])]);
        assert_eq!(
            values(&one, "default", &json!([1, 2])),
            [Some(json!([1, 2]))]
        );
        let two = node(&[("default", &["a", "b"])]);
        assert_eq!(
            values(&two, "default", &json!([1, [2]])),
            [Some(json!(1)), Some(json!([2]))]
        );
        assert_eq!(values(&two, "default", &json!({ "a": 1 })), [None, None]);
        assert!(values(&node(&[("default", &[])]), "default", &json!(null)).is_empty());
    }

    #[test]
    fn the_fields_of_a_variant_are_found_however_it_is_tagged() {
        let node = node(&[("approved", &["amount", "by"]), ("rejected", &[])]);
        for outcome in [
            json!({ "Approved": { "amount": 3, "by": { "name": "Ann" } } }),
            json!({ "type": "Approved", "amount": 3, "by": { "name": "Ann" } }),
            json!({ "type": "Approved", "content": { "amount": 3, "by": { "name": "Ann" } } }),
            json!({ "amount": 3, "by": { "name": "Ann" } }),
        ] {
            let found = values(&node, "approved", &outcome);
            assert_eq!(
                found,
                [Some(json!(3)), Some(json!({ "name": "Ann" }))],
                "{outcome}"
            );
        }
        assert!(values(&node, "rejected", &json!("Rejected")).is_empty());
        let renamed = json!({ "Approved": { "sum": 3, "by": "Ann" } });
        assert_eq!(values(&node, "approved", &renamed), [None, None]);
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_told() {
        let node = node(&[("go", &["x"]), ("stop", &[])]);
        assert_eq!(values(&node, "go", &json!({ "x": { "x": 1 } })), [None]);
        assert_eq!(
            values(&node, "go", &json!({ "Go": { "x": { "x": 1 } } })),
            [Some(json!({ "x": 1 }))]
        );
    }

    #[test]
    fn the_fields_of_a_signal_are_found_by_name_and_a_whole_one_is_the_outcome() {
        let signal = |expects: &str, key: &str, rust_type: &str| {
            let mut node = node(&[("default", &[key])]);
            node.r#type = flow_spec::document::types::SIGNAL.to_owned();
            node.params.insert("expects".to_owned(), expects.into());
            let property = flow_spec::document::property(rust_type, None);
            node.outputs.insert(key, property, true);
            node
        };
        let body = json!({ "reason": "late", "by": "Ann" });
        let fields = signal("shop::Cancel@1.0.0", "reason", "String");
        assert_eq!(values(&fields, "default", &body), [Some(json!("late"))]);
        let renamed = json!({ "why": "late" });
        assert_eq!(values(&fields, "default", &renamed), [None]);
        let whole = signal("shop::Cancel@1.0.0", "reason", "Cancel");
        assert_eq!(values(&whole, "default", &body), [Some(body)]);
    }

    #[test]
    fn values_that_are_always_written_stand_before_the_action() {
        let node = node(&[("small", &["length"]), ("large", &["length", "excess"])]);
        assert_eq!(
            values(&node, "small", &json!([5, "Small"])),
            [Some(json!(5))]
        );
        let large = json!([15, { "Large": { "excess": 5 } }]);
        assert_eq!(
            values(&node, "large", &large),
            [Some(json!(15)), Some(json!(5))]
        );
        assert_eq!(values(&node, "small", &json!([1, 2, 3])), [None]);
    }
}
