/** A scenario: what is chosen and what happens; the core's input that it makes, and the link that holds it. */

import type { ChangeKind, Document, Json, Part, Patch } from "./document";

/** Something that happens to a part at a time. */
export interface Happening {
  kind: number;
  part: number;
  seconds: number;
  share: number;
}

/** The stop of each control by group, and what happens. */
export interface Scenario {
  stops: number[][];
  happenings: Happening[];
}

export interface Both {
  scenarios: Scenario[];
  active: number;
}

export function asThingsAre(page: Document): Scenario {
  return { stops: page.groups.map((group) => group.controls.map((control) => control.chosen)), happenings: [] };
}

export function isPlain(page: Document, { stops, happenings }: Scenario): boolean {
  return happenings.length === 0 && page.groups.every((group, at) => group.controls.every((one, rank) => stops[at]?.[rank] === one.chosen));
}

/** The latest that something may happen: before a run ends, and as far as its clock counts. */
export function secondsMost(page: Document): number {
  return Math.min(SECONDS_MAX, page.until === null ? SECONDS_MAX : page.until - 0.001);
}

/** When things fail that a study itself lets fail, as far as a scenario leaves it its faults. */
export function ownFaults(page: Document, scenario: Scenario): number[] {
  const input = inputOf(page, { ...scenario, happenings: [] }) as { faults?: { faults?: { at: number }[] } };
  return (input.faults?.faults ?? []).map((one) => one.at);
}

/** When a change happens of which nothing else is said: beside the first fault of the study itself, else at the start. */
export function usualTime(page: Document, scenario: Scenario): number {
  const first = Math.min(...ownFaults(page, scenario));
  return Number.isFinite(first) ? first : 0;
}

/** Whether all of a part has failed, or was stopped, before something happens to it. */
export function isGoneBefore(page: Document, happenings: Happening[], one: Happening): boolean {
  const keyOf = ({ kind }: Happening) => (page.changes[kind] as ChangeKind).key;
  const again = ["stop", "cut"].filter((key) => key === keyOf(one));
  const [gone, ending] = [new Set(["fail", ...again]), new Set(["start", "repair"])];
  if (keyOf(one) !== "fail" && again.length === 0) return false;
  // What holds no units, as a controller or a switch, is its own.
  const unitsOf = (part: number) => {
    const units = unitsBelow(page, part);
    return units.length > 0 ? units : [-1 - part];
  };
  const left = new Set(unitsOf(one.part));
  for (const other of inOrder(happenings)) {
    if (other === one) break;
    for (const unit of unitsOf(other.part)) {
      if (gone.has(keyOf(other))) left.delete(unit);
      else if (ending.has(keyOf(other))) left.add(unit);
    }
  }
  return left.size === 0;
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

type Place = Record<string | number, Json>;

/** Makes patches in place; what they put is never written to again, but for the places on the way. */
function patch(input: Json, patches: Patch[]): Json {
  const root: Place = { input: copied(input) };
  const own = new Set<Json>([root as Json, root.input as Json]);
  for (const [path, ...value] of patches) {
    let place = root;
    const keys = ["input", ...path];
    const last = keys.pop() as string | number;
    for (const key of keys) {
      let next = place[key] as Json;
      if (!own.has(next)) {
        next = copied(next);
        own.add(next);
        place[key] = next;
      }
      place = next as Place;
    }
    if (value.length === 0) delete place[last];
    else place[last] = value[0] as Json;
  }
  return root.input as Json;
}

function copied(value: Json): Json {
  if (Array.isArray(value)) return [...value];
  return value !== null && typeof value === "object" ? { ...value } : value;
}

/** What happens, in the order in which the core gets it: by time, then as the kinds are listed, then as it was said. */
export function inOrder(happenings: Happening[]): Happening[] {
  return happenings
    .map((one, rank) => ({ one, rank }))
    .sort((a, b) => a.one.seconds - b.one.seconds || a.one.kind - b.one.kind || a.rank - b.rank)
    .map(({ one }) => one);
}

/** What stands for what in the form of a change. */
export type Words = Record<string, Json>;

/** A change as it gets into the input, and what ends it, if anything does. */
export interface Entry {
  kind: ChangeKind;
  part: number;
  words: Words;
  end: Words | null;
}

/** The entries of what happens: an ending belongs to the last change of the same part before it that nothing has ended yet. */
export function entriesOf(page: Document, happenings: Happening[]): Entry[] {
  const entries: Entry[] = [];
  for (const one of inOrder(happenings)) {
    const kind = page.changes[one.kind] as ChangeKind;
    const part = page.parts[one.part] as Part;
    const words = { $at: one.seconds, $numbers: unitsBelow(page, one.part), $name: part.name, $kind: part.kind, $share: one.share };
    if (kind.key !== page.study?.ending?.key) entries.push({ kind, part: one.part, words, end: null });
    else {
      const before = entries.findLast((entry) => entry.part === one.part && entry.end === null && Number(entry.words.$at) < one.seconds);
      if (before !== undefined) before.end = words;
    }
  }
  return entries;
}

function filled(form: Json, words: Words): Json {
  if (typeof form === "string") return form in words ? (words[form] as Json) : form;
  if (Array.isArray(form)) return form.map((one) => filled(one, words));
  if (form === null || typeof form !== "object") return form;
  return Object.fromEntries(Object.entries(form).map(([key, one]) => [key in words ? String(words[key]) : key, filled(one, words)]));
}

/** The core's input of a scenario. */
export function inputOf(page: Document, scenario: Scenario): Json {
  const patches = page.groups.flatMap((group, at) => group.patches[(scenario.stops[at] ?? []).join(",")] ?? []);
  const entries = entriesOf(page, scenario.happenings);
  for (const kind of new Set(entries.map((entry) => entry.kind))) patches.push(...kind.also);
  const input = patch(page.input, patches);
  if (entries.length === 0) return input;
  let list: Json = input;
  for (const key of page.changes_at) list = (list as Place)[key] as Json;
  const made = entries.map(({ kind, words, end }) => {
    const entry = filled(kind.template, words) as Place;
    const [key, value] = page.study?.ending?.input ?? ["", null];
    return end === null ? entry : { ...entry, [key]: filled(value, end) };
  });
  return patch(input, [[page.changes_at, [...(list as Json[]), ...made]]]);
}

/** How something that happens is written on the command line, such as `osd.12 @ 2 h`. */
export function written(page: Document, one: Happening): string {
  const part = page.parts[one.part] as Part;
  const what = part.number === null ? `${part.kind}=${part.name}` : part.name;
  const share = (page.changes[one.kind] as ChangeKind).shares.length ? `=${Math.round(one.share * 100)}%` : "";
  return `${what}${share}${one.seconds ? ` @ ${one.seconds} s` : ""}`;
}

// --- the link ---

interface Linked {
  v: 1;
  a: number;
  s: { c: Record<string, string>; h: [string, string, number, number][] }[];
}

/** The fragment that holds scenarios: choices by their words, so that another page of the same system reads them too. */
export function fragmentOf(page: Document, both: Both): string {
  const plain = asThingsAre(page);
  const linked: Linked = {
    v: 1,
    a: both.active,
    s: both.scenarios.map((scenario) => ({
      c: Object.fromEntries(
        page.groups.flatMap((group, at) =>
          group.controls.flatMap((control, rank) => {
            const stop = scenario.stops[at]?.[rank] ?? control.chosen;
            return stop === plain.stops[at]?.[rank] ? [] : [[control.key, control.stops[stop]?.label ?? ""]];
          }),
        ),
      ),
      h: scenario.happenings.map((one) => [
        (page.changes[one.kind] as ChangeKind).key,
        String(one.part === -1 ? "" : `${(page.parts[one.part] as Part).kind}=${(page.parts[one.part] as Part).name}`),
        one.seconds,
        one.share,
      ]),
    })),
  };
  if (linked.a === 0 && linked.s.every((one) => one.h.length === 0 && Object.keys(one.c).length === 0) && linked.s.length === 1) return "";
  const bytes = new TextEncoder().encode(JSON.stringify(linked));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export const HAPPENINGS_MAX = 200;
/** The core counts picoseconds in 64 bits. */
export const SECONDS_MAX = 213 * 86400;

/** What a fragment says; null where it says nothing that this page can have. What it names that is not here is left out. */
export function readFragment(page: Document, fragment: string): { both: Both; lost: string[] } | null {
  if (!fragment) return null;
  const lost: string[] = [];
  try {
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const linked = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (sign) => sign.charCodeAt(0)))) as Linked;
    if (linked.v !== 1 || !Array.isArray(linked.s) || linked.s.length < 1 || linked.s.length > 2) return null;
    const scenarios = linked.s.map((one) => {
      const scenario = asThingsAre(page);
      for (const [key, label] of Object.entries(one.c ?? {})) {
        if (!choose(page, scenario, key, label)) lost.push(`${key}: ${label}`);
      }
      for (const [key, name, seconds, share] of (one.h ?? []).slice(0, HAPPENINGS_MAX)) {
        const kind = page.changes.findIndex((change) => change.key === key);
        const part = page.parts.findIndex((other) => `${other.kind}=${other.name}` === name);
        const isTime = Number.isFinite(seconds) && seconds >= 0 && seconds <= SECONDS_MAX;
        const isShare = Number.isFinite(share) && share >= 0 && share <= 1;
        if (kind < 0 || part < 0 || !isTime || !isShare) lost.push(`${key} ${name}`);
        else scenario.happenings.push({ kind, part, seconds, share });
      }
      return scenario;
    });
    return { both: { scenarios, active: linked.a === 1 && scenarios.length === 2 ? 1 : 0 }, lost };
  } catch {
    return null;
  }
}

function choose(page: Document, scenario: Scenario, key: string, label: string): boolean {
  for (const [at, group] of page.groups.entries()) {
    for (const [rank, control] of group.controls.entries()) {
      if (control.key !== key) continue;
      const stop = control.stops.findIndex((one) => one.label === label);
      if (stop >= 0) (scenario.stops[at] as number[])[rank] = stop;
      return stop >= 0;
    }
  }
  return false;
}
