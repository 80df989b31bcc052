//! The flows of a command: each once, in an order that does not depend on the linker.

use std::collections::HashSet;

use flow_spec::FlowDocument;

use crate::Error;

/// Flows, ordered by namespace and name.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    flows: Vec<FlowDocument>,
}

impl Flows {
    /// Collects these flows. Flows that are equal in every respect become one.
    pub(crate) fn new(flows: impl IntoIterator<Item = FlowDocument>) -> Self {
        let mut seen = HashSet::new();
        let mut keyed: Vec<(String, FlowDocument)> = flows
            .into_iter()
            .map(|flow| (flow.to_compact_json(), flow))
            .filter(|(json, _)| seen.insert(json.clone()))
            .collect();
        keyed.sort_by(|(left_json, left), (right_json, right)| {
            let left = (&left.namespace, &left.name, left_json);
            left.cmp(&(&right.namespace, &right.name, right_json))
        });
        let flows = keyed.into_iter().map(|(_, flow)| flow).collect();
        Flows { flows }
    }

    /// Returns the flows with one of these names or namespaces, or all flows if no name is given.
    ///
    /// # Errors
    ///
    /// A name that no flow has.
    pub(crate) fn named(mut self, names: &[String]) -> Result<Self, Error> {
        let called = |flow: &FlowDocument, name: &str| flow.name == name || flow.namespace == name;
        for name in names {
            if !self.flows.iter().any(|flow| called(flow, name)) {
                return Err(Error::UnknownFlow {
                    name: name.clone(),
                    flows: self.titles(),
                });
            }
        }
        if !names.is_empty() {
            self.flows
                .retain(|flow| names.iter().any(|name| called(flow, name)));
        }
        Ok(self)
    }

    /// Removes flows nested deeper than this.
    #[must_use]
    pub(crate) fn cut(mut self, depth: usize) -> Self {
        for flow in &mut self.flows {
            flow.cut(depth);
        }
        self
    }

    /// Returns the flows as a slice.
    pub(crate) fn as_slice(&self) -> &[FlowDocument] {
        &self.flows
    }

    /// Returns the names of the flows.
    pub(crate) fn titles(&self) -> Vec<String> {
        let titles = self.flows.iter().map(|flow| flow.title().to_owned());
        titles.collect()
    }

    /// Returns the file name of each flow, without extension: its namespace. If several flows have
    /// the same namespace, the second gets `-2`.
    pub(crate) fn stems(&self) -> Vec<String> {
        let mut taken = HashSet::new();
        let mut stems = Vec::new();
        for flow in &self.flows {
            let stem = stem(flow);
            let mut unique = stem.clone();
            let mut count = 1;
            // Some file systems do not distinguish upper case from lower case.
            while !taken.insert(unique.to_lowercase()) {
                count += 1;
                unique = format!("{stem}-{count}");
            }
            stems.push(unique);
        }
        stems
    }

    /// Returns the namespaces that several flows have, each once.
    pub(crate) fn shared_namespaces(&self) -> Vec<&str> {
        let mut shared: Vec<&str> = Vec::new();
        for pair in self.flows.windows(2) {
            let namespace = pair[0].namespace.as_str();
            if namespace == pair[1].namespace && shared.last() != Some(&namespace) {
                shared.push(namespace);
            }
        }
        shared
    }
}

/// Returns a file name that cannot lead out of a folder, whatever the document contains.
fn stem(flow: &FlowDocument) -> String {
    let name = if flow.namespace.is_empty() {
        &flow.name
    } else {
        &flow.namespace
    };
    let mut stem: String = name
        .chars()
        .map(|letter| match letter {
            '.' | '-' | '_' => letter,
            letter if letter.is_alphanumeric() => letter,
            _ => '_',
        })
        .collect();
    if stem.is_empty() || stem.starts_with('.') || is_device(&stem) {
        stem.insert(0, '_');
    }
    stem
}

/// Returns `true` if this names a device on Windows, where no file has such a name, whatever its
/// extension.
fn is_device(stem: &str) -> bool {
    let name = stem.split('.').next().unwrap_or(stem).to_ascii_lowercase();
    matches!(
        name.as_bytes(),
        b"aux"
            | b"con"
            | b"nul"
            | b"prn"
            | [b'c', b'o', b'm', b'0'..=b'9']
            | [b'l', b'p', b't', b'0'..=b'9']
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(names: &[(&str, &str)]) -> Flows {
        let flow = |(name, namespace): &(&str, &str)| FlowDocument::new(*name, *namespace);
        Flows::new(names.iter().map(flow))
    }

    #[test]
    fn files_have_names_of_their_own() {
        let flows = flows(&[
            ("B", "qa"),
            ("A", "qa"),
            ("A", "qa"),
            ("C", "QA"),
            ("D", ""),
        ]);
        assert_eq!(flows.stems(), ["D", "QA", "qa-2", "qa-3"]);
        assert_eq!(flows.titles(), ["D", "C", "A", "B"]);
        assert_eq!(flows.shared_namespaces(), ["qa"]);
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let flows = flows(&[
            ("", "../etc/passwd"),
            ("", "/root"),
            ("", ".."),
            ("", "a\\b:c\0"),
        ]);
        assert_eq!(flows.stems(), ["_..", "_.._etc_passwd", "_root", "a_b_c_"]);
    }

    #[test]
    fn no_file_has_the_name_of_a_device() {
        let flows = flows(&[("", "aux"), ("", "COM1.flow"), ("", "com"), ("", "console")]);
        assert_eq!(flows.stems(), ["_COM1.flow", "_aux", "com", "console"]);
    }

    #[test]
    fn a_flow_is_found_by_name_and_by_namespace() {
        let found = flows(&[("Qa", "qa"), ("Other", "other")]).named(&["qa".to_owned()]);
        assert_eq!(
            found.map(|flows| flows.titles()).ok(),
            Some(vec!["Qa".to_owned()])
        );
        let found = flows(&[("Qa", "qa")]).named(&["Qb".to_owned()]);
        let help = found.err().and_then(|error| error.help());
        assert_eq!(help.as_deref(), Some("did you mean `Qa`?"));
    }
}
