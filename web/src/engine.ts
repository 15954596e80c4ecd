/** Where runs are computed: in a worker of the page, or by a server on the same machine. */

import { type Answer, decode, type Request } from "../../crates/web/core.mjs";
import { type Document, unpacked } from "./document";
import type { Said } from "./worker";

export type Done = Extract<Answer, { state: "done" }>;
export type Told = (answer: Answer) => void;

/** A run that its reader ended. */
export class Ended extends Error {}

/** Performs one run at a time. */
export interface Engine {
  run(request: Request, told: Told): Promise<Done>;
  /** Ends the run at once; another may begin. */
  cancel(): void;
}

let module: Promise<WebAssembly.Module> | undefined;
let source: Promise<string> | undefined;

/** A core in a worker of its own; whoever cancels ends the worker. */
export class InPage implements Engine {
  #worker: Worker | undefined;
  #runs = 0;
  #ends: ((why: Error) => void) | undefined;

  async run(request: Request, told: Told): Promise<Done> {
    this.cancel();
    const run = ++this.#runs;
    const worker = this.#worker ?? (await this.#begin());
    if (run !== this.#runs) throw new Ended();
    return new Promise((resolve, reject) => {
      this.#ends = reject;
      worker.onerror = (event) => reject(new Error(event.message || "the worker of the page cannot run"));
      worker.onmessage = ({ data }: MessageEvent<Said>) => {
        if (data.run !== run) return;
        const isOver = "broken" in data || data.answer.state === "done";
        if (isOver) this.#ends = undefined;
        if ("broken" in data) reject(new Error(data.broken));
        else if (data.answer.state === "done") resolve(data.answer);
        else told(data.answer);
      };
      worker.postMessage({ run, request });
    });
  }

  async #begin(): Promise<Worker> {
    module ??= unpacked("core").then((bytes) => WebAssembly.compile(bytes));
    source ??= unpacked("worker").then((bytes) => URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));
    const worker = new Worker(await source);
    worker.postMessage({ module: await module });
    this.#worker ??= worker;
    return this.#worker;
  }

  cancel(): void {
    if (this.#ends === undefined) return;
    this.#runs++;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#ends(new Ended());
    this.#ends = undefined;
  }
}

/** The native core of `resilver explore --serve`. */
export class OnServer implements Engine {
  #server: { path: string; token: string };
  #going: AbortController | undefined;

  constructor(server: { path: string; token: string }) {
    this.#server = server;
  }

  async run(request: Request, told: Told): Promise<Done> {
    this.cancel();
    const going = new AbortController();
    this.#going = going;
    try {
      const headers = { "Content-Type": "application/json", "Resilver-Token": this.#server.token };
      const body = JSON.stringify(request);
      const answer = await fetch(this.#server.path, { method: "POST", headers, body, signal: going.signal });
      if (!answer.ok || answer.body === null) throw new Error(await refusal(answer));
      return await last(answer.body.getReader(), told);
    } catch (error) {
      if (going.signal.aborted) throw new Ended();
      throw error instanceof TypeError ? new Error("the server does not answer: is `resilver explore --serve` still there?") : error;
    }
  }

  cancel(): void {
    this.#going?.abort();
    this.#going = undefined;
  }
}

async function refusal(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    return String((JSON.parse(text) as { message: string }).message);
  } catch {
    return text || `the server answers ${answer.status}`;
  }
}

/** Reads answers behind each other, each behind its length, to the last. */
async function last(reader: ReadableStreamDefaultReader<Uint8Array>, told: Told): Promise<Done> {
  let room = new Uint8Array(1 << 16);
  let end = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the server ended in the middle of a run");
    room = withRoom(room, end, end + value.length);
    room.set(value, end);
    end += value.length;
    let begin = 0;
    while (end - begin >= 4) {
      const length = new DataView(room.buffer).getUint32(begin, true);
      if (end - begin < 4 + length) break;
      const answer = decode(room.slice(begin + 4, begin + 4 + length).buffer);
      begin += 4 + length;
      if (answer.state === "failed") throw new Error(answer.message);
      if (answer.state === "done") return answer;
      told(answer);
    }
    room.copyWithin(0, begin, end);
    end -= begin;
  }
}

/** Room for so many bytes, twice as much where there is too little: a large answer comes in hundreds of pieces. */
function withRoom(room: Uint8Array<ArrayBuffer>, used: number, wanted: number): Uint8Array<ArrayBuffer> {
  if (wanted <= room.length) return room;
  const more = new Uint8Array(Math.max(wanted, 2 * room.length));
  more.set(room.subarray(0, used));
  return more;
}

export function engineOf(page: Document): Engine {
  return page.server === null ? new InPage() : new OnServer(page.server);
}
