// The programs: a WebAssembly module with the functions of playground/playground.h.

const MARK_WORDS = 6; // x, y, across, down, size, colour
const IS_A_PIPE = 29; // what WASI returns for a file without positions

let module;

const words = () => new DataView(module.memory.buffer);

function readText(start) {
  const bytes = new Uint8Array(module.memory.buffer, start);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}

// Reports of Mica go to the console.
function write(_file, parts, count, written) {
  let text = '', length = 0;
  for (let part = parts; part < parts + 8 * count; part += 8) {
    const start = words().getUint32(part, true), size = words().getUint32(part + 4, true);
    text += new TextDecoder().decode(new Uint8Array(module.memory.buffer, start, size));
    length += size;
  }
  if (text.trim()) console.error(text.trim());
  words().setUint32(written, length, true);
  return 0;
}

function readClock(_clock, _precision, result) {
  words().setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
  return 0;
}

const imports = {
  wasi_snapshot_preview1: { clock_time_get: readClock, fd_write: write, fd_close: () => 0, fd_seek: () => IS_A_PIPE },
  env: { emscripten_notify_memory_growth() {} },
};

// Returns the descriptions of the programs.
export async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), imports);
  module = instance.exports;
  module._initialize();
  return Array.from({ length: module.playground_count() }, (_, index) => JSON.parse(readText(module.playground_describe(index))));
}

function check(succeeded) {
  if (!succeeded) throw new Error('The program ended: memory is short, or Mica reported an error to the console.');
}

export function setValues(values) {
  new Float32Array(module.memory.buffer, module.playground_values(), values.length).set(values);
}

export const start = (index) => check(module.playground_start(index));
export const step = () => check(module.playground_step());
export const rewind = (frame) => check(module.playground_rewind(frame));
export const hash = () => readText(module.playground_hash());
export const historyBytes = () => module.playground_history_bytes();
export const frames = () => ({ first: module.playground_first(), at: module.playground_frame(), last: module.playground_last() });

// The picture of the shown frame, as views of the memory of the module: valid until the next call.
export function draw() {
  const start = module.playground_draw(), count = module.playground_mark_count();
  const { buffer } = module.memory;
  return {
    count,
    places: new Float32Array(buffer, start, count * MARK_WORDS),
    colors: new Uint32Array(buffer, start, count * MARK_WORDS),
    markWords: MARK_WORDS,
    numbers: new Float32Array(buffer, module.playground_numbers(), 3),
  };
}
