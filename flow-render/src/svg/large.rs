//! Lays out boards with very many boxes, or with arrows that pass very many rows, in time that
//! grows with their number.
//!
//! The layout of `dagre` takes minutes for them, and has a point for each row that an arrow passes:
//! a thousand arrows past a thousand rows are a million points. Here, an arrow that does not lead
//! to the next row leaves its row, follows a lane beside the board, and enters its target's row.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::board::{Board, Point, Shape, Tile, Wire, WireLabel};
use super::link::{Link, MARGIN, bounded};
use super::wire::side;
use crate::direction::Direction;

/// The distances between boxes, between rows, and between lanes.
const BESIDE: f64 = 36.0;
const BELOW: f64 = 44.0;
const LANE: f64 = 12.0;
/// The distance between a box and the texts at the arrows that leave it.
const LABEL: f64 = 8.0;

/// The heights of a row: of its boxes, and of the texts below them.
#[derive(Clone, Copy, Default)]
struct Row {
    top: f64,
    boxes: f64,
    texts: f64,
}

impl Row {
    fn middle(&self) -> f64 {
        self.top + self.boxes / 2.0
    }

    /// The height at which arrows have passed its texts.
    fn below(&self) -> f64 {
        self.top + self.boxes + LABEL + self.texts
    }

    /// The height above its boxes at which arrows arrive from a lane.
    fn above(&self) -> f64 {
        self.top - BELOW / 4.0
    }
}

/// Places the boxes in rows, so that arrows lead down where they can.
pub(super) fn place(mut tiles: Vec<Tile>, links: Vec<Link>, direction: Direction) -> Board {
    let leaving = leaving(tiles.len(), &links);
    let ranks = ranks(&links, &leaving);
    let exits = across(&mut tiles, &links, &leaving, &ranks);
    let rows = down(&mut tiles, &links, &ranks);
    let lanes = lanes(&tiles, &links, &exits, &ranks);
    let mut wires = Vec::with_capacity(links.len());
    for (index, link) in links.into_iter().enumerate() {
        let (from, to) = (&tiles[link.from], &tiles[link.to]);
        let (own, target) = (rows[ranks[link.from]], rows[ranks[link.to]]);
        let exit = exits[index];
        let below = own.below();
        let on_side = |tile: &Tile, x: f64, y: f64| Point {
            x,
            y: tile.center.y + side(tile, x - tile.center.x, y, direction),
        };
        let start = on_side(from, touch(from, exit), from.height / 2.0);
        let at = |x: f64, y: f64| Point { x, y };
        let mut points = vec![
            start,
            at(exit, own.top + own.boxes + LABEL),
            at(exit, below),
        ];
        let mut before = exit;
        if let Some(lane) = lanes.get(&link.to).filter(|_| is_far(&ranks, &link)) {
            points.extend([
                at(exit, below + BELOW / 4.0),
                at(*lane, below + BELOW / 4.0),
                at(*lane, target.above()),
            ]);
            before = *lane;
        }
        let enter = touch(to, before);
        points.extend([
            at(enter, target.above()),
            at(enter, target.top),
            on_side(to, enter, -to.height / 2.0),
        ]);
        points.dedup_by(|next, point| (next.x - point.x).hypot(next.y - point.y) < 1.0);
        let (width, height) = link.size;
        wires.push(Wire {
            points,
            label: (height > 0.0).then(|| WireLabel {
                center: at(exit, below - height / 2.0),
                width,
                height,
                label: link.label,
            }),
            kind: link.kind,
            back: link.from == link.to || ranks[link.to] <= ranks[link.from],
        });
    }
    bounded(tiles, wires)
}

/// The total number of rows that the arrows between this number of boxes pass.
pub(super) fn passed(count: usize, links: &[Link]) -> usize {
    let ranks = ranks(links, &leaving(count, links));
    let rows = |link: &Link| ranks[link.from].abs_diff(ranks[link.to]).saturating_sub(1);
    links.iter().map(rows).sum()
}

/// The arrows that leave each box.
fn leaving(count: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut leaving = vec![Vec::new(); count];
    for (index, link) in links.iter().enumerate() {
        leaving[link.from].push(index);
    }
    leaving
}

/// Returns `true` for an arrow that does not lead to the next row.
fn is_far(ranks: &[usize], link: &Link) -> bool {
    ranks[link.to] != ranks[link.from] + 1
}

/// The row of each box: below all boxes that lead to it, except through arrows that lead back.
fn ranks(links: &[Link], leaving: &[Vec<usize>]) -> Vec<usize> {
    let order = order(links, leaving);
    let mut position = vec![0; leaving.len()];
    for (at, &tile) in order.iter().enumerate() {
        position[tile] = at;
    }
    let mut ranks = vec![0; leaving.len()];
    for &tile in &order {
        for &link in &leaving[tile] {
            let to = links[link].to;
            if position[to] > position[tile] {
                ranks[to] = ranks[to].max(ranks[tile] + 1);
            }
        }
    }
    ranks
}

/// The boxes, each before those to which it leads, except on a loop.
fn order(links: &[Link], leaving: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; leaving.len()];
    let mut left = Vec::with_capacity(leaving.len());
    for root in 0..leaving.len() {
        let mut path = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            path.push((root, 0));
        }
        while let Some((tile, followed)) = path.last_mut() {
            let Some(&link) = leaving[*tile].get(*followed) else {
                left.push(*tile);
                path.pop();
                continue;
            };
            *followed += 1;
            let to = links[link].to;
            if !std::mem::replace(&mut seen[to], true) {
                path.push((to, 0));
            }
        }
    }
    left.reverse();
    left
}

/// Places the boxes of each row side by side, in the order of the boxes that lead to them. Returns
/// the place where each arrow passes the texts below its box.
fn across(tiles: &mut [Tile], links: &[Link], leaving: &[Vec<usize>], ranks: &[usize]) -> Vec<f64> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (tile, &rank) in ranks.iter().enumerate() {
        if rows.len() <= rank {
            rows.resize(rank + 1, Vec::new());
        }
        rows[rank].push(tile);
    }
    let mut exits = vec![0.0; links.len()];
    // The sum of the places of the arrows that lead to a box, and their number.
    let mut wished: Vec<(f64, f64)> = vec![(0.0, 0.0); tiles.len()];
    for row in &mut rows {
        let wish = |tile: usize| match wished[tile] {
            (_, 0.0) => 0.0,
            (sum, count) => sum / count,
        };
        row.sort_by(|left, right| wish(*left).total_cmp(&wish(*right)));
        let widths = row.iter().map(|tile| {
            let labels = leaving[*tile].iter().map(|link| lane_width(&links[*link]));
            tiles[*tile].width.max(labels.sum())
        });
        let widths: Vec<f64> = widths.collect();
        let whole: f64 = widths.iter().map(|width| width + BESIDE).sum();
        let mut left = -whole / 2.0;
        for (&tile, width) in row.iter().zip(widths) {
            let center = left + width / 2.0;
            tiles[tile].center.x = center;
            left += width + BESIDE;
            let labels = leaving[tile].iter().map(|link| lane_width(&links[*link]));
            let mut exit = center - labels.sum::<f64>() / 2.0;
            for &link in &leaving[tile] {
                let width = lane_width(&links[link]);
                exits[link] = exit + width / 2.0;
                exit += width;
                let (sum, count) = &mut wished[links[link].to];
                *sum += exits[link];
                *count += 1.0;
            }
        }
    }
    let edge = tiles.iter().map(|tile| tile.center.x - tile.width / 2.0);
    let labels = links.iter().zip(&exits);
    let labels = labels.map(|(link, exit)| exit - lane_width(link) / 2.0);
    let shift = MARGIN.0 - edge.chain(labels).fold(0.0, f64::min);
    for tile in tiles {
        tile.center.x += shift;
    }
    exits.iter_mut().for_each(|exit| *exit += shift);
    exits
}

/// The width of an arrow with its text.
fn lane_width(link: &Link) -> f64 {
    link.size.0 + LANE
}

/// Places the rows below each other.
fn down(tiles: &mut [Tile], links: &[Link], ranks: &[usize]) -> Vec<Row> {
    let mut rows = vec![Row::default(); ranks.iter().max().map_or(0, |last| last + 1)];
    for (tile, &rank) in tiles.iter().zip(ranks) {
        rows[rank].boxes = rows[rank].boxes.max(tile.height);
    }
    for link in links {
        let row = &mut rows[ranks[link.from]];
        row.texts = row.texts.max(link.size.1);
    }
    let mut top = MARGIN.1 + BELOW / 2.0;
    for row in &mut rows {
        row.top = top;
        top = row.below() + BELOW;
    }
    for (tile, &rank) in tiles.iter_mut().zip(ranks) {
        tile.center.y = rows[rank].middle();
    }
    rows
}

/// The lanes beside the board, by the boxes to which they lead. Lanes that pass no common row share
/// one place.
fn lanes(tiles: &[Tile], links: &[Link], exits: &[f64], ranks: &[usize]) -> BTreeMap<usize, f64> {
    let mut passed: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for link in links.iter().filter(|link| is_far(ranks, link)) {
        let (from, to) = (ranks[link.from], ranks[link.to]);
        let (first, last) = passed.entry(link.to).or_insert((to, to));
        *first = from.min(*first);
        *last = from.max(*last);
    }
    let edge = tiles.iter().map(|tile| tile.center.x + tile.width / 2.0);
    let labels = links.iter().zip(exits);
    let labels = labels.map(|(link, exit)| exit + lane_width(link) / 2.0);
    let edge = edge.chain(labels).fold(0.0, f64::max);
    let mut begins: Vec<(usize, usize, usize)> = Vec::new();
    begins.extend(
        passed
            .iter()
            .map(|(to, (first, last))| (*first, *last, *to)),
    );
    begins.sort_unstable();
    let mut busy: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut count = 0;
    let mut lanes = BTreeMap::new();
    for (first, last, to) in begins {
        let is_free = |Reverse((until, _)): &Reverse<(usize, usize)>| *until < first;
        let lane = match busy.peek().filter(|lane| is_free(lane)) {
            Some(Reverse((_, lane))) => {
                let lane = *lane;
                busy.pop();
                lane
            }
            None => {
                count += 1;
                count
            }
        };
        busy.push(Reverse((last, lane)));
        let lane = u32::try_from(lane).unwrap_or(u32::MAX);
        lanes.insert(to, edge + BESIDE + f64::from(lane) * LANE);
    }
    lanes
}

/// The place where an arrow from or to `x` touches a box from above or below, at best straight.
fn touch(tile: &Tile, x: f64) -> f64 {
    let room = match tile.shape {
        Shape::Branch => 0.0,
        _ => (tile.width / 2.0 - LANE).max(0.0),
    };
    tile.center.x + (x - tile.center.x).clamp(-room, room)
}
