/** The page: reads its document, shows it, and begins to compute. */

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { type Document, readDocument } from "./document";
import { Store } from "./store";
import { AnswerShown, Brief } from "./view/answer";
import { Charts } from "./view/charts";
import { Controls } from "./view/controls";
import { MapOfParts } from "./view/map";
import { Plan } from "./view/plan";
import { Ranking } from "./view/ranking";
import { Take } from "./view/take";
import { chosen } from "./words";

function App({ store, page }: { store: Store; page: Document }) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      if (event.target instanceof HTMLInputElement && event.target.type !== "range") return;
      event.preventDefault();
      if (event.shiftKey) store.redo();
      else store.undo();
    };
    addEventListener("keydown", onKey);
    document.documentElement.dataset.ready = "true";
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <header>
        <h1>{page.title}</h1>
        <p class="note">
          Change it and see how it heals. Everything is computed{" "}
          {page.server === null ? "in this page, and nothing leaves it" : "on this machine"}. Made of {page.source}.
        </p>
        {store.broken.value ? (
          <p class="broken" role="alert">
            The link is damaged, or not of such a page: what is shown is the system as things are, and not what was sent.
          </p>
        ) : null}
        {store.lost.value.length > 0 ? (
          <p class="broken" role="alert">
            The link names what this page does not have: {store.lost.value.join(", ")}.
          </p>
        ) : null}
      </header>
      <main id="main">
        <Brief store={store} />
        <div class="first">
          <MapOfParts store={store} />
          <div class="beside">
            <AnswerShown store={store} />
            <Plan store={store} />
          </div>
        </div>
        <Controls store={store} />
        <Charts store={store} />
        <Ranking store={store} />
        <Take store={store} />
        <Rests store={store} page={page} />
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {store.said.value}
      </p>
    </>
  );
}

function Rests({ store, page }: { store: Store; page: Document }) {
  const isAsItIs = store.both.value.scenarios.every((scenario) => chosen(page, scenario).length === 0);
  return (
    <section aria-labelledby="rests-title">
      <h2 id="rests-title">What it rests on</h2>
      {page.notes.length > 0 ? (
        <ul>
          {page.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      ) : null}
      {isAsItIs ? null : <p class="note">These are of the system as things are: what is chosen above holds in place of them.</p>}
      <details>
        <summary>{page.assumptions.length} assumptions</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Assumptions">
          <table>
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Value</th>
                <th scope="col">Who says so</th>
                <th scope="col">Of</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {page.assumptions.map((one) => (
                <tr key={`${one.name} ${one.value} ${one.applies_to}`}>
                  <th scope="row">{one.name}</th>
                  <td>{one.value}</td>
                  <td>{one.origin}</td>
                  <td>{one.applies_to || "all"}</td>
                  <td>{one.sentence}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

async function begin(): Promise<void> {
  const place = document.getElementById("app") as HTMLElement;
  try {
    const page = await readDocument();
    const store = new Store(page);
    render(<App store={store} page={page} />, place);
  } catch (error) {
    place.textContent = `This page cannot be shown here: ${error instanceof Error ? error.message : String(error)}. It needs a browser of 2023 or later.`;
  }
}

void begin();
