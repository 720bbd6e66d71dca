import { StringDecoder } from "node:string_decoder";
import { readChunks } from "../adapters/files/read-bytes.ts";
import type { LogReader } from "../history/from-logs.ts";
import { ConfigError } from "../model/errors.ts";
import { unreadable } from "./manifest-files.ts";

/** The longest line that is read, characters. Of a longer one only the beginning is looked at. */
const LONGEST_LINE = 1_000_000;

/** The most that is read of one log, bytes: more than a large cluster writes in a year. */
const MOST_BYTES = 4 * 1024 * 1024 * 1024;

/** Reads a log file, or standard input to its end (`-`), line by line into a reader. Needs no more memory for a longer file. @throws ConfigError `invalid` where it cannot be read */
export async function readLogFile(path: string, reader: LogReader): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of readChunks(path, { mostBytes: MOST_BYTES })) {
      const lines = decoder.write(chunk).split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) {
        reader.add(rest + line);
        rest = "";
      }
      rest = (rest + last).slice(0, LONGEST_LINE);
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unreadable(path === "-" ? "stdin" : path, error);
  }
  if (rest !== "") reader.add(rest);
}
