//! Places where nodes run, which determine where their values are.

use std::any::Any;
use std::fmt::Display;

use crate::adder::Adder;
use crate::cell::{AnyValue, Cell};
use crate::ports::{Addition, InBranch, KeyIndex, Ports, TakenBy, Write};
use crate::value::{Shown, ValueType};

/// The values of a flow by key.
pub(crate) struct Cells {
    pub(crate) all: Vec<Cell>,
    /// The index of the last node's action, if that node has passed on its values itself.
    pub(crate) action: usize,
}

/// The place where a node runs, which determines where its values are.
pub(crate) enum Place<'s> {
    Loop(&'s mut Cells),
    /// In a branch: it sees the state before the fork or race, and what it writes itself.
    Branch(&'s Cells, &'s mut Own),
    /// In a loop over items: the values that the node returns are collected.
    Item(&'s Around<'s>, &'s mut Option<AnyValue>),
    /// In one of several attempts: all read the same values.
    Shared(&'s Around<'s>),
}

/// The values that a node sees.
#[derive(Clone, Copy)]
pub(crate) struct Around<'s> {
    pub(crate) cells: &'s Cells,
    pub(crate) own: Option<&'s Own>,
    pub(crate) item: Option<&'s Item<'s>>,
}

/// The item that the body of a loop reads.
pub(crate) struct Item<'s> {
    pub(crate) value: &'s (dyn Any + Sync),
    pub(crate) port: ItemPort,
    /// Shows the item.
    pub(crate) display: Option<Shown>,
}

/// The read by which the body of a loop gets the item.
#[derive(Clone, Copy)]
pub(crate) struct ItemPort {
    /// The index of the read.
    pub(crate) read: usize,
    /// The type as which the body takes it. `None` if it cannot take it.
    pub(crate) ty: Option<&'static ValueType>,
    /// True if the body is a flow that reads any JSON.
    pub(crate) untyped: bool,
}

/// A value that a node takes.
pub(crate) enum Taken<'s> {
    Moved(&'s mut Cell),
    /// The value has to be cloned, because it is read again.
    Copied(&'s (dyn Any + Sync), &'static ValueType),
}

/// The state of a branch: the values that its nodes wrote, and those that were taken for them.
#[derive(Default)]
pub(crate) struct Own {
    written: Vec<(KeyIndex, Cell)>,
    /// The values to add to those of the flow when all branches are done. An entry without a value
    /// only begins the value of its key.
    pub(crate) added: Vec<(KeyIndex, Adder, Option<AnyValue>)>,
    pub(crate) taken: Vec<(TakenBy, KeyIndex, Cell)>,
    /// The index of the last node's action, if that node has passed on its values itself.
    pub(crate) action: usize,
}

impl From<Vec<Cell>> for Cells {
    fn from(all: Vec<Cell>) -> Self {
        Cells { all, action: 0 }
    }
}

impl Cells {
    /// The value of a key. `None` if it has none.
    #[inline]
    pub(crate) fn get(&self, KeyIndex(key): KeyIndex) -> Option<&(dyn Any + Send + Sync)> {
        self.all[key].get()
    }

    #[inline]
    pub(crate) fn cell(&mut self, KeyIndex(key): KeyIndex) -> &mut Cell {
        &mut self.all[key]
    }

    /// A clone of the value of a key, which has this type.
    pub(crate) fn cloned(&self, key: KeyIndex, ty: &ValueType) -> Option<AnyValue> {
        self.get(key).map(|value| ty.cloned_box(value))
    }
}

impl Place<'_> {
    #[inline]
    pub(crate) fn around(&self) -> Around<'_> {
        match self {
            Place::Loop(cells) => Around::of(cells, None),
            Place::Branch(base, own) => Around::of(base, Some(own)),
            Place::Item(around, _) | Place::Shared(around) => **around,
        }
    }

    /// The same place, borrowed again.
    #[inline]
    pub(crate) fn reborrow(&mut self) -> Place<'_> {
        match self {
            Place::Loop(cells) => Place::Loop(cells),
            Place::Branch(base, own) => Place::Branch(base, own),
            Place::Item(around, result) => Place::Item(around, result),
            Place::Shared(around) => Place::Shared(around),
        }
    }

    /// The cell to which a key is written.
    #[inline]
    pub(crate) fn cell(&mut self, key: KeyIndex) -> &mut Cell {
        match self {
            Place::Loop(cells) => cells.cell(key),
            Place::Branch(_, own) => own.cell(key),
            Place::Item(..) | Place::Shared(_) => {
                unreachable!("what the body of a loop returns is collected")
            }
        }
    }

    /// Writes a value under a key, or adds it to the key's.
    pub(crate) fn write(&mut self, write: Write, value: AnyValue) {
        let Write { key, addition } = write;
        let Some(addition) = addition else {
            return self.cell(key).set(value);
        };
        let Place::Branch(base, own) = self else {
            return addition.adder.add(self.cell(key), value);
        };
        let Addition {
            adder,
            to,
            more,
            in_branch,
        } = addition;
        match in_branch {
            InBranch::ToOwn => adder.add(own.begun(key, base, to), value),
            InBranch::AtJoin => own.added.push((key, adder, Some(value))),
            InBranch::Seen => {
                let seen = more.cloned_box(value.get());
                adder.add(own.begun(key, base, to), seen);
                own.added.push((key, adder, Some(value)));
            }
        }
    }

    /// Begins the value of a key to which nothing may be added.
    pub(crate) fn begin(&mut self, key: KeyIndex, addition: Addition) {
        let adder = addition.adder;
        let Place::Branch(base, own) = self else {
            return adder.begin(self.cell(key));
        };
        if addition.in_branch != InBranch::AtJoin {
            adder.begin(own.begun(key, base, addition.to));
        }
        if addition.in_branch != InBranch::ToOwn {
            own.added.push((key, adder, None));
        }
    }

    /// A value that the node takes. `None` if there is none.
    pub(crate) fn taken(&mut self, ports: &Ports, read: usize) -> Option<Taken<'_>> {
        let Place::Loop(cells) = self else {
            return self.taken_apart(ports, read);
        };
        let port = &ports.reads[read];
        if port.moves {
            return Some(Taken::Moved(cells.cell(port.key?)));
        }
        Some(Taken::Copied(cells.get(port.key?)?, port.ty?))
    }

    /// A value that the node takes in a branch, or where others read it too.
    fn taken_apart(&mut self, ports: &Ports, read: usize) -> Option<Taken<'_>> {
        let port = &ports.reads[read];
        let value = match self {
            Place::Loop(_) => unreachable!("the caller has looked"),
            Place::Branch(base, own) => {
                let key = port.key?;
                let by = TakenBy {
                    node: ports.at,
                    read,
                };
                // Keep it if the next attempt takes it as well.
                if !ports.repeats {
                    if own.taken_cell(by).is_some() {
                        return own.taken_cell(by).map(Taken::Moved);
                    }
                    if port.moves && own.get(key).is_some() {
                        return own.written(key).map(Taken::Moved);
                    }
                }
                let value = own.taken(by).or_else(|| own.get(key));
                value.or_else(|| base.get(key))
            }
            Place::Item(around, _) | Place::Shared(around) => match around.item_at(read) {
                Some(item) => return item.port.ty.map(|ty| Taken::Copied(item.value, ty)),
                None => around.get(port.key?),
            },
        };
        Some(Taken::Copied(value?, port.ty?))
    }
}

impl<'s> Around<'s> {
    #[inline]
    pub(crate) fn of(cells: &'s Cells, own: Option<&'s Own>) -> Self {
        Around {
            cells,
            own,
            item: None,
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: KeyIndex) -> Option<&'s (dyn Any + Send + Sync)> {
        let own = self
            .own
            .and_then(|own| own.get(key).or_else(|| own.moved(key)));
        own.or_else(|| self.cells.get(key))
    }

    /// The item, if this read of the body is the item.
    #[inline]
    fn item_at(&self, read: usize) -> Option<&'s Item<'s>> {
        self.item.filter(|item| item.port.read == read)
    }

    /// The value of a read.
    #[inline]
    pub(crate) fn value(&self, ports: &Ports, read: usize) -> Option<&'s (dyn Any + Sync)> {
        match self.item_at(read) {
            Some(item) => Some(item.value),
            None => Some(self.get(ports.reads[read].key?)?),
        }
    }

    /// The value of a read, to be shown.
    pub(crate) fn shown(
        &self,
        ports: &Ports,
        read: usize,
    ) -> Option<&'s (dyn Display + Send + Sync)> {
        let display = match self.item_at(read) {
            Some(item) => item.display,
            None => ports.reads[read].ty?.display,
        };
        match display {
            Some(display) => Some(display(self.value(ports, read)?)),
            None => unreachable!("loading checks that what a prompt shows can be shown"),
        }
    }
}

impl Own {
    pub(crate) fn get(&self, key: KeyIndex) -> Option<&(dyn Any + Send + Sync)> {
        let written = self.written.iter().find(|(other, _)| *other == key);
        written.and_then(|(_, cell)| cell.get())
    }

    /// The cell of a key that the branch has written.
    pub(crate) fn written(&mut self, key: KeyIndex) -> Option<&mut Cell> {
        let mut written = self.written.iter_mut();
        written
            .find(|(other, _)| *other == key)
            .map(|(_, cell)| cell)
    }

    /// The cell of a key that the branch writes.
    fn cell(&mut self, key: KeyIndex) -> &mut Cell {
        let known = self.written.iter().position(|(other, _)| *other == key);
        let at = known.unwrap_or_else(|| {
            self.written.push((key, Cell::default()));
            self.written.len() - 1
        });
        &mut self.written[at].1
    }

    /// The cell of a key to which the branch adds: it begins with the value at the fork.
    fn begun(&mut self, key: KeyIndex, base: &Cells, ty: &ValueType) -> &mut Cell {
        let cell = self.cell(key);
        if cell.get().is_none()
            && let Some(value) = base.cloned(key, ty)
        {
            cell.set(value);
        }
        cell
    }

    /// The value that was taken for this read.
    fn taken(&self, read: TakenBy) -> Option<&(dyn Any + Send + Sync)> {
        let mut taken = self.taken.iter();
        taken.find(|(by, ..)| *by == read)?.2.get()
    }

    /// The cell of the value that was taken for this read. `None` if none was taken.
    fn taken_cell(&mut self, read: TakenBy) -> Option<&mut Cell> {
        let mut taken = self.taken.iter_mut();
        Some(&mut taken.find(|(by, ..)| *by == read)?.2)
    }

    /// A value that was moved out of the flow's state for a later node.
    fn moved(&self, key: KeyIndex) -> Option<&(dyn Any + Send + Sync)> {
        let mut taken = self.taken.iter().filter(|(_, other, _)| *other == key);
        taken.find_map(|(.., cell)| cell.get())
    }
}
