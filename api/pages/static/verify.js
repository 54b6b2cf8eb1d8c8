// Checks the evidence of a hand in a browser or under node: a second verifier beside verify.py, written from
// docs/record-format.md and docs/deals.md. It needs no network and no library, and asks for nothing once it is there.
//
//     node verify.js [PATH] [--key KEY]... [--policy FILE]
//
// ends as verify.py does: 0 proved under a key that is known, 7 proved under the bundle's own key alone, 3 wrong,
// 1 not to be checked, 2 a command line without sense. On a page it fills the elements that verify.html names.
"use strict";

const ALWAYS = ["README.txt", "checkpoint", "contents", "events.jsonl", "key", "leaf.json", "openings.json",
  "receipt.tlog-proof", "ruleset.json", "verify.py"];
const SOMETIMES = ["deck.json", "match.json", "report.json", "report.txt"];
const FILE_MAX = 8 * 1024 * 1024;
const FILES_MAX = 32;
const BUNDLE_MAX = 4 * FILE_MAX;
const WHOLE_MAX = Number.MAX_SAFE_INTEGER;
const DECIMAL_MAX = 2n ** 63n - 1n;
const DEPTH_MAX = 8;
const SIGNATURES_MAX = 100;
const PROBLEMS_MAX = 20;
const VERSION = 1;
const CONTENTS = `muckrake evidence v${VERSION}`;
const PROOF = "c2sp.org/tlog-proof@v1";
const UNKNOWN = "??";
const RANKS = [..."23456789TJQKA"];
const DECK = RANKS.flatMap((rank) => [..."cdhs"].map((suit) => rank + suit));
const PROVED = 0, UNREAD = 1, MISUSED = 2, WRONG = 3, OWN_KEY = 7;
const WARNING = "WARNING: nothing says whose key this is but the bundle itself, and anybody can sign a bundle"
  + " with a key of his own: say --key and the key you know.";
const WHITE = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const NAME = `[^+\\x00-\\x1f\\x7f${WHITE}]+`;

/** What is wrong, in one sentence or several. */
class Refusal extends Error {
  constructor(...sentences) {
    super(sentences.join("; "));
    this.sentences = sentences;
  }
}

/** Why nothing can be said of a bundle. */
class Unread extends Error {}

/** What the rules of a bundle do not say how to deal. */
class Undealt extends Error {}

/** The verdict on a bundle: a Map of files by name, keys of which one must have signed, whom a policy asks for. */
function verify(files, known = [], policy = null) {
  return judged(() => files, known, policy);
}

/** The verdict on what `read` reads: { problems, proved, code }. */
function judged(read, known = [], policy = null) {
  try {
    const proved = proofs(read(), known, policy).map(plain);
    return { problems: [], proved, code: isKnown(known, policy) ? PROVED : OWN_KEY };
  } catch (reason) {
    if (reason instanceof Refusal) return { problems: refusals(reason), proved: [], code: WRONG };
    if (reason instanceof Unread) return { problems: [plain(reason.message)], proved: [], code: UNREAD };
    throw reason;
  }
}

/** Whether anybody said which key is the log's. */
function isKnown(known, policy) {
  return known.length > 0 || Boolean(policy?.logs.length);
}

/** Its sentences; of very many, the first. */
function refusals(wrong) {
  const sentences = wrong.sentences.slice(0, PROBLEMS_MAX);
  const more = wrong.sentences.length - PROBLEMS_MAX;
  return (more > 0 ? [...sentences, `${more} more things are wrong`] : sentences).map(plain);
}

/** The steps in their order; each refuses what is wrong, and what comes back are the sentences proved. */
function proofs(files, known, policy) {
  checkVersion(files);
  checkNames(files);
  const key = readKey("key", files.get("key"));
  checkKnown(key, known);
  checkKnown(key, policy?.logs ?? []);
  checkContents(files, key);
  const head = readCheckpoint(files, key);
  const seen = policy ? cosigners(files.get("checkpoint"), policy) : [];
  const leaf = readLeaf(files, head);
  const lines = readLines(files.get("events.jsonl"), leaf);
  const { view, opened } = readOpenings(files.get("openings.json"), lines);
  const announced = readMatch(files, leaf, head);
  checkAll(
    () => checkView(view, lines, opened),
    () => checkRuleset(files.get("ruleset.json"), lines[0]),
    () => checkHand(files, unveiled(lines, opened)),
  );
  const hidden = lines.reduce((sum, line) => sum + commitments(line).length, 0);
  const first = lines[0];
  return [
    `Hand ${named(leaf.get("stream"))} of ${named(first.get("game"))}, ${lines.length} lines, is leaf `
      + `${leaf.get("hand_seq")} of the log ${key.name} of ${head.size} leaves, and not a byte of it`
      + " or of this bundle was changed since it was signed.",
    "Its chips add up at every line, no card is in two places, and its rules are the ruleset"
      + ` ${first.get("ruleset")}. This does not check the payout: run muckrake audit.`,
    `This bundle is for ${named(view)}: ${opened.size} of ${hidden} hidden values are opened.`,
    ...(files.has("deck.json")
      ? ["The deck is opened: the cards known here are those that the commitment and nonces in deck.json make."]
      : []),
    ...(announced ? [toldOfDeck(announced, leaf)] : []),
    `Signed by ${key.line}${isKnown(known, policy) ? ", a key that you know." : ": compare it with the key you know."}`,
    ...(policy ? [`Cosigned by ${seen.map(named).join(", ") || "no witness"}: what the policy asks for, ${named(policy.quorum)}.`] : []),
  ];
}

/** Checks that do not rest on each other: all of them, and then whatever was wrong. */
function checkAll(...checks) {
  const found = [];
  for (const check of checks) {
    try {
      check();
    } catch (wrong) {
      if (!(wrong instanceof Refusal)) throw wrong;
      found.push(...wrong.sentences.filter((one) => !found.includes(one)));
    }
  }
  if (found.length) throw new Refusal(...found);
}

// 1. The files.

/** A bundle of a later version may hold anything: it needs a later program. */
function checkVersion(files) {
  const version = /^muckrake evidence v([1-9][0-9]{0,8})\n/.exec(latin(files.get("contents") ?? new Uint8Array()));
  if (version && Number(version[1]) > VERSION) {
    throw new Unread(`this bundle is of version ${version[1]}, and this verify.py knows no version after ${VERSION}:`
      + " take a newer one from somebody whom you trust");
  }
}

/** Every file that a bundle has, no other, and none too large. */
function checkNames(files) {
  const names = [...files.keys()].sort(byCode);
  const missing = ALWAYS.filter((name) => !files.has(name));
  const found = missing.length ? [`the bundle is not whole: it lacks ${missing.join(", ")}`] : [];
  for (const name of names) {
    if (!ALWAYS.includes(name) && !SOMETIMES.includes(name)) {
      found.push(`${quoted(name)} is no file of a bundle: take it out of the folder`);
    }
  }
  for (const name of names) {
    const size = files.get(name).length;
    if (size > FILE_MAX) found.push(`${quoted(name)} has ${size} bytes, and no file of a bundle more than ${FILE_MAX}`);
  }
  if (found.length) throw new Refusal(...found);
}

// 2. Keys and signed notes.

/** A public key from its line NAME+ID+BASE64 with its newline; kind 1 signs notes, 4 cosigns checkpoints. */
function readKey(where, bytes, kind = 1) {
  const text = readText(where, bytes);
  const line = text.slice(0, -1);
  const found = new RegExp(`^(${NAME})\\+([0-9a-f]{8})\\+([A-Za-z0-9+/=]+)$`, "u").exec(line);
  if (!text.endsWith("\n") || !found) throw new Refusal(`${where} is not one line NAME+HASH+KEY`);
  const [, name, mark, encoded] = found;
  const kindAndKey = readBase64(where, encoded);
  const hashed = sha256(utf8(`${name}\n`), kindAndKey).slice(0, 4);
  if (kindAndKey.length !== 33 || kindAndKey[0] !== kind) {
    throw new Refusal(`${where} is not an Ed25519 key that ${kind === 1 ? "signs notes" : "cosigns checkpoints"}`);
  }
  if (hex(hashed) !== mark) throw new Refusal(`${where} is damaged: its hash is not that of its name and key`);
  const point = keyPoint(kindAndKey.slice(1));
  if (!point) throw new Refusal(`${where} is no key that anybody can have drawn: no point of order L`);
  return { line, name, mark, bytes: kindAndKey.slice(1), point };
}

/** The keys in a text, one a line; empty lines and those that begin with # say nothing. */
function readKnown(where, text) {
  const rows = text.split("\n").map((row, at) => [row.replace(/^[ \t-\r]+|[ \t-\r]+$/g, ""), at + 1]);
  const lines = rows.filter(([row]) => row && !row.startsWith("#"));
  if (!lines.length) throw new Refusal(`${where} holds no key`);
  return lines.map(([row, number]) => readKey(`${where} line ${number}`, utf8(`${row}\n`)));
}

/** The key is one of those that are known, if any are. */
function checkKnown(key, known) {
  if (!known.length || known.some((one) => one.line === key.line)) return;
  const same = known.filter((one) => one.name === key.name).map((one) => one.line);
  const ofIt = same.length ? `; of that log you know ${same.join(", ")}` : "";
  throw new Refusal(`this is signed by ${key.line}, which is no key that you know${ofIt}`);
}

/** The text of a note, if this key signed it; other keys' signatures prove nothing here. */
function readNote(name, bytes, key) {
  const { text, signatures } = readSignatures(name, bytes);
  const found = signatures.filter((one) => one.name === key.name && one.mark === key.mark);
  if (!found.every((one) => isSigned(key.bytes, one.signed, utf8(text)))) {
    throw new Refusal(`${name} was changed after ${key.name} signed it, or another key signed it`);
  }
  if (!found.length) throw new Refusal(`${name} is not signed by the key in key, ${key.line}`);
  return text;
}

/** The text of a note, and of each signature its key's name, its mark, and what it signed. */
function readSignatures(name, bytes) {
  const whole = readText(name, bytes);
  if (/[\x00-\x09\x0b-\x1f\x7f]/.test(whole)) throw new Refusal(`${name} holds a control character`);
  const gap = whole.lastIndexOf("\n\n");
  const lines = whole.slice(gap + 2).split("\n");
  const last = lines.pop();
  if (gap < 0 || last !== "" || lines.length < 1 || lines.length > SIGNATURES_MAX) {
    throw new Refusal(`${name} is not a signed note: a text, an empty line, signatures`);
  }
  const signatures = lines.map((line) => {
    const found = new RegExp(`^\\u2014 (${NAME}) ([A-Za-z0-9+/=]+)$`, "u").exec(line);
    if (!found) throw new Refusal(`${name} is not a signed note: ${quoted(line)} is no signature`);
    const data = readBase64(name, found[2]);
    if (data.length < 5) throw new Refusal(`${name} is not a signed note: ${quoted(line)} is too short a signature`);
    return { name: found[1], mark: hex(data.slice(0, 4)), signed: data.slice(4) };
  });
  return { text: whole.slice(0, gap + 1), signatures };
}

/** `contents`: the digests of all other files, sorted by name, in a note of the log's key. */
function checkContents(files, key) {
  const [first, ...rows] = readNote("contents", files.get("contents"), key).slice(0, -1).split("\n");
  if (first !== CONTENTS) throw new Refusal(`contents begins with ${quoted(first)}, not with ${CONTENTS}`);
  const row = new RegExp(`^([0-9a-f]{64})  ([^${WHITE}]+)$`, "u");
  const pairs = rows.map((one) => row.exec(one)).filter((one) => one !== null);
  const digests = new Map(pairs.map(([, digest, name]) => [name, digest]));
  const names = [...digests.keys()];
  if (digests.size !== rows.length || names.some((name, at) => at > 0 && byCode(names[at - 1], name) > 0)) {
    throw new Refusal("contents is not one line with digest and name for each file, in order");
  }
  const here = [...files.keys()].filter((name) => name !== "contents").sort(byCode);
  const wrong = names.filter((name) => !here.includes(name)).map((name) => `${quoted(name)} is in contents, but missing`);
  wrong.push(...here.filter((name) => !digests.has(name)).map((name) => `contents does not name ${name}`));
  for (const name of here) {
    if (digests.has(name) && hex(sha256(files.get(name))) !== digests.get(name)) {
      wrong.push(`${name} was changed: its digest is not the one that ${key.name} signed`);
    }
  }
  if (wrong.length) throw new Refusal(...wrong);
}

// 3. The tree.

/** Size and root from three signed lines. */
function readCheckpoint(files, key) {
  const text = readNote("checkpoint", files.get("checkpoint"), key);
  const found = /^([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/=]+)\n$/u.exec(text);
  if (!found) throw new Refusal("checkpoint is not three lines: the log, its size, its root");
  if (found[1] !== key.name) throw new Refusal(`checkpoint is of the log ${quoted(found[1])}, not of ${key.name}`);
  const size = readDecimal("checkpoint", found[2]);
  return { size, root: readHash("checkpoint", found[3]) };
}

/** The witnesses that have cosigned, by their names in the policy; they must be the quorum. */
function cosigners(checkpoint, policy) {
  const { text, signatures } = readSignatures("checkpoint", checkpoint);
  const found = [];
  for (const [name, key] of policy.witnesses) {
    const own = signatures.filter((signature) => signature.name === key.name && signature.mark === key.mark);
    for (const { signed } of own) {
      const at = signed.slice(0, 8).reduce((number, byte) => number * 256n + BigInt(byte), 0n);
      if (at > DECIMAL_MAX || !isSigned(key.bytes, signed.slice(8), utf8(`cosignature/v1\ntime ${at}\n${text}`))) {
        throw new Refusal(`checkpoint was changed after ${key.name} cosigned it`);
      }
    }
    if (own.length) found.push(name);
  }
  const met = new Set([...found, "none"]);
  for (const { name, needed, members } of policy.groups) {
    if (members.filter((member) => met.has(member)).length >= needed) met.add(name);
  }
  if (!met.has(policy.quorum)) {
    const by = found.map(named).join(", ") || "no witness of the policy";
    throw new Refusal(`checkpoint is cosigned by ${by}, and the policy asks for ${named(policy.quorum)}`);
  }
  return found;
}

/** The lines of a c2sp.org/tlog-policy. */
function readPolicy(where, bytes) {
  const policy = { logs: [], witnesses: new Map(), groups: [], quorum: null };
  const members = new Set();
  const keys = new Set();
  const readOne = (at, text, kind) => {
    const key = readKey(at, utf8(`${text}\n`), kind);
    if (keys.has(hex(key.bytes))) throw new Refusal(`${at}: this key stands above already`);
    keys.add(hex(key.bytes));
    return key;
  };
  readText(where, bytes).split("\n").forEach((line, number) => {
    const words = line.split(/[ \t]+/).filter(Boolean);
    const at = `${where} line ${number + 1}`;
    if (!words.length || words[0].startsWith("#")) return;
    const names = new Set([...policy.witnesses.keys(), ...policy.groups.map((group) => group.name)]);
    const isNew = words.length > 1 && words[1] !== "none" && !names.has(words[1]);
    const [kind, count] = [words[0], words.length];
    if (kind === "log" && (count === 2 || count === 3)) policy.logs.push(readOne(at, words[1], 1));
    else if (kind === "witness" && (count === 3 || count === 4) && isNew) policy.witnesses.set(words[1], readOne(at, words[2], 4));
    else if (kind === "group" && count > 3 && isNew) {
      const of = words.slice(3);
      const counts = new Map([["all", of.length], ["any", 1], ...of.map((_, one) => [String(one + 1), one + 1])]);
      if (!counts.has(words[2]) || new Set(of).size !== of.length || of.some((one) => members.has(one) || !names.has(one))) {
        throw new Refusal(`${at} is no group of witnesses and groups above it, each once`);
      }
      policy.groups.push({ name: words[1], needed: counts.get(words[2]), members: of });
      of.forEach((one) => members.add(one));
    } else if (kind === "quorum" && count === 2 && (words[1] === "none" || names.has(words[1])) && policy.quorum === null) {
      [, policy.quorum] = words;
    } else throw new Refusal(`${at} is no line of a policy, or names what is not above it, or twice`);
  });
  if (policy.quorum === null) throw new Refusal(`${where} has no line \`quorum NAME\`, or \`quorum none\``);
  return policy;
}

/** The leaf, if the receipt leads from it to the root, and it names the digest of the record. */
function readLeaf(files, head) {
  const leaf = readJson("leaf.json", files.get("leaf.json"), 1);
  checkLeaf("leaf.json", leaf, isWhole(0));
  const receipt = readText("receipt.tlog-proof", files.get("receipt.tlog-proof"));
  const gap = receipt.indexOf("\n\n");
  const proof = gap < 0 ? receipt : receipt.slice(0, gap);
  const note = gap < 0 ? "" : receipt.slice(gap + 2);
  if (!same(utf8(note), files.get("checkpoint"))) {
    throw new Refusal("the receipt ends with another checkpoint than the one in checkpoint");
  }
  const found = /^([^\n]*)\nindex (0|[1-9][0-9]{0,18})((?:\n[^\n]+)*)$/u.exec(proof);
  if (!found || found[1] !== PROOF) throw new Refusal(`receipt.tlog-proof does not begin with ${PROOF} and an index`);
  const place = readDecimal("receipt.tlog-proof", found[2]);
  if (place !== BigInt(leaf.get("hand_seq"))) {
    throw new Refusal(`the receipt is for leaf ${place}, not for leaf ${leaf.get("hand_seq")}`);
  }
  const path = found[3].split("\n").slice(1).map((one) => readHash("receipt.tlog-proof", one));
  const root = rootOf(sha256(Uint8Array.of(0), files.get("leaf.json")), place, head.size, path);
  if (!same(root, head.root)) throw new Refusal("the receipt does not lead from this leaf to the root in checkpoint");
  const record = files.get("events.jsonl");
  if (record[record.length - 1] !== 10) throw new Refusal("events.jsonl does not end with a newline");
  if (hex(sha256(record.subarray(0, -1))) !== leaf.get("record_sha256")) {
    throw new Refusal("events.jsonl is not the record that the leaf names: its digest is another");
  }
  return leaf;
}

/** A leaf has these fields; a hand begins at event 0 of its stream. */
function checkLeaf(where, leaf, first) {
  checkFields(where, leaf, {
    first, hand_seq: isWhole(WHOLE_MAX), lines: isWhole(WHOLE_MAX), record_sha256: isHex, stream: isText, v: isOneOf(1),
  });
}

/** The root that a leaf's hash and the hashes beside its way up make. */
function rootOf(leaf, index, size, path, where = "receipt.tlog-proof") {
  if (index >= size) throw new Refusal(`the checkpoint is too old: leaf ${index} is not among its ${size} leaves`);
  let last = size - 1n;
  let root = leaf;
  for (const beside of path) {
    if (last === 0n) throw new Refusal(`${where} has more hashes than the tree has levels`);
    if (index & 1n || index === last) {
      root = sha256(Uint8Array.of(1), beside, root);
      while (!(index & 1n) && index) [index, last] = [index >> 1n, last >> 1n];
    } else {
      root = sha256(Uint8Array.of(1), root, beside);
    }
    [index, last] = [index >> 1n, last >> 1n];
  }
  if (last) throw new Refusal(`${where} has fewer hashes than the tree has levels`);
  return root;
}

// 4. The lines: one event each, in canonical JSON.

/** A check for whole numbers from 0. */
function isWhole(most) {
  return (value) => typeof value === "number" && value >= 0 && value <= most;
}

/** A check for one of these values. */
function isOneOf(...words) {
  return (value) => words.includes(value);
}

/** A check for rows of what passes another check. */
function isRow(check) {
  return (value) => Array.isArray(value) && value.every(check);
}

/** A check for rows of at least one. */
function isSome(check) {
  return (value) => isRow(check)(value) && value.length > 0;
}

/** A check for rows of rows, each with a value for each of these. */
function isRows(...checks) {
  return isRow((row) => Array.isArray(row) && row.length === checks.length && checks.every((check, at) => check(row[at])));
}

const isText = (value) => typeof value === "string";
const isPlayed = (value) => isText(value)
  && /^[0-9]{4}(-[0-9]{2}){2}(T[0-9]{2}(:[0-9]{2}){2}(Z|[+-][0-9]{2}:[0-9]{2})?)?$/.test(value);
const isHex = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);
const SEAT = isWhole(22), CHIPS = isWhole(WHOLE_MAX), STEP = isWhole(99), AT = isWhole(WHOLE_MAX);
const isNet = (value) => typeof value === "number";
const isNext = (value) => value === null || SEAT(value);
const FLAG = isOneOf(true, false), CARD = isOneOf(...DECK, UNKNOWN);
const CARDS = isRow(CARD), SEATS = isRow(SEAT), STACKS = isRow(CHIPS);
const ORIGIN = isOneOf("chosen", "forced", "default", "recorded");
const BLIND = isOneOf("small", "big", "straddle", "post", "dead");
const FAULT = isOneOf("illegal", "malformed", "late", "disconnected");
const PLACE = isOneOf("action", "acknowledgement", "bid");

const EVENTS = new Map(Object.entries({
  HandStarted: { hand: isText, game: isText, ruleset: isText, button: SEAT, players: isRow(isText), stacks: STACKS,
    dead_small: FLAG },
  StepEntered: { step: STEP, name: isText },
  AntePosted: { seat: SEAT, amount: CHIPS },
  BlindPosted: { seat: SEAT, amount: CHIPS, to: CHIPS, kind: BLIND, origin: ORIGIN },
  HoleDealt: { seat: SEAT },
  BoardDealt: { cards: CARDS },
  CardSwapped: { seat: SEAT, slot: isWhole(3), told: FLAG },
  BountyDrawn: { seat: SEAT },
  BettingOpened: { step: STEP, street: isText, bet: CHIPS, size: CHIPS, next: isNext },
  Folded: { seat: SEAT, next: isNext, origin: ORIGIN },
  Checked: { seat: SEAT, next: isNext, origin: ORIGIN },
  Called: { seat: SEAT, amount: CHIPS, next: isNext, origin: ORIGIN },
  Bet: { seat: SEAT, amount: CHIPS, full: FLAG, next: isNext, origin: ORIGIN },
  Raised: { seat: SEAT, amount: CHIPS, to: CHIPS, full: FLAG, next: isNext, origin: ORIGIN },
  BidPlaced: { seat: SEAT, sealed: FLAG },
  Tossed: { seat: SEAT, slot: isWhole(3), cards: CARDS, origin: ORIGIN },
  AuctionSettled: { seats: SEATS, price: CHIPS, bids: STACKS, sealed: FLAG },
  UncalledReturned: { seat: SEAT, amount: CHIPS },
  Announced: { seat: SEAT, cards: CARDS },
  Shown: { seat: SEAT, cards: CARDS },
  Mucked: { seat: SEAT },
  RakeTaken: { pot: STEP, amount: CHIPS },
  PotSplit: { pot: STEP, seats: SEATS, shares: STACKS },
  BountySettled: { seat: SEAT, payer: SEAT, hit: FLAG, amount: CHIPS },
  TimedOut: { seat: SEAT, all_in: FLAG, next: isNext },
  Disconnected: { seat: SEAT },
  Reconnected: { seat: SEAT },
  Faulted: { seat: SEAT, kind: FAULT, where: PLACE },
  Claimed: { nets: isRow(isNet), rake: CHIPS },
  HandVoided: { reason: isText },
  HandEnded: {},
}));
const LATE = {
  HandStarted: { assumed: isSome(isText), played: isPlayed },
  NonceGiven: { drawn_by: isOneOf("player", "dealer") },
};
const HIDDEN = new Map(Object.entries({
  HoleDealt: { cards: CARDS },
  CardSwapped: { old: CARD, new: CARD },
  BountyDrawn: { rank: isOneOf(...RANKS) },
  BidPlaced: { amount: CHIPS, origin: ORIGIN, faults: isRows(AT, isText, FAULT) },
  Faulted: { raw: isText },
  HandVoided: { faults: isRows(SEAT, AT, isText, FAULT) },
  HandEnded: { faults: isRows(SEAT, AT, isText, FAULT) },
}));

/** The events of the record, each with exactly the fields of its kind, from start to end. */
function readLines(record, leaf) {
  const texts = splitLines(record.subarray(0, -1));
  if (texts.length !== leaf.get("lines")) {
    throw new Refusal(`events.jsonl has ${texts.length} lines, and the leaf says ${leaf.get("lines")}`);
  }
  const lines = texts.map((text, at) => readLine(at + 1, text));
  const count = (kind) => lines.filter((line) => line.get("type") === kind).length;
  if (lines[0].get("type") !== "HandStarted" || count("HandStarted") !== 1) {
    throw new Refusal("events.jsonl does not begin with HandStarted, or begins more than once");
  }
  if (lines[0].get("hand") !== leaf.get("stream")) {
    throw new Refusal(`the record is of ${quoted(lines[0].get("hand"))}, the leaf of another hand`);
  }
  if (count("HandEnded") + count("HandVoided") !== 1) {
    throw new Refusal("a closed hand has one HandEnded or HandVoided, and this one has not");
  }
  return lines;
}

/** One line as a Map of its fields. */
function readLine(number, text) {
  const where = `events.jsonl line ${number}`;
  const line = readJson(where, text, 4);
  const kind = line.has("type") ? line.get("type") : null;
  if (!isText(kind) || !EVENTS.has(kind)) throw new Refusal(`${where}: ${quoted(kind)} is no kind of event of a hand`);
  const kinds = { type: isText, at: AT, ...EVENTS.get(kind) };
  for (const field of Object.keys(HIDDEN.get(kind) ?? {})) kinds[field] = field === "cards" ? isCounted : isCommitment;
  if (kind === "CardSwapped" && line.get("told") === true) kinds.changed = FLAG;
  Object.assign(kinds, late(kind, line));
  checkFields(where, line, kinds);
  return line;
}

/** The fields that are younger than their kind and stand in this line. */
function late(kind, line) {
  return Object.fromEntries(Object.entries(LATE[kind] ?? {}).filter(([field]) => line.has(field)));
}

const hasKeys = (value, ...keys) => value instanceof Map && value.size === keys.length && keys.every((key) => value.has(key));
const isCommitment = (value) => hasKeys(value, "commitment") && isHex(value.get("commitment"));
const isCounted = (value) => hasKeys(value, "commitment", "count") && isHex(value.get("commitment"))
  && isWhole(52)(value.get("count"));

/** Each field once, of its kind, and no other. */
function checkFields(where, found, kinds) {
  const fields = Object.keys(kinds).sort();
  if (!hasKeys(found, ...fields)) throw new Refusal(`${where} has not exactly the fields ${fields.join(", ")}`);
  for (const field of fields) {
    if (!kinds[field](found.get(field))) throw new Refusal(`${where}: ${quoted(found.get(field))} cannot be its ${field}`);
  }
}

// 5. Commitments and openings.

/** The fields of this line that are hidden. */
function commitments(line) {
  return Object.keys(HIDDEN.get(line.get("type")) ?? {});
}

/** Who they are for, and the hidden values by `LINE FIELD`; each must be what its line commits to. */
function readOpenings(text, lines) {
  const parsed = readJson("openings.json", text, 6);
  checkFields("openings.json", parsed, { openings: isRow(isOpening), view: isText, v: isOneOf(1) });
  const opened = new Map();
  const wrong = [];
  for (const one of parsed.get("openings")) {
    const [number, field, value] = [one.get("line"), one.get("field"), one.get("value")];
    const what = `the opening of ${quoted(field)} in line ${BigInt(number) + 1n}`;
    const line = lines[number];
    if (!line || !commitments(line).includes(field)) wrong.push(`${what} opens nothing: no such thing is hidden there`);
    else if (opened.has(`${number} ${field}`)) wrong.push(`${what} stands there twice`);
    else if (!HIDDEN.get(line.get("type"))[field](value)) wrong.push(`${what}: ${quoted(value)} cannot be its value`);
    else if (!isCommitted(one, line.get(field))) {
      wrong.push(`${what} is wrong: the line commits to another value or nonce`);
    } else opened.set(`${number} ${field}`, value);
  }
  if (wrong.length) throw new Refusal(...wrong);
  return { view: parsed.get("view"), opened };
}

const isOpening = (value) => hasKeys(value, "field", "line", "nonce", "value") && isText(value.get("field"))
  && isWhole(WHOLE_MAX)(value.get("line")) && isHex(value.get("nonce"));

/** A digest of a tag, the nonce and the value; of cards the count must be right, too. */
function isCommitted(opening, place) {
  const value = opening.get("value");
  const digest = sha256(utf8("muckrake/commitment/v1\0"), unhex(opening.get("nonce")), utf8(canonical(value)));
  const length = Array.isArray(value) ? value.length : 1;
  return hex(digest) === place.get("commitment") && (!place.has("count") || place.get("count") === length);
}

/** Whom the bundle is for; an auditor's hides nothing. */
function checkView(view, lines, opened) {
  const views = ["public", "auditor", ...lines[0].get("players").map((player) => `seat:${player}`)];
  if (!views.includes(view)) {
    throw new Refusal(`openings.json is for ${quoted(view)}, and nobody of that name is in this hand`);
  }
  const closed = lines.reduce((sum, line) => sum + commitments(line).length, 0) - opened.size;
  if (view === "auditor" && closed) {
    throw new Refusal(`openings.json is for the auditor, and leaves ${closed} hidden values closed`);
  }
}

/** The lines with what is opened in its place; a card that is not is as good as unknown. */
function unveiled(lines, opened) {
  return lines.map((line, number) => {
    const shown = new Map(line);
    for (const field of commitments(line)) {
      let closed = null;
      if (field === "cards") closed = Array(line.get("cards").get("count")).fill(UNKNOWN);
      else if (field === "old" || field === "new") closed = UNKNOWN;
      const place = `${number} ${field}`;
      shown.set(field, opened.has(place) ? opened.get(place) : closed);
    }
    return shown;
  });
}

// 6. The rules' name, the chips and the cards.

/** Sixteen hex digits of a digest name the rules; what is merely said about them is left out. */
function checkRuleset(text, start) {
  const rules = readJson("ruleset.json", text, DEPTH_MAX);
  const digest = new Map([...rules].filter(([key]) => !["document", "partner", "readings"].includes(key)));
  if (hex(sha256(utf8(canonical(digest)))).slice(0, 16) !== start.get("ruleset")) {
    throw new Refusal(`ruleset.json is not the ruleset ${quoted(start.get("ruleset"))} of this hand`);
  }
  const name = rules.has("name") ? rules.get("name") : null;
  if (name !== start.get("game")) throw new Refusal(`ruleset.json is called ${quoted(name)}, not ${quoted(start.get("game"))}`);
}

/** The hand added up line by line, and its cards beside the deck's, if that is opened. */
function checkHand(files, lines) {
  const swapped = lines.some((line) => line.get("type") === "CardSwapped");
  const rules = swapped ? readJson("ruleset.json", files.get("ruleset.json"), DEPTH_MAX) : new Map();
  const table = new Table(lines[0], rules.get("swap_discard") === "dead");
  lines.slice(1).forEach((line, at) => {
    try {
      table.count(line);
    } catch (wrong) {
      throw wrong instanceof Refusal ? new Refusal(`events.jsonl line ${at + 2}: ${wrong.message}`) : wrong;
    }
  });
  if (files.has("deck.json")) checkDeck(files, lines);
}

/** Chips in stacks, pot and rake, and cards in hands and on the board; counted, not judged. */
class Table {
  constructor(start, dies) {
    this.brought = start.get("stacks").map(BigInt);
    this.stacks = [...this.brought];
    this.paid = this.stacks.map(() => 0n);
    this.hole = this.stacks.map(() => []);
    this.board = [];
    this.gone = [];
    this.dies = dies;
    this.pot = this.rake = 0n;
    this.over = false;
    this.owing = new Set();
    if (start.get("players").length !== this.stacks.length || !this.stacks.length) {
      throw new Refusal("events.jsonl line 1: not every player has a stack, or nobody plays");
    }
    if (start.get("button") >= this.stacks.length) {
      throw new Refusal(`events.jsonl line 1: there is no seat ${start.get("button")} for the button`);
    }
  }

  /** One more line; after it everything must still be where it can be. */
  count(line) {
    const kind = line.get("type");
    const seats = line.get("seats") ?? [];
    for (const seat of [...seats, line.get("seat"), line.get("payer"), line.get("next")]) {
      if (seat != null && seat >= this.stacks.length) throw new Refusal(`there is no seat ${seat}`);
    }
    if (new Set(seats).size !== seats.length) throw new Refusal("a seat is named twice");
    if (this.over && !["Faulted", "Disconnected", "Reconnected"].includes(kind)) {
      throw new Refusal(`${kind} comes after the end of the hand`);
    }
    if (kind === "Faulted" && line.get("where") === "bid" && !this.over) {
      throw new Refusal("a fault at a bid has no line of its own: it would tell the bid");
    }
    MOVES[kind]?.(this, line);
    this.check();
  }

  move(seat, amount) {
    this.stacks[seat] -= amount;
    this.pot += amount;
  }

  /** Into the pot, as a bet. */
  pay(line) {
    const amount = BigInt(line.get("amount"));
    this.move(line.get("seat"), amount);
    this.paid[line.get("seat")] += amount;
  }

  /** Nobody takes back more than he paid. */
  giveBack(line) {
    const [seat, amount] = [line.get("seat"), BigInt(line.get("amount"))];
    this.move(seat, -amount);
    this.paid[seat] -= amount;
    if (this.paid[seat] < 0n) throw new Refusal(`seat ${seat} takes back more than it paid`);
  }

  takeRake(line) {
    this.pot -= BigInt(line.get("amount"));
    this.rake += BigInt(line.get("amount"));
  }

  split(line) {
    const [seats, shares] = [line.get("seats"), line.get("shares")];
    if (seats.length !== shares.length) throw new Refusal(`${seats.length} seats are paid ${shares.length} shares`);
    seats.forEach((seat, at) => this.move(seat, -BigInt(shares[at])));
  }

  /** From stack to stack; the payer may come to owe more than he has. */
  settleBounty(line) {
    this.stacks[line.get("seat")] += BigInt(line.get("amount"));
    this.stacks[line.get("payer")] -= BigInt(line.get("amount"));
    this.owing.add(line.get("payer"));
  }

  /** Everything goes back. */
  void() {
    [this.stacks, this.pot, this.rake, this.over] = [[...this.brought], 0n, 0n, true];
  }

  end() {
    this.over = true;
    if (this.pot) throw new Refusal(`the hand ends, and ${this.pot} chips are left in the pot`);
  }

  /** One card takes the place of another; who may not know whether, knows neither after. */
  swap(line) {
    const [seat, slot, known, new_] = ["seat", "slot", "old", "new"].map((field) => line.get(field));
    const hole = this.hole[seat];
    if (slot >= hole.length) throw new Refusal(`seat ${seat} has no card in slot ${slot}`);
    if (known !== UNKNOWN && hole[slot] !== UNKNOWN && known !== hole[slot]) {
      throw new Refusal(`seat ${seat} holds ${hole[slot]} in slot ${slot}, not ${known}`);
    }
    const old = known === UNKNOWN ? hole[slot] : known;
    let changed = line.get("changed");
    if (old !== UNKNOWN && new_ !== UNKNOWN) {
      if (changed !== undefined && changed !== (old !== new_)) {
        throw new Refusal(`what is known of slot ${slot} is not what happened to ${old}`);
      }
      changed = old !== new_;
    }
    if (changed && this.dies) this.gone.push(old);
    if (new_ !== UNKNOWN || changed !== false) hole[slot] = new_;
  }

  /** A card of a hand goes to the board. */
  toss(line) {
    const [seat, slot, cards] = ["seat", "slot", "cards"].map((field) => line.get(field));
    const hole = this.hole[seat];
    if (slot >= hole.length || cards.length !== 1 || ![UNKNOWN, cards[0]].includes(hole[slot])) {
      throw new Refusal(`seat ${seat} does not hold ${cards.join(" ")} in slot ${slot}`);
    }
    hole.splice(slot, 1);
    this.board.push(...cards);
  }

  /** Shown cards are those that the seat was dealt; what was not known of them now is. */
  show(line) {
    const [seat, shown] = [line.get("seat"), line.get("cards")];
    const hole = this.hole[seat];
    const fresh = shown.filter((card) => card !== UNKNOWN && !hole.includes(card));
    if (shown.length !== hole.length || fresh.length > hole.filter((card) => card === UNKNOWN).length) {
      throw new Refusal(`seat ${seat} shows ${shown.join(" ")}, which is not what it was dealt`);
    }
    const kept = hole.filter((card) => card !== UNKNOWN && !shown.includes(card));
    this.hole[seat] = shown.map((card) => (card === UNKNOWN && kept.length ? kept.pop() : card));
  }

  check() {
    const sum = (row) => row.reduce((total, one) => total + one, 0n);
    this.stacks.forEach((stack, seat) => {
      if (stack < 0n && !this.owing.has(seat)) throw new Refusal(`seat ${seat} pays ${-stack} chips more than it has`);
    });
    if (this.pot < 0n) throw new Refusal(`${-this.pot} chips more are paid out than are in the pot`);
    if (sum(this.stacks) + this.pot + this.rake !== sum(this.brought)) throw new Refusal("chips are made or lost");
    const cards = [...this.hole.flat(), ...this.board, ...this.gone];
    if (cards.length > DECK.length) throw new Refusal("more cards are dealt than a deck has");
    const seen = new Set();
    for (const card of cards) {
      if (seen.has(card)) throw new Refusal(`${card} is in two places`);
      if (card !== UNKNOWN) seen.add(card);
    }
  }
}

const PAYS = (table, line) => table.pay(line);
const MOVES = {
  AntePosted: PAYS, BlindPosted: PAYS, Called: PAYS, Bet: PAYS, Raised: PAYS,
  AuctionSettled: (table, line) => line.get("seats").forEach((seat) => table.move(seat, BigInt(line.get("price")))),
  UncalledReturned: (table, line) => table.giveBack(line),
  RakeTaken: (table, line) => table.takeRake(line),
  PotSplit: (table, line) => table.split(line),
  BountySettled: (table, line) => table.settleBounty(line),
  HandVoided: (table) => table.void(),
  HandEnded: (table) => table.end(),
  HoleDealt: (table, line) => table.hole[line.get("seat")].push(...line.get("cards")),
  BoardDealt: (table, line) => table.board.push(...line.get("cards")),
  CardSwapped: (table, line) => table.swap(line),
  Tossed: (table, line) => table.toss(line),
  Shown: (table, line) => table.show(line),
};

// The match's own records, as far as the hand rests on them: each is a leaf of the same tree.

const RECORDS = new Map(Object.entries({
  MatchStarted: {
    match: isText, game: isText, ruleset: isText, players: isRow(isText), dealing: isOneOf("seeded", "committed", "recorded"),
    disclosure: isOneOf("sealed", "open-after-match", "open"), sealed_bids: FLAG,
    seed: (value) => value === null || isCommitment(value), deals: isOneOf(...Array.from({ length: 23 }, (_, at) => at + 1)),
  },
  Tagged: { player: isText, tag: isText, value: isText },
  DeckCommitted: { commitment: isHex, hands: isWhole(2 ** 31 - 1) },
  NonceGiven: { player: isText, nonce: isText },
  DeckOpened: { number: isWhole(2 ** 31 - 1), secret: isHex },
  SourceNoted: { format: isText, dialect: isText, header: isCommitment, footer: isCommitment },
  MatchEnded: { nets: isRow(isNet), reason: isText },
}));

/** What match.json proves, or null where there is none: no records vouch for the deck then. */
function readMatch(files, hand, head) {
  if (!files.has("match.json")) return null;
  const parsed = readJson("match.json", files.get("match.json"), 6);
  checkFields("match.json", parsed, { records: Array.isArray, v: isOneOf(1) });
  const stream = hand.get("stream");
  const cut = stream.lastIndexOf("/");
  const [match, number] = [cut < 0 ? "" : stream.slice(0, cut), stream.slice(cut + 1)];
  const lines = [];
  let [place, event] = [-1, 0n];
  for (const row of parsed.get("records")) {
    const leaf = readRecord(row, match, head);
    if (leaf.get("hand_seq") <= place || BigInt(leaf.get("first")) < event) {
      throw new Refusal("match.json: the records are not in the order in which they closed");
    }
    place = leaf.get("hand_seq");
    event = BigInt(leaf.get("first")) + BigInt(leaf.get("lines"));
    lines.push(...row.get("lines").map((line) => ({ seq: place, line })));
  }
  const starts = lines.filter(({ line }) => line.get("type") === "MatchStarted").map(({ line }) => line);
  if (starts.length !== 1 || lines[0].line !== starts[0] || starts[0].get("match") !== match) {
    throw new Refusal("match.json does not begin with MatchStarted of this match, or not once");
  }
  const announced = { dealing: starts[0].get("dealing"), deals: starts[0].get("deals"), first: 0, commitment: "", nonces: [], given: -1 };
  if (announced.dealing === "committed") {
    if (!/^[1-9][0-9]{0,9}$/.test(number)) throw new Refusal(`match.json: ${quoted(stream)} has no number`);
    readCommitment(lines, Number(number) - (Number(number) - 1) % announced.deals, announced);
    if (announced.given >= hand.get("hand_seq")) throw new Refusal("match.json: the nonces were given after the hand was over");
  }
  if (files.has("deck.json")) {
    const opened = readJson("deck.json", files.get("deck.json"), 3);
    for (const name of ["commitment", "deals", "first", "nonces"]) {
      if (canonical(opened.get(name) ?? null) !== canonical(announced[name])) {
        throw new Refusal("deck.json opens another deck than match.json has committed to");
      }
    }
  }
  return announced;
}

/** One row of match.json: a leaf of the match, its lines, and that it is in the tree. */
function readRecord(row, match, head) {
  const where = "match.json";
  const isObject = (value) => value instanceof Map;
  if (!isObject(row)) throw new Refusal(`${where}: a record is no object`);
  checkFields(where, row, { leaf: isObject, lines: isRow(isObject), proof: isRow(isText) });
  const [leaf, lines] = [row.get("leaf"), row.get("lines")];
  checkLeaf(where, leaf, isWhole(WHOLE_MAX));
  const [seq, stream] = [leaf.get("hand_seq"), leaf.get("stream")];
  if (stream !== match) throw new Refusal(`${where} holds a record of ${quoted(stream)}, not of ${quoted(match)}`);
  for (const line of lines) {
    const kind = line.has("type") ? line.get("type") : null;
    if (!isText(kind) || !RECORDS.has(kind)) throw new Refusal(`${where}: ${quoted(kind)} is no kind of record of a match`);
    const kinds = { type: isText, at: AT, ...RECORDS.get(kind) };
    Object.assign(kinds, late(kind, line));
    checkFields(where, line, kinds);
  }
  if (leaf.get("lines") !== lines.length || !lines.length) {
    throw new Refusal(`${where}: leaf ${seq} has ${leaf.get("lines")} lines, and not these`);
  }
  if (hex(sha256(utf8(lines.map(canonical).join("\n")))) !== leaf.get("record_sha256")) {
    throw new Refusal(`${where}: the lines of leaf ${seq} are not those it names`);
  }
  const path = row.get("proof").map((one) => readHash(where, one));
  const hashed = sha256(Uint8Array.of(0), utf8(canonical(leaf)));
  if (!same(rootOf(hashed, BigInt(seq), head.size, path, where), head.root)) {
    throw new Refusal(`${where}: leaf ${seq} does not lead to the root in checkpoint`);
  }
  return leaf;
}

/** Puts the commitment that covers this deck, and the nonces that follow it, into what is announced. */
function readCommitment(lines, deck, announced) {
  let first = 1;
  for (const { seq, line } of lines) {
    if (line.get("type") === "DeckCommitted") {
      if (announced.first) throw new Refusal("match.json goes on after the commitment to this deck");
      if (first <= deck && deck < first + line.get("hands")) {
        Object.assign(announced, { first, commitment: line.get("commitment"), committed: seq });
      }
      first += line.get("hands");
    } else if (line.get("type") === "NonceGiven" && announced.first) {
      announced.nonces.push([line.get("player"), line.get("nonce")]);
      announced.given = seq;
    }
  }
  if (!announced.first || !announced.nonces.length) {
    throw new Refusal(`match.json shows no commitment to deck ${deck}, or no nonce that followed it`);
  }
}

/** How the deck was made, and what of it was there first. */
function toldOfDeck({ dealing, committed, given }, hand) {
  if (dealing === "committed") {
    return `Its deck was committed to in leaf ${committed}, the nonces came in leaf ${given} and the hand closed as leaf`
      + ` ${hand.get("hand_seq")}: who was given a checkpoint of more than ${given} leaves before its first card knows that`
      + " the deck was fixed before.";
  }
  if (dealing === "seeded") {
    return "Its deck was shuffled from a seed: hidden cards are only as hidden as the seed, and everybody who knows it knows"
      + " the cards.";
  }
  return "Its cards are those that somebody else wrote down.";
}

// The deck, if its secret was opened.

const CHAIN_MAX = 2 ** 22;

/** Every card that is known here beside the deck that the opened secret makes. */
function checkDeck(files, lines) {
  const parsed = readJson("deck.json", files.get("deck.json"), 3);
  const number31 = isWhole(2 ** 31 - 1);
  checkFields("deck.json", parsed, {
    commitment: isHex, deals: (value) => isWhole(23)(value) && value > 0, first: number31,
    nonces: isRows(isText, isText), number: number31, secret: isHex, v: isOneOf(1),
  });
  const stream = lines[0].get("hand");
  const cut = stream.lastIndexOf("/");
  const [match, hand] = [cut < 0 ? "" : stream.slice(0, cut), stream.slice(cut + 1)];
  if (!/^[1-9][0-9]{0,9}$/.test(hand)) throw new Refusal(`deck.json: ${quoted(stream)} has no number`);
  const number = Number(hand) - (Number(hand) - 1) % parsed.get("deals");
  const rules = readJson("ruleset.json", files.get("ruleset.json"), DEPTH_MAX);
  const key = handKey(parsed, match, number);
  const index = (number - 1) / parsed.get("deals");
  const shared = (hands) => {
    const first = Math.max((index - index % hands) * parsed.get("deals") + 1, parsed.get("first"));
    return new Draws(handKey(parsed, match, first), "muckrake/bounty/v1\0");
  };
  const dealer = new Dealer(rules, lines[0], shuffled(key), new Draws(key, "muckrake/swap/v1\0"), index, shared);
  lines.forEach((line, at) => {
    const owed = owes(dealer, line, at + 1);
    const given = line.get("cards") ?? ["new", "rank"].filter((one) => line.has(one)).map((one) => line.get(one));
    if (owed.length && !fits(given, owed)) {
      throw new Refusal(`events.jsonl line ${at + 1}: ${given.join(" ")}, and the deck deals ${owed.join(" ")}`);
    }
  });
}

/** The cards that this line should hold. */
function owes(dealer, line, place) {
  try {
    return dealer.give(line);
  } catch (reason) {
    if (!(reason instanceof Undealt)) throw reason;
    throw new Refusal(`events.jsonl line ${place} deals what the rules do not deal`);
  }
}

/** Whether these are the cards that were owed, as far as they are known. */
function fits(given, owed) {
  return given.length === owed.length && given.every((card, at) => card === UNKNOWN || card === owed[at]);
}

/** The key of this hand's deck: from the dealer's secret and the players' nonces. */
function handKey(parsed, match, number) {
  const [first, opened] = [parsed.get("first"), parsed.get("number")];
  if (!(first > 0 && first <= number && number <= opened && opened < first + CHAIN_MAX)) {
    throw new Refusal(`deck.json opens the decks ${first}..${opened}, and this hand's is ${number}`);
  }
  let secret = unhex(parsed.get("secret"));
  let mine = secret;
  for (let place = opened; place >= first; place -= 1) {
    if (place === number) mine = secret;
    secret = sha256(utf8("muckrake/chain/v1"), secret);
  }
  if (hex(secret) !== parsed.get("commitment")) throw new Refusal("deck.json: the secret does not lead back to the commitment");
  const seats = parsed.get("nonces").flat().map(counted);
  const given = sha256(utf8("muckrake/seat-nonces/v1\0"), ...seats);
  return hmac(mine, utf8("muckrake/deck/v1\0"), counted(match), bigEndian(number, 4), given);
}

/** Text after its length in two bytes. */
function counted(text) {
  const encoded = utf8(text);
  if (encoded.length > 65535) throw new Refusal("deck.json: a name or a nonce is too long");
  return joined(bigEndian(encoded.length, 2), encoded);
}

/** Bytes without end from a key, a label and a counter; and even chances from them. */
class Draws {
  constructor(key, label) {
    [this.key, this.label, this.block, this.left] = [key, utf8(label), 0, []];
  }

  /** A number below `many` from so many bytes; those that would favour the small ones are thrown away. */
  below(many, width) {
    const numbers = 256 ** width;
    for (;;) {
      while (this.left.length < width) {
        this.left.push(...hmac(this.key, this.label, bigEndian(this.block, 4)));
        this.block += 1;
      }
      const drawn = this.left.splice(0, width).reduce((number, byte) => number * 256 + byte, 0);
      if (drawn < numbers - numbers % many) return drawn % many;
    }
  }
}

/** Fisher and Yates, from the last card down. */
function shuffled(key) {
  const order = [...DECK];
  const draws = new Draws(key, "muckrake/shuffle/v1\0");
  for (let last = 51; last > 0; last -= 1) {
    const chosen = draws.below(last + 1, 1);
    [order[last], order[chosen]] = [order[chosen], order[last]];
  }
  return order;
}

/** The deck in the dealer's hand, and what it gives to each line, as this ruleset deals. */
class Dealer {
  constructor(rules, start, order, luck, index, shared) {
    [this.rules, this.order, this.left, this.luck] = [rules, order, [...order], luck];
    [this.index, this.shared, this.ranks] = [index, shared, []];
    this.button = start.get("button");
    this.seats = start.get("stacks").length;
    this.fixed = rules.get("deck_slots") === "fixed";
    this.hole = start.get("stacks").map(() => []);
    this.board = this.step = 0;
    this.held = 2;
    this.settled = false;
  }

  /** The cards that this line should hold, if it is one that deals. */
  give(line) {
    switch (line.get("type")) {
      case "StepEntered": this.step = line.get("step"); return [];
      case "AuctionSettled": this.settled = true; return [];
      case "HoleDealt": return this.toSeat(line.get("seat"), line.get("cards").length);
      case "BoardDealt": return this.toBoard(line.get("cards").length);
      case "CardSwapped": return [this.swap(line.get("seat"), line.get("slot"), line.get("changed"))];
      case "BountyDrawn": return [this.bounty(line.get("seat"))];
      default: return [];
    }
  }

  /** What the ruleset says of something; it must be of that kind. */
  rule(field, check = () => true) {
    if (!this.rules.has(field) || !check(this.rules.get(field))) throw new Undealt(field);
    return this.rules.get(field);
  }

  /** How many seats from the button this one is. */
  after(seat) {
    return (seat - this.button + this.seats) % this.seats;
  }

  /** The hand that a seat is dealt first, or the card that it has won. */
  toSeat(seat, count) {
    if (this.settled) {
      this.hole[seat].push(this.thirdCard(seat));
      return this.hole[seat].slice(-1);
    }
    if (!this.hole.some((hole) => hole.length)) this.deal(count);
    return [...this.hole[seat]];
  }

  /** The first deal: the dealer's cards together, then the next seat's; or one at a time. */
  deal(count) {
    this.held = count;
    const order = this.hole.map((_, place) => (this.button + 1 + place) % this.seats);
    const rounds = Array(count).fill(order).flat();
    const hands = [order[order.length - 1], ...order.slice(0, -1)].flatMap((seat) => Array(count).fill(seat));
    const to = this.rule("hole_order") === "one_each_from_left" ? rounds : hands;
    this.take(to.length).forEach((card, at) => this.hole[to[at]].push(card));
  }

  /** A card won at auction: from the top, the bottom, or its own place at the end. */
  thirdCard(seat) {
    if (this.fixed) return this.order[51 - this.after(seat)];
    const bottom = this.rule("third_card") === "bottom";
    if (!this.left.length) throw new Undealt("the deck is empty");
    return bottom ? this.left.pop() : this.left.shift();
  }

  /** The next cards, after the burn; or those that lie after the hole cards. */
  toBoard(count) {
    const first = this.held * this.seats + this.board;
    this.board += count;
    if (this.fixed) return this.order.slice(first, first + count);
    const burn = this.rule("burn", isWhole(52));
    return this.take(count + burn).slice(burn);
  }

  /** Luck says whether the card goes; then the next card comes, or one of the last. */
  swap(seat, slot, changed) {
    const script = this.rule("script", Array.isArray);
    const step = script[this.step];
    if (!(step instanceof Map) || !isWhole(2 ** 31)(step.get("of")) || step.get("of") < 1
      || !isWhole(2 ** 31)(step.get("chance"))) throw new Undealt("no chances");
    const lost = this.luck.below(step.get("of"), 4) < step.get("chance");
    if (changed !== undefined && changed !== lost) throw new Refusal(`seat ${seat}, slot ${slot}: the deck's luck says otherwise`);
    const hole = this.hole[seat];
    if (lost) {
      const place = 2 * this.after(seat) + slot;
      const after = this.rule("swap_order") === "after_board" ? 3 : 0;
      const late = this.board > after ? 2 * this.seats : 0;
      const [card] = this.fixed ? [this.order[51 - place - late]] : this.take(1);
      if (slot >= hole.length || card === undefined) throw new Undealt("no such card");
      hole[slot] = card;
    }
    if (slot >= hole.length) throw new Undealt("no such card");
    return hole[slot];
  }

  /** The rank of a seat: drawn once for all, and moved on with the button. */
  bounty(seat) {
    if (!this.ranks.length) {
      const step = this.rule("script", Array.isArray)[this.step];
      if (!(step instanceof Map) || !isWhole(2 ** 31)(step.get("hands")) || step.get("hands") < 1) throw new Undealt("no bounties");
      const draws = this.shared(step.get("hands"));
      const drawn = this.hole.map(() => RANKS[draws.below(RANKS.length, 4)]);
      this.ranks = this.hole.map((_, place) => drawn[(this.after(place) + this.index) % this.seats]);
    }
    return this.ranks[seat];
  }

  take(count) {
    return this.left.splice(0, count);
  }
}

// How bytes are read: text, JSON, base64; each in the one spelling that it has.

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const utf8 = (text) => ENCODER.encode(text);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
const same = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);
const latin = (bytes) => Array.from(bytes.subarray(0, 100), (byte) => String.fromCharCode(byte)).join("");

/** Bytes one after the other. */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A number in so many bytes, the highest first. */
function bigEndian(number, width) {
  return Uint8Array.from({ length: width }, (_, at) => Math.floor(number / 256 ** (width - 1 - at)) % 256);
}

/** The parts of bytes between newlines. */
function splitLines(bytes) {
  const parts = [];
  let begin = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, begin)) {
    parts.push(bytes.subarray(begin, end));
    begin = end + 1;
  }
  return [...parts, bytes.subarray(begin)];
}

/** Text from UTF-8. */
function readText(name, bytes) {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw new Refusal(`${name} is not UTF-8`);
  }
}

/** An object in canonical JSON as a Map, not deeper than so many levels. */
function readJson(name, bytes, deep) {
  try {
    const reader = new Canonical(DECODER.decode(bytes));
    const value = reader.value(deep);
    if (value instanceof Map && reader.at === reader.text.length) return value;
  } catch (reason) {
    if (!(reason instanceof SyntaxError || reason instanceof TypeError)) throw reason;
  }
  throw new Refusal(`${name} is not one object in canonical JSON`);
}

/** A reader of canonical JSON, which knows no second spelling of anything. */
class Canonical {
  constructor(text) {
    [this.text, this.at] = [text, 0];
  }

  fail() {
    throw new SyntaxError("not canonical");
  }

  take(text) {
    if (!this.text.startsWith(text, this.at)) this.fail();
    this.at += text.length;
  }

  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) this.fail();
    this.at += found[0].length;
    return found[0];
  }

  value(deep) {
    const sign = this.text[this.at];
    if (sign === "{") return this.object(deep);
    if (sign === "[") return this.row(deep);
    if (sign === '"') return this.string();
    for (const [word, value] of [["true", true], ["false", false], ["null", null]]) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    const digits = this.match(/0|-?[1-9][0-9]*/y);
    if (digits.length > 17 || Math.abs(Number(digits)) > WHOLE_MAX) this.fail();
    return Number(digits);
  }

  object(deep) {
    const found = new Map();
    if (deep < 1) this.fail();
    let before = null;
    for (this.take("{"); this.text[this.at] !== "}";) {
      if (before !== null) this.take(",");
      const key = this.string();
      if (/[^\x00-\x7f]/.test(key) || (before !== null && key <= before)) this.fail();
      this.take(":");
      found.set(key, this.value(deep - 1));
      before = key;
    }
    this.take("}");
    return found;
  }

  row(deep) {
    const found = [];
    if (deep < 1) this.fail();
    for (this.take("["); this.text[this.at] !== "]";) {
      if (found.length) this.take(",");
      found.push(this.value(deep - 1));
    }
    this.take("]");
    return found;
  }

  string() {
    const spelled = this.match(/"(?:[^"\\\x00-\x1f]|\\["\\bfnrt]|\\u00(?:0[0-7be-f]|1[0-9a-f]))*"/y);
    return JSON.parse(spelled);
  }
}

/** The one spelling of a JSON value. */
function canonical(value) {
  if (value instanceof Map) {
    const rows = [...value].sort(([one], [other]) => byCode(one, other));
    return `{${rows.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
  }
  return Array.isArray(value) ? `[${value.map(canonical).join(",")}]` : JSON.stringify(value);
}

/** The order of texts by their characters' numbers. */
function byCode(one, other) {
  const [a, b] = [utf8(one), utf8(other)];
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    if (a[at] !== b[at]) return a[at] - b[at];
  }
  return a.length - b.length;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Bytes from base64 in its one spelling. */
function readBase64(name, text) {
  const padded = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
  const found = [];
  let [held, bits] = [0, 0];
  for (const letter of text.replace(/=+$/, "")) {
    [held, bits] = [(held << 6) | LETTERS.indexOf(letter), bits + 6];
    if (bits >= 8) {
      bits -= 8;
      found.push(held >> bits);
      held &= (1 << bits) - 1;
    }
  }
  if (!padded || !found.length || held) throw new Refusal(`${name}: ${quoted(text)} is not base64`);
  return Uint8Array.from(found);
}

/** A hash in base64. */
function readHash(name, text) {
  const found = readBase64(name, text);
  if (found.length !== 32) throw new Refusal(`${name}: ${quoted(text)} is not a hash`);
  return found;
}

/** A number that fits into eight bytes with a sign. */
function readDecimal(name, digits) {
  if (BigInt(digits) > DECIMAL_MAX) throw new Refusal(`${name}: ${digits} is more than ${DECIMAL_MAX}`);
  return BigInt(digits);
}

/** A hostile value in a sentence: short, and without anything that a terminal obeys. */
function quoted(value) {
  const text = spelledOut(value);
  return text.length <= 70 ? text : `${text.slice(0, 67)}...`;
}

/** JSON in ASCII, with a blank after each comma and colon. */
function spelledOut(value) {
  if (value instanceof Map) {
    return `{${[...value].map(([key, inner]) => `${spelledOut(key)}: ${spelledOut(inner)}`).join(", ")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(spelledOut).join(", ")}]`;
  return JSON.stringify(value).replace(/[\x7f-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A name in a sentence; one that could be taken for a part of it stands in quotes. */
function named(text) {
  return /^[A-Za-z0-9._:/-]{1,80}$/.test(text) ? text : quoted(text);
}

/** ASCII on one line. */
function plain(sentence) {
  return Array.from(sentence, (sign) => (sign >= " " && sign <= "~" ? sign
    : `\\u${sign.codePointAt(0).toString(16).padStart(4, "0")}`)).join("");
}

// SHA-2 and HMAC, by hand: browsers have them only where a page came over HTTPS or from this machine.

/** The first 64 bits after the point of the `power`-th roots of the first primes. */
function rootBits(count, power) {
  const found = [];
  for (let number = 2n; found.length < count; number += 1n) {
    let prime = true;
    for (let factor = 2n; factor * factor <= number; factor += 1n) prime &&= number % factor !== 0n;
    if (!prime) continue;
    const square = number << (64n * power);
    let root = 0n;
    for (let bit = 1n << 69n; bit; bit >>= 1n) if ((root | bit) ** power <= square) root |= bit;
    found.push(root & (2n ** 64n - 1n));
  }
  return found;
}

const ROUNDS = rootBits(80, 3n);
const BEGIN = rootBits(8, 2n);
const ROUNDS_32 = Int32Array.from(ROUNDS.slice(0, 64), (bits) => Number(bits >> 32n) | 0);
const BEGIN_32 = Int32Array.from(BEGIN, (bits) => Number(bits >> 32n) | 0);

/** A message with its padding to whole blocks, its length in bits at the end. */
function padded(message, block, lengthBytes) {
  const whole = new Uint8Array(Math.ceil((message.length + 1 + lengthBytes) / block) * block);
  whole.set(message);
  whole[message.length] = 0x80;
  whole.set(bigEndian(message.length * 8, 8), whole.length - 8);
  return whole;
}

/** SHA-256 of bytes one after the other. */
function sha256(...parts) {
  const view = new DataView(padded(joined(...parts), 64, 8).buffer);
  const state = Int32Array.from(BEGIN_32);
  const w = new Int32Array(64);
  const turned = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getInt32(block + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const s0 = turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS_32[i] + w[i]) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + one) | 0; d = c; c = b; b = a; a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] += word; });
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => digest.setInt32(4 * at, word));
  return new Uint8Array(digest.buffer);
}

/** SHA-512 of bytes one after the other. */
function sha512(...parts) {
  const view = new DataView(padded(joined(...parts), 128, 16).buffer);
  const cut = (x) => BigInt.asUintN(64, x);
  const turned = (x, n) => cut((x >> n) | (x << (64n - n)));
  const state = [...BEGIN];
  const w = Array(80);
  for (let block = 0; block < view.byteLength; block += 128) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getBigUint64(block + 8 * i);
    for (let i = 16; i < 80; i += 1) {
      const s0 = turned(w[i - 15], 1n) ^ turned(w[i - 15], 8n) ^ (w[i - 15] >> 7n);
      const s1 = turned(w[i - 2], 19n) ^ turned(w[i - 2], 61n) ^ (w[i - 2] >> 6n);
      w[i] = cut(w[i - 16] + s0 + w[i - 7] + s1);
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 80; i += 1) {
      const s1 = turned(e, 14n) ^ turned(e, 18n) ^ turned(e, 41n);
      const one = h + s1 + ((e & f) ^ (cut(~e) & g)) + ROUNDS[i] + w[i];
      const s0 = turned(a, 28n) ^ turned(a, 34n) ^ turned(a, 39n);
      const two = s0 + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, cut(d + one), c, b, a, cut(one + two)];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = cut(state[at] + word); });
  }
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((word, at) => digest.setBigUint64(8 * at, word));
  return new Uint8Array(digest.buffer);
}

/** HMAC-SHA256 under a key of at most 64 bytes. */
function hmac(key, ...parts) {
  const block = new Uint8Array(64);
  block.set(key);
  const inner = sha256(block.map((byte) => byte ^ 0x36), ...parts);
  return sha256(block.map((byte) => byte ^ 0x5c), inner);
}

// Ed25519, verification only (RFC 8032).

const PRIME = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const NEUTRAL = Uint8Array.from({ length: 32 }, (_, at) => (at ? 0 : 1));
const mod = (number) => ((number % PRIME) + PRIME) % PRIME;

/** A power modulo the prime. */
function power(base, exponent) {
  let found = 1n;
  for (let left = exponent, square = mod(base); left; left >>= 1n, square = (square * square) % PRIME) {
    if (left & 1n) found = (found * square) % PRIME;
  }
  return found;
}

const CURVE = mod(-121665n * power(121666n, PRIME - 2n));
const ROOT = power(2n, (PRIME - 1n) / 4n);

/** A number of bytes, the lowest first. */
function littleEndian(bytes) {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** The point that these 32 bytes stand for, or null; no point has two spellings. */
function unpackedPoint(bytes) {
  const number = littleEndian(bytes);
  const [y, sign] = [number & (2n ** 255n - 1n), number >> 255n];
  const squared = mod((y * y - 1n) * power(CURVE * y * y + 1n, PRIME - 2n));
  let x = power(squared, (PRIME + 3n) / 8n);
  if ((x * x) % PRIME !== squared) x = (x * ROOT) % PRIME;
  if (y >= PRIME || (x * x) % PRIME !== squared || (x === 0n && sign)) return null;
  x = (x & 1n) === sign ? x : PRIME - x;
  return [x, y, 1n, (x * y) % PRIME];
}

/** The 32 bytes of a point. */
function packedPoint([x, y, z]) {
  const inverse = power(z, PRIME - 2n);
  let number = mod(y * inverse) | ((mod(x * inverse) & 1n) << 255n);
  return Uint8Array.from({ length: 32 }, () => {
    const byte = Number(number & 255n);
    number >>= 8n;
    return byte;
  });
}

/** The sum of two points. */
function sum(p, q) {
  const a = mod((p[1] - p[0]) * (q[1] - q[0]));
  const b = ((p[1] + p[0]) * (q[1] + q[0])) % PRIME;
  const c = (((2n * p[3] * q[3]) % PRIME) * CURVE) % PRIME;
  const d = (2n * p[2] * q[2]) % PRIME;
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
}

const NOTHING = [0n, 1n, 1n, 0n];

/** a*p + b*q, both at once: doubled bit by bit, from the highest down. */
function sumOf(a, p, b, q) {
  const added = [NOTHING, p, q, sum(p, q)];
  let total = NOTHING;
  for (let bit = BigInt(Math.max(a.toString(2).length, b.toString(2).length)) - 1n; bit >= 0n; bit -= 1n) {
    total = sum(total, total);
    const chosen = Number(((a >> bit) & 1n) + 2n * ((b >> bit) & 1n));
    if (chosen) total = sum(total, added[chosen]);
  }
  return total;
}

const BASE = unpackedPoint(Uint8Array.from({ length: 32 }, (_, at) => (at ? 0x66 : 0x58)));
const points = new Map();

/** The point of a public key in its one spelling, or null: it must be of the order L. */
function keyPoint(bytes) {
  const name = hex(bytes);
  if (!points.has(name)) {
    const point = bytes.length === 32 && !same(bytes, NEUTRAL) ? unpackedPoint(bytes) : null;
    points.set(name, point && same(packedPoint(sumOf(ORDER, point, 0n, NOTHING)), NEUTRAL) ? point : null);
  }
  return points.get(name);
}

/** Whether this key signed this message: S is below L, and R is S*B - k*A to the byte, and not the neutral point. */
function isSigned(key, signature, message) {
  const point = keyPoint(key);
  const number = littleEndian(signature.slice(32));
  if (signature.length !== 64 || !point || number >= ORDER) return false;
  const first = signature.slice(0, 32);
  const factor = littleEndian(sha512(first, key, message)) % ORDER;
  const found = packedPoint(sumOf(number, BASE, factor, [PRIME - point[0], point[1], 1n, PRIME - point[3]]));
  return same(found, first) && !same(found, NEUTRAL);
}

// The zip: every byte of it belongs to one of its files, and nothing is there twice.

const NO_ZIP = "this is not a whole zip file";
const HARMLESS = 0x080e;
const RENAMES = new Map([[0x0001, "zip64"], [0x7075, "a second name"], [0x9901, "encryption"]]);

/** The files of a zip as a Map. */
function unpacked(whole) {
  if (whole.length > BUNDLE_MAX) throw new Refusal(`this is larger than ${BUNDLE_MAX} bytes: that is no bundle`);
  const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
  const end = whole.length - 22;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) {
    throw new Refusal(`${NO_ZIP}: its last 22 bytes are not the end of a zip`);
  }
  const [here, count] = [view.getUint16(end + 8, true), view.getUint16(end + 10, true)];
  const [size, begin] = [view.getUint32(end + 12, true), view.getUint32(end + 16, true)];
  if (view.getUint32(end + 4, true) || here !== count || view.getUint16(end + 20, true) || begin + size !== end) {
    throw new Refusal(`${NO_ZIP}: its end does not say where its list is`);
  }
  if (count > FILES_MAX) throw new Refusal(`${count} files are in this zip: no bundle has more than ${FILES_MAX}`);
  const entries = readEntries(whole, view, begin, end, count);
  checkEntries(entries);
  const files = new Map();
  let at = 0;
  for (const entry of entries) {
    const [data, after] = readEntry(whole.subarray(0, begin), view, entry, at);
    files.set(entry.name, inflated(entry, data));
    at = after;
  }
  if (at !== begin) throw new Refusal(`${NO_ZIP}: ${begin - at} bytes before its list belong to no file`);
  return files;
}

/** The list of a zip, from its first byte to its last. */
function readEntries(whole, view, begin, end, count) {
  const entries = [];
  let at = begin;
  for (let number = 0; number < count; number += 1) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) {
      throw new Refusal(`${NO_ZIP}: its list is not one of ${count} files`);
    }
    const two = (place) => view.getUint16(at + place, true);
    const four = (place) => view.getUint32(at + place, true);
    const [name, extra, comment, disk] = [two(28), two(30), two(32), two(34)];
    const entry = { flags: two(8), method: two(10), crc: four(16), packed: four(20), size: four(24), begin: four(42) };
    const kind = (four(38) >>> 16) & 0o170000;
    const place = at + 46 + name;
    at = place + extra + comment;
    if (at > end) throw new Refusal(`${NO_ZIP}: its list is cut short`);
    entry.name = readName(whole.subarray(place - name, place));
    if (kind !== 0 && kind !== 0o100000) throw new Refusal(`${quoted(entry.name)} is not a plain file`);
    if (comment || disk) throw new Refusal(`${quoted(entry.name)} has a comment or is on another disk: that is not read`);
    checkExtra(entry.name, whole.subarray(place, place + extra));
    entries.push(entry);
  }
  if (at !== end) throw new Refusal(`${NO_ZIP}: ${end - at} bytes after its list belong to nothing`);
  return entries;
}

/** A plain name in ASCII: no path, and nothing that is one to some other program. */
function readName(bytes) {
  const name = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  if (!/^[ -~]+$/.test(name) || /[/\\:"]/.test(name) || name === "." || name === "..") {
    throw new Refusal(`${quoted(name.slice(0, 80))} is no name of a file: a bundle has no folders`);
  }
  return name;
}

/** Times and owners are passed over; fields that change a file's name or size are not read. */
function checkExtra(name, extra) {
  for (let at = 0; at < extra.length;) {
    const byte = (place) => (at + place < extra.length ? extra[at + place] : 255);
    const [kind, size] = [byte(0) + 256 * byte(1), byte(2) + 256 * byte(3)];
    at += 4 + size;
    if (at > extra.length) throw new Refusal(`${NO_ZIP}: the fields of ${quoted(name)} are cut short`);
    if (RENAMES.has(kind)) throw new Refusal(`${quoted(name)} has a field for ${RENAMES.get(kind)}: that is not read`);
  }
}

/** Each name once, nothing encrypted or packed in another way, and nothing large. */
function checkEntries(entries) {
  for (const entry of entries) {
    const name = quoted(entry.name);
    if (entries.filter((one) => one.name === entry.name).length > 1) throw new Refusal(`${name} is in this zip more than once`);
    if (entry.flags & 1) throw new Refusal(`${name} is encrypted: a bundle is for everybody who has it`);
    if (entry.flags & ~HARMLESS || ![0, 8].includes(entry.method)) {
      throw new Refusal(`${name} is packed in a way that is not read: stored or deflated is`);
    }
    if (entry.size > FILE_MAX) throw new Refusal(`${name} would have ${entry.size} bytes, and may have ${FILE_MAX}`);
  }
  if (entries.reduce((total, entry) => total + entry.size, 0) > BUNDLE_MAX) {
    throw new Refusal(`this zip would unpack to more than ${BUNDLE_MAX} bytes`);
  }
}

/** A file as it is packed, and where it ends: it begins where the one before it ended. */
function readEntry(whole, view, entry, at) {
  const name = quoted(entry.name);
  if (entry.begin !== at) throw new Refusal(`${NO_ZIP}: ${name} does not begin where the file before it ends`);
  if (at + 30 > whole.length || view.getUint32(at, true) !== 0x04034b50) {
    throw new Refusal(`${NO_ZIP}: ${name} is not where its list says`);
  }
  const two = (place) => view.getUint16(at + place, true);
  const begin = at + 30 + two(26);
  const data = begin + two(28);
  const end = data + entry.packed;
  if (!same(whole.subarray(at + 30, begin), utf8(entry.name)) || end > whole.length) {
    throw new Refusal(`${NO_ZIP}: ${name} is not where its list says`);
  }
  checkExtra(entry.name, whole.subarray(begin, data));
  const sums = [entry.crc, entry.packed, entry.size];
  const fields = [14, 18, 22].map((place) => view.getUint32(at + place, true));
  const later = (entry.flags & 8) && fields.every((one) => one === 0);
  if (two(6) !== entry.flags || two(8) !== entry.method || !(later || fields.every((one, place) => one === sums[place]))) {
    throw new Refusal(`${NO_ZIP}: ${name} says of itself what its list does not`);
  }
  if (!(entry.flags & 8)) return [whole.subarray(data, end), end];
  const descriptor = joined(...sums.map((one) => bigEndian(one, 4).reverse()));
  for (const described of [joined(Uint8Array.of(0x50, 0x4b, 7, 8), descriptor), descriptor]) {
    if (same(whole.subarray(end, end + described.length), described)) {
      return [whole.subarray(data, end), end + described.length];
    }
  }
  throw new Refusal(`${NO_ZIP}: what stands after ${name} is not its size and sum`);
}

/** What is in a file; never more than its list says, whatever is packed in it. */
function inflated(entry, data) {
  const name = quoted(entry.name);
  let [text, whole] = [data, true];
  if (entry.method === 8) {
    const inflating = new Inflating(data, entry.size + 1);
    try {
      text = inflating.all();
    } catch (reason) {
      if (reason !== DAMAGED) throw reason;
      throw new Refusal(`${NO_ZIP}: ${name} cannot be unpacked`);
    }
    whole = inflating.done && inflating.at === data.length;
  }
  if (text.length !== entry.size || !whole) throw new Refusal(`${NO_ZIP}: ${name} has not the size that its list says`);
  if (crc32(text) !== entry.crc) throw new Refusal(`${NO_ZIP}: ${name} has not the sum that its list says`);
  return text;
}

/** CRC-32. */
function crc32(bytes) {
  let sum = -1;
  for (const byte of bytes) sum = CRCS[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

const CRCS = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

const DAMAGED = new Error("damaged");
const ENOUGH = new Error("no more bytes are there, or wanted");
const LENGTHS = [[3, 0], [4, 0], [5, 0], [6, 0], [7, 0], [8, 0], [9, 0], [10, 0], [11, 1], [13, 1], [15, 1], [17, 1],
  [19, 2], [23, 2], [27, 2], [31, 2], [35, 3], [43, 3], [51, 3], [59, 3], [67, 4], [83, 4], [99, 4], [115, 4], [131, 5],
  [163, 5], [195, 5], [227, 5], [258, 0]];
const DISTANCES = Array.from({ length: 30 }, (_, code) => {
  const extra = code < 2 ? 0 : (code >> 1) - 1;
  return [code < 4 ? code + 1 : ((2 + (code & 1)) << extra) + 1, extra];
});
const LENGTHS_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** A deflated stream (RFC 1951) on its way to at most so many bytes. */
class Inflating {
  constructor(data, most) {
    [this.data, this.most, this.at, this.held, this.bits, this.done] = [data, most, 0, 0, 0, false];
    [this.out, this.size] = [new Uint8Array(most), 0];
  }

  /** As many bytes as there are, or as are wanted. */
  all() {
    try {
      for (let last = 0; !last;) {
        last = this.take(1);
        const kind = this.take(2);
        if (kind === 0) this.stored();
        else if (kind === 1) this.coded(FIXED_LENGTHS, FIXED_DISTANCES);
        else if (kind === 2) this.coded(...this.tables());
        else throw DAMAGED;
      }
      this.done = true;
    } catch (reason) {
      if (reason !== ENOUGH) throw reason;
    }
    return this.out.subarray(0, this.size);
  }

  take(count) {
    while (this.bits < count) {
      if (this.at >= this.data.length) throw ENOUGH;
      this.held |= this.data[this.at] << this.bits;
      this.at += 1;
      this.bits += 8;
    }
    const found = this.held & ((1 << count) - 1);
    this.held >>>= count;
    this.bits -= count;
    return found;
  }

  put(byte) {
    this.room();
    this.out[this.size] = byte;
    this.size += 1;
  }

  room() {
    if (this.size >= this.most) throw ENOUGH;
  }

  stored() {
    [this.held, this.bits] = [0, 0];
    const length = this.take(16);
    if (length !== (this.take(16) ^ 0xffff)) throw DAMAGED;
    for (let count = 0; count < length; count += 1) {
      this.room();
      this.put(this.take(8));
    }
  }

  coded(lengths, distances) {
    for (;;) {
      const code = this.symbol(lengths);
      if (code === 256) return;
      if (code < 256) this.put(code);
      else this.copy(LENGTHS[code - 257], distances);
    }
  }

  copy(row, distances) {
    if (!row) throw DAMAGED;
    const length = row[0] + this.take(row[1]);
    const far = DISTANCES[this.symbol(distances)];
    if (!far) throw DAMAGED;
    const distance = far[0] + this.take(far[1]);
    this.room();
    if (distance > this.size) throw DAMAGED;
    for (let count = 0; count < length; count += 1) this.put(this.out[this.size - distance]);
  }

  symbol(table) {
    for (let [code, first, at, length] = [0, 0, 0, 1]; length < 16; length += 1) {
      code |= this.take(1);
      const count = table.counts[length];
      if (code - count < first) return table.symbols[at + code - first];
      if (table.partial) throw DAMAGED;
      [at, first, code] = [at + count, (first + count) << 1, code << 1];
    }
    throw DAMAGED;
  }

  tables() {
    const [lengths, distances, codes] = [this.take(5) + 257, this.take(5) + 1, this.take(4) + 4];
    if (lengths > 286 || distances > 30) throw DAMAGED;
    const short = Array(19).fill(0);
    for (let number = 0; number < codes; number += 1) short[LENGTHS_ORDER[number]] = this.take(3);
    const table = codeTable(short, false);
    const found = [];
    while (found.length < lengths + distances) {
      const code = short.some(Boolean) ? this.symbol(table) : this.take(1) * 0;
      if (code < 16) found.push(code);
      else {
        const [bits, least] = [[2, 3], [3, 3], [7, 11]][code - 16];
        const many = least + this.take(bits);
        if ((code === 16 && !found.length) || found.length + many > lengths + distances) throw DAMAGED;
        const again = code === 16 ? found[found.length - 1] : 0;
        for (let number = 0; number < many; number += 1) found.push(again);
      }
    }
    if (!found[256]) throw DAMAGED;
    return [codeTable(found.slice(0, lengths), true), codeTable(found.slice(lengths), true)];
  }
}

/** A Huffman code from its lengths; a partial one is right only if it has one code of one bit, or none. */
function codeTable(lengths, mayBePartial) {
  const counts = Array(16).fill(0);
  for (const length of lengths) counts[length] += 1;
  counts[0] = 0;
  const longest = counts.findLastIndex(Boolean);
  let left = 1;
  for (let length = 1; length < 16; length += 1) {
    left = left * 2 - counts[length];
    if (left < 0) throw DAMAGED;
  }
  if (longest > 0 && left > 0 && (!mayBePartial || longest !== 1)) throw DAMAGED;
  const at = counts.map((_, length) => counts.slice(0, length).reduce((total, count) => total + count, 0));
  const symbols = [];
  lengths.forEach((length, symbol) => {
    if (length) symbols[at[length]++] = symbol;
  });
  return { counts, symbols, partial: left > 0 };
}

const FIXED_LENGTHS = codeTable(Array.from({ length: 288 }, (_, code) => (code < 144 ? 8 : code < 256 ? 9 : code < 280 ? 7 : 8)), true);
const FIXED_DISTANCES = codeTable(Array(32).fill(5), true);

// Under node: the command line.

/** A command line that makes no sense, and why. */
class Misused extends Error {}

/** The keys that a word means: itself, if it is one, or what is in the file of that name. */
function knownKeys(word, fs) {
  try {
    if (new RegExp(`^${NAME}\\+[0-9a-f]{8}\\+[A-Za-z0-9+/=]+$`, "u").test(word)) {
      return [readKey("the key you know", utf8(`${word}\n`))];
    }
    return readKnown(word, readText(word, new Uint8Array(fs.readFileSync(word))));
  } catch (reason) {
    if (reason instanceof Refusal) throw new Misused(reason.message);
    throw new Misused(`${quoted(word)} is neither a public key nor a file of them`);
  }
}

/** The files of a zip or of a folder that are named by a path. */
function readBundle(path, fs) {
  let found;
  try {
    found = fs.statSync(path);
  } catch {
    throw new Unread(`there is no file or folder ${path}`);
  }
  if (found.isDirectory()) return readFolder(path, fs);
  if (!found.isFile()) throw new Unread(`${path} is neither a file nor a folder`);
  if (found.size > BUNDLE_MAX) throw new Refusal(`${path} is larger than ${BUNDLE_MAX} bytes: that is no bundle`);
  return unpacked(new Uint8Array(fs.readFileSync(path)));
}

/** The files of a folder; a bundle has no links, no folders, and nothing huge. */
function readFolder(folder, fs) {
  const names = fs.readdirSync(folder).sort(byCode);
  if (names.length > FILES_MAX) throw new Refusal(`${names.length} files are in this folder: a bundle has at most ${FILES_MAX}`);
  return new Map(names.map((name) => {
    const path = `${folder}/${name}`;
    const found = fs.lstatSync(path);
    if (!found.isFile()) throw new Refusal(`${quoted(name)} is not a plain file`);
    if (found.size > FILE_MAX) throw new Refusal(`${quoted(name)} has ${found.size} bytes: no file of a bundle has so many`);
    return [name, new Uint8Array(fs.readFileSync(path))];
  }));
}

/** The policy in the file of that name. */
function knownPolicy(path, fs) {
  try {
    return readPolicy(path, new Uint8Array(fs.readFileSync(path)));
  } catch (reason) {
    if (reason instanceof Refusal) throw new Misused(reason.message);
    throw new Misused(`${quoted(path)} is no file that can be read`);
  }
}

/** The bundle that is named, or the folder in which one is; the keys that are known; the policy. */
function readWords(words, fs) {
  const [paths, known, policies, rest] = [[], [], [], [...words]];
  while (rest.length) {
    const word = rest.shift();
    const equals = word.indexOf("=");
    const option = equals < 0 ? word : word.slice(0, equals);
    if (option === "--key" || option === "--policy") {
      const what = option === "--key" ? "a public key, or a file of them" : "a file";
      if (equals < 0 && !rest.length) throw new Misused(`${option} needs ${what}`);
      const value = equals < 0 ? rest.shift() : word.slice(equals + 1);
      if (option === "--key") known.push(...knownKeys(value, fs));
      else policies.push(knownPolicy(value, fs));
    } else if (option.startsWith("-") && option !== "-") {
      throw new Misused(`there is no option ${quoted(option)}: there are --key KEY, --policy FILE and --help`);
    } else paths.push(word);
  }
  if (paths.length > 1) throw new Misused(`one bundle is checked at a time, and ${paths.length} are named`);
  if (policies.length > 1) throw new Misused("one policy says whom to believe, and several are named");
  return { path: paths[0] ?? ".", known, policy: policies[0] ?? null };
}

/** Check the bundle that is named, and say what came of it. */
function main(words, fs) {
  if (words.includes("--help") || words.includes("-h")) {
    console.log("node verify.js [PATH] [--key KEY]... [--policy FILE]   ends with 0, 1, 2, 3 or 7, as verify.py does");
    return PROVED;
  }
  let asked;
  try {
    asked = readWords(words, fs);
  } catch (reason) {
    if (!(reason instanceof Misused)) throw reason;
    console.error(plain(`verify.js: ${reason.message}`));
    return MISUSED;
  }
  const verdict = judged(() => readBundle(asked.path, fs), asked.known, asked.policy);
  for (const problem of verdict.problems) console.log(`${verdict.code === WRONG ? "WRONG" : "NOT CHECKED"}: ${problem}.`);
  if (verdict.proved.length) console.log(verdict.proved.join(" "));
  if (verdict.code === OWN_KEY) console.log(WARNING);
  return verdict.code;
}

// On a page.

const TITLES = { [PROVED]: "It holds", [OWN_KEY]: "It holds, under a key that you have not named", [WRONG]: "It is wrong",
  [UNREAD]: "It cannot be checked" };
const SHAPES = { [PROVED]: "agree", [OWN_KEY]: "contested", [WRONG]: "differ", [UNREAD]: "unknown" };

/** Makes the page judge what is dropped on it or chosen; nothing leaves the browser. */
function page() {
  const at = (name) => document.getElementById(name);
  const [box, choose, keys] = [at("drop"), at("bundle"), at("keys")];
  let chosen = null;
  const look = async () => {
    if (!chosen) return;
    const bytes = chosen.size > BUNDLE_MAX ? null : new Uint8Array(await chosen.arrayBuffer());
    show(judgedOnPage(chosen, bytes, keys.value));
  };
  const show = ({ name, problems, proved, code }) => {
    at("verdict").className = `ruling ${SHAPES[code]}`;
    at("verdict").hidden = false;
    at("title").textContent = TITLES[code];
    at("of").textContent = name;
    const own = code === OWN_KEY ? ["Nothing says whose key this is but the bundle itself: put the key that you know into the box."] : [];
    at("sentences").replaceChildren(...[...problems, ...proved, ...own].map((sentence) => {
      const row = document.createElement("li");
      row.textContent = sentence;
      return row;
    }));
    at("verdict").dataset.code = String(code);
  };
  choose.addEventListener("change", () => {
    [chosen] = choose.files;
    look();
  });
  keys.addEventListener("input", look);
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      box.classList.add("over");
    });
  }
  document.addEventListener("dragleave", () => box.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    box.classList.remove("over");
    [chosen] = event.dataTransfer.files;
    look();
  });
  at("checker").hidden = false;
  at("unscripted").hidden = true;
}

/** The verdict on a file that was chosen; a box of keys that cannot be read is said, and nothing is judged. */
function judgedOnPage(file, bytes, text) {
  const unread = (problem) => ({ name: file.name, problems: [problem], proved: [], code: UNREAD });
  if (!bytes) return unread(`${file.name} is larger than ${BUNDLE_MAX} bytes: that is no bundle`);
  try {
    const known = text.trim() ? readKnown("the box of keys", text) : [];
    return { name: file.name, ...judged(() => unpacked(bytes), known) };
  } catch (reason) {
    if (!(reason instanceof Refusal)) throw reason;
    return unread(reason.message);
  }
}

if (typeof document !== "undefined") page();
else if (typeof module !== "undefined") {
  module.exports = { judged, verify, unpacked, readKnown, readKey, readPolicy, isSigned, keyPoint, sha256, sha512, hmac, shuffled, handKey,
    canonical, unhex, hex, utf8, rootOf, Draws, Refusal };
  if (require.main === module) process.exitCode = main(process.argv.slice(2), require("node:fs"));
}
