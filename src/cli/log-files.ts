import { createReadStream } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { LogReader } from "../history/from-logs.ts";
import { unreadable } from "./manifest-files.ts";

/** The longest line that is read, characters. Of a longer one only the beginning is looked at. */
const LONGEST_LINE = 1_000_000;

/** Reads a log file, or standard input to its end (`-`), line by line into a reader. Needs no more memory for a longer file. @throws ConfigError `invalid` where it cannot be read */
export async function readLogFile(path: string, reader: LogReader): Promise<void> {
  const stream: AsyncIterable<Buffer | string> = path === "-" ? process.stdin : createReadStream(path);
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of stream) {
      const lines = (typeof chunk === "string" ? chunk : decoder.write(chunk)).split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) {
        reader.add(rest + line);
        rest = "";
      }
      rest = (rest + last).slice(0, LONGEST_LINE);
    }
  } catch (error) {
    throw unreadable(path === "-" ? "stdin" : path, error);
  }
  if (rest !== "") reader.add(rest);
}
