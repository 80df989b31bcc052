//! What a model is told of the tools.

use flow_agents::kit::calculator;
use flow_agents::{Tools, tools};
use flow_runtime::prelude::*;
use serde_json::Value;

fn all() -> Tools {
    let mut all = Tools::new();
    all.extend(&tools![calculator]).unwrap();
    #[cfg(feature = "time")]
    all.extend(&tools![flow_agents::kit::CurrentTime]).unwrap();
    #[cfg(feature = "fetch")]
    all.extend(&tools![flow_agents::kit::Fetch]).unwrap();
    #[cfg(feature = "files")]
    all.extend(&flow_agents::kit::Folder::open(".").unwrap().tools())
        .unwrap();
    all
}

/// Says a text.
///
/// ```
/// # let hidden = 1;
/// say("a")
/// ```
/// #weather is not a heading.
///
/// ## Errors
/// It never fails.
#[node]
fn say(text: String) -> String {
    text
}

#[test]
fn sections_of_a_doc_comment_are_not_for_models() {
    let said = &tools![say].definitions()[0].description;
    let text =
        "Says a text.\n\n```\n# let hidden = 1;\nsay(\"a\")\n```\n#weather is not a heading.";
    assert_eq!(said, text);
}

#[test]
fn each_tool_and_each_argument_is_described() {
    for tool in all().definitions() {
        let said = &tool.description;
        assert!(
            said.ends_with('.') && !said.contains('#') && !said.contains("```"),
            "{said}"
        );
        let arguments = tool.parameters["properties"].as_object().unwrap();
        for (name, schema) in arguments {
            let said = schema["description"].as_str().unwrap_or_default();
            assert!(said.ends_with('.'), "{} {name}: {said}", tool.name);
        }
        // No reference, no choice between schemas: every provider reads it.
        let text = Value::to_string(&tool.parameters);
        assert!(!text.contains("$ref") && !text.contains("Of\":"), "{text}");
    }
}

/// M-038
#[cfg(feature = "files")]
#[test]
fn the_tools_of_a_folder_are_in_order() {
    let folder = flow_agents::kit::Folder::open(".").unwrap();
    let names = [
        "fs_ls",
        "fs_glob",
        "fs_grep",
        "fs_read",
        "fs_write",
        "fs_edit",
        "fs_mkdir",
        "fs_remove",
    ];
    assert_eq!(folder.tools().names().collect::<Vec<_>>(), names);
    assert_eq!(
        folder.reading_tools().names().collect::<Vec<_>>(),
        names[..4]
    );
}
