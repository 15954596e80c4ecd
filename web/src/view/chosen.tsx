/** What is chosen on the map: found by its name, told in words, and what may happen to it. */

import type { ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { ChangeKind, Document, Part } from "../document";
import { usualTime } from "../faults";
import { duration } from "../figures";
import type { Reel } from "../film";
import { unitsBelow } from "../happening";
import { ownFaultsOf } from "../scenario";
import { described } from "../scene";
import type { Store } from "../store";

const LISTED_MAX = 2000;

/** A change that a reader can have happen, its number among the page's, and its key. */
export interface Offered {
  kind: ChangeKind;
  number: number;
  key: string;
}

/** The changes as they are offered, the gravest first, each with the first letter of its own that no other has. */
export function offered(kinds: ChangeKind[]): Offered[] {
  const taken = new Set<string>();
  const listed = [...kinds.entries()];
  const ordered = listed.at(-1)?.[1].key === "fail" ? listed.reverse() : listed;
  return ordered.map(([number, kind]) => {
    const key = [...kind.key].find((letter) => !taken.has(letter)) ?? "";
    taken.add(key);
    return { kind, number, key };
  });
}

/** The part that a text names: by its name, by its number, or as the only one that has it in its name. */
function named(page: Document, text: string): { part: number; problem: string } {
  const { parts } = page;
  const wanted = text.trim().toLowerCase();
  const names = parts.map((one) => one.name.toLowerCase());
  const part = names.indexOf(wanted);
  if (part >= 0) return { part, problem: "" };
  const unit = /^\d+$/.test(wanted) ? parts.findIndex((one) => one.number === Number(wanted)) : -1;
  if (unit >= 0) return { part: unit, problem: "" };
  const all = [...names.keys()].filter((at) => names[at]?.includes(wanted));
  if (all.length === 1) return { part: all[0] as number, problem: "" };
  const some = all.slice(0, 3).map((at) => (parts[at] as Part).name);
  const problem =
    all.length > 1 ? `${text.trim()} may be ${some.join(", ")}${all.length > 3 ? " and others" : ""}.` : `There is no part ${text.trim()}.`;
  return { part: -1, problem };
}

export function Finder({ store, select }: { store: Store; select: (part: number | null) => void }) {
  const { parts } = store.page;
  const find = (text: string): boolean => {
    store.missing.value = "";
    if (!text.trim()) return false;
    const found = named(store.page, text);
    store.missing.value = found.problem;
    // What was chosen before would else be taken for what was looked for.
    select(found.part < 0 ? null : found.part);
    return found.part >= 0;
  };
  const listed = useMemo(() => parts.slice(0, LISTED_MAX).map((one, at) => <option key={at} value={one.name} />), [parts]);
  return (
    <>
      <label>
        Find{" "}
        <input
          list="parts"
          size={12}
          placeholder={parts.find((one) => one.number !== null)?.name ?? ""}
          onChange={(event) => find(event.currentTarget.value)}
          onKeyDown={(event) => {
            // The keys of changes are the map's: who has found a part goes on there.
            if (event.key === "Enter" && find(event.currentTarget.value)) document.getElementById("map")?.focus();
          }}
        />
      </label>
      <datalist id="parts">{listed}</datalist>
    </>
  );
}

export function canHappen(store: Store, { kind }: Offered, part: number): boolean {
  const { page } = store;
  // A bucket of Ceph's may be empty; what is below no unit of a study is a controller or a switch.
  return kind.kinds.includes((page.parts[part] as Part).kind) && (page.kind === "system" || unitsBelow(page, part).length > 0);
}

export function happen(store: Store, { kind, number }: Offered, part: number): void {
  store.happen({
    kind: number,
    part,
    seconds: store.time.value ?? usualTime(ownFaultsOf(store.page, store.active.value)),
    share: kind.shares[0] ?? 1,
  });
}

export function Chosen({
  store,
  reels,
  seconds,
  offers,
}: {
  store: Store;
  reels: ReadonlySignal<Reel[]>;
  seconds: ReadonlySignal<number>;
  offers: Offered[];
}) {
  const part = store.selected.value;
  if (part === null)
    return (
      <p class="chosen empty">
        {store.missing.value ? (
          <span class="broken" role="alert">
            {store.missing.value}{" "}
          </span>
        ) : null}
        Nothing is chosen: click a part of the map, or find it by its name.
      </p>
    );
  const [title, ...facts] = described(store, part, seconds.value, reels.value);
  return (
    <div class="chosen" id="chosen">
      {/* What changes while one looks stands below what is clicked, and moves it nowhere. */}
      <p>
        <strong>{title}</strong> <span class={store.time.value ? "when then" : "when"}>{whenWords(store)}:</span>
      </p>
      <div class="actions">
        {offers.map((one) =>
          canHappen(store, one, part) ? (
            <button
              key={one.key}
              type="button"
              title={one.kind.sentence}
              aria-keyshortcuts={one.key}
              data-change={one.kind.key}
              onClick={() => happen(store, one, part)}
            >
              {one.kind.label}
            </button>
          ) : null,
        )}
        {(store.page.parts[part] as Part).parent >= 0 ? (
          <button type="button" class="plain" onClick={() => (store.selected.value = (store.page.parts[part] as Part).parent)}>
            Choose its {(store.page.parts[(store.page.parts[part] as Part).parent] as Part).kind}
          </button>
        ) : null}
      </div>
      <p class="facts">{facts.join(", ")}</p>
      <details class="note">
        <summary>What these do</summary>
        <dl>
          {offers.map((one) =>
            canHappen(store, one, part) ? (
              <div key={one.key}>
                <dt>{one.kind.label}</dt>
                <dd>{one.kind.sentence}</dd>
              </div>
            ) : null,
          )}
        </dl>
        <p>Each happens at the time that is said above them; the list of what happens takes any other time.</p>
      </details>
    </div>
  );
}

/** When what a reader has happen will, if nothing else is said. */
function whenWords(store: Store): string {
  if (store.time.value) return `After ${duration(store.time.value)}, where the time stands`;
  const usual = store.time.value ?? usualTime(ownFaultsOf(store.page, store.active.value));
  return usual > 0 ? `After ${duration(usual)}, with the first fault of the study` : "At the start";
}
