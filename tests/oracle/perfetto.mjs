// Opens a trace in Perfetto's trace processor, as its page does, and answers queries in SQL: one JSON list of rows a query.
import fs from "node:fs";
import path from "node:path";

const [folder, trace, ...queries] = process.argv.slice(2);
const write = text => fs.writeSync(1, text);

// The bundle is a worker of the page's: it asks for the module by `fetch`, and talks through a port.
globalThis.process = undefined;
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.location = { href: "http://localhost/engine_bundle.js", protocol: "http:", host: "localhost" };
globalThis.XMLHttpRequest = class {
    open(method, url) {
        this.response = new Uint8Array(fs.readFileSync(path.join(folder, path.basename(url)))).buffer;
    }
    send() {}
};
console.warn = () => {};
(0, eval)(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"));

function varint(value) {
    const bytes = [];
    for (let left = BigInt(value); ; left >>= 7n) {
        if (left < 128n) return Buffer.from([...bytes, Number(left)]);
        bytes.push(Number(left & 127n) | 128);
    }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const content = (field, bytes) => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

// Numbers one after another, and where the last one ends.
function* numbers(bytes, cursor = { at: 0 }) {
    while (cursor.at < bytes.length) {
        let value = 0n;
        for (let shift = 0n, byte = 128n; byte >= 128n; shift += 7n) {
            byte = BigInt(bytes[cursor.at++]);
            value |= (byte & 127n) << shift;
        }
        yield BigInt.asIntN(64, value);
    }
}

// The fields of a message: [number, value], where a value is a BigInt or bytes.
function* fields(bytes) {
    const cursor = { at: 0 };
    const all = numbers(bytes, cursor);
    for (let key = all.next(); !key.done; key = all.next()) {
        const [field, kind] = [Number(key.value >> 3n), Number(key.value & 7n)];
        if (kind === 0) yield [field, all.next().value];
        else {
            const length = kind === 2 ? Number(all.next().value) : kind === 1 ? 8 : 4;
            yield [field, bytes.subarray(cursor.at, (cursor.at += length))];
        }
    }
}

// The cells of a query's result: null, integers, reals, texts; kinds 1 to 4.
function cells(batch) {
    const of = new Map([...fields(batch)].map(([field, value]) => [field, value]));
    const integers = numbers(of.get(2) ?? Buffer.alloc(0));
    const reals = of.get(3) ?? Buffer.alloc(0);
    const texts = (of.get(5) ?? Buffer.alloc(0)).toString().split("\0");
    let real = 0;
    let text = 0;
    return [...numbers(of.get(1) ?? Buffer.alloc(0))].map(kind => {
        if (kind === 2n) return Number(integers.next().value);
        if (kind === 3n) return reals.readDoubleLE(8 * real++);
        return kind === 4n ? texts[text++] : null;
    });
}

const { port1, port2 } = new MessageChannel();
self.onmessage({ data: port2 });
let sequence = 0;
let replied = () => {};
port1.onmessage = ({ data }) => replied(Buffer.from(data));

// One call of the trace processor: its method and its arguments; returns the replies up to the last one.
function call(method, args, isLast) {
    return new Promise((resolve, reject) => {
        const all = [];
        replied = stream => {
            for (const [, reply] of fields(stream)) {
                const told = new Map(fields(reply));
                if (told.has(5)) reject(new Error(told.get(5).toString()));
                all.push(told);
                if (isLast(told)) resolve(all);
            }
        };
        const request = Buffer.concat([number(1, sequence++), number(2, method), args]);
        port1.postMessage(new Uint8Array(content(1, request)));
    });
}

async function query(sql) {
    const args = content(103, content(1, Buffer.from(sql)));
    const batches = told => [...fields(told.get(203))].filter(([field]) => field === 3).map(([, batch]) => batch);
    const isLast = told => batches(told).some(batch => [...fields(batch)].some(([field, value]) => field === 6 && value));
    const [columns, all, rows] = [[], [], []];
    for (const told of await call(3, args, isLast)) {
        for (const [field, value] of fields(told.get(203))) {
            if (field === 1) columns.push(value.toString());
            if (field === 2) throw new Error(value.toString());
        }
        batches(told).forEach(batch => all.push(...cells(batch)));
    }
    while (all.length) rows.push(all.splice(0, columns.length));
    return rows;
}

// The module is compiled as the bundle is read; it is there when what it has put off has run.
await new Promise(resolve => setTimeout(resolve, 200));
await call(1, content(101, fs.readFileSync(trace)), told => told.has(201));
await call(2, Buffer.alloc(0), () => true);
for (const sql of queries) write(`${JSON.stringify(await query(sql))}\n`);
port1.close();
port2.close();
