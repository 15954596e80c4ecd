/** What a study itself lets fail, and what becomes of that and of what a reader adds to it: a part that is gone cannot fail again. */

import type { ChangeKind, Document, Json, Part } from "./document";
import { type Happening, inOrder, unitsOf } from "./happening";

/** A fault of the study itself, as the core's input has it. */
export interface OwnFault {
  index: number;
  at: number;
  until: number | null;
  /** 0 is gone, below 1 is slow. */
  health: number;
  told: boolean;
  parts: number[];
}

interface Written {
  at: number;
  part?: Record<string, string[] | number>;
  health: number;
  told: boolean;
  until: number | null;
}

/** The faults that an input has before anything is added to it. */
export function ownFaults(page: Document, input: Json): OwnFault[] {
  const { faults } = (input as { faults?: { faults?: Written[] } }).faults ?? {};
  return (faults ?? []).flatMap((fault, index) => {
    if (fault.part === undefined) return [];
    const names = Object.values(fault.part).flatMap((one) => (Array.isArray(one) ? one : []));
    const parts = names.map((name) => page.parts.findIndex((part) => part.name === name)).filter((part) => part >= 0);
    return [{ index, at: fault.at, until: fault.until, health: fault.health, told: fault.told, parts }];
  });
}

/** When a change happens of which nothing else is said: beside the first fault of the study itself, else at the start. */
export function usualTime(own: OwnFault[]): number {
  const first = Math.min(...own.map((one) => one.at));
  return Number.isFinite(first) ? first : 0;
}

export interface Planned {
  /** What a reader has happen that has no effect: it is gone by then, or nothing was wrong with it. */
  idle: Set<Happening>;
  /** Of these, what would leave the clients' requests without an end. */
  endless: Set<Happening>;
  /** Faults of the study that have none any more, since a reader let their parts fail before. */
  dropped: Set<number>;
  /** What ends a change, and all that ends something. */
  ends: Map<Happening, Happening>;
  endings: Set<Happening>;
  /** When a reader has the part of a fault of the study come back. */
  ownEnds: Map<number, number>;
}

interface Step {
  at: number;
  order: number;
  take: () => void;
}

/**
 * What becomes of all that happens to a study.
 *
 * Requests without a duration end with the rebuild. What is cut off starts none, so where it is all that was to fail, cutting it off
 * has no effect.
 */
export function planned(page: Document, own: OwnFault[], happenings: Happening[]): Planned {
  const plan = byTime(page, own, happenings);
  const { traffic } = page.input as { traffic?: { duration: number | null }[] };
  const failures = happenings.filter((one) => isTold(page, one) && !plan.idle.has(one) && !plan.endings.has(one));
  const rebuilds = failures.length > 0 || own.some((fault) => fault.told && !plan.dropped.has(fault.index));
  if (rebuilds || plan.dropped.size === 0 || !traffic?.some((one) => one.duration === null)) return plan;
  const lost = own.filter((fault) => plan.dropped.has(fault.index)).flatMap((fault) => fault.parts.flatMap((part) => unitsOf(page, part)));
  const takes = (one: Happening) => !plan.endings.has(one) && (page.changes[one.kind] as ChangeKind).shares.length === 0;
  const endless = happenings.filter((one) => takes(one) && unitsOf(page, one.part).some((unit) => lost.includes(unit)));
  const rest = byTime(
    page,
    own,
    happenings.filter((one) => !endless.includes(one)),
  );
  return { ...rest, idle: new Set([...rest.idle, ...endless]), endless: new Set(endless) };
}

/** Whether the system is told of a change that a reader makes. */
function isTold(page: Document, one: Happening): boolean {
  const { template } = page.changes[one.kind] as ChangeKind;
  return (template as { told?: boolean } | null)?.told === true;
}

/** Goes through all that happens to a study by its time. */
function byTime(page: Document, own: OwnFault[], happenings: Happening[]): Planned {
  const plan: Planned = {
    idle: new Set(),
    endless: new Set(),
    dropped: new Set(),
    ends: new Map(),
    endings: new Set(),
    ownEnds: new Map(),
  };
  const gone = new Set<number>();
  /** What is open of each part, the latest last: the index of a fault of the study, or a change of its reader. */
  const open = new Map<number, (OwnFault | Happening)[]>();
  const opened = (part: number, one: OwnFault | Happening) => open.set(part, [...(open.get(part) ?? []), one]);
  const steps: Step[] = own.map((fault) => ({
    at: fault.at,
    order: 0,
    take: () => {
      const units = fault.parts.flatMap((part) => unitsOf(page, part));
      if (fault.health === 0 && units.length > 0 && units.every((unit) => gone.has(unit))) plan.dropped.add(fault.index);
      else {
        if (fault.health === 0) for (const unit of units) gone.add(unit);
        // One that is of several parts, or has an end, stays as it is.
        if (fault.parts.length === 1 && fault.until === null) opened(fault.parts[0] as number, fault);
      }
    },
  }));
  for (const fault of own)
    if (fault.until !== null && fault.health === 0)
      steps.push({
        at: fault.until,
        order: -1,
        take: () => {
          if (!plan.dropped.has(fault.index)) for (const part of fault.parts) for (const unit of unitsOf(page, part)) gone.delete(unit);
        },
      });
  for (const one of inOrder(happenings)) {
    const { key } = page.changes[one.kind] as ChangeKind;
    steps.push({
      at: one.seconds,
      order: 1,
      take: () => {
        const units = unitsOf(page, one.part);
        if (key === page.study?.ending?.key) {
          const last = open.get(one.part)?.at(-1);
          if (last === undefined || startOf(last) >= one.seconds) {
            plan.idle.add(one);
            return;
          }
          open.set(one.part, (open.get(one.part) ?? []).slice(0, -1));
          plan.endings.add(one);
          if ("index" in last) plan.ownEnds.set(last.index, one.seconds);
          else plan.ends.set(last, one);
          for (const unit of units) gone.delete(unit);
        } else if (units.every((unit) => gone.has(unit))) plan.idle.add(one);
        else {
          if (key !== "slow") for (const unit of units) gone.add(unit);
          opened(one.part, one);
        }
      },
    });
  }
  steps.sort((a, b) => a.at - b.at || a.order - b.order);
  for (const step of steps) step.take();
  return plan;
}

const startOf = (one: OwnFault | Happening) => ("index" in one ? one.at : one.seconds);

/** A fault of the study in words. */
export function ownWords(page: Document, fault: OwnFault): string {
  const names = fault.parts.map((part) => (page.parts[part] as Part).name).join(", ");
  const verb = fault.health > 0 ? `works at ${Math.round(fault.health * 100)} %` : fault.told ? "fails" : "is cut off";
  return `${names} ${verb}`;
}
