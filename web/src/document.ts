/** What a page is made of: the document that `resilver.explore.document` writes, and how its parts are unpacked. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Path = (string | number)[];
/** A place of the input and what it becomes; without a value the place goes. */
export type Patch = [Path] | [Path, Json];
export type Unit = "seconds" | "bytes" | "bytes_per_second" | "share" | "count" | "";

export interface Part {
  name: string;
  kind: string;
  parent: number;
  number: number | null;
  device_class: string;
  capacity: number | null;
  used: number | null;
  up: boolean;
  /** What else there is to say of it. */
  about: string;
}

export interface Stop {
  label: string;
  options: [string, string][];
}

export interface Control {
  key: string;
  label: string;
  sentence: string;
  stops: Stop[];
  chosen: number;
  origin: string;
  source: string;
}

export interface Group {
  controls: Control[];
  patches: Record<string, Patch[]>;
}

export interface ChangeKind {
  key: string;
  label: string;
  sentence: string;
  kinds: string[];
  template: Json;
  word: string;
  also: Patch[];
  shares: number[];
  /** An option that the command gets once where it happens at all. */
  beside: string;
}

/** What ends the last change of a part before it, in a study: the key and value that the change gets, in the input and in the file. */
export interface Ending extends ChangeKind {
  input: [string, Json];
  line: [string, string];
}

/** A table of a study file: its name, its header, and its keys with their values as TOML has them. */
export interface Block {
  name: string;
  header: string;
  keys: [string, string][];
}

/** What goes from a study's blocks by dotted keys, and which lines come: block, its header, key and value. */
export interface Edit {
  clear: string[];
  put: [string, string, string, string][];
}

/** How the study file of a scenario is put together; `resilver.explore.study_text` says it. */
export interface StudyText {
  blocks: Block[];
  stops: Record<string, Edit[][]>;
  header: string;
  lines: Record<string, [string, string][]>;
  ending: Ending | null;
}

export interface Figure {
  key: string;
  label: string;
  unit: Unit;
  table: string;
  column: string;
  how: string;
  over: string;
  /** The column of the parts of which a row is at a time, the first before anything happens; empty where rows are none. */
  each: string;
  better: "less" | "more" | "";
  /** What is said in place of a word, or behind the one that leads. */
  words: Record<string, string>;
}

export interface Series {
  column: string;
  label: string;
  unit: Unit;
  over: string;
}

export interface Lines {
  key: string;
  title: string;
  table: string;
  unit: Unit;
  series: Series[];
  time: string;
  /** The column of the parts of which a row is, each at every time; the one that has it worst is drawn. Empty where a row is a time. */
  each: string;
  worst: "least" | "most";
}

/** What waits in a film, and for what, in words. */
export interface Waiting {
  what: string;
  why: string;
  own: string;
}

export interface Film {
  table: string;
  key: string;
  series: Series[];
  time: string;
  /** Empty where each row holds until the next. */
  until: string;
  waits_for: string;
  waiting: string;
  words: Waiting | null;
}

export interface MapShown {
  table: string;
  key: string;
  measures: Series[];
  films: Film[];
  /** The column of whether a unit failed by what the system itself says; empty for none. */
  failed: string;
  /** From which share of its bytes on a unit takes no more; null for none. */
  full: number | null;
}

export interface Document {
  version: number;
  kind: "cluster" | "system";
  title: string;
  source: string;
  input: Json;
  maps: string[];
  unit: string;
  parts: Part[];
  groups: Group[];
  changes: ChangeKind[];
  changes_at: string[];
  figures: Figure[];
  harm: string[];
  charts: Lines[];
  map: MapShown;
  assumptions: { name: string; value: string; origin: string; applies_to: string; sentence: string }[];
  notes: string[];
  command: string[];
  study: StudyText | null;
  /** From when on nothing may happen; null where a run goes on until all is whole. */
  until: number | null;
  seconds: number | null;
  bytes: number | null;
  server: { path: string; token: string } | null;
  /** What a run takes beyond which the page asks. */
  unasked: { seconds: number; bytes: number };
  style: { config: Json; dark: Record<string, string>; series: string[]; dashes: number[][] };
}

/** The bytes that a script element of the page holds, packed. */
export async function unpacked(id: string): Promise<ArrayBuffer> {
  const text = document.getElementById(id)?.textContent ?? "";
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export async function readDocument(): Promise<Document> {
  return read(new TextDecoder().decode(await unpacked("document")));
}

/** The document that its text is of: what ends changes is one of them. */
export function read(text: string): Document {
  const made = JSON.parse(text) as Document;
  const ending = made.study?.ending;
  return ending ? { ...made, changes: [...made.changes, { ...ending, template: null, also: [], shares: [], beside: "" }] } : made;
}
