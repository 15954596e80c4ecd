/**
 * The core in JavaScript: begins runs, steps them, and reads what they answer.
 *
 * A request is what `resilver.browser` writes: `{kind, input, maps}`. It needs nothing but WebAssembly, and is meant for a worker: a
 * step keeps its thread busy, and whoever ends the worker ends the run.
 */

/** The kinds of run, by the numbers that the module knows them by. */
const KINDS = ["system", "cluster"];

const FLAG = "flag";
const ARRAYS = { int32: Int32Array, int64: BigInt64Array, float64: Float64Array, [FLAG]: Uint8Array };

/** What the core refused: `class` is `config`, `placement` or `simulation`. */
export class CoreError extends Error {
  constructor(kind, message) {
    super(message);
    this.name = "CoreError";
    this.class = kind;
  }
}

/** The core ended, by a defect or for want of memory; all of its runs are lost, and another must be instantiated. */
export class CoreTrap extends Error {
  constructor(message) {
    super(message);
    this.name = "CoreTrap";
  }
}

/**
 * The core, from the bytes of the module or from the module compiled.
 *
 * @param {BufferSource | WebAssembly.Module} source
 */
export async function instantiate(source) {
  const made = await WebAssembly.instantiate(source, {});
  return new Core((made.instance ?? made).exports);
}

/** An instance of the core; it may have several runs. */
export class Core {
  constructor(exports) {
    this.exports = exports;
  }

  /**
   * A run that has not begun.
   *
   * @param {{kind: string, input: string, maps: (string | Uint8Array)[]}} request what runs, and its CRUSH maps as bytes or in Base64
   */
  begin({ kind, input, maps }) {
    const own = maps.map((map) => (typeof map === "string" ? Uint8Array.from(atob(map), (sign) => sign.charCodeAt(0)) : map));
    const lengths = own.map((map) => new Uint8Array(Uint32Array.of(map.length).buffer));
    const placed = [new TextEncoder().encode(input), joined(own.flatMap((map, number) => [lengths[number], map]))];
    const [text, beside] = placed.map((bytes) => this.#placed(bytes));
    const session = this.call("resilver_begin", KINDS.indexOf(kind) >>> 0, text, placed[0].length, beside, placed[1].length);
    return new Run(this, session);
  }

  /** The memory that the core has, which never gets less. */
  get bytes() {
    return this.exports.memory.buffer.byteLength;
  }

  /** Where bytes are in the core's memory. */
  #placed(bytes) {
    const pointer = this.call("resilver_allocate", bytes.length) >>> 0;
    if (pointer === 0) throw new CoreTrap(this.#why("the core has no memory for what it is given"));
    new Uint8Array(this.exports.memory.buffer, pointer, bytes.length).set(bytes);
    return pointer;
  }

  /** Calls a function of the core; where it traps, the error says why. */
  call(name, ...values) {
    try {
      return this.exports[name](...values);
    } catch (error) {
      throw new CoreTrap(this.#why(String(error)));
    }
  }

  #why(otherwise) {
    const { memory, resilver_trap: place, resilver_trap_length: length } = this.exports;
    return new TextDecoder().decode(new Uint8Array(memory.buffer, place() >>> 0, length() >>> 0)) || otherwise;
  }

  /** What a session answers, copied out of the memory, which moves. */
  answerOf(session) {
    const place = this.call("resilver_answer", session) >>> 0;
    const length = this.call("resilver_answer_length", session) >>> 0;
    return decode(this.exports.memory.buffer.slice(place, place + length));
  }
}

/** A run under way; `answer` is how far it is, or what it came to. */
class Run {
  #core;
  #session;

  constructor(core, session) {
    this.#core = core;
    this.#session = session;
    this.#read();
  }

  #read() {
    this.answer = this.#core.answerOf(this.#session);
    if (this.answer.state === "failed") {
      this.end();
      throw new CoreError(this.answer.class, this.answer.message);
    }
  }

  /**
   * Works on for so many steps, or to the end, and tells how far it is or what it came to.
   *
   * @param {number} steps how many; one takes some milliseconds of a system, and less of a cluster
   */
  advance(steps = 1) {
    if (this.#session === 0) throw new CoreError("simulation", "the run was ended before: begin another");
    this.#core.call("resilver_advance", this.#session, steps);
    this.#read();
    return this.answer;
  }

  /** Works on to the end, and tells what it came to. */
  finish(steps = 256) {
    while (this.answer.state !== "done") this.advance(steps);
    return this.answer;
  }

  /** Drops the run, at its end or before: its memory is free for others. */
  end() {
    if (this.#session !== 0) this.#core.call("resilver_end", this.#session);
    this.#session = 0;
  }
}

/**
 * What an answer says; `tables` holds, by name, the columns by name.
 *
 * @param {ArrayBuffer} buffer
 */
export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (header.tables === undefined) return header;
  const tables = header.tables.map(({ name, rows, columns }) => [
    name,
    Object.fromEntries(columns.map((entry) => [entry.name, columnOf(buffer, 4 + length, rows, entry)])),
  ]);
  return { ...header, tables: Object.fromEntries(tables) };
}

/** A column: a typed array where every row has a number, else an array with `null` where a row has nothing. */
function columnOf(buffer, base, rows, { kind, offset, valid }) {
  if (kind === "null") return new Array(rows).fill(null);
  const cells = kind === "text" ? textsOf(buffer, base + offset, rows) : new ARRAYS[kind](buffer, base + offset, rows);
  if (valid === null) return cells;
  const holds = new Uint8Array(buffer, base + valid, rows);
  return Array.from(cells, (cell, row) => (holds[row] ? cell : null));
}

function textsOf(buffer, place, rows) {
  const ends = new Uint32Array(buffer, place, rows + 1);
  const bytes = new Uint8Array(buffer, place + ends.byteLength);
  const decoder = new TextDecoder();
  return Array.from({ length: rows }, (_, row) => decoder.decode(bytes.subarray(ends[row], ends[row + 1])));
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
