//! Text of the flow in the page.

use maud::Render;

use crate::xml::escaped;

/// Text that the flow's author wrote. Like a plain string it is escaped, and what would deceive the
/// reader is made visible.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Render for Text<'_> {
    fn render_to(&self, page: &mut String) {
        page.push_str(&escaped(self.0));
    }
}
