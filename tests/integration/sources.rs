//! Flows as `flow_render::sources` writes them, compiled next to the flows that they come from: they
//! describe themselves by the same document, and do the same. They have other names, since both are
//! in one module.
//!
//! `UPDATE_SOURCES=1 cargo test --package flow-tests --test integration same_flows` writes the files
//! in the folder `sources` again.

use std::path::Path;

use flow_runtime::flow_spec::FlowDocument;

/// Compiles the flows of a module again, from their documents.
macro_rules! sources {
    ($file:literal: $($flow:ident => $again:ident),+ $(,)?) => {
        mod sources {
            use super::*;
            include!(concat!("sources/", $file));
            pub(super) const SPECS: &[&str] = &[$(<$again as Flow>::SPEC),+];
            flow_law::again![$($flow => $again),+];
        }

        #[test]
        fn same_flows() {
            let written = include_str!(concat!("sources/", $file));
            let flows = [$(<$flow as Flow>::SPEC),+];
            crate::sources::check($file, written, &flows, sources::SPECS);
        }
    };
}

/// Checks that a file is what these flows are written as, and that the flows that are compiled from
/// it have the same documents but for the names.
pub(crate) fn check(file: &str, written: &str, flows: &[&str], again: &[&str]) {
    let parsed = |spec: &&str| FlowDocument::parse_spec(spec).unwrap();
    let mut flows: Vec<FlowDocument> = flows.iter().map(parsed).collect();
    let again: Vec<FlowDocument> = again.iter().map(parsed).collect();
    for (flow, again) in flows.iter_mut().zip(&again) {
        flow.name.clone_from(&again.name);
    }
    let text = flow_render::sources(&flows).unwrap();
    if std::env::var_os("UPDATE_SOURCES").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("integration/sources");
        std::fs::write(folder.join(file), &text).unwrap();
    }
    assert_eq!(text, written, "UPDATE_SOURCES=1 updates {file}");
    let json = |flows: &[FlowDocument]| -> Vec<String> {
        flows.iter().map(FlowDocument::to_json).collect()
    };
    assert_eq!(json(&flows), json(&again));
}
