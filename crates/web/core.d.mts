/** What `core.mjs` offers, for TypeScript. */

export type Cells = ArrayLike<number | bigint | string | null>;
export type Table = Record<string, Cells>;

export type Answer =
  | { state: "working"; phase: string; fraction: number; simulated_seconds: number; rebuilt_pieces: number; pieces_to_rebuild: number; memory_bytes?: number }
  | { state: "healing"; fraction: number; simulated_seconds: number; unclean_groups: number; groups: number; memory_bytes?: number }
  | { state: "waiting" }
  | { state: "failed"; class: string; message: string }
  | { state: "done"; digest: string; tables: Record<string, Table> };

export interface Request {
  kind: string;
  input: string;
  maps: readonly (string | Uint8Array)[];
}

export class CoreError extends Error {
  class: string;
}
export class CoreTrap extends Error {}

export interface Run {
  answer: Answer;
  advance(steps?: number): Answer;
  finish(steps?: number): Answer;
  end(): void;
}

export class Core {
  begin(request: Request): Run;
  /** The memory that it has, which never gets less. */
  readonly bytes: number;
}

export function instantiate(source: BufferSource | WebAssembly.Module): Promise<Core>;
export function decode(buffer: ArrayBuffer): Answer;
