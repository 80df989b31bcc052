//! Lays out a scene on a board with the crate `dagre`, which places each box and each arrow.

use std::collections::HashMap;

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};
use flow_spec::{DEFAULT_ACTION, ERROR_ACTION};

use super::board::{Board, Point, Tile, Wire, WireKind, WireLabel};
use super::link::{Link, MARGIN, bounded, label_size};
use super::wire::{self, Rows};
use super::{large, shape};
use crate::direction::Direction;
use crate::scene::{Branch, Member, Place, Scene};
use crate::words::ArrowLabel;

/// The form in which inner flows are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inner {
    Shown,
    Closed,
}

/// How a flow is drawn: its inner flows, and the direction of the picture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) inner: Inner,
    pub(crate) direction: Direction,
}

impl Look {
    /// A picture in this direction with its inner flows.
    pub(super) fn whole(direction: Direction) -> Look {
        Look {
            inner: Inner::Shown,
            direction,
        }
    }
}

/// A flow: its start, its nodes and its ends.
pub(super) fn scene(scene: &Scene<'_>, look: Look) -> Board {
    let mut tiles = vec![shape::start()];
    tiles.extend(
        scene
            .members
            .iter()
            .map(|member| shape::member(member, look)),
    );
    tiles.extend(scene.ends.iter().map(|label| shape::end(label)));
    let number = |place| match place {
        Place::Start => 0,
        Place::Member(index) => 1 + index,
        Place::End(index) => 1 + scene.members.len() + index,
    };
    let link = |arrow: &crate::scene::Arrow<'_>| Link {
        from: number(arrow.from),
        to: number(arrow.to),
        label: arrow.label.clone(),
        size: look.direction.turned(label_size(&arrow.label)),
        kind: match arrow.action {
            Some(ERROR_ACTION) => WireKind::Error,
            _ => WireKind::Action,
        },
        weight: match arrow.action {
            None | Some(DEFAULT_ACTION) => 4,
            Some(ERROR_ACTION) => 1,
            Some(_) => 2,
        },
    };
    let mut links: Vec<Link> = scene.arrows.iter().map(link).collect();
    let members = scene.members.iter().enumerate();
    let members = members.map(|(index, member)| (1 + index, member));
    hang(&mut tiles, &mut links, members, look);
    place(tiles, links, look.direction)
}

/// Adds the undo nodes that hang at the members of a board, whose tiles have these numbers, and the
/// arrows to them. An arrow cannot lead to another board: there, only the text in the box says by
/// which node a visit is undone.
fn hang<'s>(
    tiles: &mut Vec<Tile>,
    links: &mut Vec<Link>,
    members: impl Iterator<Item = (usize, &'s Member<'s>)> + Clone,
    look: Look,
) {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for undo in members
        .clone()
        .filter_map(|(_, member)| member.undo.as_ref())
    {
        numbers.insert(&undo.path, tiles.len());
        tiles.push(shape::member(undo, look));
    }
    for (from, member) in members {
        let undo = member.undone_by.as_deref();
        let Some(&to) = undo.and_then(|undo| numbers.get(undo)) else {
            continue;
        };
        let label = ArrowLabel::of_undo();
        links.push(Link {
            from,
            to,
            size: look.direction.turned(label_size(&label)),
            label,
            kind: WireKind::Undo,
            weight: 1,
        });
    }
}

/// Branches side by side, between a bar where they split and a bar where they join.
pub(super) fn fork(branches: &[Branch<'_>], look: Look) -> Board {
    let mut tiles = Vec::new();
    let mut links = Vec::new();
    let link = |from, to, label| Link {
        from,
        to,
        size: look.direction.turned(label_size(&label)),
        label,
        kind: WireKind::Action,
        weight: 1,
    };
    let parts: usize = branches.iter().map(|branch| branch.steps.len()).sum();
    let (split, meet) = (0, parts + 1);
    let mut width = 0.0;
    let mut chains = Vec::new();
    let mut members = Vec::new();
    for branch in branches {
        let tile = |part: &Member<'_>| shape::member(part, look);
        let breadth = |tile: &Tile| look.direction.turned((tile.width, tile.height)).0;
        let chain: Vec<Tile> = branch.steps.iter().map(tile).collect();
        width += chain.iter().map(breadth).fold(0.0, f64::max);
        chains.push(chain);
    }
    let gaps = u32::try_from(branches.len().saturating_sub(1)).unwrap_or(0);
    width += f64::from(gaps) * options().nodesep;
    tiles.push(shape::bar(width, look.direction));
    for (branch, chain) in branches.iter().zip(chains) {
        let mut before = split;
        for (at, tile) in chain.into_iter().enumerate() {
            let number = tiles.len();
            tiles.push(tile);
            members.push((number, &branch.steps[at]));
            let label = match at.checked_sub(1) {
                Some(last) => branch.steps[last].label_to(&branch.steps[at]),
                None => ArrowLabel::default(),
            };
            links.push(link(before, number, label));
            before = number;
        }
        links.push(link(before, meet, branch.label_to_join()));
    }
    tiles.push(shape::bar(width, look.direction));
    hang(&mut tiles, &mut links, members.into_iter(), look);
    place(tiles, links, look.direction)
}

/// The body of a loop, alone.
pub(super) fn each(body: &Member<'_>, look: Look) -> Board {
    let (mut tiles, mut links) = (vec![shape::member(body, look)], Vec::new());
    hang(&mut tiles, &mut links, std::iter::once((0, body)), look);
    place(tiles, links, look.direction)
}

fn options() -> LayoutOptions {
    LayoutOptions {
        nodesep: 36.0,
        edgesep: 18.0,
        ranksep: 44.0,
        marginx: MARGIN.0,
        marginy: MARGIN.1,
        // Among orders with equally many crossings, the one in which the flow is written wins.
        tie_keep_first: true,
        ..LayoutOptions::default()
    }
}

/// The maximum number of boxes and of arrows that `dagre` lays out. Its time grows more than
/// quadratically.
const MOST: usize = 250;

/// The maximum total number of rows that its arrows pass. There, each of them counts as a box.
const MOST_PASSED: usize = 2_000;

/// Places everything in rows that follow each other downwards. A picture that goes to the right is
/// turned for this, and turned back afterwards.
fn place(mut tiles: Vec<Tile>, links: Vec<Link>, direction: Direction) -> Board {
    tiles.iter_mut().for_each(|tile| tile.turn(direction));
    let has_many = tiles.len() > MOST || links.len() > 2 * MOST;
    let mut board = if has_many || large::passed(tiles.len(), &links) > MOST_PASSED {
        large::place(tiles, links, direction)
    } else {
        placed(tiles, links, direction)
    };
    board.turn(direction);
    board
}

fn placed(mut tiles: Vec<Tile>, links: Vec<Link>, direction: Direction) -> Board {
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(GraphOptions {
        directed: true,
        multigraph: true,
        compound: false,
    });
    for (index, tile) in tiles.iter().enumerate() {
        let label = NodeLabel {
            width: tile.width,
            height: tile.height,
            ..NodeLabel::default()
        };
        graph.set_node(index.to_string(), Some(label));
    }
    for (index, link) in links.iter().enumerate() {
        let (width, height) = link.size;
        let label = EdgeLabel {
            width,
            height,
            labelpos: LabelPos::Center,
            weight: link.weight,
            ..EdgeLabel::default()
        };
        let (from, to) = (link.from.to_string(), link.to.to_string());
        graph.set_edge(from, to, Some(label), Some(&index.to_string()));
    }
    dagre::layout(&mut graph, Some(options()));
    for (index, tile) in tiles.iter_mut().enumerate() {
        if let Some(NodeLabel {
            x: Some(x),
            y: Some(y),
            ..
        }) = graph.node(&index.to_string())
        {
            tile.center = Point { x: *x, y: *y };
        }
    }
    let boxes = tiles.iter().map(|tile| (tile.center.y, tile.height));
    let edges = graph.edges();
    let texts = edges.iter().filter_map(|edge| {
        let label = graph.edge(&edge.v, &edge.w, edge.name.as_deref())?;
        Some((label.y?, label.height))
    });
    let rows = Rows::new(boxes.chain(texts), direction);
    let mut wires = Vec::new();
    for (index, link) in links.into_iter().enumerate() {
        let (from, to) = (link.from.to_string(), link.to.to_string());
        if let Some(label) = graph.edge(&from, &to, Some(&index.to_string())) {
            wires.push(wire(link, label, &tiles, &rows));
        }
    }
    bounded(tiles, wires)
}

fn wire(link: Link, label: &EdgeLabel, tiles: &[Tile], rows: &Rows) -> Wire {
    let found = label.points.iter().map(|point| Point {
        x: point.x,
        y: point.y,
    });
    let found: Vec<Point> = found.collect();
    let (from, to) = (&tiles[link.from], &tiles[link.to]);
    let points = if link.from == link.to {
        found
    } else {
        wire::between(from, to, &found, rows)
    };
    let (width, height) = link.size;
    let label = match (label.x, label.y) {
        (Some(x), Some(y)) if height > 0.0 => Some(WireLabel {
            center: Point { x, y },
            width,
            height,
            label: link.label,
        }),
        _ => None,
    };
    Wire {
        points,
        label,
        kind: link.kind,
        back: link.from == link.to || to.center.y < from.center.y,
    }
}
