import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import type { ErrorObject } from "ajv";
import { LineCounter, parseAllDocuments, stringify } from "yaml";
import { ConfigError } from "../model/errors.ts";

/** How one file of the sandbox's directory is read and written. */
interface YAMLFileOptions<T> {
  /** Comment at the head of a new file, without `#`; the comment a person put there instead is kept. */
  readonly header: string;
  /** `many`: a stream of documents, handed to `decode` as an array (empty documents left out). Default `one`. */
  readonly documents?: "one" | "many";
  /**
   * Checks what was read: one document (null when the file is empty) or an array of documents.
   * @throws Error whose message begins with the path of the bad value; the file's name is put before it.
   */
  readonly decode: (value: unknown) => T;
  /** What is written for a value, plain JSON-like; default: the value itself. An array of documents with `many`. */
  readonly encode?: (value: T) => unknown;
}

/**
 * One YAML file of the sandbox's directory, which a person may edit at any time. Synchronous, so that nothing comes
 * between. Of the comments in it only those at its head survive a save.
 */
export class YAMLFile<T> {
  readonly path: string;
  private readonly options: YAMLFileOptions<T>;
  private seen: string | undefined;
  private text: string | undefined;

  constructor(path: string, options: YAMLFileOptions<T>) {
    this.path = path;
    this.options = options;
  }

  /**
   * Reads the file; undefined when it does not exist.
   * @throws ConfigError naming the file and, for a syntax error, the line; for a bad value, its path.
   */
  load(): T | undefined {
    const read = this.read();
    const value = read === undefined ? undefined : this.decode(this.parse(read.text));
    this.seen = read?.seen;
    this.text = read?.text;
    return value;
  }

  /**
   * Writes the file in one step (temporary file, then rename), only when its content differs from what is there.
   * @throws ConfigError naming the file when it cannot be written.
   */
  save(value: T): void {
    const text = this.render(value);
    if (text === this.text && !this.changedSinceLoad()) return;
    const temporary = `${this.path}.${process.pid}.tmp`;
    try {
      writeFileSync(temporary, text);
      renameSync(temporary, this.path);
    } catch (error) {
      throw invalid(`cannot write ${this.path}: ${textOf(error)}; make the directory writable`, error);
    }
    this.seen = stamp(this.path);
    this.text = text;
  }

  /** True when the file was written, replaced, made or removed by someone else since the last load or save. */
  changedSinceLoad(): boolean {
    return stamp(this.path) !== this.seen;
  }

  private read(): { readonly seen: string; readonly text: string } | undefined {
    const seen = stamp(this.path);
    if (seen === undefined) return undefined;
    try {
      return { seen, text: readFileSync(this.path, "utf8") };
    } catch (error) {
      throw invalid(`cannot read ${this.path}: ${textOf(error)}; make it a readable file`, error);
    }
  }

  /** The documents of the file, empty ones as null. */
  private parse(text: string): readonly unknown[] {
    const lines = new LineCounter();
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
    return ("empty" in documents ? [] : documents).map((document) => {
      const error = document.errors[0];
      const { line, col } = lines.linePos(error?.pos[0] ?? document.range[0]);
      const at = `${this.path}:${line}:${col}`;
      if (error !== undefined) throw invalid(`cannot read ${at}: ${error.message}; correct the YAML there`, error);
      try {
        return document.toJS() as unknown;
      } catch (cause) {
        throw invalid(`cannot read ${at}: ${textOf(cause)}; correct the YAML of that document`, cause);
      }
    });
  }

  private decode(documents: readonly unknown[]): T {
    const many = this.options.documents === "many";
    if (!many && documents.length > 1) {
      const count = documents.length;
      throw invalid(`cannot read ${this.path}: it holds ${count} documents, expected one; remove the --- lines`);
    }
    const value = many ? documents.filter((item) => item !== null && item !== undefined) : (documents[0] ?? null);
    try {
      return this.options.decode(value);
    } catch (error) {
      throw invalid(`cannot read ${this.path}: ${textOf(error)}`, error);
    }
  }

  private render(value: T): string {
    const plain = this.options.encode === undefined ? value : this.options.encode(value);
    const documents: readonly unknown[] = this.options.documents === "many" && Array.isArray(plain) ? plain : [plain];
    const body = documents.map((item) => stringify(item, { lineWidth: 0, aliasDuplicateObjects: false })).join("---\n");
    return `${headOf(this.text) ?? comment(this.options.header)}\n\n${body}`;
  }
}

/** Changes whenever the file is written or replaced; undefined when there is none. */
function stamp(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeNs}`;
}

/** The comment lines at the head of a file; undefined when it does not begin with one. */
function headOf(text: string | undefined): string | undefined {
  const head = /^(?:#.*\n)+/.exec(text ?? "")?.[0];
  return head?.trimEnd();
}

function comment(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `# ${line}`.trimEnd())
    .join("\n");
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function invalid(message: string, cause?: unknown): ConfigError {
  return new ConfigError("invalid", message, cause === undefined ? {} : { cause });
}

/** What ajv found first, for people: `droplets[0].id must be integer`. `whole` names the value itself. */
export function schemaErrorText(error: ErrorObject | undefined, whole: string): string {
  const path = (error?.instancePath ?? "")
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".")
    .replace(/^\./, "");
  const unknown: unknown = error?.params["additionalProperty"];
  const allowed: unknown = error?.params["allowedValues"];
  const detail = typeof unknown === "string" ? `: ${unknown}` : Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
  return `${path === "" ? whole : path} ${error?.message ?? "is invalid"}${detail}`;
}
