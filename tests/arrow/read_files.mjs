// Reads Arrow files with the reader of the Arrow project, which tools/setup.sh installs: node read_files.mjs BUILD_FOLDER NPM_FOLDER
// One file has a field of every kind and is written by the test arrow.file, the other ones by mica query.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";

const [build, npm] = process.argv.slice(2).map((folder) => path.resolve(folder));
const { RecordBatchReader, tableFromIPC } = createRequire(npm + "/package.json")("apache-arrow");
const scratch = mkdtempSync(path.join(tmpdir(), "mica_arrow_"));
const tool = (...words) => execFileSync(path.join(build, "mica"), words, { maxBuffer: 1 << 26 });

// Numbers of 64 bits as text, structs and lists as JSON.
const plain = (value) => JSON.parse(JSON.stringify(value, (key, part) => (typeof part === "bigint" ? String(part) : part)));
const read = (bytes) => {
  const table = tableFromIPC(bytes);
  const names = table.schema.fields.map((field) => field.name);
  return {
    table,
    names,
    types: table.schema.fields.map((field) => `${field.type}${field.nullable ? "?" : ""}`),
    rows: table.toArray().map((row) => plain(names.map((name) => row[name]))),
  };
};

function everyKind() {
  const file = path.join(scratch, "kinds.arrow");
  execFileSync(path.join(build, "tests/test_arrow_file"), { env: { ...process.env, MICA_ARROW_OUTPUT: file } });
  const { table, names, types, rows } = read(readFileSync(file));
  assert.equal(table.batches.length, 3);
  assert.deepEqual(types, ["Uint64", "Float32", "Float32", "Bool?", "Int8?", "Uint8?", "Int16?", "Uint16?", "Int32?", "Uint32?", "Int64?", "Uint64?",
    "Float32?", "Float64?", "Utf8?", "Utf8?", "Int32?", "Uint32?", "Uint64?", "Uint64?", "Utf8?", "List<Float32>?", "List<Struct<{name:Utf8, price:Uint16}>>?",
    "FixedSizeList[2]<Bool>?", "FixedSizeList[2]<Utf8>?", "Struct<{x:Float32, y:Float32}>?", "FixedSizeList[2]<Struct<{x:Float32, y:Float32}>>?", "Bool"]);
  assert.equal(names[3], "Kitchen.flag");
  assert.deepEqual(rows, [
    ["4294967297", 1, 2, ...Array(24).fill(null), true],
    ["4294967298", 3, 4, false, 0, 0, 0, 0, 0, 0, "0", "0", 0, 0, "", "", -1, 0, null, null, "", [], [], [false, false], ["", ""], { x: 0, y: 0 },
      [{ x: 0, y: 0 }, { x: 0, y: 0 }], false],
    ["4294967299", 5, 6, true, -8, 200, -1600, 60000, -320000, 4000000000, "-9223372036854775808", "18446744073709551615", 0.5, 1e300, "A", "f\u00fcr\ufffd!",
      7, 3, "4294967297", "77", "a story of more than fourteen bytes", [1, 2.5], [{ name: "sword", price: 0 }, { name: "", price: 9 }], [false, true],
      ["", "two"], { x: 1, y: 2 }, [{ x: 0, y: 0 }, { x: 3, y: 4 }], false],
    ["4294967300", 7, 8, ...Array(24).fill(null), false],
  ]);
  const metadata = (name) => Object.fromEntries(table.schema.fields[names.indexOf(name)].metadata);
  assert.deepEqual(metadata("Kitchen.mood"), { "mica.constants": "CALM=-1,ANGRY=7" });
  assert.deepEqual(metadata("Position.x"), { unit: "m" });
  assert.deepEqual(metadata("Position.y"), {});
}

// Batch by batch, as a reader of streams does.
function streams() {
  const bytes = readFileSync(path.join(scratch, "kinds.arrow"));
  assert.deepEqual([...RecordBatchReader.from(bytes.subarray(8))].map((batch) => batch.numRows), [1, 2, 1]);
}

function levels() {
  const level = path.join(scratch, "level.mica");
  tool("compile", "-q", "examples/modules/level.json", "-o", level);
  const file = path.join(scratch, "level.arrow");
  assert.equal(tool("query", "--arrow", file, level, "Height").length, 0);
  const { table, names, rows } = read(readFileSync(file));
  assert.equal(table.batches.length, 1);
  assert.equal(names[0], "entity");
  const lines = tool("query", level, "Height").toString().trim().split("\n");
  assert.equal(rows.length, lines.length);
  rows.forEach((row, i) => assert.ok(lines[i].includes(`${row[1]}`), lines[i]));
  assert.deepEqual(read(tool("query", "--arrow=-", level, "Height")).rows, rows);
  assert.deepEqual(read(tool("query", "--arrow=-", level, "Height, ?Speed")).rows.map((row) => row.slice(1)), [[3, 0], [1, 5], [2, null]]);
  assert.deepEqual(read(tool("query", "--arrow=-", level, "Height, Speed, Height.value > 9")).rows, []);
}

try {
  for (const test of [everyKind, streams, levels]) {
    test();
    console.log(`${test.name}: ok`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
