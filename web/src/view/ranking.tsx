/** Each part failing in turn, ranked by impact, computed beside the page. */

import { useSignal } from "@preact/signals";
import type { Figure, Part } from "../document";
import { duration, numberOf, shown } from "../figures";
import { ownFaultsOf } from "../scenario";
import type { Harm, Store } from "../store";
import { worded } from "../words";

const SHOWN_FIGURES = 8;
/** Of what is ranked by, the gravest are always shown. */
const GRAVEST = 4;
const SHOWN_ROWS = 15;

export function Ranking({ store }: { store: Store }) {
  const { page } = store;
  const all = useSignal(false);
  const fail = page.changes.find((one) => one.key === "fail");
  if (fail === undefined) return null;
  const levels = fail.kinds.filter((kind) => page.parts.filter((one) => one.kind === kind).length > 1);
  const ranking = store.ranking.value;
  const isAlone = store.active.value.happenings.length + ownFaultsOf(page, store.active.value).length === 0;
  const isOld = ranking !== null && ranking.base !== store.texts.value[store.both.value.active];
  const isTold = (key: string, at: number) => at < GRAVEST || ranking?.rows.some((row) => row.figures[key] !== 0);
  const keys = [...new Set([...page.harm.filter(isTold), "whole_seconds", "peak_share"])];
  const figures = keys.flatMap((key) => page.figures.filter((one) => one.key === key)).slice(0, SHOWN_FIGURES);
  return (
    <section class="ranking" aria-labelledby="ranking-title">
      <div class="line">
        <h2 id="ranking-title">Which one hurts most?</h2>
        {levels.map((level) => (
          <button key={level} type="button" data-level={level} onClick={() => void store.rank(level)}>
            Fail each {level === "osd" ? "OSD" : level}
          </button>
        ))}
      </div>
      {ranking === null ? (
        <p class="note">Each part fails in turn, beside what happens in the scenario, and all are ranked by impact.</p>
      ) : (
        <>
          <p role="status">
            {ranking.rows.length} of {ranking.total} computed
            {ranking.going && ranking.left >= 1 ? `, about ${duration(ranking.left)} to go` : ""}.{" "}
            {ranking.going ? (
              <button type="button" onClick={() => store.stopRanking()}>
                Stop
              </button>
            ) : null}
            {ranking.problem}
            {` Each fails ${ranking.seconds > 0 ? `after ${duration(ranking.seconds)}` : "at the start"}, ${isAlone ? "alone" : "beside what happens in the scenario"}.`}
            {isOld ? " The scenario has changed since." : ""}
          </p>
          {ranking.going ? null : <p>{allAlike(store, ranking.level, ranking.rows)}</p>}
          <div class="scroll" tabIndex={0} role="region" aria-label="Ranking by impact">
            <table>
              <thead>
                <tr>
                  <th scope="col">Part</th>
                  <th scope="col">
                    <span class="unseen">Let it fail</span>
                  </th>
                  {figures.map((one) => (
                    <th key={one.key} scope="col" class="n">
                      {one.label}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {ranking.rows.slice(0, all.value ? undefined : SHOWN_ROWS).map((row) => (
                  <tr key={row.part}>
                    <th scope="row">
                      <button type="button" class="plain" onClick={() => choose(store, row.part)}>
                        {(page.parts[row.part] as Part).name}
                      </button>
                    </th>
                    <td>
                      <button
                        type="button"
                        aria-label={`Fail ${(page.parts[row.part] as Part).name}`}
                        onClick={() => {
                          store.happen({
                            kind: page.changes.indexOf(fail),
                            part: row.part,
                            seconds: ranking.seconds,
                            share: 1,
                          });
                          choose(store, row.part);
                        }}
                      >
                        Fail
                      </button>
                    </td>
                    {figures.map((one: Figure) => (
                      <td key={one.key} class="n">
                        {worded(one, row.figures)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {ranking.rows.length > SHOWN_ROWS ? (
            <button type="button" onClick={() => (all.value = !all.value)}>
              {all.value ? `Show the worst ${SHOWN_ROWS}` : `Show ${ranking.rows.length - SHOWN_ROWS} more`}
            </button>
          ) : null}
        </>
      )}
    </section>
  );
}

/** Chooses a part, and goes to the map where it is seen. */
function choose(store: Store, part: number): void {
  store.selected.value = part;
  store.said.value = `${(store.page.parts[part] as Part).name} is chosen on the map`;
  const map = document.getElementById("map");
  map?.scrollIntoView({ block: "center" });
  map?.focus({ preventScroll: true });
}

/** What all have in common that a reader should know before the first row. */
function allAlike(store: Store, level: string, rows: Harm[]): string {
  const of = (row: Harm, key: string) => numberOf(row.figures[key]) ?? 0;
  if (rows.length === 0 || !rows.every((row) => of(row, "stuck_groups") > 0)) return "";
  const what = level === "osd" ? "OSD" : level;
  const full = rows.filter((row) => of(row, "toofull_groups") > 0);
  const peaks = full.map((row) => of(row, "peak_share"));
  const [least, most] = [Math.min(...peaks), Math.max(...peaks)].map((share) => shown(share, "share"));
  const how = least === most ? least : `${least} to ${most}`;
  const why = full.length === rows.length ? `, for want of space: the fullest OSD gets to ${how}` : "";
  const beside = store.active.value.happenings.length > 0 ? "Beside what happens in the scenario, whichever" : "Whichever";
  return `${beside} ${what} fails, the cluster does not become healthy by itself${why}.`;
}
