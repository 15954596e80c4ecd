/** What the map shows at a time: what happened to which part, what a part does, and when all comes to rest. */

import type { ChangeKind, Part } from "./document";
import { column, shown } from "./figures";
import type { Reel } from "./film";
import { measured } from "./paint";
import { ownFaults, units, unitsBelow } from "./scenario";
import type { Store } from "./store";

/** When the last thing happens: the end of the scrubber. */
export function lastChange(store: Store): number {
  const tables = store.result.value?.done.tables;
  const last = Math.max(0, ...store.active.value.happenings.map((one) => one.seconds));
  if (tables === undefined) return last;
  let end = last;
  for (const chart of store.page.charts) {
    const times = column(tables, chart.table, chart.time);
    const columns = chart.series.map((one) => column(tables, chart.table, one.column));
    for (let row = times.length - 1; row >= 0; row--) {
      if (row > 0 && columns.every((cells) => cells[row] === cells[row - 1])) continue;
      end = Math.max(end, Number(times[row]));
      break;
    }
  }
  return end;
}

/** The changes after which a part is gone. */
const GONE = ["fail", "stop", "cut"];

/** What happened to each part until a time. */
export function marksAt(store: Store, seconds: number): Map<number, string> {
  const { page } = store;
  const marks = new Map<number, string>();
  const happenings = [...store.active.value.happenings].sort((a, b) => a.seconds - b.seconds);
  const byNumber = new Map(page.parts.map((part, at) => [part.number, at]));
  // What the study itself lets fail, from its first fault on; what its reader lets fail is marked below, at its own time.
  const own = new Set(happenings.flatMap((one) => unitsBelow(page, one.part)));
  const failed = page.map.failed ? column(store.result.value?.done.tables ?? {}, page.map.table, page.map.failed) : [];
  if (seconds >= Math.min(...ownFaults(page, store.active.value)))
    for (let unit = 0; unit < failed.length; unit++) if (failed[unit] && !own.has(unit)) marks.set(byNumber.get(unit) as number, "fail");
  for (const one of happenings) {
    if (one.seconds > seconds) break;
    const { key } = page.changes[one.kind] as ChangeKind;
    const ends = key === "start" || key === "repair";
    if (!ends && !GONE.includes(key)) continue;
    for (const part of [one.part, ...unitsBelow(page, one.part).map((unit) => byNumber.get(unit) as number)]) {
      if (ends) marks.delete(part);
      else marks.set(part, key);
    }
  }
  return marks;
}

/** A part in words: what it is, and what it does at a time. */
export function describe(store: Store, part: number, seconds: number, reels: Reel[]): string {
  return described(store, part, seconds, reels).join(", ");
}

/** The same in pieces, the first of them what it is. */
export function described(store: Store, part: number, seconds: number, reels: Reel[]): string[] {
  const { page } = store;
  const one = page.parts[part] as Part;
  if (one.number === null) {
    const count = unitsBelow(page, part).length;
    const name = one.name.split(".")[0] === one.kind ? one.name : `${one.kind} ${one.name}`;
    return count > 0 ? [name, `${count} ${units(page, count)}`] : [name];
  }
  const tables = store.result.value?.done.tables ?? null;
  const facts = [
    one.device_class && `class ${one.device_class}`,
    one.capacity ? `${shown(one.capacity, "bytes")} large` : "",
    one.up ? "" : "down",
  ];
  for (const reel of reels) {
    const row = reel.row(one.number, seconds);
    if (row === null) continue;
    for (const series of reel.film.series)
      facts.push(`${series.label.toLowerCase()} ${shown(reel.value(series, one, row, seconds), series.unit)}`);
    const words = reel.film.words ?? { what: "", why: "", own: "" };
    const [count, other] = [reel.waiting(row), reel.waitsFor(row)];
    const who =
      other === one.number
        ? words.own
        : other === null
          ? "their next try"
          : (page.parts.find((unit) => unit.number === other)?.name ?? other);
    if (count) facts.push(`${count} ${words.what}${count === 1 ? " waits" : "s wait"} for ${who}`);
  }
  for (const series of page.map.measures) {
    const value = measured(tables, page, series).get(one.number);
    if (value) facts.push(`${series.label.toLowerCase()} ${shown(value, series.unit)}`);
  }
  return [one.name, ...facts.filter((one) => one !== "")];
}
