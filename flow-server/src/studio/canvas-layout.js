// Where the nodes of a flow are drawn.

import { own } from "./keys.js";

export const box = { width: 210, head: 48, row: 22 };
export const END = { away: 26, width: 40 };
export const EDGE = { arrow: 9 };

const COLUMN = 290;
const GAP = 44;

function heightOf(node) {
  return box.head + node.routes.length * box.row + (node.routes.length > 0 ? 6 : 0);
}

// The right end of a row, where a way begins.
export function portOf(at, row) {
  return { x: at.x + at.width, y: at.y + box.head + row * box.row + box.row / 2 - 2 };
}

// A curve to the right. What leads back runs below both nodes, which end at `below`.
export function edgePath(from, to, below) {
  if (below === undefined || to.x >= from.x) {
    const bend = Math.max(40, Math.abs(to.x - from.x) / 2);
    return `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
  }
  const [right, left, bottom] = [from.x + 24, to.x - 30, below + 14];
  return `M${from.x} ${from.y}C${right} ${from.y} ${right} ${bottom} ${from.x - 10} ${bottom}H${to.x + 10}C${left} ${bottom} ${left} ${to.y} ${to.x} ${to.y}`;
}

// A curve from a node to its undo node, and the corners of its tip: down if it is below, and else to the right.
export function undoPath(from, to) {
  if (to.y < from.y + from.height) {
    const [start, end] = [{ x: from.x + from.width, y: from.y + 24 }, { x: to.x, y: to.y + 24 }];
    return { line: edgePath(start, end, Math.max(from.y + from.height, to.y + to.height)), tip: tipOf(end, [-EDGE.arrow, -5], [-EDGE.arrow, 5]) };
  }
  const [start, end] = [{ x: from.x + from.width / 2, y: from.y + from.height }, { x: to.x + to.width / 2, y: to.y }];
  const bend = Math.max(20, (end.y - start.y) / 2);
  const line = `M${start.x} ${start.y}C${start.x} ${start.y + bend} ${end.x} ${end.y - bend} ${end.x} ${end.y}`;
  return { line, tip: tipOf(end, [-5, -EDGE.arrow], [5, -EDGE.arrow]) };
}

function tipOf({ x, y }, ...corners) {
  return [`${x},${y}`, ...corners.map(([right, down]) => `${x + right},${y + down}`)].join(" ");
}

// A number may be one that is kept as its text.
function placeIn(layout, id) {
  const place = own(layout, id);
  return { x: Number(place?.x?.rawJSON ?? place?.x), y: Number(place?.y?.rawJSON ?? place?.y) };
}

// The places of all nodes, by id. A node that has none is placed in the column after the node that leads to it.
export function arranged({ nodes, entry, layout }) {
  const columns = columnsOf(nodes, entry);
  const ends = new Map();
  const places = new Map();
  for (const node of nodes) {
    const known = placeIn(layout, node.id);
    const size = { width: box.width, height: heightOf(node) };
    if (Number.isFinite(known.x) && Number.isFinite(known.y)) {
      places.set(node.id, { ...known, ...size });
      continue;
    }
    const column = columns.get(node.id) ?? 0;
    const y = ends.get(column) ?? 40;
    ends.set(column, y + size.height + GAP);
    places.set(node.id, { x: 160 + column * COLUMN, y, ...size });
  }
  return places;
}

// How many nodes there are before each node, on the shortest way.
function columnsOf(nodes, entry) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const columns = new Map();
  const next = byId.has(entry) ? [[entry, 0]] : nodes.slice(0, 1).map(({ id }) => [id, 0]);
  for (let at = 0; at < next.length; at++) {
    const [id, column] = next[at];
    const node = byId.get(id);
    if (!node || columns.has(id)) continue;
    columns.set(id, column);
    for (const inner of node.inside) next.push([inner, column]);
    if (node.undo !== undefined) next.push([node.undo, column]);
    for (const { to } of node.routes) if (to !== undefined) next.push([to, column + 1]);
  }
  return columns;
}
