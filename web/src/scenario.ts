/** A scenario: what is chosen and what happens; the core's input that it makes, and the link that holds it. */

import type { ChangeKind, Document, Json, Part, Patch } from "./document";
import { type OwnFault, ownFaults, type Planned, planned } from "./faults";
import { type Happening, inOrder, unitsBelow } from "./happening";

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

/** What stands for what in the form of a change. */
export type Words = Record<string, Json>;

/** A change as it gets into the input, and what ends it, if anything does. */
export interface Entry {
  kind: ChangeKind;
  words: Words;
  end: Words | null;
}

/** The entries of what happens, without what has no effect, each with what ends it. */
export function entriesOf(page: Document, happenings: Happening[], plan: Planned | null): Entry[] {
  const wordsOf = (one: Happening): Words => {
    const part = page.parts[one.part] as Part;
    return { $at: one.seconds, $numbers: unitsBelow(page, one.part), $name: part.name, $kind: part.kind, $share: one.share };
  };
  // Of a cluster, what happens again to a part at the same time changes nothing.
  const isFirst = (one: Happening, at: number, all: Happening[]) =>
    all.findIndex(
      (other) => other.kind === one.kind && other.part === one.part && other.share === one.share && other.seconds === one.seconds,
    ) === at;
  const isEntry = (one: Happening, at: number, all: Happening[]) =>
    plan === null ? isFirst(one, at, all) : !(plan.idle.has(one) || plan.endings.has(one));
  return inOrder(happenings)
    .filter(isEntry)
    .map((one) => {
      const end = plan?.ends.get(one);
      return { kind: page.changes[one.kind] as ChangeKind, words: wordsOf(one), end: end === undefined ? null : wordsOf(end) };
    });
}

/** What becomes of the faults of a study and of what is added to them; null of a cluster. */
export function planOf(page: Document, scenario: Scenario): Planned | null {
  return page.study === null ? null : planned(page, ownFaultsOf(page, scenario), scenario.happenings);
}

/** What was found of choices; they are never written to again. */
const known = new WeakMap<number[][], OwnFault[]>();

/** The faults that a study has by itself in a scenario; the map asks for them each time it is drawn. */
export function ownFaultsOf(page: Document, scenario: Scenario): OwnFault[] {
  if (page.study === null) return [];
  const found = known.get(scenario.stops) ?? ownFaults(page, chosenInput(page, scenario));
  known.set(scenario.stops, found);
  return found;
}

function filled(form: Json, words: Words): Json {
  if (typeof form === "string") return form in words ? (words[form] as Json) : form;
  if (Array.isArray(form)) return form.map((one) => filled(one, words));
  if (form === null || typeof form !== "object") return form;
  return Object.fromEntries(Object.entries(form).map(([key, one]) => [key in words ? String(words[key]) : key, filled(one, words)]));
}

/** The core's input of what is chosen, before anything happens. */
function chosenInput(page: Document, scenario: Scenario): Json {
  return patch(page.input, patchesOf(page, scenario));
}

function patchesOf(page: Document, scenario: Scenario): Patch[] {
  return page.groups.flatMap((group, at) => group.patches[(scenario.stops[at] ?? []).join(",")] ?? []);
}

/** The core's input of a scenario. */
export function inputOf(page: Document, scenario: Scenario): Json {
  const plan = planOf(page, scenario);
  const entries = entriesOf(page, scenario.happenings, plan);
  const patches = patchesOf(page, scenario);
  for (const kind of new Set(entries.map((entry) => entry.kind))) patches.push(...kind.also);
  const input = patch(page.input, patches);
  if (scenario.happenings.length === 0) return input;
  let list: Json = input;
  for (const key of page.changes_at) list = (list as Place)[key] as Json;
  const [key, value] = page.study?.ending?.input ?? ["", null];
  const made = entries.map(({ kind, words, end }) => {
    const entry = filled(kind.template, words) as Place;
    return end === null ? entry : { ...entry, [key]: filled(value, end) };
  });
  const own = (list as Json[]).flatMap((fault, index) => {
    if (plan?.dropped.has(index)) return [];
    const end = plan?.ownEnds.get(index);
    return [end === undefined ? fault : { ...(fault as Place), [key]: end }];
  });
  return patch(input, [[page.changes_at, [...own, ...made]]]);
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
