/** The core in a worker: gets the module and then one run after the other, and tells how far each is. */

import { type Answer, type Core, CoreTrap, instantiate, type Request } from "../../crates/web/core.mjs";

export type Asked = { module: WebAssembly.Module } | { run: number; request: Request };
export type Said = { run: number; answer: Answer } | { run: number; broken: string };

const MILLISECONDS_TOLD = 60;
const scope = self as unknown as { postMessage(said: Said): void; onmessage: (event: MessageEvent<Asked>) => void };

let module: WebAssembly.Module;
let core: Promise<Core> | undefined;

const turns = new MessageChannel();
/** Lets messages in; a timer would take four milliseconds for it. */
const turn = () =>
  new Promise<void>((resolve) => {
    turns.port1.onmessage = () => resolve();
    turns.port2.postMessage(null);
  });

async function perform(run: number, request: Request): Promise<void> {
  core ??= instantiate(module);
  try {
    const own = await core;
    const going = own.begin(request);
    let told = performance.now();
    let answer: Answer = going.answer;
    while (answer.state !== "done") {
      const now = performance.now();
      if (now - told > MILLISECONDS_TOLD) {
        told = now;
        scope.postMessage({ run, answer: { ...answer, memory_bytes: own.bytes } as Answer });
        await turn();
      }
      answer = going.advance(1);
    }
    going.end();
    scope.postMessage({ run, answer });
  } catch (error) {
    // A core that ended takes its runs with it: the next one gets another.
    if (error instanceof CoreTrap) core = undefined;
    scope.postMessage({ run, broken: error instanceof Error ? error.message : String(error) });
  }
}

scope.onmessage = (event) => {
  const asked = event.data;
  if ("module" in asked) module = asked.module;
  else void perform(asked.run, asked.request);
};
