/** Where parts lie on the map: units as cells, and what holds them as boxes around them. */

import type { Part } from "./document";

export interface Box {
  part: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  cell: number;
  cells: Box[];
  boxes: (Box & { depth: number; label: boolean })[];
}

const GAP = 2;
const PAD = 5;
const LABEL = 15;

interface Laid {
  width: number;
  height: number;
  cells: Box[];
  boxes: Layout["boxes"];
}

/** The map of parts in a width: the largest cells with which it is not higher than it should be. What holds nothing has a cell where `isBare`. */
export function laidOut(parts: Part[], width: number, heightMost: number, isBare: boolean): Layout {
  const below: number[][] = parts.map(() => []);
  const roots: number[] = [];
  for (const [at, part] of parts.entries()) (part.parent < 0 ? roots : (below[part.parent] as number[])).push(at);
  let made: Layout | undefined;
  for (let cell = 44; cell >= 6; cell -= 2) {
    const laid = flow(roots, width, cell, 0, parts, below, isBare);
    made = { ...laid, cell, width };
    if (laid.height <= heightMost && laid.width <= width) break;
  }
  return made as Layout;
}

function flow(children: number[], width: number, cell: number, depth: number, parts: Part[], below: number[][], isBare: boolean): Laid {
  const laid: Laid = { width: 0, height: 0, cells: [], boxes: [] };
  let [x, y, row] = [0, 0, 0];
  for (const at of children) {
    const part = parts[at] as Part;
    const isCell = part.number !== null || (isBare && below[at]?.length === 0);
    const one = isCell ? single(at, cell) : boxed(at, width, cell, depth, parts, below, isBare);
    if (one.cells.length === 0 && part.number === null) continue;
    if (x > 0 && x + one.width > width) {
      x = 0;
      y += row + GAP;
      row = 0;
    }
    laid.cells.push(...one.cells.map((box) => ({ ...box, x: box.x + x, y: box.y + y })));
    laid.boxes.push(...one.boxes.map((box) => ({ ...box, x: box.x + x, y: box.y + y })));
    row = Math.max(row, one.height);
    laid.width = Math.max(laid.width, x + one.width);
    laid.height = Math.max(laid.height, y + row);
    x += one.width + GAP;
  }
  return laid;
}

function single(part: number, cell: number): Laid {
  return { width: cell, height: cell, cells: [{ part, x: 0, y: 0, width: cell, height: cell }], boxes: [] };
}

function boxed(at: number, width: number, cell: number, depth: number, parts: Part[], below: number[][], isBare: boolean): Laid {
  const children = below[at] as number[];
  const units = children.filter((one) => (parts[one] as Part).number !== null || (isBare && below[one]?.length === 0)).length;
  // A box of units is about twice as wide as high; one of boxes takes what there is.
  const across = Math.max(1, Math.ceil(Math.sqrt(units * 2)));
  const wide = units === children.length ? Math.min(width - 2 * PAD, across * (cell + GAP)) : width - 2 * PAD;
  const inner = flow(children, Math.max(cell, wide), cell, depth + 1, parts, below, isBare);
  const hasLabel = cell >= 12 || units < children.length;
  const top = hasLabel ? LABEL : PAD;
  const least = hasLabel && units === children.length ? Math.min(64, width - 2 * PAD) : 0;
  const made = { width: Math.max(inner.width, least) + 2 * PAD, height: inner.height + top + PAD };
  return {
    ...made,
    cells: inner.cells.map((box) => ({ ...box, x: box.x + PAD, y: box.y + top })),
    boxes: [
      { part: at, x: 0, y: 0, ...made, depth, label: hasLabel },
      ...inner.boxes.map((box) => ({ ...box, x: box.x + PAD, y: box.y + top })),
    ],
  };
}

/** The part at a point: a unit before what holds it. */
export function partAt(layout: Layout, x: number, y: number): number | null {
  const within = (box: Box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
  const cell = layout.cells.find(within);
  return cell?.part ?? layout.boxes.findLast(within)?.part ?? null;
}

/** The unit beside another in a direction: the nearest whose middle lies that way. */
export function beside(layout: Layout, part: number | null, dx: number, dy: number): number | null {
  const from = layout.cells.find((box) => box.part === part) ?? layout.boxes.find((box) => box.part === part);
  if (from === undefined) return layout.cells[0]?.part ?? null;
  const [x, y] = [from.x + from.width / 2, from.y + from.height / 2];
  let best: { part: number; far: number } | null = null;
  for (const box of layout.cells) {
    const [ax, ay] = [box.x + box.width / 2 - x, box.y + box.height / 2 - y];
    const along = ax * dx + ay * dy;
    const off = Math.abs(ax * dy) + Math.abs(ay * dx);
    if (along < 1 || box.part === part) continue;
    const far = along + 3 * off;
    if (best === null || far < best.far) best = { part: box.part, far };
  }
  return best?.part ?? part;
}
