// Plain JavaScript, as start.js: runs the program of the image, which is one file beside what V8 made of it when the image was built.
import { existsSync, readFileSync } from "node:fs";
import { createRequire, SourceMap } from "node:module";
import { Script } from "node:vm";

/** What V8 is told as the name of the program, wherever it lies: it is a part of the cache. */
const NAME = "main.cjs";

/** Returns the file with what V8 made of a program, which holds for one Node and one architecture. */
export function cacheOf(program) {
  return program.replace(/cjs$/, `${process.version}-${process.arch}.cache`);
}

/** Returns a program, compiled. Where there is a file of V8's for this Node, hardly anything is left to compile; one that V8 refuses is passed over. */
export function compile(program) {
  const cache = cacheOf(program);
  // Its text is ASCII, which Node need not decode.
  return new Script(readFileSync(program, "latin1"), {
    filename: NAME,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
}

/** Runs a compiled program, once. */
export function run(script, program) {
  showSources(program);
  script.runInThisContext()(createRequire(program), program);
}

/** Makes stacks name the files of the sources. The map is read when a stack is shown first: Node would read it at each start. */
function showSources(program) {
  let map;
  Error.prepareStackTrace = (error, frames) => {
    map ??= readMap(program);
    return [headOf(error), ...frames.map((frame) => `    at ${placeOf(frame, map)}`)].join("\n");
  };
}

function readMap(program) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${program}.map`, "utf8")));
  } catch {
    return undefined;
  }
}

/** Returns the first lines of a stack: `Error: what happened`. */
function headOf(error) {
  try {
    return String(error);
  } catch {
    return "an error";
  }
}

/** Returns where a frame is. The program has short names for its functions, which say nothing. */
function placeOf(frame, map) {
  const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()];
  if (frame.getFileName() !== NAME || line === null || column === null) return String(frame);
  const origin = map?.findOrigin(line, column);
  if (origin?.fileName === undefined) return String(frame);
  return `${frame.isAsync() ? "async " : ""}${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
}
