/** What happens, in its order, each with its time; and undo. */

import { useSignal } from "@preact/signals";
import type { ChangeKind, Part } from "../document";
import { type OwnFault, ownWords } from "../faults";
import { duration } from "../figures";
import { type Happening, isGoneBefore } from "../happening";
import { ownFaultsOf, planOf, secondsMost } from "../scenario";
import type { Store } from "../store";

const UNITS: [string, number][] = [
  ["s", 1],
  ["min", 60],
  ["h", 3600],
  ["d", 86400],
];

export function Plan({ store }: { store: Store }) {
  const { happenings } = store.active.value;
  const ranked = happenings.map((one, rank) => ({ one, rank })).sort((a, b) => a.one.seconds - b.one.seconds || a.rank - b.rank);
  const own = ownFaultsOf(store.page, store.active.value).filter((fault) => fault.parts.length > 0);
  return (
    <section class="plan" aria-labelledby="plan-title">
      <div class="line">
        <h2 id="plan-title">What happens</h2>
        <button type="button" disabled={store.past.value.length === 0} aria-keyshortcuts="Control+Z" onClick={() => store.undo()}>
          Undo
        </button>
        <button type="button" disabled={store.future.value.length === 0} aria-keyshortcuts="Control+Shift+Z" onClick={() => store.redo()}>
          Redo
        </button>
        <button type="button" onClick={() => store.reset()}>
          As things are
        </button>
      </div>
      {happenings.length + own.length === 0 ? (
        <p class="note">Nothing yet. Choose a part on the map and let it fail.</p>
      ) : (
        <ol class="happenings">
          {own.map((fault) => (
            <Own key={fault.index} store={store} fault={fault} />
          ))}
          {ranked.map(({ one, rank }) => (
            <Row key={`${rank}-${one.kind}-${one.part}`} store={store} one={one} rank={rank} />
          ))}
        </ol>
      )}
    </section>
  );
}

/** What the study itself lets fail, which stays whatever else happens. */
function Own({ store, fault }: { store: Store; fault: OwnFault }) {
  const plan = planOf(store.page, store.active.value);
  const until = plan?.ownEnds.get(fault.index) ?? fault.until;
  const end = until === null ? "" : `, until ${duration(until)}`;
  const isDropped = plan?.dropped.has(fault.index);
  return (
    <li>
      {ownWords(store.page, fault)} {fault.at > 0 ? `after ${duration(fault.at)}` : "at the start"}
      {end} <span class="note">by the study itself{isDropped ? "; it is gone by then: no effect" : ""}</span>
    </li>
  );
}

function idleWords(key: string, isEndless: boolean): string {
  if (isEndless) return "Without a rebuild nothing would end the clients' requests";
  return key === "repair" ? "Nothing is wrong with it then" : "It is down already";
}

function Row({ store, one, rank }: { store: Store; one: Happening; rank: number }) {
  const kind = store.page.changes[one.kind] as ChangeKind;
  const part = store.page.parts[one.part] as Part;
  const start = UNITS.findLast(([, size]) => one.seconds >= size && one.seconds % size === 0) ?? (UNITS[0] as [string, number]);
  const unit = useSignal(one.seconds !== 0 ? start[0] : store.page.kind === "cluster" ? "h" : "s");
  const size = UNITS.find(([name]) => name === unit.value)?.[1] ?? 1;
  const title = `${kind.label}: ${part.name}`;
  const shownTime = Number((one.seconds / size).toPrecision(6));
  const refused = useSignal("");
  const plan = planOf(store.page, store.active.value);
  const isIdle = plan === null ? isGoneBefore(store.page, store.active.value.happenings, one) : plan.idle.has(one);
  return (
    <li>
      <strong>{kind.label}</strong> <span class="part">{part.name}</span>
      {kind.shares.length > 0 ? (
        <label>
          {" "}
          at{" "}
          <select
            value={String(one.share)}
            aria-label={`Share of ${title}`}
            onChange={(event) => store.change(rank, { share: Number(event.currentTarget.value) })}
          >
            {kind.shares.map((share) => (
              <option key={share} value={String(share)}>
                {Math.round(share * 100)} %
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <label>
        {" "}
        after{" "}
        <input
          type="text"
          inputMode="decimal"
          autoComplete="off"
          size={5}
          value={String(shownTime)}
          aria-label={`Time of ${title}`}
          onChange={(event) => {
            const box = event.currentTarget;
            const [, text, word] = /^(\d+\.?\d*|\.\d+)\s*(s|min|h|d)?$/.exec(box.value.trim().replace(",", ".")) ?? [];
            if (word !== undefined) unit.value = word;
            const each = UNITS.find(([name]) => name === unit.value)?.[1] ?? 1;
            const value = text === undefined ? Number.NaN : Number(text);
            const isWithin = value * each <= secondsMost(store.page);
            if (isWithin) store.change(rank, { seconds: value * each });
            const rule = "A time is a number, counted from the start, such as 2 or 1.5.";
            const most = duration(secondsMost(store.page));
            refused.value = isWithin ? "" : Number.isNaN(value) ? rule : `A time is below ${most}, where the run ends.`;
            // The box says what holds, whatever was typed into it.
            const holds = store.active.value.happenings[rank]?.seconds ?? one.seconds;
            box.value = String(Number((holds / each).toPrecision(6)));
          }}
        />
      </label>
      <select
        value={unit.value}
        aria-label={`Unit of the time of ${title}`}
        onChange={(event) => {
          // The time stays, in another unit.
          unit.value = event.currentTarget.value;
        }}
      >
        {UNITS.map(([name]) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button
        type="button"
        class="plain"
        aria-label={`Remove ${title} after ${duration(one.seconds)}`}
        onClick={() => store.change(rank, null)}
      >
        Remove
      </button>
      {isIdle ? <span class="note"> {idleWords(kind.key, plan?.endless.has(one) ?? false)}: no effect.</span> : null}
      {refused.value ? (
        <span class="broken" role="alert">
          {" "}
          {refused.value}
        </span>
      ) : null}
    </li>
  );
}
