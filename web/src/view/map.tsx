/** The map of parts: a canvas to click and to walk by keys, what may happen to what is chosen, and the time. */

import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { ChangeKind, Document, Part } from "../document";
import { duration, shown } from "../figures";
import { Reel } from "../film";
import { beside, laidOut, partAt } from "../layout";
import { coloursOf, type Look, measured, paint } from "../paint";
import { units, unitsBelow, usualTime } from "../scenario";
import { describe, described, lastChange, marksAt } from "../scene";
import type { Store } from "../store";

/** Milliseconds in which the whole healing is played. */
const PLAY = 12_000;
const LISTED_MAX = 2000;
/** Pixels below which a map is one on a phone. */
const NARROW = 500;

/** A change that a reader can have happen, its number among the page's, and its key. */
interface Offered {
  kind: ChangeKind;
  number: number;
  key: string;
}

/** The changes as they are offered, the gravest first, each with the first letter of its own that no other has. */
function offered(kinds: ChangeKind[]): Offered[] {
  const taken = new Set<string>();
  const listed = [...kinds.entries()];
  const ordered = listed.at(-1)?.[1].key === "fail" ? listed.reverse() : listed;
  return ordered.map(([number, kind]) => {
    const key = [...kind.key].find((letter) => !taken.has(letter)) ?? "";
    taken.add(key);
    return { kind, number, key };
  });
}

export function MapOfParts({ store }: { store: Store }) {
  const { page } = store;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const dark = useSignal(0);
  const classes = useMemo(
    () => [...new Set(page.parts.filter((one) => one.number !== null).map((one) => one.device_class))].sort(),
    [page],
  );
  const layout = useComputed(() =>
    width.value ? laidOut(page.parts, width.value, width.value < NARROW ? 480 : 560, page.kind === "system") : null,
  );
  const tables = useComputed(() => store.result.value?.done.tables ?? null);
  const reels = useComputed(() => (tables.value === null ? [] : page.map.films.map((film) => new Reel(film, tables.value ?? {}))));
  const end = useComputed(() => Math.max(lastChange(store), ...reels.value.map((reel) => reel.rests)));
  const seconds = useComputed(() => store.time.value ?? end.value);

  useEffect(() => {
    const watch = new ResizeObserver(() => {
      width.value = Math.floor(frame.current?.clientWidth ?? 0);
    });
    watch.observe(frame.current as HTMLDivElement);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const turn = () => dark.value++;
    scheme.addEventListener("change", turn);
    return () => {
      watch.disconnect();
      scheme.removeEventListener("change", turn);
    };
  }, []);

  const colours = useComputed(() => {
    dark.value;
    width.value;
    return frame.current === null ? null : coloursOf(frame.current, page);
  });
  const look = useComputed((): Look => lookOf(store, reels.value));

  // The canvas is drawn at most once a frame of the screen, whatever changes; nothing else of the page is made anew for it.
  useSignalEffect(() => {
    const [laid, drawn, seen] = [layout.value, colours.value, look.value];
    const own = { tables: tables.value, seconds: seconds.value, selected: store.selected.value, marks: marksAt(store, seconds.value) };
    const asked = requestAnimationFrame(() => {
      const place = canvas.current;
      if (place === null || laid === null || drawn === null) return;
      const scale = devicePixelRatio || 1;
      const [width, height] = [Math.round(laid.width * scale), Math.round(laid.height * scale)];
      if (place.width !== width || place.height !== height) [place.width, place.height] = [width, height];
      const context = place.getContext("2d") as CanvasRenderingContext2D;
      context.setTransform(scale, 0, 0, scale, 0, 0);
      paint(context, { page, layout: laid, look: seen, classes, ...own }, drawn);
    });
    return () => cancelAnimationFrame(asked);
  });

  // What is chosen comes into sight where the map is higher than its place.
  useSignalEffect(() => {
    const part = store.selected.value;
    const box = layout.value?.cells.find((one) => one.part === part) ?? layout.value?.boxes.find((one) => one.part === part);
    const place = frame.current;
    if (box === undefined || place === null || place.scrollHeight <= place.clientHeight) return;
    if (box.y < place.scrollTop || box.y + box.height > place.scrollTop + place.clientHeight)
      place.scrollTop = box.y - place.clientHeight / 2;
  });

  const offers = useMemo(() => offered(page.changes), [page]);
  const select = (part: number | null) => {
    store.selected.value = part;
    if (part !== null) store.said.value = describe(store, part, seconds.peek(), reels.peek());
  };
  const onKey = (event: KeyboardEvent) => {
    if (layout.value === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    const own = store.selected.value;
    const offer = offers.find((one) => one.key === event.key);
    if (event.key === "ArrowUp" && event.shiftKey && own !== null) select(Math.max(0, (page.parts[own] as Part).parent));
    else if (event.key === "Escape") select(null);
    else if (arrow !== undefined) select(beside(layout.value, own, ...arrow));
    else if (offer !== undefined && own !== null && canHappen(store, offer, own)) happen(store, offer, own);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent) => {
    if (layout.value === null) return;
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    select(partAt(layout.value, event.clientX - place.left, event.clientY - place.top));
    // On a phone what may happen is below the map.
    if (width.value < NARROW) requestAnimationFrame(() => document.getElementById("chosen")?.scrollIntoView({ block: "nearest" }));
  };
  // What is under the pointer, as a hint of the browser's own.
  const onHover = (event: PointerEvent) => {
    const place = event.currentTarget as HTMLCanvasElement;
    if (layout.value === null || event.pointerType === "touch") return;
    const box = place.getBoundingClientRect();
    const part = partAt(layout.value, event.clientX - box.left, event.clientY - box.top);
    const words = part === null ? "" : describe(store, part, seconds.peek(), reels.peek());
    if (place.title !== words) place.title = words;
  };
  const choices = [
    ...page.map.films.map((film, at) => [`film.${at}`, film.series.map((one) => one.label).join(" and ")] as const),
    ...page.map.measures.map((one, at) => [`measure.${at}`, one.label] as const),
    ...(classes.length > 1 ? [["class", "Class"] as const] : []),
  ];
  const count = page.parts.filter((one) => one.number !== null).length;
  return (
    <section class="map" aria-labelledby="map-title">
      <div class="line">
        <h2 id="map-title">
          {count.toLocaleString("en")} {units(page, 2)}
        </h2>
        <Finder store={store} select={select} />
        <label>
          Colour{" "}
          <select value={store.measure.value} onChange={(event) => (store.measure.value = event.currentTarget.value)}>
            {choices.map(([key, text]) => (
              <option key={key} value={key}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div ref={frame} class="frame">
        {/* The map is walked by its own keys, which its words tell. */}
        <canvas
          ref={canvas}
          id="map"
          role="application"
          aria-label={`Map of ${page.title}`}
          aria-describedby="map-keys"
          tabIndex={0}
          style={{ width: `${layout.value?.width ?? 0}px`, height: `${layout.value?.height ?? 0}px` }}
          onClick={onClick}
          onPointerMove={onHover}
          onKeyDown={onKey}
        />
      </div>
      <Legend store={store} look={look.value} classes={classes} reels={reels.value} />
      <p id="map-keys" class="note">
        Click a part, or walk with the arrow keys (Shift and ↑ for what holds it). Then{" "}
        {offers.map(({ kind, key }, at) => (
          <span key={key}>
            {at ? ", " : ""}
            <kbd>{key}</kbd> {kind.label.toLowerCase()}
          </span>
        ))}
        .
      </p>
      <Chosen store={store} reels={reels} seconds={seconds} offers={offers} />
      <Scrubber store={store} end={end.value} seconds={seconds} />
      <Moment store={store} reels={reels} seconds={seconds} />
    </section>
  );
}

/** The part that a text names: by its name, by its number, or as the only one that has it in its name. */
function named(page: Document, text: string): { part: number; problem: string } {
  const { parts } = page;
  const wanted = text.trim().toLowerCase();
  const names = parts.map((one) => one.name.toLowerCase());
  const part = names.indexOf(wanted);
  if (part >= 0) return { part, problem: "" };
  const unit = /^\d+$/.test(wanted) ? parts.findIndex((one) => one.number === Number(wanted)) : -1;
  if (unit >= 0) return { part: unit, problem: "" };
  const all = [...names.keys()].filter((at) => names[at]?.includes(wanted));
  if (all.length === 1) return { part: all[0] as number, problem: "" };
  const some = all.slice(0, 3).map((at) => (parts[at] as Part).name);
  const problem =
    all.length > 1 ? `${text.trim()} may be ${some.join(", ")}${all.length > 3 ? " and others" : ""}.` : `There is no part ${text.trim()}.`;
  return { part: -1, problem };
}

function Finder({ store, select }: { store: Store; select: (part: number | null) => void }) {
  const { parts } = store.page;
  const problem = useSignal("");
  const find = (text: string): boolean => {
    problem.value = "";
    if (!text.trim()) return false;
    const found = named(store.page, text);
    problem.value = found.problem;
    // What was chosen before would else be taken for what was looked for.
    select(found.part < 0 ? null : found.part);
    return found.part >= 0;
  };
  const listed = useMemo(() => parts.slice(0, LISTED_MAX).map((one, at) => <option key={at} value={one.name} />), [parts]);
  return (
    <>
      <label>
        Find{" "}
        <input
          list="parts"
          size={12}
          placeholder={parts.find((one) => one.number !== null)?.name ?? ""}
          onChange={(event) => find(event.currentTarget.value)}
          onKeyDown={(event) => {
            // The keys of changes are the map's: who has found a part goes on there.
            if (event.key === "Enter" && find(event.currentTarget.value)) document.getElementById("map")?.focus();
          }}
        />
      </label>
      <datalist id="parts">{listed}</datalist>
      {problem.value ? (
        <span class="broken" role="alert">
          {problem.value}
        </span>
      ) : null}
    </>
  );
}

function canHappen(store: Store, { kind }: Offered, part: number): boolean {
  const { page } = store;
  // A bucket of Ceph's may be empty; what is below no unit of a study is a controller or a switch.
  return kind.kinds.includes((page.parts[part] as Part).kind) && (page.kind === "system" || unitsBelow(page, part).length > 0);
}

function happen(store: Store, { kind, number }: Offered, part: number): void {
  store.happen({ kind: number, part, seconds: store.time.value ?? usualTime(store.page, store.active.value), share: kind.shares[0] ?? 1 });
}

function lookOf(store: Store, reels: Reel[]): Look {
  const [kind, at] = store.measure.value.split(".");
  if (kind === "class") return { kind: "class" };
  const reel = reels[Number(at)];
  if (kind === "film" && reel !== undefined) return { kind: "film", reel };
  const series = store.page.map.measures[Number(at)];
  return kind === "measure" && series !== undefined ? { kind: "measure", series } : { kind: "empty" };
}

function Chosen({
  store,
  reels,
  seconds,
  offers,
}: {
  store: Store;
  reels: ReadonlySignal<Reel[]>;
  seconds: ReadonlySignal<number>;
  offers: Offered[];
}) {
  const part = store.selected.value;
  if (part === null) return <p class="chosen empty">Nothing is chosen: click a part of the map, or find it by its name.</p>;
  const [title, ...facts] = described(store, part, seconds.value, reels.value);
  return (
    <div class="chosen" id="chosen">
      {/* What changes while one looks stands below what is clicked, and moves it nowhere. */}
      <p>
        <strong>{title}</strong> <span class={store.time.value ? "when then" : "when"}>{whenWords(store)}:</span>
      </p>
      <div class="actions">
        {offers.map((one) =>
          canHappen(store, one, part) ? (
            <button
              key={one.key}
              type="button"
              title={one.kind.sentence}
              aria-keyshortcuts={one.key}
              data-change={one.kind.key}
              onClick={() => happen(store, one, part)}
            >
              {one.kind.label}
            </button>
          ) : null,
        )}
        {(store.page.parts[part] as Part).parent >= 0 ? (
          <button type="button" class="plain" onClick={() => (store.selected.value = (store.page.parts[part] as Part).parent)}>
            Choose its {(store.page.parts[(store.page.parts[part] as Part).parent] as Part).kind}
          </button>
        ) : null}
      </div>
      <p class="facts">{facts.join(", ")}</p>
      <details class="note">
        <summary>What these do</summary>
        <dl>
          {offers.map((one) =>
            canHappen(store, one, part) ? (
              <div key={one.key}>
                <dt>{one.kind.label}</dt>
                <dd>{one.kind.sentence}</dd>
              </div>
            ) : null,
          )}
        </dl>
        <p>Each happens at the time that is said above them; the list of what happens takes any other time.</p>
      </details>
    </div>
  );
}

/** When what a reader has happen will, if nothing else is said. */
function whenWords(store: Store): string {
  if (store.time.value) return `After ${duration(store.time.value)}, where the time stands`;
  const usual = store.time.value ?? usualTime(store.page, store.active.value);
  return usual > 0 ? `After ${duration(usual)}, with the first fault of the study` : "At the start";
}

function Legend({ store, look, classes, reels }: { store: Store; look: Look; classes: string[]; reels: Reel[] }) {
  const { page } = store;
  const tables = store.result.value?.done.tables ?? null;
  if (look.kind === "class")
    return (
      <p class="legend">
        {classes.map((one, at) => (
          <span key={one}>
            <i class={`class-${at % page.style.series.length}`} /> {one || "no class"}
          </span>
        ))}
      </p>
    );
  if (look.kind === "empty") return <p class="legend">No answer yet.</p>;
  const series = look.kind === "measure" ? [look.series] : look.reel.film.series;
  const most = (one: (typeof series)[number]) =>
    one.unit === "share"
      ? 1
      : look.kind === "measure"
        ? Math.max(0, ...measured(tables, page, one).values())
        : (reels.find((reel) => reel === look.reel)?.most(one) ?? 0);
  return (
    <p class="legend">
      {series.map((one, at) => (
        <span key={one.column}>
          {series.length > 1 ? `${at === 0 ? "left" : "right"} half, ` : ""}
          {one.label.toLowerCase()}: 0 <i class={at ? "ramp other" : "ramp"} /> {shown(most(one), one.unit)}
        </span>
      ))}
      <span>
        <i class="failed">×</i> failed or down
      </span>
      {page.map.full !== null && series[0]?.over.startsWith("capacity") ? (
        <span>
          <i class="edge" /> {shown(page.map.full, "share")} or more: takes no copies
        </span>
      ) : null}
      {look.kind === "film" && look.reel.film.waits_for ? <span>lines: who waits for whom</span> : null}
    </p>
  );
}

function Scrubber({ store, end, seconds }: { store: Store; end: number; seconds: ReadonlySignal<number> }) {
  const playing = useSignal(false);
  useEffect(() => {
    if (!playing.value) return;
    const from = store.time.value === null || store.time.value >= end ? 0 : store.time.value;
    const began = performance.now();
    let asked = 0;
    const next = () => {
      const now = from + ((performance.now() - began) / PLAY) * end;
      if (now >= end) {
        store.time.value = null;
        playing.value = false;
        return;
      }
      store.time.value = now;
      asked = requestAnimationFrame(next);
    };
    asked = requestAnimationFrame(next);
    return () => cancelAnimationFrame(asked);
  }, [playing.value, end]);
  if (end <= 0) return null;
  const stopped = Math.min(seconds.value, end);
  return (
    <div class="scrubber">
      <button type="button" aria-pressed={playing.value} onClick={() => (playing.value = !playing.value)}>
        {playing.value ? "Pause" : "Play"}
      </button>
      <label>
        Time
        <input
          id="time"
          type="range"
          min={0}
          max={1000}
          value={Math.round((stopped / end) * 1000)}
          aria-valuetext={duration(stopped)}
          onInput={(event) => {
            playing.value = false;
            const place = Number(event.currentTarget.value);
            store.time.value = place >= 1000 ? null : (place / 1000) * end;
          }}
        />
      </label>
      <output for="time">{duration(stopped)}</output>
    </div>
  );
}

/** What goes on at the time that is shown, in words. */
function Moment({ store, reels, seconds }: { store: Store; reels: ReadonlySignal<Reel[]>; seconds: ReadonlySignal<number> }) {
  const reel = reels.value.find((one) => one.film.series.length > 1);
  if (reel === undefined || reel.units.size === 0) return null;
  const { active, waiting } = reel.counts(store.page.parts, seconds.value);
  const many = (value: number, what: string) => `${value.toLocaleString("en")} ${what}`;
  const words = reel.film.series.map((one, at) => {
    const value = active[at] ?? 0;
    const verb = one.label.toLowerCase();
    return many(value, `${at ? "" : `${units(store.page, value)} `}${value === 1 ? verb : verb.replace(/s$/, "")}`);
  });
  const { what, why } = reel.film.words ?? { what: "", why: "" };
  const waits = waiting ? `, and ${many(waiting, `${what}${waiting === 1 ? " waits" : "s wait"}`)} for ${why}` : "";
  return (
    <p class="note moment">
      After {duration(seconds.value)} {active.some((one) => one > 0) || waiting ? `${words.join(", ")}${waits}` : "nothing moves"}.
    </p>
  );
}
