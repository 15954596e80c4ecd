/** What happens to parts, in its order, and the units that it happens to. */

import type { ChangeKind, Document, Part } from "./document";

/** Something that happens to a part at a time. */
export interface Happening {
  kind: number;
  part: number;
  seconds: number;
  share: number;
}

/** What so many units are called. */
export function units(page: Document, count: number): string {
  return `${page.unit === "osd" ? "OSD" : page.unit}${count === 1 ? "" : "s"}`;
}

export function unitsBelow(page: Document, part: number): number[] {
  const within = new Set([part]);
  const units: number[] = [];
  for (let at = part; at < page.parts.length; at++) {
    const one = page.parts[at] as Part;
    if (at !== part && !within.has(one.parent)) continue;
    within.add(at);
    if (one.number !== null) units.push(one.number);
  }
  return units.sort((a, b) => a - b);
}

/** The units of a part; what holds none, as a controller or a switch, is its own. */
export function unitsOf(page: Document, part: number): number[] {
  const units = unitsBelow(page, part);
  return units.length > 0 ? units : [-1 - part];
}

/** What happens, in the order in which the core gets it: by time, then as the kinds are listed, then as it was said. */
export function inOrder(happenings: Happening[]): Happening[] {
  return happenings
    .map((one, rank) => ({ one, rank }))
    .sort((a, b) => a.one.seconds - b.one.seconds || a.one.kind - b.one.kind || a.rank - b.rank)
    .map(({ one }) => one);
}

/** Whether all of a cluster's part has failed, or was stopped, before something happens to it. */
export function isGoneBefore(page: Document, happenings: Happening[], one: Happening): boolean {
  const keyOf = ({ kind }: Happening) => (page.changes[kind] as ChangeKind).key;
  const again = keyOf(one) === "stop" ? ["stop"] : [];
  if (keyOf(one) !== "fail" && again.length === 0) return false;
  const gone = new Set(["fail", ...again]);
  const left = new Set(unitsOf(page, one.part));
  for (const other of inOrder(happenings)) {
    if (other === one) break;
    for (const unit of unitsOf(page, other.part)) {
      if (gone.has(keyOf(other))) left.delete(unit);
      else if (keyOf(other) === "start") left.add(unit);
    }
  }
  return left.size === 0;
}
