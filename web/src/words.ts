/** The answer in words: its figures, what differs, a sentence, and all of it as text. */

import { takenAlong } from "./along";
import type { ChangeKind, Document, Figure, Part } from "./document";
import { ownWords } from "./faults";
import { beforeKey, digits, duration, numberOf, shown, type Value } from "./figures";
import { inOrder, units } from "./happening";
import { fillNow } from "./paint";
import { ownFaultsOf, type Scenario } from "./scenario";

/** What scenarios are called. */
export const NAMES = ["A", "B"];

export type Row = Record<string, Value>;

/** What clients get less than this of, they are short of. */
const SERVED = 0.995;

/** Where half of a rebuild takes less than this share of its time, few parts do the rest. */
const UNEVEN = 0.4;

/** Delays that are this many times as long as before are told. */
const SLOWER = 1.2;

/** From when on things happen, where all happens at one time. */
export function sinceOf({ happenings }: Scenario): number {
  const times = new Set(happenings.map((one) => one.seconds));
  return times.size === 1 ? ([...times][0] as number) : 0;
}

const ends = (one: Figure) => one.unit === "seconds" && one.how === "last";
const isWhole = (one: Figure) => one.key === "whole_seconds";
export const isShort = (share: Value | undefined) => typeof share === "number" && share < SERVED;

/** Whether there is no such figure, as of clients where there are none; a time that is none is one that never comes. */
const isNone = (one: Figure, row: Row) =>
  (row[one.key] ?? null) === null && (["highest", "begins", "until"].includes(one.how) || one.unit === "share" || one.unit === "");

/** A figure of an answer. */
export function worded(one: Figure, row: Row): string {
  const value = row[one.key] ?? null;
  if (one.key === "p99_seconds" && value === null && row.served_share != null)
    return isShort(row["before.served_share"]) ? "more is asked than served" : "not served";
  if (isNone(one, row)) return "–";
  if (ends(one)) {
    if (value === null) return isWhole(one) ? "never" : "to the end";
    if (value === 0) return isWhole(one) ? "at once" : "never";
    return isWhole(one) ? shown(value, one.unit) : `until ${shown(value, one.unit)}`;
  }
  if (one.how === "first" && typeof value === "string") return one.words[value] ?? value;
  // What never fits is not what most time went by with.
  if (one.key === "limit" && row.stuck_groups && row.toofull_groups) return `space (${one.words.space ?? ""})`;
  const before = row[beforeKey(one)];
  if (before === undefined || before === null || value === null) return shown(value, one.unit);
  const text = shown(before, one.unit);
  return `${shown(value, one.unit)} (${one.key === "p99_seconds" && isShort(row["before.served_share"]) ? "overloaded" : text} before)`;
}

export interface Difference {
  text: string;
  kind: "same" | "good" | "bad" | "";
}

/** What a figure of B is against A's; what prints alike is the same. */
export function difference(one: Figure, a: Row, b: Row): Difference {
  const [from, to] = [a[one.key] ?? null, b[one.key] ?? null];
  if (isNone(one, a) || isNone(one, b)) return { text: "–", kind: "same" };
  if (from === to || worded(one, a) === worded(one, b)) return { text: "same", kind: "same" };
  // Of what leads, how much it does is no other answer.
  const leads = (value: Value) => (typeof value === "string" ? value.split(" (")[0] : value);
  if (leads(from) === leads(to)) return { text: "same", kind: "same" };
  if (typeof from === "string" || typeof to === "string") return { text: "another", kind: "" };
  const [before, now] = [from ?? Number.POSITIVE_INFINITY, to ?? Number.POSITIVE_INFINITY];
  const isBetter = one.better === "less" ? now < before : one.better === "more" && now > before;
  return { text: told(one, from, to, isBetter), kind: one.better === "" ? "" : isBetter ? "good" : "bad" };
}

function told(one: Figure, a: number | null, b: number | null, isBetter: boolean): string {
  if (a === null || b === null) return isBetter ? "better" : "worse";
  if (one.unit === "share") return `${b > a ? "+" : "−"}${digits(Math.abs(b - a) * 100)} points`;
  if (a > 0 && b > 0) return ratio(b / a);
  return `${b > a ? "+" : "−"}${shown(Math.abs(b - a), one.unit)}`;
}

function ratio(value: number): string {
  if (value >= 2) return `${value.toFixed(1)} ×`;
  const percent = (value - 1) * 100;
  const size = Math.abs(percent);
  return `${percent > 0 ? "+" : "−"}${size < 0.1 ? size.toPrecision(1) : size < 10 ? size.toFixed(1) : size.toFixed(0)} %`;
}

/** The answer in a sentence or two. */
export function headline(page: Document, scenario: Scenario, row: Row | null): string {
  return row === null ? "…" : sentence(page.kind === "cluster" ? ofCluster(page, scenario, row) : ofSystem(page, row));
}

/** A system to which nothing has happened, and of which nothing was computed. */
export function asItStands(page: Document): string {
  const own = page.parts.filter((one) => one.number !== null);
  const fills = own.flatMap((one) => fillNow(one) ?? []);
  const groups = page.kind === "cluster" ? groupsOf(page) : 0;
  const mean = fills.reduce((sum, one) => sum + one, 0) / fills.length;
  const full = fills.length ? `, ${shown(mean, "share")} full on average, ${shown(Math.max(...fills), "share")} at the most` : "";
  return `${digits(own.length)} ${units(page, own.length)}${groups ? `, ${digits(groups)} PGs` : ""}${full}. Nothing has failed yet: choose a part on the map and let it fail.`;
}

/** What to bear in mind with an answer; empty for nothing. */
export function caveat(page: Document, scenario: Scenario, row: Row | null): string {
  const heals = row !== null && row.whole_seconds !== 0 && scenario.happenings.length > 0;
  return page.kind === "cluster" && heals && row.served_share == null
    ? "That is without clients, whose requests slow it, sometimes many times."
    : "";
}

function sentence(parts: string[]): string {
  const text = parts.join("; ");
  return text ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : "";
}

/** How many groups a cluster has. */
function groupsOf(page: Document): number {
  const { groups } = page.input as { groups?: { bytes: unknown[] }[] };
  return (groups ?? []).reduce((sum, one) => sum + one.bytes.length, 0);
}

const many = (value: number, what: string) => `${shown(value, "count")} ${value === 1 ? what.replace(/s$/, "") : what}`;

function ofCluster(page: Document, scenario: Scenario, row: Row): string[] {
  const of = (key: string) => numberOf(row[key]);
  const [whole, risk, lost, stuck] = [of("whole_seconds"), of("at_risk_seconds"), of("lost_groups") ?? 0, of("stuck_groups") ?? 0];
  const isQuiet = scenario.happenings.length === 0;
  if (isQuiet && whole === 0 && !stuck && !lost) return ["everything is healthy. Choose a part on the map and let it fail"];
  const parts = [];
  if (lost) parts.push(`${many(lost, "PGs")} ${lost === 1 ? "loses" : "lose"} data`);
  if (lost && (stuck || whole === null)) return [...parts, "the cluster never becomes healthy", ...ofClients(row)];
  parts.push(...ofHealing(page, scenario, row, isQuiet), ...ofServing(scenario, row));
  const left = of("at_risk_end_groups") ?? 0;
  if (risk === null)
    parts.push(`${many(left, "PGs")} ${left === 1 ? "is" : "are"} at risk to the end: one more failure may lose data or stop clients`);
  else if (risk > 0) parts.push(`at risk for ${duration(lasting(scenario, risk))}: one more failure may lose data or stop clients`);
  else if (!isQuiet) parts.push("no single further failure loses data meanwhile");
  return [...parts, ...ofClients(row)];
}

/** When all is whole, or what keeps it from that. */
function ofHealing(page: Document, scenario: Scenario, row: Row, isQuiet: boolean): string[] {
  const of = (key: string) => numberOf(row[key]);
  const [whole, degraded, stuck, full] = [of("whole_seconds"), of("degraded_seconds"), of("stuck_groups"), of("toofull_groups")];
  const [moved, made] = [of("moved_bytes") ?? 0, of("recovered_bytes") ?? 0];
  if (stuck) {
    const rests = of("rests_seconds");
    const until = page.until ?? Number.POSITIVE_INFINITY;
    const still = rests !== null && rests < until ? `nothing moves any more ${afterwards(page, scenario, rests)}` : "";
    const text = `${digits(stuck)} of ${digits(groupsOf(page))} PGs ${stuck === 1 ? "does" : "do"} not become clean`;
    return [`${text}${full ? ", for want of space" : ""}`, still].filter(Boolean);
  }
  if (whole === null) return [];
  if (whole === 0) return ["nothing has to be healed"];
  if (isQuiet && degraded === 0)
    return [
      `nothing fails, but ${shown(moved, "bytes")} move, by the balancer or by changes before; done ${afterwards(page, scenario, whole)}`,
    ];
  // What is moved for balance may go on long after all copies are back.
  if (degraded !== null && degraded > 0 && degraded < 0.9 * whole && made > 0)
    return [`all copies are back ${afterwards(page, scenario, degraded)}, and moves to balance end ${afterwards(page, scenario, whole)}`];
  return [`healthy ${afterwards(page, scenario, whole)}`];
}

function ofServing(scenario: Scenario, row: Row): string[] {
  const [inactive, until] = [numberOf(row.inactive_groups), numberOf(row.inactive_seconds)];
  if (!inactive) return [];
  const text = `${many(inactive, "PGs")} ${inactive === 1 ? "serves" : "serve"} nobody`;
  return [until === null ? `${text}, also at the end` : `${text} for up to ${duration(lasting(scenario, until))}`];
}

function ofClients(row: Row): string[] {
  const [served, before] = [numberOf(row.served_share), numberOf(row["before.served_share"])];
  if (served === null) return [];
  if (isShort(before))
    return [
      `clients ask for more than there is even before: they got ${shown(before, "share")}, and get ${shown(served, "share")} at the worst`,
    ];
  if (isShort(served)) return [`clients get ${shown(served, "share")} of what they ask at the worst`];
  const [p99, usual] = [numberOf(row.p99_seconds), numberOf(row["before.p99_seconds"])];
  const waits = p99 !== null && usual !== null && p99 > SLOWER * usual;
  return [
    waits
      ? `clients get all that they ask, but 1 in 100 requests takes ${duration(p99)} or more, and ${duration(usual)} before`
      : "clients get all that they ask, about as soon as before",
  ];
}

/** How long something lasts that ends at a time. */
const lasting = (scenario: Scenario, seconds: number) => Math.max(0, seconds - sinceOf(scenario)) || seconds;

/** A time counted from what happens, if that is at one time and not at the start. */
function afterwards(page: Document, scenario: Scenario, seconds: number): string {
  const since = sinceOf(scenario);
  if (since === 0 || seconds <= since) return `after ${duration(seconds)}`;
  const isFailure = scenario.happenings.every((one) => page.changes[one.kind]?.key === "fail");
  return `${duration(seconds - since)} after the ${isFailure ? "failure" : "change"} (at ${duration(seconds)})`;
}

function ofSystem(page: Document, row: Row): string[] {
  const parts: string[] = [];
  const waits = page.figures.find((one) => one.key === "kind");
  const [lost, whole, risk] = [numberOf(row.unrecoverable_objects), numberOf(row.rebuild_seconds), numberOf(row.at_risk_objects)];
  if (lost) parts.push(`${many(lost, "objects")} ${lost === 1 ? "is" : "are"} lost`);
  const unreachable = numberOf(row.unreachable_objects);
  if (whole && unreachable) {
    const are = unreachable === 1 ? "is" : "are";
    parts.push(
      `${many(unreachable, "objects")} ${are} not rebuilt, as the network does not reach what is left; the others are after ${duration(whole)}`,
    );
  } else if (whole)
    parts.push(`fully redundant after ${duration(whole)}${waits && row.kind ? `; the last waits for ${worded(waits, row)}` : ""}`);
  else if (whole === 0) parts.push("nothing is lost, so nothing is rebuilt");
  const half = numberOf(row.rebuild_p50_seconds);
  if (whole && half !== null && half < UNEVEN * whole)
    parts.push(`half of the bytes are there after ${duration(half)}, and few servers make the last of them`);
  const until = numberOf(row.at_risk_seconds);
  if (risk && until)
    parts.push(`up to ${many(risk, "objects")} ${risk === 1 ? "is" : "are"} one loss from being lost, the last until ${duration(until)}`);
  const [during, before] = [numberOf(row.during_throughput_bytes_per_second), numberOf(row.before_throughput_bytes_per_second)];
  if (during !== null && before) parts.push(`clients get ${digits((during / before) * 100)} % of what they got before`);
  else if (during !== null) parts.push(`clients get ${shown(during, "bytes_per_second")} meanwhile, on average`);
  else if (parts.length === 0 && row.throughput_bytes_per_second != null)
    parts.push(`clients get ${shown(row.throughput_bytes_per_second, "bytes_per_second")}`);
  return parts;
}

/** What a study lets fail by itself, one fault a line. */
function byItself(page: Document, scenario: Scenario): string[] {
  return ownFaultsOf(page, scenario)
    .filter((fault) => fault.parts.length > 0)
    .map((fault) => `${ownWords(page, fault)}${fault.at > 0 ? ` after ${duration(fault.at)}` : ""}, by the study itself`);
}

/** What happens, one change a line. */
export function happens(page: Document, scenario: Scenario): string[] {
  return inOrder(scenario.happenings).map((one) => {
    const kind = page.changes[one.kind] as ChangeKind;
    const part = page.parts[one.part] as Part;
    const share = kind.shares.length > 0 ? ` to ${shown(one.share, "share")}` : "";
    return `${kind.label} ${part.name}${share}${one.seconds ? ` after ${duration(one.seconds)}` : ""}`;
  });
}

/** What a reader chose otherwise than it is. */
export function chosen(page: Document, scenario: Scenario): string[] {
  return page.groups.flatMap((group, at) =>
    group.controls.flatMap((control, rank) => {
      const stop = scenario.stops[at]?.[rank] ?? control.chosen;
      const [is, was] = [control.stops[stop]?.label ?? "", control.stops[control.chosen]?.label ?? ""];
      return stop === control.chosen ? [] : [`${control.label}: ${is}, instead of ${was}`];
    }),
  );
}

export interface Side {
  scenario: Scenario;
  row: Row | null;
  digest: string;
}

/** Scenarios and their answers as lines to send to someone. */
export function answerText(page: Document, sides: Side[]): string {
  const lines = [
    `${page.title}: ${whatItIs(page)}`,
    ...sides.flatMap((side, at) => ["", ...(sides.length > 1 ? [`Scenario ${NAMES[at]}`] : []), ...sideText(page, side, sides, at)]),
  ];
  lines.push("", `As things are: ${settingsOf(page)}.`);
  const names = page.groups.flatMap((group) => group.controls.map((one) => one.label.toLowerCase()));
  const assumed = page.assumptions.filter((one) => one.origin === "assumed");
  // What has a control has its value above.
  const told = assumed.map((one) => (names.includes(one.name.toLowerCase()) ? one.name : `${one.name} ${one.value}`));
  if (told.length > 0) lines.push(`Assumed of it: ${[...new Set(told)].join("; ")}.`);
  return `${[...lines, ...page.notes].join("\n")}\n`;
}

/** What stands in the controls before anything is chosen. */
function settingsOf(page: Document): string {
  const controls = page.groups.flatMap((group) => group.controls);
  return controls.map((one) => `${one.label} ${one.stops[one.chosen]?.label ?? ""}`).join("; ");
}

/** A system in a few words. */
function whatItIs(page: Document): string {
  const count = page.parts.filter((one) => one.number !== null).length;
  const release = page.assumptions.find((one) => one.name === "release")?.value;
  const groups = page.kind === "cluster" ? [`${digits(groupsOf(page))} PGs`] : [];
  return [`${digits(count)} ${units(page, count)}`, ...groups, ...(release ? [`release ${release}`] : [])].join(", ");
}

function sideText(page: Document, { scenario, row, digest }: Side, sides: Side[], at: number): string[] {
  const other = at > 0 ? sides[0] : undefined;
  const said = [headline(page, scenario, row), caveat(page, scenario, row)].filter(Boolean).join(" ");
  const lines = [...byItself(page, scenario), ...happens(page, scenario), ...chosen(page, scenario), said];
  for (const one of row === null ? [] : page.figures) {
    const value = (row as Row)[one.key];
    if (value === null && !ends(one)) continue;
    const against = other?.row ? difference(one, other.row, row as Row) : null;
    const behind = against === null || against.kind === "same" ? "" : ` (${against.text} against A)`;
    lines.push(`- ${one.label}: ${worded(one, row as Row)}${behind}`);
  }
  const { command } = takenAlong(page, scenario, sides.length > 1 ? (NAMES[at] ?? "") : "");
  return [...lines, `The same by ${command}`, ...(digest ? [`digest ${digest}`] : [])];
}
