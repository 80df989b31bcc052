//! A source file that is edited as the page says: an item replaces the one of its name, and a new
//! one is added.

#[derive(Default)]
pub(crate) struct Program {
    items: Vec<String>,
}

impl Program {
    /// Takes over the items of a block.
    pub(crate) fn edit(&mut self, block: &str) {
        for item in items(block) {
            let old = self.items.iter_mut().find(|old| head(old) == head(&item));
            match old {
                Some(old) => *old = item,
                None => self.items.push(item),
            }
        }
    }

    /// The file, with `use` at its top.
    pub(crate) fn text(&self) -> String {
        let (imports, others): (Vec<_>, Vec<_>) =
            self.items.iter().partition(|item| item.starts_with("use "));
        let items: Vec<&str> = imports
            .into_iter()
            .chain(others)
            .map(String::as_str)
            .collect();
        items.join("\n\n") + "\n"
    }

    pub(crate) fn sorted(mut self) -> Vec<String> {
        self.items.sort();
        self.items
    }
}

/// The items of a block. Each begins at the margin, behind an empty line or as one of several `use`.
fn items(block: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut after_item = true;
    for line in block.lines() {
        let at_margin = !line.is_empty() && !line.starts_with([' ', '}', ')']);
        if at_margin && (after_item || line.starts_with("use ")) {
            items.push(line.to_owned());
        } else if let Some(item) = items.last_mut() {
            item.push('\n');
            item.push_str(line);
        }
        after_item = line.is_empty();
    }
    items
        .iter()
        .map(|item| item.trim_end().to_owned())
        .collect()
}

/// What names an item: its keyword and its name, the path of a `use`, or the name of a flow.
fn head(item: &str) -> String {
    let mut lines = item.lines().map(str::trim);
    let line = lines.find(|line| !line.starts_with(['#', '/']) && *line != "flow! {");
    let line = line.unwrap_or_else(|| panic!("an item without a name: {item}"));
    let end = line.find(['(', '{', '=', ';']).unwrap_or(line.len());
    line[..end].trim().replace("async ", "")
}
