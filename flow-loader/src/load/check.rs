//! Checks that each read value has a type from which the node can read it, and that cloned values
//! can be cloned.

use std::collections::HashMap;
use std::sync::Arc;

use flow_spec::document::__private::inside;
use flow_spec::document::Property;
use flow_spec::{Code, Take};

use crate::condition::Condition;
use crate::level::{Key, Kind, Level, Node, Results, Route};
use crate::ports::{Addition, InBranch, KeyIndex, Mode, NodeIndex, Read, Write};
use crate::schema;
use crate::value::{ItemFunctions, ValueType};
use flow_spec::short_name;
use serde_json::Value;

use super::Loader;

/// The item that the body of a loop reads: its name, and the collection.
type Item<'a> = (&'a str, &'a Key);

impl Loader<'_> {
    /// Checks the values of a flow.
    pub(super) fn check_values(&mut self, pointer: &str, level: &Level) {
        if let Err((code, message)) = check_mappings(level, &level.start) {
            self.problem(code, pointer.to_owned(), message, None);
        }
        self.check_defaults(pointer, level);
        let items = items(level);
        for (index, node) in level.nodes.iter().enumerate() {
            let pointer = format!("{pointer}/nodes/{index}");
            if let (Kind::Each { .. }, Some(over)) = (&node.kind, collection(level, node))
                && over.ty.items.is_none()
                && !over.untyped
            {
                let text = over.ty.short_name();
                let message = format!("`{}` loops over a `{text}`", node.name);
                let help = "loop over a list, an array, a set or a map".to_owned();
                let place = format!("{pointer}/params/over");
                self.problem(Code::TypeMismatch, place, message, Some(help));
            }
            if let Some((code, message, help)) = not_spread(level, NodeIndex(index)) {
                let place = format!("{pointer}/settings/spread");
                self.problem(code, place, message, Some(help));
            }
            if let Some((message, help)) = not_kept(level, node) {
                let place = format!("{pointer}/settings/undo");
                self.problem(Code::TakenTooEarly, place, message, Some(help));
            }
            if let Some(message) = unread_json(level, node) {
                let help = "derive both; the derives of a flow go to its output as well".to_owned();
                self.problem(Code::TypeMismatch, pointer.clone(), message, Some(help));
            }
            for route in &node.routes {
                if let Err((code, message)) = check_mappings(level, route) {
                    self.problem(code, pointer.clone(), message, None);
                }
            }
            if let Err((code, message)) = check_additions(level, node) {
                self.problem(code, pointer.clone(), message, None);
            }
            let item = items.get(&NodeIndex(index)).copied();
            for (number, read) in node.ports.reads.iter().enumerate() {
                if let Err((code, message)) = check_read(level, node, (number, read), item) {
                    let place = format!("{pointer}{}", names_read_at(node, read));
                    self.problem(code, place, message, None);
                }
            }
        }
    }

    /// Checks that the defaults of the inputs are values of their types.
    fn check_defaults(&mut self, pointer: &str, level: &Level) {
        for input in &level.inputs {
            let (Some(key), Some(default)) = (input.key, &input.default) else {
                continue;
            };
            let key = level.key(key);
            let properties = format!("{pointer}/inputs/properties");
            let place = inside(&inside(&properties, &input.name), "default");
            let reason = match key.ty.json.map(|json| (json.read)(default.clone())) {
                Some(Ok(_)) => {
                    if let Some(limits) = &input.limits {
                        self.check_range(limits, default, (&input.name, &place));
                    }
                    continue;
                }
                Some(Err(error)) => error.to_string(),
                None => "it is not `Deserialize`".to_owned(),
            };
            let (name, ty) = (&input.name, key.ty.short_name());
            let message = format!("the default of `{name}` is not a `{ty}`: {reason}");
            self.problem(Code::TypeMismatch, place, message, None);
        }
    }

    /// Checks that the default of an input is in the range of its schema.
    fn check_range(&mut self, schema: &Property, default: &Value, (name, place): (&str, &str)) {
        for refused in schema::refused(schema, default) {
            let message = format!(
                "the default of `{name}` is out of range: {}",
                refused.message
            );
            let place = format!("{place}{}", refused.pointer);
            self.problem(Code::Malformed, place, message, refused.help);
        }
    }
}

/// The pointer in a node at which it names a value that it reads: its prompt, or a condition.
fn names_read_at(node: &Node, read: &Read) -> String {
    if node.prompt.is_some() {
        return "/params/prompt".to_owned();
    }
    let Kind::Branch { cases, .. } = &node.kind else {
        return String::new();
    };
    let mut conditions = cases.iter().map(|(condition, _)| condition);
    let names = |condition: &Arc<Condition>| condition.names().contains(&read.name);
    let number = conditions.position(names);
    number.map_or_else(String::new, |number| format!("/params/cases/{number}/when"))
}

/// The reason why the items of a loop cannot be spread, as a sentence, with help.
fn not_spread(level: &Level, at: NodeIndex) -> Option<(Code, String, String)> {
    let node = level.node(at);
    let Kind::Each {
        spread: Some(_),
        body,
        ..
    } = &node.kind
    else {
        return None;
    };
    let name = &node.name;
    let contains_it = |owner: &&Node| {
        let mut branches = owner.kind.branches().iter();
        branches.any(|branch| branch.chain.contains(&at))
    };
    if let Some(owner) = level.nodes.iter().find(contains_it) {
        let (of, help) = match owner.kind {
            Kind::Race(_) => (
                "race",
                "remove `spread`, or put the loop before or after the race",
            ),
            _ => (
                "fork",
                "remove `spread`, or put the loop before or after the fork",
            ),
        };
        let message =
            format!("`{name}` is in a branch of a {of}, where the items of a loop are not spread");
        return Some((Code::NamesNothing, message, help.to_owned()));
    }
    if let Kind::Flow(inner) = &level.node(*body).kind
        && waits_for_signals(inner)
    {
        let message = format!(
            "`{}` waits for signals, and the items of a loop with `spread` run as executions of their own, to which \
             nobody sends them",
            level.node(*body).name
        );
        let help = "remove `spread`, or wait for the signal outside the loop".to_owned();
        return Some((Code::NamesNothing, message, help));
    }
    if let Kind::Flow(inner) = &level.node(*body).kind
        && inner.undoes
    {
        let flow = &level.node(*body).name;
        let message = format!(
            "`{flow}` can be undone, and the items of a loop with `spread` run as executions of their own, which nobody \
             undoes with it"
        );
        let help = format!("remove `spread`, or `undo` at the steps of `{flow}`");
        return Some((Code::Undo, message, help));
    }
    let over = collection(level, node)?;
    let is_list = over.ty.items.is_none_or(|items| items.are_a_list);
    (!is_list).then(|| {
        let text = over.ty.short_name();
        let message = format!("the items of `{text}` cannot be spread over workers");
        let help = "loop over a `Vec`, a `VecDeque` or a `BTreeSet`".to_owned();
        (Code::NamesNothing, message, help)
    })
}

/// The mistake of a node whose undo node reads a value that cannot be kept for it, as a sentence,
/// with help.
fn not_kept(level: &Level, node: &Node) -> Option<(String, String)> {
    let undo = level.node(node.undo?);
    let mut keys = undo.ports.reads.iter().filter_map(|read| read.key);
    let key = keys.find(|key| level.key(*key).ty.clone.is_none())?;
    let (key, owner, reader) = (level.key(key), &node.name, &undo.name);
    let (name, ty) = (&key.name, key.ty.short_name());
    let message = format!(
        "`{reader}` reads `{name}` when it takes back `{owner}`, so a copy is kept until then"
    );
    Some((message, format!("derive `Clone` for `{ty}`")))
}

/// Returns `true` if a flow, or a flow in it, waits for signals.
fn waits_for_signals(level: &Level) -> bool {
    level.nodes.iter().any(|node| match &node.kind {
        Kind::Flow(inner) => waits_for_signals(inner),
        _ => node.signal.is_some(),
    })
}

fn key_of(write: &Option<Write>) -> Option<KeyIndex> {
    write.as_ref().map(|write| write.key)
}

/// The mistake of a node that writes JSON to a key whose type cannot be read from JSON.
fn unread_json(level: &Level, node: &Node) -> Option<String> {
    let written: Vec<Option<KeyIndex>> = match &node.kind {
        Kind::Each {
            results: Results::Json { .. },
            ..
        } => node.ports.writes.iter().map(key_of).collect(),
        Kind::Flow(inner) => {
            let writes = node.ports.writes.iter().zip(&inner.outputs);
            writes
                .filter(|(_, output)| inner.is_untyped(output.key))
                .map(|(write, _)| key_of(write))
                .collect()
        }
        _ => return None,
    };
    let mut keys = written.into_iter().flatten().map(|key| level.key(key));
    let key = keys.find(|key| !key.ty.is_json())?;
    let (node, key, ty) = (&node.name, &key.name, key.ty.short_name());
    Some(format!(
        "`{node}` writes `{key}` as JSON, and `{ty}`, as which it is read, is not `Serialize` and \
         `Deserialize`"
    ))
}

/// Checks the values that a branch of a fork clones to see what it has added.
fn check_additions(level: &Level, node: &Node) -> Result<(), (Code, String)> {
    for Write { key, addition } in node.ports.writes.iter().flatten() {
        let Some(Addition {
            to,
            more,
            in_branch,
            ..
        }) = addition
        else {
            continue;
        };
        let cloned = match in_branch {
            InBranch::AtJoin => [None, None],
            InBranch::Seen => [Some(more), Some(to)],
            InBranch::ToOwn => [Some(to), None],
        };
        let mut cloned = cloned.into_iter().flatten();
        if let Some(ty) = cloned.find(|ty| ty.clone.is_none()) {
            let (name, key, ty) = (&node.name, &level.key(*key).name, ty.short_name());
            let message = format!(
                "`{name}` adds to `{key}` in a branch that has a value of its own, and `{ty}` is not `Clone`"
            );
            return Err((Code::TakenTooEarly, message));
        }
    }
    Ok(())
}

/// Checks the values that an edge clones.
fn check_mappings(level: &Level, route: &Route) -> Result<(), (Code, String)> {
    for mapping in &route.mappings {
        let (key, source) = (level.key(mapping.key), level.key(mapping.source));
        let (written, ty) = (key.ty.short_name(), source.ty.short_name());
        if !key.ty.is(source.ty) {
            let (key, source) = (&key.name, &source.name);
            let message = format!("`{key}` is `{written}`, and `{source}` is `{ty}`");
            return Err((Code::TypeMismatch, message));
        }
        if mapping.take != Take::Move && source.ty.clone.is_none() {
            let source = &source.name;
            let message = format!("`{source}` is needed later, and `{ty}` is not `Clone`");
            return Err((Code::TakenTooEarly, message));
        }
    }
    Ok(())
}

/// The items of all loops, by their bodies.
fn items(level: &Level) -> HashMap<NodeIndex, Item<'_>> {
    let mut items = HashMap::new();
    for node in &level.nodes {
        if let (Kind::Each { body, item, .. }, Some(over)) = (&node.kind, collection(level, node)) {
            items.insert(*body, (item.as_str(), over));
        }
    }
    items
}

/// The collection of a loop.
fn collection<'a>(level: &'a Level, each: &Node) -> Option<&'a Key> {
    Some(level.key(each.ports.reads.first()?.key?))
}

fn check_read(
    level: &Level,
    node: &Node,
    (number, read): (usize, &Read),
    item: Option<Item<'_>>,
) -> Result<(), (Code, String)> {
    let (name, key) = (&node.name, &read.name);
    let shows = read.mode == Mode::Show;
    let mismatch = |found| Err((Code::TypeMismatch, mismatch(node, (number, read), found)));
    if let Some((_, over)) = item.filter(|(item, _)| item == key) {
        let collection = over.ty;
        if over.untyped || wants_json(node, number) {
            let is_read = wanted(node, number).is_some_and(ValueType::is_json);
            if is_read && collection.is_json() {
                return Ok(());
            }
            let found = collection.items.map(|items| (items.name)());
            return mismatch(found.unwrap_or_else(|| collection.name()));
        }
        // A loop over something else is reported at the loop.
        return match collection.items {
            Some(items) if shows && items.display.is_some() => Ok(()),
            Some(items) if shows || !is_item(node, number, items) => mismatch((items.name)()),
            _ => Ok(()),
        };
    }
    let Some(key_of_state) = read.key else {
        return Ok(());
    };
    let ty = level.key(key_of_state).ty;
    let fits = match read.mode {
        Mode::Show => ty.display.is_some(),
        _ => fits(node, number, ty),
    };
    if !fits {
        return mismatch(ty.name());
    }
    let moves = read.moves && item.is_none();
    if read.mode.takes() && !moves && ty.clone.is_none() {
        let ty = ty.short_name();
        let message =
            format!("`{name}` takes `{key}`, which is needed later, and `{ty}` is not `Clone`");
        return Err((Code::TakenTooEarly, message));
    }
    Ok(())
}

/// The mismatch between the type that a node reads and the type of the key.
fn mismatch(node: &Node, (number, read): (usize, &Read), found: &'static str) -> String {
    let wanted = wanted(node, number).filter(|_| read.mode != Mode::Show);
    let wanted = wanted.map(|ty| ty.name());
    let shorten = wanted.is_none_or(|wanted| short_name(wanted) != short_name(found));
    let text = |name: &str| {
        if shorten {
            format!("`{}`", short_name(name))
        } else {
            format!("`{name}`")
        }
    };
    let wanted = wanted.map_or_else(|| "something that can be shown".to_owned(), text);
    let (name, key, found) = (&node.name, &read.name, text(found));
    format!("`{name}` reads `{key}` as {wanted}, and it is {found}")
}

/// Returns `true` if a node can read a value of this type.
fn fits(node: &Node, number: usize, ty: &'static ValueType) -> bool {
    let in_option = ty.option.map(|option| option.inner);
    match &node.kind {
        Kind::Step { adapter, .. } => {
            let port = &adapter.reads[number];
            let is_own = |ty: &ValueType| port.ty.is_some_and(|own| own.is(ty));
            let accepts = |ty: &ValueType| (port.accepts)((ty.id)());
            match port.mode {
                Mode::Show => true,
                Mode::Borrow => accepts(ty),
                Mode::MaybeBorrow => accepts(ty) || in_option.is_some_and(accepts),
                Mode::Take => is_own(ty),
                Mode::MaybeTake => is_own(ty) || in_option.is_some_and(is_own),
            }
        }
        Kind::Flow(_) if wants_json(node, number) => ty.is_json(),
        Kind::Flow(inner) => {
            let input = &inner.inputs[number];
            let wanted = input.key.map(|key| inner.key(key).ty);
            wanted.is_none_or(|wanted| wanted.is(ty))
        }
        // A loop or a branch of conditions accepts any type.
        _ => true,
    }
}

/// Returns `true` if a node can read an item of this type.
fn is_item(node: &Node, number: usize, items: ItemFunctions) -> bool {
    match &node.kind {
        Kind::Step { adapter, .. } => {
            let port = &adapter.reads[number];
            match port.mode {
                Mode::Show => items.display.is_some(),
                Mode::Borrow | Mode::MaybeBorrow => (port.accepts)((items.id)()),
                Mode::Take | Mode::MaybeTake => port
                    .ty
                    .is_some_and(|own| (own.id)() == (items.id)() && own.clone.is_some()),
            }
        }
        Kind::Flow(inner) => {
            let wanted = inner.inputs[number].key.map(|key| inner.key(key).ty);
            wanted.is_none_or(|wanted| (wanted.id)() == (items.id)() && wanted.clone.is_some())
        }
        _ => true,
    }
}

/// Returns `true` if a node is a flow that reads any JSON.
fn wants_json(node: &Node, number: usize) -> bool {
    match &node.kind {
        Kind::Flow(inner) => inner.is_untyped(inner.inputs[number].key),
        _ => false,
    }
}

/// The type that a node reads. `None` if it accepts any type that can be shown.
fn wanted(node: &Node, number: usize) -> Option<&'static ValueType> {
    match &node.kind {
        Kind::Step { adapter, .. } => adapter.reads[number].ty,
        Kind::Flow(inner) => inner.inputs[number].key.map(|key| inner.key(key).ty),
        _ => None,
    }
}
