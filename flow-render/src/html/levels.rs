//! The pictures: one for each flow, in the picture of the flow around it, and one of all.

use crate::scene::{Inside, Member, Scene};
use crate::svg::{self, Inner};
use crate::words::one_line;
use crate::xml::escaped;

pub(super) fn levels(scene: &Scene<'_>) -> String {
    let mut text = String::from("<section id=\"levels\">\n");
    level(scene, &mut text);
    text += "</section>\n";
    if scene.flow.max_depth() > 0 {
        let picture = svg::part(scene, Inner::Shown);
        text += &format!("<section id=\"all\" hidden>\n{picture}</section>\n");
    }
    text
}

fn level(scene: &Scene<'_>, text: &mut String) {
    *text += &svg::part(scene, Inner::Closed);
    for member in &scene.members {
        inside(member, text);
    }
}

/// The flows within a node, also those in the branches of a fork and the body of a loop.
fn inside(member: &Member<'_>, text: &mut String) {
    match &member.inside {
        Inside::Nothing => {}
        Inside::Fork(branches) => {
            for part in branches.iter().flatten() {
                inside(part, text);
            }
        }
        Inside::Each(body) => inside(body, text),
        Inside::Flow(scene) => {
            let path = escaped(&member.path);
            let title = escaped(&one_line(scene.flow.title()));
            *text += &format!(
                "<section class=\"level\" data-inside=\"{path}\" aria-label=\"{path}\" hidden>
<h2><button type=\"button\" class=\"open\" data-open=\"{path}\" aria-expanded=\"false\" \
aria-label=\"close {path}\">▶</button> {path} <small>{title}</small></h2>
"
            );
            level(scene, text);
            *text += "</section>\n";
        }
    }
}
