//! The limit on the size of all named flows.

use flow_spec::FlowDocument;
use flow_text::{LARGEST, MOST_VALUES};
use serde_json::Value;

/// The size that named flows may still have.
pub(super) struct Room {
    values: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Room {
            values: MOST_VALUES,
            bytes: LARGEST,
        }
    }
}

impl Room {
    /// Makes room for a document. Returns `false` if there is not enough.
    pub(super) fn take(&mut self, document: &FlowDocument) -> bool {
        let value = serde_json::to_value(document);
        let value = value.unwrap_or_else(|error| {
            unreachable!("a document consists of texts and JSON values: {error}")
        });
        self.take_value(&value)
    }

    fn take_value(&mut self, value: &Value) -> bool {
        let bytes = match value {
            Value::String(text) => text.len(),
            _ => 1,
        };
        let rest = (self.values.checked_sub(1), self.bytes.checked_sub(bytes));
        let (Some(values), Some(left)) = rest else {
            return false;
        };
        (self.values, self.bytes) = (values, left);
        match value {
            Value::Array(items) => items.iter().all(|item| self.take_value(item)),
            Value::Object(fields) => fields.iter().all(|(name, field)| {
                let left = self.bytes.checked_sub(name.len());
                self.bytes = left.unwrap_or_default();
                left.is_some() && self.take_value(field)
            }),
            _ => true,
        }
    }
}
