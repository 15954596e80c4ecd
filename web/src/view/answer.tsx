/** The answer as it changes: the figures of A, and of B beside them; and how far the computation is. */

import { useSignal } from "@preact/signals";
import type { Answer } from "../../../crates/web/core.mjs";
import type { Figure } from "../document";
import { beforeKey, duration, shown } from "../figures";
import { isPlain, type Scenario } from "../scenario";
import type { Going, Store } from "../store";
import { asItStands, caveat, difference, headline, NAMES, type Row, worded } from "../words";

/** Figures that there need not be. */
const MAYBE = ["least", "highest", "leading", "begins", "until"];

/** Whether an answer has a figure: one that clients do not get for want of service is had, and said in words. */
const isTold = (one: Figure, row: Row | null) => row?.[one.key] != null || (one.key === "p99_seconds" && row?.served_share != null);

/** The headline again where the screen is narrow, in sight while its reader is on the map; the answer itself tells it to all others. */
export function Brief({ store }: { store: Store }) {
  const result = store.result.value;
  const row = result === null ? null : store.figures(result.done.tables);
  const isGoing = store.going.value.state === "going";
  return (
    <p class="brief" aria-hidden="true">
      {isGoing ? <span class="spin" /> : null}{" "}
      {row === null && isGoing
        ? "Computing"
        : row === null && !store.isAsked.value
          ? asItStands(store.page)
          : headline(store.page, store.active.value, row)}
    </p>
  );
}

/** Whether a figure says nothing: it is zero, and was, in every scenario that has an answer. */
const isIdle = (one: Figure, rows: (Row | null)[]) =>
  one.key !== "whole_seconds" && rows.every((row) => row !== null && row[one.key] === 0 && !row[beforeKey(one)]);

export function AnswerShown({ store }: { store: Store }) {
  const { page } = store;
  const all = useSignal(false);
  const { scenarios, active } = store.both.value;
  const figures = store.shown.value.map((result) => (result === null ? null : store.figures(result.done.tables)));
  const told = page.figures.filter((one) => !MAYBE.includes(one.how) || figures.some((row) => isTold(one, row)));
  const idle = told.filter((one) => isIdle(one, figures)).length;
  const warning = caveat(page, store.active.value, figures[active] ?? null);
  const isAsked = store.isAsked.value || figures[active] != null;
  const isAlike = scenarios.length > 1 && store.texts.value[0] === store.texts.value[1];
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
      <p class="headline">{isAsked ? headline(page, store.active.value, figures[active] ?? null) : asItStands(page)}</p>
      {warning ? <p class="note caveat">{warning}</p> : null}
      {isAlike ? (
        <p class="note alike">
          B is still as A. Change B on the map or below, and A stays as it is.{" "}
          {isPlain(page, scenarios[0] as Scenario) ? null : (
            <button type="button" onClick={() => store.plain(0)}>
              Or let A be as things are
            </button>
          )}
        </p>
      ) : null}
      <table class="figures" data-stale={figures[active] == null} hidden={!isAsked}>
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
            <tr key={one.key} data-figure={one.key} hidden={!all.value && isIdle(one, figures)}>
              <th scope="row">{one.label}</th>
              {figures.map((row, at) => (
                <td key={NAMES[at]} class={one.unit === "" ? "n words" : "n"}>
                  {row === null ? "…" : breaking(worded(one, row))}
                </td>
              ))}
              {figures.length > 1 ? <Difference figure={one} rows={figures} /> : null}
            </tr>
          ))}
        </tbody>
      </table>
      {idle && isAsked ? (
        <button type="button" class="plain" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? "Hide figures that are zero" : `${idle} more ${idle === 1 ? "figure is" : "figures are"} zero`}
        </button>
      ) : null}
    </section>
  );
}

/** A text that may break behind each word of a setting's name. */
export function breaking(text: string) {
  return text.split("_").flatMap((word, at) => (at ? ["_", <wbr key={`${at}${word}`} />, word] : [word]));
}

function Difference({ figure: one, rows }: { figure: Figure; rows: (Row | null)[] }) {
  const [a, b] = rows;
  if (!a || !b) return <td class="n">…</td>;
  const { text, kind } = difference(one, a, b);
  return <td class={`n ${kind === "same" ? "soft" : kind}`}>{text}</td>;
}

/** Seconds of computing, and the share of the work, from which on it is told how long the rest takes. */
const [SOONEST, LEAST_SHARE] = [2, 0.02];

/** How long the rest takes of a cluster's run: as long for what is known to be left as for what is done. */
function left(answer: Answer, elapsed: number): number | null {
  if (answer.state !== "healing" || elapsed < SOONEST || answer.fraction < LEAST_SHARE) return null;
  return elapsed * (1 / answer.fraction - 1);
}

function far(answer: Answer | null, since: number): string {
  if (answer === null) return "begins";
  const rest = left(answer, (performance.now() - since) / 1000);
  if (answer.state === "waiting") return "waits for its turn";
  const more = rest === null ? "" : `; about ${duration(Math.ceil(rest))} more to compute what is known to be left`;
  if (answer.state === "healing")
    return `${answer.unclean_groups.toLocaleString("en")} of ${answer.groups.toLocaleString("en")} PGs to go after ${duration(answer.simulated_seconds)}${more}`;
  if (answer.state === "working") return `${answer.phase}, ${Math.floor(answer.fraction * 100)} %`;
  return "";
}

function Progress({ store }: { store: Store }) {
  const going: Going = store.going.value;
  const { page } = store;
  if (going.state === "asking") {
    const reasons = [
      going.seconds > page.unasked.seconds ? `about ${duration(going.seconds)}` : "",
      going.bytes > page.unasked.bytes ? `${shown(going.bytes, "bytes")} of memory or more` : "",
    ].filter(Boolean);
    return (
      <p class="going" role="status">
        This takes {reasons.join(" and ")}.{" "}
        <button type="button" onClick={() => store.resume()}>
          Compute it
        </button>{" "}
        <button type="button" onClick={() => store.cancel()}>
          Cancel
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
  if (!store.isAsked.value && result === null)
    return (
      <p class="going">
        <button type="button" onClick={() => store.ask()}>
          Compute what happens by itself
        </button>
      </p>
    );
  if (going.state === "idle")
    return (
      <p class="going soft">{result === null ? "" : `Computed in ${duration(result.milliseconds / 1000)}; digest ${result.done.digest}`}</p>
    );
  return (
    <p class="going">
      <span class="spin" aria-hidden="true" /> {far(going.answer, going.since)}{" "}
      <button type="button" onClick={() => store.cancel()}>
        Cancel
      </button>
    </p>
  );
}
