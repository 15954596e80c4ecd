/** The charts of an answer, drawn by Vega; each with its numbers as CSV. */

import { useEffect, useRef } from "preact/hooks";
import { type Lines, unpacked } from "../document";
import { cell, column, shown, type Tables } from "../figures";
import { save } from "../save";
import type { Store } from "../store";

type Spec = Record<string, unknown>;
interface View {
  signal(name: string, value: unknown): View;
  runAsync(): Promise<View>;
  finalize(): void;
}
type Embed = (element: HTMLElement, spec: Spec, options: Spec) => Promise<{ view: View }>;

let embed: Promise<Embed> | undefined;

/** Vega comes after the first sight of the page. */
function loaded(): Promise<Embed> {
  embed ??= unpacked("vega").then((bytes) => {
    const script = document.createElement("script");
    script.src = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
    return new Promise((resolve, reject) => {
      script.onload = () => resolve((window as unknown as { vegaEmbed: Embed }).vegaEmbed);
      script.onerror = () => reject(new Error("the chart library of the page cannot run"));
      document.head.append(script);
    });
  });
  return embed;
}

interface Point {
  time: number;
  value: number;
  what: string;
  side: string;
}

const POINTS_MAX = 1500;

/** The points of a chart: every row, or so many that none is missed at the chart's width. */
function pointsOf(tables: Tables, chart: Lines, side: string): Point[] {
  const times = column(tables, chart.table, chart.time);
  const rows = chart.each ? worst(tables, chart) : Array.from({ length: times.length }, (_, row) => row);
  const step = Math.max(1, Math.ceil(rows.length / POINTS_MAX));
  const points: Point[] = [];
  for (const series of chart.series) {
    const cells = column(tables, chart.table, series.column);
    const under = series.over ? column(tables, chart.table, series.over) : null;
    for (const [rank, row] of rows.entries()) {
      if (rank % step && rank !== rows.length - 1) continue;
      const value = cell(cells, row);
      const divisor = under === null ? 1 : cell(under, row);
      if (value !== null && divisor) points.push({ time: Number(times[row]), value: value / divisor, what: series.label, side });
    }
  }
  return points;
}

/** Of each time, the row of the part that has it worst. */
function worst(tables: Tables, chart: Lines): number[] {
  const times = column(tables, chart.table, chart.time);
  const cells = column(tables, chart.table, chart.series[0]?.column ?? "");
  const held = new Map<number, number>();
  const sign = chart.worst === "most" ? -1 : 1;
  for (let row = 0; row < times.length; row++) {
    const time = Number(times[row]);
    const before = held.get(time);
    const value = cell(cells, row);
    if (value === null) continue;
    if (before === undefined || sign * value < sign * (cell(cells, before) ?? 0)) held.set(time, row);
  }
  return [...held.values()];
}

const CLOCKS: [number, string][] = [
  [2 * 86400, "d"],
  [2 * 3600, "h"],
  [120, "min"],
  [0, "s"],
];
const SIZES: Record<string, number> = { d: 86400, h: 3600, min: 60, s: 1 };

const SCALES: [number, string][] = [
  [1024 ** 4, "TiB"],
  [1024 ** 3, "GiB"],
  [1024 ** 2, "MiB"],
  [1024, "KiB"],
  [1, "B"],
];

/** The unit of an axis: what its values are divided by, and its name. */
function axisOf(chart: Lines, most: number): { by: number; name: string; format: string } {
  if (chart.unit === "share") return { by: 1, name: "", format: "~%" };
  if (chart.unit === "seconds") return most < 1 ? { by: 0.001, name: "ms", format: ",~r" } : { by: 1, name: "s", format: ",~r" };
  if (chart.unit !== "bytes" && chart.unit !== "bytes_per_second") return { by: 1, name: "", format: ",~r" };
  const [by, name] = SCALES.find(([size]) => most >= 2 * size) ?? [1, "B"];
  return { by, name: chart.unit === "bytes" ? name : `${name}/s`, format: ",~r" };
}

function specOf(store: Store, chart: Lines, points: Point[], width: number): Spec {
  const end = Math.max(1, ...points.map((one) => one.time));
  const unit = CLOCKS.find(([least]) => end >= least)?.[1] ?? "s";
  const size = SIZES[unit] ?? 1;
  const axis = axisOf(chart, mostOf(points));
  const { series, dashes, config } = store.page.style;
  const all = chart.series.map((one) => one.label);
  // What is never above nothing has no line; the others keep their colours.
  const labels = all.filter((label) => points.some((one) => one.what === label && one.value !== 0));
  const colours = labels.map((label) => series[all.indexOf(label) % series.length]);
  const values = points
    .filter((one) => labels.includes(one.what))
    .map((one) => ({ ...one, time: one.time / size, value: one.value / axis.by }));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width,
    height: 230,
    autosize: { type: "fit", contains: "padding" },
    config,
    data: { values },
    params: [{ name: "now", value: -1 }],
    layer: [
      {
        mark: { type: "line", interpolate: "step-after", strokeWidth: 2 },
        encoding: {
          x: { field: "time", type: "quantitative", title: `time, ${unit}`, scale: { domain: [0, end / size], nice: false } },
          y: { field: "value", type: "quantitative", title: axis.name || null, axis: { format: axis.format } },
          color: {
            field: "what",
            type: "nominal",
            title: null,
            sort: labels,
            scale: { domain: labels, range: colours },
            legend: labels.length > 1 ? { orient: "top", columns: width < 420 ? 2 : 4 } : null,
          },
          strokeDash: { field: "side", type: "nominal", scale: { domain: ["A", "B"], range: [dashes[0], dashes[1]] }, legend: null },
        },
      },
      {
        // Before the start the line of the time is out of sight.
        data: { values: [{}] },
        mark: { type: "rule", strokeWidth: 1.5, color: "#666E76", clip: true },
        encoding: { x: { datum: { expr: `now / ${size}` }, type: "quantitative" } },
      },
    ],
  };
}

function mostOf(points: Point[]): number {
  return points.reduce((best, one) => Math.max(best, one.value), 0);
}

function coloured(store: Store, spec: Spec): Spec {
  if (!matchMedia("(prefers-color-scheme: dark)").matches) return spec;
  const text = JSON.stringify(spec).replace(/#[0-9a-fA-F]{6}/g, (colour) => store.page.style.dark[colour] ?? colour);
  return JSON.parse(text) as Spec;
}

export function Charts({ store }: { store: Store }) {
  return (
    <section class="charts" aria-labelledby="charts-title">
      <h2 id="charts-title">Over time</h2>
      {store.page.charts.map((chart) =>
        chart.unit === "seconds" && isOverloaded(store) ? (
          <p key={chart.key} class="note" data-chart={chart.key}>
            {chart.title}: clients ask for more than they get, so what waits grows without end, and no delay would be the clients' own.
          </p>
        ) : (
          <Chart key={chart.key} store={store} chart={chart} />
        ),
      )}
    </section>
  );
}

/** Whether clients of a scenario that is shown get so much less than they ask that their requests have no delay. */
function isOverloaded(store: Store): boolean {
  const rows = store.shown.value.flatMap((result) => (result === null ? [] : [store.figures(result.done.tables)]));
  return rows.some((row) => row.served_share != null && row.p99_seconds == null);
}

function Chart({ store, chart }: { store: Store; chart: Lines }) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<View | null>(null);
  const results = store.shown.value;
  const points = results.flatMap((result, at) => (result === null ? [] : pointsOf(result.done.tables, chart, at ? "B" : "A")));
  const isEmpty = points.every((one) => one.value === 0);
  const time = store.time.value;
  useEffect(() => {
    let isGone = false;
    const draw = async () => {
      const box = place.current;
      if (box === null || isEmpty || results.some((one) => one === null)) return;
      const draws = await loaded();
      if (isGone) return;
      const made = await draws(box, coloured(store, specOf(store, chart, points, box.clientWidth)), {
        mode: "vega-lite",
        ast: true,
        actions: false,
        renderer: "canvas",
        defaultStyle: false,
        tooltip: false,
      });
      if (isGone) return made.view.finalize();
      view.current?.finalize();
      view.current = made.view;
      if (store.time.value !== null) void made.view.signal("now", store.time.value).runAsync();
    };
    const drawn = () =>
      draw().catch((error) => {
        if (place.current !== null) place.current.textContent = `This chart cannot be drawn here (${error}). CSV has its numbers.`;
      });
    void drawn();
    let width = place.current?.clientWidth ?? 0;
    const watch = new ResizeObserver(() => {
      const now = place.current?.clientWidth ?? 0;
      if (now === width || now === 0) return;
      width = now;
      void drawn();
    });
    if (place.current !== null) watch.observe(place.current);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const turn = () => void drawn();
    scheme.addEventListener("change", turn);
    return () => {
      isGone = true;
      watch.disconnect();
      scheme.removeEventListener("change", turn);
    };
  }, [results, isEmpty]);
  useEffect(() => {
    void view.current?.signal("now", time ?? -1).runAsync();
  }, [time]);
  const end = chart.each && chart.worst === "least" ? "least" : "most";
  const most = end === "least" ? points.reduce((best, one) => Math.min(best, one.value), Number.POSITIVE_INFINITY) : mostOf(points);
  return (
    <figure data-chart={chart.key} hidden={isEmpty}>
      <figcaption>
        <h3>{chart.title}</h3>
        <span class="soft">
          {" "}
          {labelsOf(chart, points)} at the {end} {shown(most, chart.unit)}
          {results.length > 1 ? "; A solid, B dashed" : ""}
        </span>{" "}
        <button type="button" class="plain" onClick={() => save(`${chart.key}.csv`, "text/csv", csvOf(store, chart))}>
          CSV
        </button>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${chart.title} over time, at the ${end} ${shown(most, chart.unit)}`} />
    </figure>
  );
}

/** What a chart of one line shows; the others have a legend. */
function labelsOf(chart: Lines, points: Point[]): string {
  const labels = chart.series.map((one) => one.label).filter((label) => points.some((one) => one.what === label && one.value !== 0));
  return labels.length === 1 ? (labels[0] as string) : "";
}

/** The numbers of a chart: a row a time, a column a line, of every scenario. */
export function csvOf(store: Store, chart: Lines): string {
  const sides = store.shown.value;
  const part = chart.each ? [chart.each] : [];
  const names = [...(sides.length > 1 ? ["scenario"] : []), chart.time, ...part, ...chart.series.map((one) => one.column)];
  const lines = [names.join(",")];
  for (const [at, result] of sides.entries()) {
    if (result === null) continue;
    const columns = [chart.time, ...part, ...chart.series.map((one) => one.column)].map((name) =>
      column(result.done.tables, chart.table, name),
    );
    for (let row = 0; row < (columns[0]?.length ?? 0); row++) {
      const cells = columns.map((one) => (one[row] === null || one[row] === undefined ? "" : String(one[row])));
      lines.push([...(sides.length > 1 ? [at ? "B" : "A"] : []), ...cells.map(cellOf)].join(","));
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A cell of CSV: quoted where it must be, and no formula to a spreadsheet. */
export function cellOf(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
