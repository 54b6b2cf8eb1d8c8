// Answers questions to verify.js, one a line of JSON, for the tests: a bundle to judge, or a function to call.
"use strict";

const fs = require("node:fs");
const Module = require("node:module");

/** What a function gives, which gives it again for the same bytes: bundles that are told apart share most of theirs. */
function remembered(found) {
  const known = new Map();
  return (...values) => {
    const key = values.map((value) => Buffer.from(value.buffer, value.byteOffset, value.length).toString("latin1")).join();
    if (!known.has(key)) known.set(key, found(...values));
    return known.get(key);
  };
}

/** verify.js, which checks a signature once and hashes a large file once; what it exports does it each time. */
function loaded(path) {
  const file = new Module(path);
  const instead = `
    isSigned = (${remembered})(isSigned);
    sha256 = ((short, long) => (...parts) => (parts[0].length < 10_000 ? short : long)(...parts))(sha256, (${remembered})(sha256));`;
  file._compile(fs.readFileSync(path, "utf8") + instead, path);
  return file.exports;
}

const verifier = loaded(process.argv[2]);
const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));

/** The verdict on the files or the zip that a line holds; a policy that is none is told as misuse. */
function judge({ files, zip, known, policy }) {
  const read = () => (files ? new Map(files.map(([name, text]) => [name, bytes(text)])) : verifier.unpacked(bytes(zip)));
  const keys = known.length ? verifier.readKnown("known", known.join("\n")) : [];
  try {
    return verifier.judged(read, keys, policy === null ? null : verifier.readPolicy("policy", bytes(policy)));
  } catch (reason) {
    if (!(reason instanceof verifier.Refusal)) throw reason;
    return { problems: [reason.message], proved: [], code: 2 };
  }
}

/** What a function gives for bytes. */
function call({ name, values }) {
  const found = verifier[name](...values.map(bytes));
  return found instanceof Uint8Array ? Buffer.from(found).toString("base64") : Boolean(found);
}

require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(asked.name ? call(asked) : judge(asked))}\n`);
});
