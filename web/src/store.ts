/** What the page knows: its scenarios, how each is answered, what is chosen on the map, and all that was undone. */

import { computed, effect, signal } from "@preact/signals";
import type { Answer } from "../../crates/web/core.mjs";
import type { ChangeKind, Document, Part } from "./document";
import { type Done, Ended, type Engine, engineOf } from "./engine";
import { usualTime } from "./faults";
import { beforeKey, byHarm, figure, figureBefore, type Tables, type Value } from "./figures";
import type { Happening } from "./happening";
import {
  asThingsAre,
  type Both,
  fragmentOf,
  inputOf,
  isPlain,
  ownFaultsOf,
  planOf,
  readFragment,
  type Scenario,
  secondsMost,
} from "./scenario";

const KEPT_MAX = 24;
const UNDONE_MAX = 200;
/** How much longer a run takes in a page, at the most. */
const SLOWER = 2.5;

export interface Result {
  text: string;
  done: Done;
  milliseconds: number;
}

/** How far the computation of a scenario is. */
export type Going =
  | { state: "idle" }
  | { state: "asking"; seconds: number; bytes: number }
  | { state: "going"; answer: Answer | null; since: number }
  | { state: "cancelled" }
  | { state: "broken"; message: string };

export interface Harm {
  part: number;
  figures: Record<string, Value>;
}

/** A time as files and commands write it: of whole milliseconds, and before the end of the run. */
function timely(page: Document, seconds: number): number {
  return Math.round(Math.min(Math.max(0, seconds), secondsMost(page)) * 1000) / 1000;
}

export class Store {
  page: Document;
  both = signal<Both>({ scenarios: [], active: 0 });
  past = signal<Both[]>([]);
  future = signal<Both[]>([]);
  going = signal<Going>({ state: "idle" });
  results = signal<Map<string, Result>>(new Map());
  selected = signal<number | null>(null);
  /** The time on the map, in seconds; null for the end. */
  time = signal<number | null>(null);
  measure = signal("");
  said = signal("");
  /** What was looked for and not found. */
  missing = signal("");
  lost = signal<string[]>([]);
  /** The end of the address where it is no link of such a page: it stays until its reader does something. */
  broken = signal("");
  ranking = signal<{
    level: string;
    seconds: number;
    total: number;
    rows: Harm[];
    left: number;
    going: boolean;
    base: string;
    problem: string;
  } | null>(null);
  #engine: Engine;
  #ranker: Engine;
  #agreed = false;
  /** What is computed, or waits until its reader agrees. */
  #pending = "";
  /** Whether its reader asked for the run of a system to which nothing happens. */
  #asked = signal(false);

  active = computed(() => this.both.value.scenarios[this.both.value.active] as Scenario);
  texts = computed(() => this.both.value.scenarios.map((scenario) => JSON.stringify(inputOf(this.page, scenario))));
  shown = computed(() => this.texts.value.map((text) => this.results.value.get(text) ?? null));
  result = computed(() => this.shown.value[this.both.value.active] ?? null);
  /** Whether there is a question: something happens or is chosen, two scenarios are compared, or the reader asked for what is. */
  isAsked = computed(() => {
    const { scenarios } = this.both.value;
    const asks = (one: Scenario) => !isPlain(this.page, one) || ownFaultsOf(this.page, one).length > 0;
    return this.#asked.value || scenarios.length > 1 || scenarios.some(asks);
  });

  constructor(page: Document) {
    this.page = page;
    this.#engine = engineOf(page);
    this.#ranker = engineOf(page);
    this.both.value = this.#fromLink() ?? { scenarios: [asThingsAre(page)], active: 0 };
    // How full each unit is shows what the cluster is, before anything happens and after.
    const fill = page.map.films.findIndex((film) => film.series.some((one) => one.over.startsWith("capacity")));
    this.measure.value = page.map.films.length ? `film.${Math.max(0, fill)}` : "measure.0";
    effect(() => {
      const fragment = fragmentOf(page, this.both.value);
      if (this.broken.value && !fragment && this.past.value.length === 0) return;
      this.broken.value = "";
      const place = fragment ? `#${fragment}` : location.pathname + location.search;
      if (location.hash.slice(1) !== fragment) history.replaceState(null, "", place);
    });
    effect(() => {
      // Whatever is asked and has no answer yet is computed: what its reader looks at comes first.
      const { active, scenarios } = this.both.value;
      const order = this.isAsked.value ? [active, ...scenarios.keys()] : [];
      const wanted = order.map((at) => this.texts.value[at] as string).find((text) => !this.results.value.has(text));
      if (wanted === undefined) this.#stop();
      else if (this.#pending !== wanted) this.#begin(wanted);
    });
    addEventListener("hashchange", () => {
      const both = this.#fromLink();
      if (both !== null) this.set(both);
    });
  }

  #fromLink(): Both | null {
    const found = readFragment(this.page, location.hash.slice(1));
    this.lost.value = found?.lost ?? [];
    this.broken.value = found === null ? location.hash.slice(1) : "";
    return found?.both ?? null;
  }

  // --- what the reader does ---

  set(both: Both, words = ""): void {
    this.past.value = [...this.past.value.slice(-UNDONE_MAX), this.both.value];
    this.future.value = [];
    this.both.value = both;
    if (words) this.said.value = words;
  }

  edit(change: (scenario: Scenario) => Scenario, words = ""): void {
    const { scenarios, active } = this.both.value;
    const made = scenarios.map((one, at) => (at === active ? change(one) : one));
    this.set({ scenarios: made, active }, words);
  }

  choose(group: number, rank: number, stop: number): void {
    this.edit((one) => ({ ...one, stops: one.stops.map((row, at) => (at === group ? row.with(rank, stop) : row)) }));
  }

  happen(one: Happening): void {
    const { label } = this.page.changes[one.kind] as ChangeKind;
    const words = `${label}: ${(this.page.parts[one.part] as Part).name}`;
    const fitting = { ...one, seconds: timely(this.page, one.seconds) };
    this.edit((scenario) => ({ ...scenario, happenings: [...scenario.happenings, fitting] }), words);
  }

  change(rank: number, made: Partial<Happening> | null): void {
    this.edit((scenario) => ({
      ...scenario,
      happenings: scenario.happenings.flatMap((one, at) =>
        at !== rank ? [one] : made === null ? [] : [{ ...one, ...made, seconds: timely(this.page, made.seconds ?? one.seconds) }],
      ),
    }));
  }

  compare(): void {
    const { scenarios, active } = this.both.value;
    if (scenarios.length === 1)
      this.set({ scenarios: [scenarios[0] as Scenario, scenarios[0] as Scenario], active: 1 }, "Now you change B; A stays");
    else this.set({ scenarios: [scenarios[active] as Scenario], active: 0 }, "One scenario again");
  }

  /** Lets a scenario be as things are; the other stays. */
  plain(at: number): void {
    const { scenarios, active } = this.both.value;
    this.set({ scenarios: scenarios.with(at, asThingsAre(this.page)), active }, "As things are");
  }

  look(at: number): void {
    // To look elsewhere changes nothing that could be undone.
    if (at !== this.both.value.active) this.both.value = { ...this.both.value, active: at };
  }

  reset(): void {
    this.time.value = null;
    this.edit(() => asThingsAre(this.page), "As things are");
  }

  undo(): void {
    const before = this.past.value.at(-1);
    if (before === undefined) return;
    this.past.value = this.past.value.slice(0, -1);
    this.future.value = [...this.future.value, this.both.value];
    this.both.value = before;
    this.said.value = "Undone";
  }

  redo(): void {
    const after = this.future.value.at(-1);
    if (after === undefined) return;
    this.future.value = this.future.value.slice(0, -1);
    this.past.value = [...this.past.value, this.both.value];
    this.both.value = after;
    this.said.value = "Done again";
  }

  // --- what is computed ---

  /** How long a run takes here, about: a page takes longer than the native core. */
  get seconds(): number {
    return (this.page.seconds ?? 0) * (this.page.server === null ? SLOWER : 1);
  }

  get isLarge(): boolean {
    const { unasked, bytes } = this.page;
    return this.seconds > unasked.seconds || (bytes ?? 0) > unasked.bytes;
  }

  #stop(): void {
    if (!this.#pending) return;
    this.#pending = "";
    this.#engine.cancel();
    this.going.value = { state: "idle" };
  }

  #begin(text: string): void {
    this.#engine.cancel();
    this.#pending = text;
    if (this.isLarge && !this.#agreed) this.going.value = { state: "asking", seconds: this.seconds, bytes: this.page.bytes ?? 0 };
    else void this.#perform(text);
  }

  async #perform(text: string): Promise<void> {
    let since = performance.now();
    this.going.value = { state: "going", answer: null, since };
    try {
      const done = await this.#engine.run(this.#request(text), (answer) => {
        if (this.#pending !== text) return;
        if (answer.state === "waiting") since = performance.now();
        const bytes = ("memory_bytes" in answer && answer.memory_bytes) || 0;
        if (!this.#agreed && bytes > this.page.unasked.bytes) {
          this.#engine.cancel();
          this.going.value = { state: "asking", seconds: 0, bytes };
        } else this.going.value = { state: "going", answer, since };
      });
      if (this.#pending !== text) return;
      this.#pending = "";
      this.going.value = { state: "idle" };
      this.#keep({ text, done, milliseconds: performance.now() - since });
    } catch (error) {
      if (error instanceof Ended || this.#pending !== text) return;
      this.going.value = { state: "broken", message: error instanceof Error ? error.message : String(error) };
    }
  }

  #request(text: string) {
    return { kind: this.page.kind, input: text, maps: this.page.maps };
  }

  #keep(result: Result): void {
    const kept = new Map(this.results.value);
    kept.delete(result.text);
    for (const old of kept.keys()) {
      if (kept.size < KEPT_MAX) break;
      if (!this.texts.value.includes(old)) kept.delete(old);
    }
    this.results.value = kept.set(result.text, result);
  }

  cancel(): void {
    this.#engine.cancel();
    if (this.going.value.state === "going" || this.going.value.state === "asking") this.going.value = { state: "cancelled" };
  }

  /** Computes what is although nothing happens to it. */
  ask(): void {
    this.#asked.value = true;
  }

  /** Computes what waits: it was asked about, cancelled or broken. */
  resume(): void {
    this.#agreed = true;
    if (this.#pending) this.#begin(this.#pending);
  }

  // --- each part failing in turn ---

  async rank(level: string): Promise<void> {
    this.stopRanking();
    const { page } = this;
    const kind = page.changes.findIndex((one) => one.key === "fail");
    const base = this.active.value;
    const can = (part: number) => (page.parts[part] as Part).kind === level && (page.parts[part] as Part).up;
    const seconds = timely(page, this.time.value ?? usualTime(ownFaultsOf(page, base)));
    // What the study itself lets fail is no worse for failing again.
    const isIdle = (part: number) => planOf(page, { ...base, happenings: [{ kind, part, seconds, share: 1 }] })?.idle.size;
    const parts = [...page.parts.keys()].filter((part) => can(part) && !isIdle(part));
    const key = this.texts.value[this.both.value.active] as string;
    const harm = page.harm.flatMap((key) => page.figures.filter((one) => one.key === key));
    const rows: Harm[] = [];
    const since = performance.now();
    const tell = (going: boolean, problem = "") => {
      rows.sort((a, b) => byHarm(harm, a.figures, b.figures));
      const each = (performance.now() - since) / 1000 / Math.max(1, rows.length);
      const left = rows.length === 0 ? 0 : each * (parts.length - rows.length);
      this.ranking.value = { level, seconds, total: parts.length, rows: [...rows], left, going, base: key, problem };
    };
    tell(true);
    try {
      for (const part of parts) {
        const happenings = [{ kind, part, seconds, share: 1 }, ...base.happenings];
        const text = JSON.stringify(inputOf(page, { ...base, happenings }));
        const done = await this.#ranker.run(this.#request(text), () => {});
        rows.push({ part, figures: this.figures(done.tables) });
        tell(true);
      }
      tell(false);
    } catch (error) {
      if (!(error instanceof Ended)) tell(false, error instanceof Error ? error.message : String(error));
    }
  }

  stopRanking(): void {
    this.#ranker.cancel();
    if (this.ranking.value?.going) this.ranking.value = { ...this.ranking.value, going: false };
  }

  figures(tables: Tables): Record<string, Value> {
    const { figures } = this.page;
    const before = figures.filter((one) => one.each).map((one) => [beforeKey(one), figureBefore(tables, one)]);
    return Object.fromEntries([...figures.map((one) => [one.key, figure(tables, one)]), ...before]);
  }
}
