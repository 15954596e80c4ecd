/** Draws the map: what each unit is coloured by, what happened to it, and who waits for whom. */

import type { Document, Part, Series } from "./document";
import { cell, column, type Tables } from "./figures";
import { movingSeconds, type Reel } from "./film";
import type { Layout } from "./layout";

export interface Colours {
  ink: string;
  soft: string;
  paper: string;
  panel: string;
  line: string;
  accent: string;
  warn: string;
  failed: string;
  ramps: string[][];
  classes: string[];
}

/** What the map is coloured by. */
export type Look = { kind: "class" } | { kind: "measure"; series: Series } | { kind: "film"; reel: Reel } | { kind: "empty" };

export interface Scene {
  page: Document;
  layout: Layout;
  look: Look;
  tables: Tables | null;
  seconds: number;
  selected: number | null;
  /** What happened until now: the label of the last change of each part. */
  marks: Map<number, string>;
  classes: string[];
}

/** Colours of the page as it is, light or dark. */
export function coloursOf(element: Element, page: Document): Colours {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const classes = page.style.series.map((one) => (isDark ? (page.style.dark[one] ?? one) : one));
  const ramps = ["ramp", "other"].map((name) => mixed([0, 1, 2, 3, 4].map((at) => of(`${name}-${at}`))));
  return {
    ink: of("ink"),
    soft: of("soft"),
    paper: of("paper"),
    panel: of("panel"),
    line: of("line"),
    accent: of("accent"),
    warn: of("warn"),
    failed: of("failed"),
    ramps,
    classes,
  };
}

const STEPS = 32;

/** A colour of a ramp for each of so many steps. */
function mixed(texts: string[]): string[] {
  const points = texts.map((text) => [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)));
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const place = (step / STEPS) * (points.length - 1);
    const low = Math.min(Math.floor(place), points.length - 2);
    const [from, to] = [points[low] as number[], points[low + 1] as number[]];
    return `rgb(${from.map((one, at) => Math.round(one + ((to[at] as number) - one) * (place - low))).join(" ")})`;
  });
}

/** What the map shows before there is an answer: how full units are. */
export const NOW: Series = { column: "", label: "Fill", unit: "share", over: "capacity_bytes" };

/** How full a unit is before anything happens; null where that is not known. */
export function fillNow({ used, capacity }: Part): number | null {
  return used === null || !capacity ? null : used / capacity;
}

/** The value of a unit's measure; of no unit without an answer. */
export function measured(tables: Tables | null, page: Document, series: Series): Map<number, number> {
  const found = new Map<number, number>();
  if (series === NOW) for (const part of page.parts) if (part.number !== null) found.set(part.number, fillNow(part) ?? 0);
  if (tables === null || series === NOW) return found;
  const { table, key } = page.map;
  const [keys, cells] = [key ? column(tables, table, key) : [], column(tables, table, series.column)];
  const seconds = spanOf(tables, page, series.over);
  const under = series.over && seconds === null ? column(tables, table, series.over) : null;
  for (let row = 0; row < cells.length; row++) {
    const divisor = seconds ?? (under === null ? 1 : cell(under, row));
    // Without a key the rows are the units by number.
    found.set(key ? Number(keys[row]) : row, (cell(cells, row) ?? 0) / (divisor || 1));
  }
  return found;
}

/** The seconds that a measure is a share of; null where it is divided by a column, or by nothing. */
function spanOf(tables: Tables, page: Document, over: string): number | null {
  const first = (name: string) => cell(column(tables, "metrics", name), 0);
  if (over === "window") return first("statistics_seconds") || first("simulated_seconds") || 1;
  const film = page.map.films[0];
  return over === "moving" && film !== undefined ? movingSeconds(tables, film) : null;
}

export function paint(context: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
  const [ramp = [], other = ramp] = colours.ramps;
  const { layout, page, look } = scene;
  context.clearRect(0, 0, layout.width, layout.height);
  context.textBaseline = "alphabetic";
  context.font = "11px system-ui, sans-serif";
  for (const box of layout.boxes) {
    const part = page.parts[box.part] as Part;
    context.fillStyle = box.depth % 2 ? colours.paper : colours.panel;
    context.fillRect(box.x, box.y, box.width, box.height);
    context.strokeStyle = scene.marks.has(box.part) ? colours.failed : colours.line;
    context.lineWidth = 1;
    context.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
    if (box.label) label(context, part.name, box.x + 5, box.y + 11, box.width - 10, colours.soft);
  }
  const values = look.kind === "measure" ? measured(scene.tables, page, look.series) : null;
  const most =
    look.kind === "measure" ? (look.series.unit === "share" ? 1 : Math.max(...(values as Map<number, number>).values(), 1e-300)) : 1;
  const levels = look.kind === "film" ? look.reel.film.series.map((one) => (one.unit === "share" ? 1 : look.reel.most(one) || 1)) : [];
  const waits: [number, number][] = [];
  for (const box of layout.cells) {
    const part = page.parts[box.part] as Part;
    const size = box.width;
    context.fillStyle = colours.line;
    if (look.kind === "class")
      context.fillStyle = colours.classes[scene.classes.indexOf(part.device_class) % colours.classes.length] ?? colours.soft;
    if (values !== null) context.fillStyle = shade(ramp, (values.get(part.number as number) ?? 0) / most);
    if (part.number === null) hollow(context, box.x, box.y, size, colours);
    else context.fillRect(box.x, box.y, size, size);
    if (look.kind === "film" && part.number !== null) {
      const row = look.reel.row(part.number as number, scene.seconds);
      // Side by side, so that a unit that reads and writes at a time shows both.
      const wide = size / levels.length;
      for (const [at, series] of look.reel.film.series.entries()) {
        const share = row === null ? 0 : look.reel.value(series, part, row, scene.seconds) / (levels[at] as number);
        context.fillStyle = shade(at ? other : ramp, share);
        context.fillRect(box.x + at * wide, box.y, wide + (at === levels.length - 1 ? 0 : 0.5), size);
      }
      const turn = row === null ? null : look.reel.waitsFor(row);
      if (turn !== null && turn !== part.number) waits.push([box.part, turn]);
    }
    const share = fillOf(scene, part, values);
    if (page.map.full !== null && share !== null && share >= page.map.full - TOLERANCE) edge(context, box.x, box.y, size, colours);
    if (size >= NUMBERED && part.number !== null) number(context, part.number, box.x, box.y, size, colours);
    const mark = scene.marks.get(box.part) ?? (part.up ? undefined : "down");
    if (mark === "slow") edge(context, box.x, box.y, size, colours);
    else if (mark !== undefined) cross(context, box.x, box.y, size, colours);
  }
  if (waits.length > 0) lines(context, scene, waits, colours);
  outline(context, scene, colours);
}

/** Cells of this size have their numbers in them. */
const NUMBERED = 26;
/** What is a hair below a ratio, since bytes are whole, is at it. */
const TOLERANCE = 5e-4;

/** How full a unit is, where that is what the map shows. */
function fillOf({ look, seconds }: Scene, part: Part, values: Map<number, number> | null): number | null {
  if (look.kind === "measure") return look.series.over === "capacity_bytes" ? (values?.get(part.number as number) ?? null) : null;
  if (look.kind !== "film" || look.reel.film.series[0]?.over !== "capacity") return null;
  const row = look.reel.row(part.number as number, seconds);
  return row === null ? null : look.reel.value(look.reel.film.series[0], part, row, seconds);
}

function edge(context: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Colours): void {
  context.strokeStyle = colours.warn;
  context.lineWidth = 3;
  context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
}

/** A unit's number on a ground of its own, so that it is read on any colour. */
function number(context: CanvasRenderingContext2D, value: number, x: number, y: number, size: number, colours: Colours): void {
  const text = String(value);
  context.font = "10px system-ui, sans-serif";
  const width = context.measureText(text).width;
  if (width > size - 6) return;
  context.globalAlpha = 0.72;
  context.fillStyle = colours.paper;
  context.fillRect(x + 1, y + size - 12, width + 4, 11);
  context.globalAlpha = 1;
  context.fillStyle = colours.ink;
  context.fillText(text, x + 3, y + size - 3);
}

function shade(ramp: string[], share: number): string {
  return ramp[Math.round(Math.min(Math.max(share, 0), 1) * STEPS)] as string;
}

/** A part that holds nothing and has no values: a controller, or a switch. */
function hollow(context: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Colours): void {
  context.fillStyle = colours.panel;
  context.fillRect(x, y, size, size);
  context.strokeStyle = colours.soft;
  context.lineWidth = 1;
  context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
}

function cross(context: CanvasRenderingContext2D, x: number, y: number, size: number, colours: Colours): void {
  context.fillStyle = colours.paper;
  context.fillRect(x, y, size, size);
  context.strokeStyle = colours.failed;
  context.lineWidth = Math.max(1, size / 10);
  const in_ = size / 5;
  context.beginPath();
  context.moveTo(x + in_, y + in_);
  context.lineTo(x + size - in_, y + size - in_);
  context.moveTo(x + size - in_, y + in_);
  context.lineTo(x + in_, y + size - in_);
  context.stroke();
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

/** From those that wait to those whose turn they wait for. */
function lines(context: CanvasRenderingContext2D, scene: Scene, waits: [number, number][], colours: Colours): void {
  const { cells } = scene.layout;
  const place = new Map(cells.map((box) => [(scene.page.parts[box.part] as Part).number, box]));
  const own = new Map(cells.map((box) => [box.part, box]));
  context.strokeStyle = colours.ink;
  context.lineWidth = 0.75;
  context.globalAlpha = waits.length > 60 ? 0.25 : 0.5;
  context.beginPath();
  for (const [part, unit] of waits) {
    const [from, to] = [own.get(part), place.get(unit)];
    if (from === undefined || to === undefined) continue;
    context.moveTo(from.x + from.width / 2, from.y + from.height / 2);
    context.lineTo(to.x + to.width / 2, to.y + to.height / 2);
  }
  context.stroke();
  context.globalAlpha = 1;
}

function outline(context: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
  const box =
    scene.layout.cells.find((one) => one.part === scene.selected) ?? scene.layout.boxes.find((one) => one.part === scene.selected);
  if (box === undefined) return;
  context.strokeStyle = colours.ink;
  context.lineWidth = 3;
  context.strokeRect(box.x, box.y, box.width, box.height);
  context.strokeStyle = colours.paper;
  context.lineWidth = 1;
  context.strokeRect(box.x, box.y, box.width, box.height);
}

function label(context: CanvasRenderingContext2D, text: string, x: number, y: number, width: number, colour: string): void {
  let short = text;
  while (short.length > 1 && context.measureText(short).width > width) short = `${short.slice(0, -2)}…`;
  context.fillStyle = colour;
  context.fillText(short, x, y);
}
