/** The assumptions as controls: each with its values, its unit and who says so. */

import type { Control } from "../document";
import type { Store } from "../store";
import { breaking } from "./answer";

const ORIGINS: Record<string, string> = {
  stated: "stated",
  config: "of `ceph config dump`",
  dump: "of the dumps",
  "release default": "Ceph's default",
  default: "default",
  assumed: "assumed",
};

export function Controls({ store }: { store: Store }) {
  return (
    <section class="controls" aria-labelledby="controls-title">
      <h2 id="controls-title">Assumptions that you can change</h2>
      <div class="grid">
        {store.page.groups.flatMap((group, at) =>
          group.controls.map((control, rank) => <One key={control.key} store={store} control={control} group={at} rank={rank} />),
        )}
      </div>
    </section>
  );
}

function One({ store, control, group, rank }: { store: Store; control: Control; group: number; rank: number }) {
  const stop = store.active.value.stops[group]?.[rank] ?? control.chosen;
  const now = control.stops[control.chosen]?.label ?? "";
  const label = control.stops[stop]?.label ?? "";
  const id = `control-${control.key}`;
  return (
    <div class="control" data-changed={stop !== control.chosen}>
      <label for={id}>{breaking(control.label)}</label>
      <output for={id}>{label}</output>
      <input
        id={id}
        type="range"
        min={0}
        max={control.stops.length - 1}
        step={1}
        value={stop}
        aria-valuetext={label}
        aria-describedby={`${id}-about`}
        onInput={(event) => store.choose(group, rank, Number(event.currentTarget.value))}
      />
      <p class="note" id={`${id}-about`} title={control.source}>
        {control.sentence}{" "}
        <em>
          {stop === control.chosen
            ? `${ORIGINS[control.origin] ?? control.origin}${control.source && control.origin !== "release default" ? `: ${control.source}` : ""}`
            : `yours; ${now} is ${ORIGINS[control.origin] ?? control.origin}`}
        </em>
      </p>
    </div>
  );
}
