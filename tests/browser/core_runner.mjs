// What the tests ask of the core in JavaScript, in Node and in a page alike.

/** An answer as JSON can hold it: whole numbers as texts, since they may have 64 bits. */
export function plain(answer) {
  if (answer.tables === undefined) return answer;
  const cell = (column) => (one) => {
    if (one === null || typeof one === "string") return one;
    return column instanceof Float64Array ? one : String(one);
  };
  const columns = (table) => Object.entries(table).map(([name, column]) => [name, Array.from(column, cell(column))]);
  const tables = Object.entries(answer.tables).map(([name, table]) => [name, Object.fromEntries(columns(table))]);
  return { ...answer, tables: Object.fromEntries(tables) };
}

/** What requests come to, or what is said in place of it; `steps` is how many each step of a run makes. */
export async function answersOf(instantiate, module, requests, steps = 256) {
  let core = await instantiate(module);
  const answers = [];
  for (const request of requests) {
    try {
      const run = core.begin(request);
      answers.push(plain(run.finish(steps)));
      run.end();
    } catch (error) {
      answers.push({ error: error.name, class: error.class, message: error.message });
      if (error.name === "CoreTrap") core = await instantiate(module);
    }
  }
  return answers;
}

/** What a run says at each step until it has made so many; then it is dropped, and the next one begun, so many times. */
export async function cancelled(instantiate, module, request, steps, times) {
  const core = await instantiate(module);
  const states = [];
  const bytes = [];
  for (let time = 0; time < times; time++) {
    const run = core.begin(request);
    for (let step = 0; step < steps; step++) states.push(run.advance(1));
    run.end();
    bytes.push(core.exports.memory.buffer.byteLength);
  }
  const run = core.begin(request);
  return { states, bytes, digest: run.finish().digest };
}

/** The bytes of the answer that each request comes to, in hexadecimal digits. */
export async function bytesOf(instantiate, module, requests) {
  const core = await instantiate(module);
  const call = core.call.bind(core);
  let session = 0;
  core.call = (name, ...values) => {
    const result = call(name, ...values);
    if (name === "resilver_begin") session = result;
    return result;
  };
  return requests.map((request) => {
    const run = core.begin(request);
    run.finish();
    const place = call("resilver_answer", session) >>> 0;
    const length = call("resilver_answer_length", session) >>> 0;
    const bytes = Buffer.from(core.exports.memory.buffer, place, length).toString("hex");
    run.end();
    return bytes;
  });
}
