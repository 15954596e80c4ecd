/** Each part failing in turn, ranked by harm, computed beside the page. */

import type { Figure, Part } from "../document";
import { shown } from "../figures";
import type { Store } from "../store";

const SHOWN_FIGURES = 6;
const SHOWN_ROWS = 15;

export function Ranking({ store }: { store: Store }) {
  const { page } = store;
  const fail = page.changes.find((one) => one.key === "fail");
  if (fail === undefined) return null;
  const levels = fail.kinds.filter((kind) => page.parts.filter((one) => one.kind === kind).length > 1);
  const ranking = store.ranking.value;
  const isOld = ranking !== null && ranking.base !== store.texts.value[store.both.value.active];
  const keys = [
    ...new Set([
      ...page.harm.filter((key) => ranking?.rows.some((row) => row.figures[key] !== ranking.rows[0]?.figures[key] || row.figures[key])),
      "whole_seconds",
      "peak_share",
    ]),
  ];
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
        <p class="note">Each part fails in turn, beside what happens in the scenario, and all are ranked by harm.</p>
      ) : (
        <>
          <p role="status">
            {ranking.rows.length} of {ranking.total} computed.{" "}
            {ranking.going ? (
              <button type="button" onClick={() => store.stopRanking()}>
                Stop
              </button>
            ) : null}
            {ranking.problem}
            {isOld ? " The scenario has changed since." : ""}
          </p>
          <div class="scroll" tabIndex={0} role="region" aria-label="Ranking by harm">
            <table>
              <thead>
                <tr>
                  <th scope="col">Part</th>
                  {figures.map((one) => (
                    <th key={one.key} scope="col" class="n">
                      {one.label}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {ranking.rows.slice(0, SHOWN_ROWS).map((row) => (
                  <tr key={row.part}>
                    <th scope="row">
                      <button type="button" class="plain" onClick={() => (store.selected.value = row.part)}>
                        {(page.parts[row.part] as Part).name}
                      </button>
                    </th>
                    {figures.map((one: Figure) => (
                      <td key={one.key} class="n">
                        {row.figures[one.key] === null && one.how === "last"
                          ? "not by the end"
                          : shown(row.figures[one.key] ?? null, one.unit)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {ranking.rows.length > SHOWN_ROWS ? <p class="note">And {ranking.rows.length - SHOWN_ROWS} more, less harmful.</p> : null}
        </>
      )}
    </section>
  );
}
