/** Figures of an answer, and numbers as people read them. */

import type { Cells, Table } from "../../crates/web/core.mjs";
import type { Figure, Unit } from "./document";

export type Tables = Record<string, Table>;
/** A figure: a number, a word, or nothing. */
export type Value = number | string | null;

const NONE: Cells = [];

export function column(tables: Tables, table: string, name: string): Cells {
  return tables[table]?.[name] ?? NONE;
}

export function rowsOf(tables: Tables, table: string): number {
  return Object.values(tables[table] ?? {})[0]?.length ?? 0;
}

/** The number of a cell; null where there is none. */
export function cell(cells: Cells, row: number): number | null {
  const found = cells[row];
  const value = found === null || found === undefined ? Number.NaN : Number(found);
  return Number.isNaN(value) ? null : value;
}

/** A figure of an answer, as `resilver.whatif.figures.Figure.of` makes it. */
export function figure(tables: Tables, one: Figure): Value {
  const { table, column: name, how, over } = one;
  if (how === "leading") return leading(tables, one);
  if (how === "rows") return rowsOf(tables, table);
  if (how === "begins") return begins(tables, one);
  if (how === "until") return until(tables, one);
  const cells = column(tables, table, name);
  const under = over ? column(tables, table, over) : null;
  if (how === "first" && typeof cells[0] === "string") return cells[0];
  const values: (number | null)[] = [];
  for (let row = 0; row < cells.length; row++) {
    const value = cell(cells, row);
    const divisor = under === null ? 1 : cell(under, row);
    values.push(value === null || !divisor ? null : value / divisor);
  }
  if (how === "first") return values[0] ?? null;
  if (how === "end") return values.at(-1) ?? 0;
  if ((how === "last" || how === "highest") && values.includes(null)) return null;
  const found = values.filter((one) => one !== null);
  if (found.length === 0) return how === "least" || how === "highest" ? null : 0;
  if (how === "sum") return found.reduce((sum, one) => sum + one, 0);
  const pick = how === "least" ? Math.min : Math.max;
  return found.reduce((a, b) => pick(a, b));
}

/** What stands in the first row whose cell is above nothing, the least of several of them; null where none is. */
function begins(tables: Tables, { table, column: name, over }: Figure): number | null {
  const [cells, times] = [column(tables, table, name), column(tables, table, over)];
  let least: number | null = null;
  for (let row = 0; row < cells.length; row++) {
    const time = cell(times, row);
    if (Number(cells[row]) > 0 && time !== null && (least === null || time < least)) least = time;
  }
  return least;
}

/** The end of the last row whose cell is above nothing; null where none is. */
function until(tables: Tables, { table, column: name, over }: Figure): number | null {
  const [cells, starts, lengths] = [name, over, "duration_seconds"].map((one) => column(tables, table, one)) as [Cells, Cells, Cells];
  let end = 0;
  for (let row = 0; row < cells.length; row++) if (Number(cells[row]) > 0) end = Math.max(end, Number(starts[row]) + Number(lengths[row]));
  return end || null;
}

/** The word with the largest sum of shares, what stands behind it, and the sum; nothing where there is none. */
function leading(tables: Tables, { table, column: name, over, words }: Figure): string | null {
  const [kinds, shares] = [column(tables, table, name), column(tables, table, over)];
  const sums = new Map<string, number>();
  for (let row = 0; row < kinds.length; row++) {
    const kind = String(kinds[row]);
    sums.set(kind, (sums.get(kind) ?? 0) + (cell(shares, row) ?? 0));
  }
  const [most] = [...sums].sort((a, b) => b[1] - a[1]);
  if (most === undefined || most[1] === 0) return null;
  const behind = words[most[0]];
  return `${most[0]}${behind ? ` (${behind})` : ""}, ${Math.round(most[1] * 100)} % of the time`;
}

/** Where a row of figures has what a figure was before anything happened. */
export const beforeKey = ({ key }: Figure) => `before.${key}`;

/** What a figure was before anything happened: in the first row of the part that has it at the worst. */
export function figureBefore(tables: Tables, one: Figure): number | null {
  const cells = column(tables, one.table, one.column);
  const parts = column(tables, one.table, one.each);
  const worst = figure(tables, one);
  const row = worst === null ? -1 : Array.from({ length: cells.length }, (_, at) => at).findIndex((at) => cell(cells, at) === worst);
  return row < 0 ? null : cell(cells, Array.prototype.indexOf.call(parts, parts[row]));
}

/** Compares two rows of figures by impact, the worst first: the larger, but of what is better the more there is; nothing is the worst. */
export function byHarm(harm: Figure[], a: Record<string, Value>, b: Record<string, Value>): number {
  for (const { key, better } of harm) {
    const [one, other] = [a, b].map((row) => {
      const value = numberOf(row[key]);
      return value === null ? Number.POSITIVE_INFINITY : better === "more" ? -value : value;
    }) as [number, number];
    if (one !== other) return other > one ? 1 : -1;
  }
  return 0;
}

/** A figure as a number; null where it is none. */
export function numberOf(value: Value | undefined): number | null {
  return typeof value === "number" ? value : null;
}

const SPANS: [number, string][] = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

/** A time span in its two largest units. */
export function duration(seconds: number): string {
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${digits(seconds * 1000)} ms`;
  if (seconds < 60) return `${digits(seconds)} s`;
  for (const [rank, [size, name]] of SPANS.entries()) {
    if (seconds < size) continue;
    const [below, nameBelow] = SPANS[rank + 1] ?? [1, "s"];
    const all = Math.round(seconds / below);
    const whole = Math.floor((all * below) / size);
    const rest = all - (whole * size) / below;
    return rest ? `${whole} ${name} ${rest} ${nameBelow}` : `${whole} ${name}`;
  }
  return `${digits(seconds)} s`;
}

export function digits(value: number): string {
  const size = Math.abs(value);
  return value.toLocaleString("en", { maximumFractionDigits: size >= 100 ? 0 : size >= 10 ? 1 : 2 });
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

export function bytes(value: number): string {
  let rank = 0;
  let left = value;
  while (Math.abs(left) >= 1024 && rank < BYTES.length - 1) {
    left /= 1024;
    rank++;
  }
  return `${digits(left)} ${BYTES[rank]}`;
}

/** A value with its unit. */
export function shown(value: Value, unit: Unit): string {
  if (value === null) return unit === "seconds" ? "never" : "none";
  if (typeof value === "string") return value;
  if (unit === "seconds") return duration(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes_per_second") return `${bytes(value)}/s`;
  // A count may be a mean of a stretch of time: part of one is one. Zero has no sign.
  if (unit === "count") return digits(Math.ceil(value - 1e-6) || 0);
  if (unit === "share") return `${digits(value * 100)} %`;
  return digits(value);
}
