//! The flow as one page for a browser, without network and without a server.
//!
//! Everything is in the page as elements, and its script only shows and hides them. So nothing of the flow is ever
//! inside the script, and one way of escaping is enough.

mod contract;
mod facts;
mod index;
mod levels;

use flow_spec::document::FlowDocument;

use super::scene::Scene;
use super::svg;
use super::xml::escaped;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page with the flow's nodes on the left, its picture in the middle and the contract of a node on the right.
///
/// Nodes that are flows open and close, in the list as well as in the picture (PRD-004 §7.2); a click on a node shows
/// its contract. The address of the page has the node that is shown after `#`.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// let page = flow_render::html(&flow);
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(page.contains("<h1>Qa</h1>"));
/// ```
pub fn html(flow: &FlowDocument) -> String {
    let scene = Scene::new(flow);
    let title = escaped(flow.title());
    let picture_style = svg::STYLE;
    let tools = tools(flow);
    let index = index::index(flow);
    let levels = levels::levels(&scene);
    let contracts = contract::contracts(flow);
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<meta http-equiv=\"Content-Security-Policy\" \
content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">
<title>{title}</title>
<style>
{STYLE}{picture_style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{tools}</header>
<nav aria-label=\"nodes\">
{index}</nav>
<main>
{levels}</main>
<aside aria-label=\"contract\" aria-live=\"polite\">
{contracts}</aside>
<script>
{SCRIPT}</script>
</body>
</html>
"
    )
}

/// What can be done with the page as a whole.
fn tools(flow: &FlowDocument) -> String {
    let mut tools = String::from(
        "<input type=\"search\" id=\"search\" placeholder=\"find a node\" aria-label=\"find a node\">\n",
    );
    if flow.max_depth() > 0 {
        tools += "<button type=\"button\" id=\"open-all\">open all</button>
<button type=\"button\" id=\"close-all\">close all</button>
<button type=\"button\" id=\"whole\" aria-pressed=\"false\">one picture</button>
";
    }
    tools
}
