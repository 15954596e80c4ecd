/** The answer as it changes: the figures of A, and of B beside them; and how far the computation is. */

import type { Answer } from "../../../crates/web/core.mjs";
import type { Figure } from "../document";
import { digits, duration, numberOf, shown, type Value } from "../figures";
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
  if (typeof a === "string" || typeof b === "string") return <td class="n">another</td>;
  const isLess = (b ?? Number.POSITIVE_INFINITY) < (a ?? Number.POSITIVE_INFINITY);
  const isBetter = one.better === "less" ? isLess : one.better === "more" && (b ?? 0) > (a ?? 0);
  return <td class={`n ${one.better === "" ? "" : isBetter ? "good" : "bad"}`}>{difference(one, a, b, isBetter)}</td>;
}

function difference(one: Figure, a: number | null, b: number | null, isBetter: boolean): string {
  if (a === null || b === null) return isBetter ? "better" : "worse";
  if (a > 0 && b > 0) return ratio(b / a);
  return `${b > a ? "+" : "−"}${shown(Math.abs(b - a), one.unit)}`;
}

function ratio(value: number): string {
  if (value >= 2) return `${value.toFixed(1)} ×`;
  const percent = (value - 1) * 100;
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent) < 10 ? Math.abs(percent).toFixed(1) : Math.abs(percent).toFixed(0)} %`;
}

/** The answer in a sentence. */
function headline(store: Store, row: Record<string, Value> | null): string {
  if (row === null) return "…";
  const parts = store.page.kind === "cluster" ? ofCluster(store, row) : ofSystem(row);
  const text = parts.join("; ");
  return text ? `${text[0]?.toUpperCase()}${text.slice(1)}.` : "";
}

const many = (value: number, what: string) => `${digits(value)} ${what}`;

function ofCluster(store: Store, row: Record<string, Value>): string[] {
  const of = (key: string) => numberOf(row[key]);
  const [whole, risk] = [of("whole_seconds"), of("at_risk_seconds")];
  const [lost, stuck, inactive] = [of("lost_groups") ?? 0, of("stuck_groups") ?? 0, of("inactive_groups") ?? 0];
  const parts: string[] = [];
  if (store.active.value.happenings.length === 0 && whole === 0 && !stuck && !lost)
    return ["everything is whole. Choose a part on the map and let it fail"];
  if (lost) parts.push(many(lost, "groups lose data"));
  if (stuck) parts.push(many(stuck, "groups are still not whole at the end"));
  else if (whole !== null) parts.push(whole > 0 ? `whole again after ${duration(whole)}` : "nothing has to be healed");
  if (inactive) parts.push(many(inactive, "groups serve nobody for a time"));
  if (risk === null) parts.push("at risk to the end");
  else
    parts.push(
      risk > 0
        ? `at risk for ${duration(risk)}: one more failure may lose data or stop clients`
        : "no single further failure loses data on the way",
    );
  return parts;
}

function ofSystem(row: Record<string, Value>): string[] {
  const parts: string[] = [];
  const [lost, whole, risk] = [numberOf(row.unrecoverable_objects), numberOf(row.rebuild_seconds), numberOf(row.at_risk_objects)];
  if (lost) parts.push(many(lost, "objects are lost"));
  if (whole) parts.push(`whole again after ${duration(whole)}${row.kind ? `, by what the ${row.kind} lets through` : ""}`);
  else if (whole === 0) parts.push("nothing is lost, so nothing is rebuilt");
  if (risk && whole) parts.push(`${many(risk, "objects")} are at risk until then`);
  const [during, before] = [numberOf(row.during_throughput_bytes_per_second), numberOf(row.before_throughput_bytes_per_second)];
  if (during !== null && before) parts.push(`clients get ${digits((during / before) * 100)} % of what they got before`);
  else if (parts.length === 0 && row.throughput_bytes_per_second !== undefined)
    parts.push(`clients get ${shown(row.throughput_bytes_per_second, "bytes_per_second")}`);
  return parts;
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
      store.seconds > SECONDS_UNASKED ? `about ${duration(store.seconds)}` : "",
      (page.bytes ?? 0) > BYTES_UNASKED ? `about ${shown(page.bytes, "bytes")} of memory` : "",
    ].filter(Boolean);
    return (
      <p class="going" role="status">
        This takes {reasons.join(" and ")}.{" "}
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
