// Run by one-file.ts as `node FLAGS warm-up.js PROGRAM CACHE ARGUMENT…`: runs a program, and writes what V8 had made of it by then.
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { setFlagsFromString } from "node:v8";
import { compile, run } from "./compiled.js";

/** What the flags that one-file.ts sets are by default. */
const DEFAULTS = ["--hash-seed=0", "--flush-bytecode", "--max-optimized-bytecode-size=61440", "--sparkplug"];
/** Nearly the longest time that a timer can have, milliseconds. */
const NEVER_MS = 2_000_000_000;

/** Sends a request on its way. */
const { addRequest } = Agent.prototype;
/** Ends when the last request so far has ended. */
let ended = Promise.resolve();

// V8 numbers the functions in the order of their first calls. So each request waits until the one before has ended: then answers cannot arrive in another order.
// Each has a connection of its own: a server closes one that is idle for long.
Agent.prototype.addRequest = function (request, ...options) {
  request.shouldKeepAlive = false;
  ended = ended.then(() => {
    addRequest.call(this, request, ...options);
    return new Promise((close) => request.once("close", close));
  });
};

// A slow machine must call the same functions. So the clocks stand still, and no timer ends.
const [time, elapsed, { setTimeout }] = [Date.now(), performance.now(), globalThis];
Date.now = () => time;
performance.now = () => elapsed;
globalThis.setTimeout = (work, _ms, ...rest) => setTimeout(work, NEVER_MS, ...rest);

const [node, own, program, cache, ...args] = process.argv;
const script = compile(program);
process.on("exit", () => {
  // V8 takes a cache only where the same flags are set as when it was written.
  for (const flag of DEFAULTS) setFlagsFromString(flag);
  writeFileSync(cache, script.createCachedData());
});
process.argv = [node, own, ...args];
run(script, program);
