//! The pictures: one for each flow, inside the picture of the outer flow, and one of everything.

use maud::{Markup, PreEscaped, html};

use super::text::Text;
use crate::direction::Direction;
use crate::scene::{Inside, Member, Scene};
use crate::svg::{self, Inner, Look};
use crate::words::one_line;

pub(super) fn levels(scene: &Scene<'_>, direction: Direction) -> Markup {
    html! {
        section id="levels" { (level(scene, direction)) }
        @if scene.flow.max_depth() > 0 {
            section id="all" hidden { (picture(scene, Inner::Shown, direction)) }
        }
        details class="legend" open {
            summary { "legend" }
            (PreEscaped(svg::legend(scene, direction)))
        }
    }
}

fn level(scene: &Scene<'_>, direction: Direction) -> Markup {
    html! {
        (picture(scene, Inner::Closed, direction))
        @for member in &scene.members { (inside(member, direction)) }
    }
}

/// The flows within a node, including those in branches and in the body of a loop.
fn inside(member: &Member<'_>, direction: Direction) -> Markup {
    match &member.inside {
        Inside::Nothing => Markup::default(),
        Inside::Fork(branches) => html! {
            @for branch in branches {
                @for part in &branch.steps { (inside(part, direction)) }
            }
        },
        Inside::Each(body) => inside(body, direction),
        Inside::Flow(scene) => {
            let path = Text(&member.path);
            let title = one_line(scene.flow.title());
            html! {
                section class="level" data-inside=(path) aria-label=(path) hidden {
                    h2 {
                        button type="button" class="open" data-open=(path) aria-expanded="false" aria-label={ "close " (path) } { "▶" }
                        " " (path) " " small { (Text(&title)) }
                    }
                    (level(scene, direction))
                }
            }
        }
    }
}

/// The picture of a scene. It escapes its own texts.
fn picture(scene: &Scene<'_>, inner: Inner, direction: Direction) -> Markup {
    PreEscaped(svg::part(scene, Look { inner, direction }))
}
