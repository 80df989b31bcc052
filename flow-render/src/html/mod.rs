//! The flow as one page for a browser, without network and without a server.
//!
//! Everything is in the page as elements, and its script only shows and hides them. The script
//! never contains a text of the flow, so one way of escaping is enough: `html!` escapes everything
//! that is not [`Markup`](maud::Markup).

mod contract;
mod facts;
mod index;
mod levels;
mod text;

use flow_spec::document::FlowDocument;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::direction::Direction;
use super::scene::Scene;
use super::svg;
use text::Text;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns a page with the flow's nodes on the left, its picture in the middle and the contract of
/// a node on the right.
///
/// Nodes that are flows open and close, in the list as well as in the picture; a click on a node
/// shows its contract. The address of the page contains the selected node after `#`.
///
/// # Examples
///
/// ```
/// # let text = r#"{ "version": "2.0.0", "name": "Qa", "nodes": [{ "type": "answer", "id": "answer" }], "edges": [] }"#;
/// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
/// let page = flow_render::html(&flow);
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// assert!(page.contains("<h1>Qa</h1>"));
/// ```
pub fn html(flow: &FlowDocument) -> String {
    html_in(flow, Direction::TopToBottom)
}

/// Returns a page with pictures in this direction: see [`html()`].
pub fn html_in(flow: &FlowDocument, direction: Direction) -> String {
    let title = Text(flow.title());
    // Wide pictures are scrolled, since their texts would become too small to read.
    let is_wide = direction == Direction::LeftToRight;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) }
                style { "\n" (PreEscaped(STYLE)) (PreEscaped(svg::STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    (tools(flow))
                }
                nav aria-label="nodes" { (index::index(flow)) }
                main class=[is_wide.then_some("wide")] { (levels::levels(&Scene::new(flow), direction)) }
                aside aria-label="contract" aria-live="polite" { (contract::contracts(flow)) }
                script { "\n" (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    };
    page.into_string()
}

/// The buttons for the page as a whole.
fn tools(flow: &FlowDocument) -> Markup {
    html! {
        input type="search" id="search" placeholder="find a node" aria-label="find a node";
        @if flow.max_depth() > 0 {
            button type="button" id="open-all" { "open all" }
            button type="button" id="close-all" { "close all" }
            button type="button" id="whole" aria-pressed="false" { "one picture" }
        }
    }
}
