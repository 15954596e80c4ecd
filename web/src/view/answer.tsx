/** The answer as it changes: the figures of A, and of B beside them; and how far the computation is. */

import type { Answer } from "../../../crates/web/core.mjs";
import type { Figure } from "../document";
import { duration, shown, type Value } from "../figures";
import { BYTES_UNASKED, type Going, SECONDS_UNASKED, type Store } from "../store";

const NAMES = ["A", "B"];

export function AnswerShown({ store }: { store: Store }) {
  const { page } = store;
  const { scenarios, active } = store.both.value;
  const figures = store.shown.value.map((result) => (result === null ? null : store.figures(result.done.tables)));
  const told = page.figures.filter((one) =>
    one.how !== "least" && one.how !== "highest" ? true : figures.some((row) => row?.[one.key] != null),
  );
  return (
    <section class="answer" aria-labelledby="answer-title" aria-busy={store.going.value.state === "going"}>
      <div class="line">
        <h2 id="answer-title">Answer</h2>
        {scenarios.length > 1 ? (
          <div class="sides" role="group" aria-label="Scenario that you change">
            {scenarios.map((_, at) => (
              <button key={NAMES[at]} type="button" aria-pressed={at === active} onClick={() => store.look(at)}>
                {NAMES[at]}
              </button>
            ))}
          </div>
        ) : null}
        <button type="button" onClick={() => store.compare()}>
          {scenarios.length > 1 ? `Keep ${NAMES[active]} alone` : "Compare with another"}
        </button>
      </div>
      <Progress store={store} />
      <p class="headline">{headline(store, figures[active] ?? null)}</p>
      <table class="figures" data-stale={figures[active] == null}>
        {scenarios.length > 1 ? (
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">Figure</span>
              </th>
              {scenarios.map((_, at) => (
                <th key={NAMES[at]} scope="col" class="n">
                  {NAMES[at]}
                </th>
              ))}
              <th scope="col" class="n">
                B against A
              </th>
            </tr>
          </thead>
        ) : null}
        <tbody>
          {told.map((one) => (
            <tr key={one.key} data-figure={one.key}>
              <th scope="row">{one.label}</th>
              {figures.map((row, at) => (
                <td key={NAMES[at]} class="n">
                  {row === null ? "…" : words(one, row[one.key] ?? null)}
                </td>
              ))}
              {figures.length > 1 ? <Difference figure={one} a={figures[0]?.[one.key]} b={figures[1]?.[one.key]} /> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function words(one: Figure, value: Value): string {
  if (value === null && one.how === "last") return "not by the end";
  if (one.unit === "seconds" && one.how === "last" && value === 0) return one.key === "whole_seconds" ? "at once" : "never";
  return shown(value, one.unit);
}

function Difference({ figure: one, a, b }: { figure: Figure; a: Value | undefined; b: Value | undefined }) {
  if (a === undefined || b === undefined) return <td class="n">…</td>;
  if (a === b) return <td class="n soft">same</td>;
  const isBetter =
    one.better && (one.better === "less" ? (b ?? Number.POSITIVE_INFINITY) < (a ?? Number.POSITIVE_INFINITY) : (b ?? 0) > (a ?? 0));
  const text =
    a === null || b === null
      ? isBetter
        ? "better"
        : "worse"
      : a > 0 && b > 0
        ? ratio(b / a)
        : `${b > a ? "+" : "−"}${shown(Math.abs(b - a), one.unit)}`;
  return <td class={`n ${one.better === "" ? "" : isBetter ? "good" : "bad"}`}>{text}</td>;
}

function ratio(value: number): string {
  if (value >= 2) return `${value.toFixed(1)} ×`;
  const percent = (value - 1) * 100;
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent) < 10 ? Math.abs(percent).toFixed(1) : Math.abs(percent).toFixed(0)} %`;
}

function headline(store: Store, row: Record<string, Value> | null): string {
  const { happenings } = store.active.value;
  if (row === null) return "…";
  const whole = row.whole_seconds;
  const lost = row.lost_groups ?? 0;
  const stuck = row.stuck_groups ?? 0;
  const risk = row.at_risk_seconds;
  const parts: string[] = [];
  if (happenings.length === 0 && (whole ?? 0) === 0 && !stuck && !lost)
    return "Everything is whole. Choose a part on the map and let it fail.";
  if (lost) parts.push(`${lost.toLocaleString("en")} groups lose data`);
  if (stuck) parts.push(`${stuck.toLocaleString("en")} groups are still not whole at the end`);
  else if (whole !== undefined && whole !== null)
    parts.push(whole > 0 ? `Whole again after ${duration(whole)}` : "Nothing has to be healed");
  if (row.inactive_groups) parts.push(`${row.inactive_groups.toLocaleString("en")} groups serve nobody for a time`);
  if (risk !== undefined)
    parts.push(
      risk === null
        ? "at risk to the end"
        : risk > 0
          ? `at risk for ${duration(risk)}: one more failure may lose data or stop clients`
          : "no single further failure loses data on the way",
    );
  const text = parts.join("; ");
  return text ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : "";
}

function far(answer: Answer | null): string {
  if (answer === null) return "begins";
  if (answer.state === "waiting") return "waits for its turn";
  if (answer.state === "healing")
    return `${answer.unclean_groups.toLocaleString("en")} of ${answer.groups.toLocaleString("en")} groups to go after ${duration(answer.simulated_seconds)}`;
  if (answer.state === "working") return `${answer.phase}, ${Math.floor(answer.fraction * 100)} %`;
  return "";
}

function Progress({ store }: { store: Store }) {
  const going: Going = store.going.value;
  const { page } = store;
  if (going.state === "asking") {
    const reasons = [
      (page.seconds ?? 0) > SECONDS_UNASKED ? `about ${duration(page.seconds ?? 0)}` : "",
      (page.bytes ?? 0) > BYTES_UNASKED ? `about ${shown(page.bytes, "bytes")} of memory` : "",
    ].filter(Boolean);
    return (
      <p class="going" role="status">
        This takes {reasons.join(" and ")} in a page.{" "}
        <button type="button" onClick={() => store.resume()}>
          Compute it
        </button>
      </p>
    );
  }
  if (going.state === "broken")
    return (
      <p class="going broken" role="alert">
        {going.message}{" "}
        <button type="button" onClick={() => store.resume()}>
          Try again
        </button>
      </p>
    );
  if (going.state === "cancelled")
    return (
      <p class="going" role="status">
        Cancelled.{" "}
        <button type="button" onClick={() => store.resume()}>
          Compute it
        </button>
      </p>
    );
  const result = store.result.value;
  if (going.state === "idle")
    return (
      <p class="going soft">{result === null ? "" : `Computed in ${duration(result.milliseconds / 1000)}; digest ${result.done.digest}`}</p>
    );
  return (
    <p class="going">
      <span class="spin" aria-hidden="true" /> {far(going.answer)}{" "}
      <button type="button" onClick={() => store.cancel()}>
        Cancel
      </button>
    </p>
  );
}
