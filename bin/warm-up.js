// Run by one-file.ts as `node FLAGS warm-up.js PROGRAM CACHE ARGUMENT…`: runs a program, and writes what V8 had made of it by then.
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { setFlagsFromString } from "node:v8";
import { compile, run } from "./compiled.js";

/** What the flags that one-file.ts sets are by default. */
const DEFAULTS = ["--hash-seed=0", "--flush-bytecode", "--max-optimized-bytecode-size=61440", "--sparkplug"];

/** Ends when the last request so far has ended. */
let ended = Promise.resolve();

// V8 numbers the functions in the order of their first calls. So each request waits until the one before has ended: then answers cannot arrive in another order.
const { addRequest } = Agent.prototype;
Agent.prototype.addRequest = function (request, ...options) {
  ended = ended.then(() => {
    addRequest.call(this, request, ...options);
    return new Promise((close) => request.once("close", close));
  });
};

const [node, own, program, cache, ...args] = process.argv;
const script = compile(program);
process.on("exit", () => {
  // V8 takes a cache only where the same flags are set as when it was written.
  for (const flag of DEFAULTS) setFlagsFromString(flag);
  writeFileSync(cache, script.createCachedData());
});
process.argv = [node, own, ...args];
run(script, program);
