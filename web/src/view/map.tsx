/** The map of parts: a canvas to click and to walk by keys, what may happen to what is chosen, and the time. */

import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Part } from "../document";
import { duration, shown } from "../figures";
import { Reel } from "../film";
import { units } from "../happening";
import { beside, laidOut, partAt } from "../layout";
import { coloursOf, fillNow, type Look, measured, NOW, paint } from "../paint";
import { describe, lastChange, marksAt } from "../scene";
import type { Store } from "../store";
import { Chosen, canHappen, Finder, happen, offered } from "./chosen";

/** Milliseconds in which the whole healing is played. */
const PLAY = 12_000;
/** Pixels below which a map is one on a phone. */
const NARROW = 500;

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
  const seconds = useComputed(() => Math.min(store.time.value ?? end.value, end.value));

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

  // The canvas is drawn at most once a frame of the screen, whatever changes; nothing else of the page is built again for it.
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
    if (part !== null) store.missing.value = "";
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

function lookOf(store: Store, reels: Reel[]): Look {
  const [kind, at] = store.measure.value.split(".");
  if (kind === "class") return { kind: "class" };
  const reel = reels[Number(at)];
  if (kind === "film" && reel !== undefined) return { kind: "film", reel };
  if (store.result.value === null)
    return store.page.parts.some((one) => fillNow(one) !== null) ? { kind: "measure", series: NOW } : { kind: "empty" };
  const series = store.page.map.measures[Number(at)];
  return kind === "measure" && series !== undefined ? { kind: "measure", series } : { kind: "empty" };
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
