/** What the map shows at a time: what happened to which part, what a part does, and when all comes to rest. */

import type { ChangeKind, Part } from "./document";
import { column, shown } from "./figures";
import type { Reel } from "./film";
import { inOrder, units, unitsBelow } from "./happening";
import { measured, NOW } from "./paint";
import { ownFaultsOf, planOf } from "./scenario";
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

/** What happened to each part until a time: the key of the change that holds; "slow" where it works, and slowly. */
export function marksAt(store: Store, seconds: number): Map<number, string> {
  const { page } = store;
  const marks = new Map<number, string>();
  const byNumber = new Map(page.parts.map((part, at) => [part.number, at]));
  const set = (part: number, key: string | null) => {
    for (const one of [part, ...unitsBelow(page, part).map((unit) => byNumber.get(unit) as number)]) {
      if (key === null) marks.delete(one);
      else if (key !== "slow" || !GONE.includes(marks.get(one) ?? "")) marks.set(one, key);
    }
  };
  const scenario = store.active.value;
  const plan = planOf(page, scenario);
  const steps: [number, number, string | null][] = [];
  for (const fault of ownFaultsOf(page, scenario)) {
    const until = plan?.ownEnds.get(fault.index) ?? fault.until;
    if (plan?.dropped.has(fault.index)) continue;
    for (const part of fault.parts) {
      steps.push([fault.at, part, fault.health > 0 ? "slow" : "fail"]);
      if (until !== null) steps.push([until, part, null]);
    }
  }
  for (const one of inOrder(scenario.happenings)) {
    const { key } = page.changes[one.kind] as ChangeKind;
    if (plan?.idle.has(one)) continue;
    if (key === "start" || key === "repair") steps.push([one.seconds, one.part, null]);
    else if (key === "slow" ? one.share < 1 : GONE.includes(key)) steps.push([one.seconds, one.part, key]);
    else if (key === "slow") steps.push([one.seconds, one.part, null]);
  }
  steps.sort((a, b) => a[0] - b[0]);
  for (const [at, part, key] of steps) if (at <= seconds) set(part, key);
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
    const mark = marksAt(store, seconds).get(part);
    const facts = [
      count > 0 ? `${count} ${units(page, count)}` : "",
      one.about,
      mark === undefined ? "" : mark === "slow" ? "slow" : "gone",
    ];
    return [name, ...facts.filter((one) => one !== "")];
  }
  const tables = store.result.value?.done.tables ?? null;
  const facts = [
    one.device_class && `class ${one.device_class}`,
    one.capacity ? `${shown(one.capacity, "bytes")} large` : "",
    one.up ? "" : "down",
  ];
  const mark = marksAt(store, seconds).get(part);
  if (mark !== undefined) facts.push(mark === "slow" ? "slow" : "gone");
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
  for (const series of tables === null ? [NOW] : page.map.measures) {
    const value = measured(tables, page, series).get(one.number);
    if (value) facts.push(`${series.label.toLowerCase()} ${shown(value, series.unit)}`);
  }
  return [one.name, ...facts.filter((one) => one !== "")];
}
