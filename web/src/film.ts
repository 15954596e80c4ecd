/** What units do over time: values of a table with a row a unit and time, found by time. */

import type { Cells } from "../../crates/web/core.mjs";
import type { Film, Part, Series } from "./document";
import { cell, column, type Tables } from "./figures";

/** The steps of one unit. */
interface Steps {
  times: Float64Array;
  rows: Uint32Array;
  /** From when on it does nothing any more. */
  end: number;
}

const moving = new WeakMap<Tables, number>();

/** How long anything is above nothing in a film, in seconds; of a film without ends of its rows, nothing. */
export function movingSeconds(tables: Tables, film: Film): number {
  const known = moving.get(tables);
  if (known !== undefined) return known;
  const [since, until] = [film.time, film.until].map((name) => column(tables, film.table, name)) as [Cells, Cells];
  const cells = film.series.map((one) => column(tables, film.table, one.column));
  const ends = new Map<number, number>();
  for (let row = 0; row < until.length; row++)
    if (cells.some((one) => Number(one[row]) > 0)) ends.set(Number(since[row]), Number(until[row]));
  let seconds = 0;
  for (const [begin, end] of ends) seconds += end - begin;
  moving.set(tables, seconds);
  return seconds;
}

export class Reel {
  film: Film;
  units: Map<number, Steps>;
  /** From when on nothing moves any more. */
  rests = 0;
  #tables: Tables;

  constructor(film: Film, tables: Tables) {
    this.film = film;
    this.#tables = tables;
    const times = column(tables, film.table, film.time);
    const keys = column(tables, film.table, film.key);
    const rows = new Map<number, number[]>();
    for (let row = 0; row < keys.length; row++) {
      const unit = Number(keys[row]);
      const own = rows.get(unit);
      if (own === undefined) rows.set(unit, [row]);
      else own.push(row);
      if (film.until && film.series.some((one) => Number(column(tables, film.table, one.column)[row]) > 0))
        this.rests = Math.max(this.rests, Number(column(tables, film.table, film.until)[row]));
    }
    this.units = new Map();
    for (const [unit, own] of rows) {
      own.sort((a, b) => Number(times[a]) - Number(times[b]));
      const end = this.#endOf(own.at(-1) as number);
      this.units.set(unit, { times: Float64Array.from(own, (row) => Number(times[row])), rows: Uint32Array.from(own), end });
    }
  }

  /** When a unit's last row is over; what waits then waits on. */
  #endOf(row: number): number {
    if (!this.film.until || this.waiting(row) > 0) return Number.POSITIVE_INFINITY;
    return Number(column(this.#tables, this.film.table, this.film.until)[row]);
  }

  /** The row of a unit that holds at a time; null before its first and after its last. */
  row(unit: number, seconds: number): number | null {
    const steps = this.units.get(unit);
    if (steps === undefined || seconds >= steps.end) return null;
    let [low, high] = [0, steps.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((steps.times[middle] as number) <= seconds) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? null : (steps.rows[low - 1] as number);
  }

  /** What a unit does in a row; nothing once that is over, as where it only waits on. */
  value(series: Series, part: Part, row: number, seconds: number): number {
    if (this.film.until && seconds >= Number(column(this.#tables, this.film.table, this.film.until)[row])) return 0;
    const value = cell(column(this.#tables, this.film.table, series.column), row) ?? 0;
    return series.over === "capacity" ? value / (part.capacity || 1) : value;
  }

  waitsFor(row: number): number | null {
    return this.film.waits_for ? cell(column(this.#tables, this.film.table, this.film.waits_for), row) : null;
  }

  waiting(row: number): number {
    return this.film.waiting ? (cell(column(this.#tables, this.film.table, this.film.waiting), row) ?? 0) : 0;
  }

  most(series: Series): number {
    const cells = column(this.#tables, this.film.table, series.column);
    let most = 0;
    for (let row = 0; row < cells.length; row++) most = Math.max(most, Number(cells[row] ?? 0));
    return most;
  }

  /** How many units are above nothing in each series at a time, and how many groups wait. */
  counts(parts: Part[], seconds: number): { active: number[]; waiting: number } {
    const active = this.film.series.map(() => 0);
    let waiting = 0;
    for (const part of parts) {
      const row = part.number === null ? null : this.row(part.number, seconds);
      if (row === null) continue;
      for (const [at, series] of this.film.series.entries())
        if (this.value(series, part, row, seconds) > 0) active[at] = (active[at] ?? 0) + 1;
      waiting += this.waiting(row);
    }
    return { active, waiting };
  }
}
