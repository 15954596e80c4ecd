/** What a reader takes along: the link, and the command or the study that gives the same answer. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { takenAlong } from "../along";
import { copy, save } from "../save";
import type { Scenario } from "../scenario";
import type { Store } from "../store";
import { answerText, NAMES } from "../words";

export function Take({ store }: { store: Store }) {
  const told = useSignal("");
  const link = useRef<HTMLInputElement>(null);
  const { scenarios, active } = store.both.value;
  const along = takenAlong(store.page, store.active.value, scenarios.length > 1 ? (NAMES[active] ?? "") : "");
  const digest = store.result.value?.done.digest;
  const onCopy = async (text: string, what: string) => {
    told.value = (await copy(text)) ? `${what} is copied.` : "This browser does not let a page copy: choose the text and copy it.";
  };
  // What was copied is of the scenario of then.
  const both = store.both.value;
  useEffect(() => {
    told.value = "";
  }, [both]);
  const answer = () => {
    const sides = store.shown.value.map((result, at) => ({
      scenario: store.both.value.scenarios[at] as Scenario,
      row: result === null ? null : store.figures(result.done.tables),
      digest: result?.done.digest ?? "",
    }));
    return answerText(store.page, sides);
  };
  return (
    <section class="take" aria-labelledby="take-title">
      <h2 id="take-title">Take it with you</h2>
      <div class="actions">
        <button type="button" disabled={store.shown.value.includes(null)} onClick={() => void onCopy(answer(), "The answer")}>
          Copy the answer
        </button>
        <span class="note">What happens, the headline, all figures and what is assumed, as lines to send to someone.</span>
      </div>
      <p>
        <label for="link">
          A link to this scenario
          {location.protocol === "file:" ? ": send the file of this page too, and open the link's end (#…) in it" : ""}
        </label>
        <span class="row">
          <input id="link" ref={link} readOnly value={location.href} onFocus={(event) => event.currentTarget.select()} />
          <button type="button" onClick={() => void onCopy(location.href, "The link")}>
            Copy
          </button>
        </span>
      </p>
      <p>
        The same answer from the command line
        {digest ? (
          <>
            , with digest <code>{digest}</code>
          </>
        ) : null}
        :
      </p>
      <pre id="command" tabIndex={0} role="region" aria-label="Command">
        {along.command}
      </pre>
      <div class="actions">
        <button type="button" onClick={() => void onCopy(along.command, "The command")}>
          Copy the command
        </button>
        {along.file === null ? null : (
          <button type="button" onClick={() => along.file && save(along.file.name, "application/toml", along.file.text)}>
            Save {along.file.name}
          </button>
        )}
      </div>
      {along.file === null ? null : (
        <details>
          <summary>{along.file.name}</summary>
          <pre id="study" tabIndex={0} role="region" aria-label="Study file">
            {along.file.text}
          </pre>
        </details>
      )}
      <p role="status">{told.value}</p>
    </section>
  );
}
