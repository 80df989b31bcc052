//! Patches of the content of a definition.

use serde_json::Value;

use crate::definition::Content;
use crate::error::{DefinitionError, malformed};

impl Content {
    /// Returns this content with a JSON Merge Patch (RFC 7396) applied, and stores nothing: see
    /// [`Definitions::patch`](crate::Definitions::patch).
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Malformed`], if the patch or its result does not have the shape of a content.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_definitions::Content;
    /// use serde_json::json;
    ///
    /// let content = Content::new(json!({ "name": "Empty" }));
    /// let patched = content.patched(&json!({ "flow": { "name": "Begun" } })).unwrap();
    /// assert_eq!(patched.flow, json!({ "name": "Begun" }));
    /// assert!(content.patched(&json!({ "folw": {} })).is_err());
    /// ```
    pub fn patched(&self, patch: &Value) -> Result<Content, DefinitionError> {
        let Value::Object(fields) = patch else {
            return Err(malformed("a patch is an object"));
        };
        let is_field = |name: &&String| Content::FIELDS.contains(&name.as_str());
        if let Some(unknown) = fields.keys().find(|name| !is_field(name)) {
            let fields = Content::FIELDS.join("`, `");
            let message =
                format!("a definition has no `{unknown}` that can be changed, but `{fields}`");
            return Err(DefinitionError::Malformed(message));
        }
        let mut content = serde_json::to_value(self).map_err(malformed)?;
        json_patch::merge(&mut content, patch);
        serde_json::from_value(content).map_err(malformed)
    }
}
