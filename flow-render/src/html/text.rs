//! Text of the flow in the page.

use maud::Render;

use crate::xml::escaped;

/// Text that the flow's author wrote. It is escaped like a plain string, and deceptive characters
/// are made visible.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Render for Text<'_> {
    fn render_to(&self, page: &mut String) {
        page.push_str(&escaped(self.0));
    }
}
