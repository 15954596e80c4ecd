/** What happens, in its order, each with its time; and undo. */

import { useSignal } from "@preact/signals";
import type { ChangeKind, Part } from "../document";
import { duration } from "../figures";
import { type Happening, isGoneBefore, ownFaults, secondsMost } from "../scenario";
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
      {happenings.length === 0 ? (
        <p class="note">
          {ownFaults(store.page, store.active.value).length > 0
            ? "Nothing beside what the study itself lets fail, which a control below takes away. Choose a part on the map and let it fail too."
            : "Nothing yet. Choose a part on the map and let it fail."}
        </p>
      ) : (
        <ol class="happenings">
          {ranked.map(({ one, rank }) => (
            <Row key={`${rank}-${one.kind}-${one.part}`} store={store} one={one} rank={rank} />
          ))}
        </ol>
      )}
    </section>
  );
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
  const isIdle = isGoneBefore(store.page, store.active.value.happenings, one);
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
            const text = box.value.trim().replace(",", ".");
            const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
            const isWithin = value * size <= secondsMost(store.page);
            if (isWithin) store.change(rank, { seconds: value * size });
            const rule = "A time is a number, counted from the start, such as 2 or 1.5.";
            const most = duration(secondsMost(store.page));
            refused.value = isWithin ? "" : Number.isNaN(value) ? rule : `A time is below ${most}, where the run ends.`;
            // The box says what holds, whatever was typed into it.
            const holds = store.active.value.happenings[rank]?.seconds ?? one.seconds;
            box.value = String(Number((holds / size).toPrecision(6)));
          }}
        />
      </label>
      <select
        value={unit.value}
        aria-label={`Unit of the time of ${title}`}
        onChange={(event) => {
          const before = size;
          unit.value = event.currentTarget.value;
          const after = UNITS.find(([name]) => name === unit.value)?.[1] ?? 1;
          if (one.seconds) store.change(rank, { seconds: (one.seconds / before) * after });
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
      {isIdle ? <span class="note"> It is down already: no effect.</span> : null}
      {refused.value ? (
        <span class="broken" role="alert">
          {" "}
          {refused.value}
        </span>
      ) : null}
    </li>
  );
}
