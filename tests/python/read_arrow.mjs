// Reads an Arrow file with the reader of the Arrow project, and prints its schema and rows as JSON: node read_arrow.mjs FOLDER FILE
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [folder, file] = process.argv.slice(2);
const { tableFromIPC } = createRequire(folder + "/package.json")("apache-arrow");
const table = tableFromIPC(readFileSync(file));
const rows = table.toArray().map((row) => table.schema.fields.map((field) => row[field.name]));
const shown = (key, value) => (typeof value === "bigint" ? String(value) : value);
console.log(JSON.stringify({ fields: table.schema.fields.map((field) => [field.name, String(field.type)]), rows, batches: table.batches.length }, shown));
