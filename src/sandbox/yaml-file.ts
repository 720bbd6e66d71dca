import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import { isMap, isNode, isSeq, LineCounter, parseAllDocuments, stringify } from "yaml";
import { ConfigError } from "../model/errors.ts";

/** How one file of the sandbox's directory is read and written. */
interface YAMLFileOptions<T> {
  /** Comment at the head of a new file, without `#`; the comment a person put there instead is kept. */
  readonly header: string;
  /** `many`: a stream of documents, handed to `decode` as an array (empty documents left out). Default `one`. */
  readonly documents?: "one" | "many";
  /**
   * Checks what was read: one document (null when the file is empty) or an array of documents.
   * @throws BadValue, or another Error; the file's name, and the line of the bad value, are put before its message.
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
  /** The documents of the last save, by their JSON. */
  private texts: ReadonlyMap<string, string> = new Map();
  /** The whole of the last save as JSON; undefined where the file was read since. */
  private saved: string | undefined;

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
    const value = read === undefined ? undefined : this.decode(this.parse(read.text), read.text);
    this.saved = undefined;
    this.seen = read?.seen;
    this.text = read?.text;
    return value;
  }

  /**
   * Writes the file in one step (temporary file, then rename), only when its content differs from what is there.
   * @throws ConfigError naming the file when it cannot be written.
   */
  save(value: T): void {
    const documents = this.documentsOf(value);
    const text = this.render(documents);
    const saved = JSON.stringify(documents);
    if (text === this.text && !this.changedSinceLoad()) {
      this.saved = saved;
      return;
    }
    const temporary = `${this.path}.${process.pid}.tmp`;
    try {
      writeFileSync(temporary, text);
      renameSync(temporary, this.path);
    } catch (error) {
      throw invalid(`cannot write ${this.path}: ${textOf(error)}; make the directory writable`, error);
    }
    this.seen = stamp(this.path);
    this.text = text;
    this.saved = saved;
  }

  /** True unless a value is the one that was saved last, and the file was not read since. */
  isOther(value: T): boolean {
    return this.saved === undefined || this.saved !== JSON.stringify(this.documentsOf(value));
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

  private decode(documents: readonly unknown[], text: string): T {
    const many = this.options.documents === "many";
    if (!many && documents.length > 1) {
      const count = documents.length;
      throw invalid(`cannot read ${this.path}: it holds ${count} documents, expected one; remove the --- lines`);
    }
    const value = many ? documents.filter((item) => item !== null && item !== undefined) : (documents[0] ?? null);
    try {
      return this.options.decode(value);
    } catch (error) {
      const at = error instanceof BadValue ? positionIn(this.path, text, 0, error.path) : this.path;
      throw invalid(`cannot read ${at}: ${textOf(error)}`, error);
    }
  }

  /** `FILE:LINE:COLUMN` of a value of the n-th document as it was read last, from 0, empty ones not counted; where it is not there, of what would hold it. */
  positionOf(index: number, path: readonly (string | number)[]): string {
    return positionIn(this.path, this.text ?? "", index, path);
  }

  private documentsOf(value: T): readonly unknown[] {
    const plain = this.options.encode === undefined ? value : this.options.encode(value);
    return this.options.documents === "many" && Array.isArray(plain) ? plain : [plain];
  }

  private render(documents: readonly unknown[]): string {
    const body = this.written(documents).join("---\n");
    return `${headOf(this.text) ?? comment(this.options.header)}\n\n${body}`;
  }

  /** The documents as YAML. What was written before and is the same now is not made again: of a file of many documents one changes at a time. */
  private written(documents: readonly unknown[]): readonly string[] {
    const entries = documents.map((item): readonly [string, string] => {
      const key = JSON.stringify(item) ?? "";
      return [key, this.texts.get(key) ?? stringify(item, { lineWidth: 0, aliasDuplicateObjects: false })];
    });
    this.texts = new Map(entries);
    return entries.map(([, text]) => text);
  }
}

function positionIn(file: string, text: string, index: number, path: readonly (string | number)[]): string {
  const lines = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter: lines })];
  const document = documents.filter(({ contents }) => isMap(contents) || isSeq(contents))[index];
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node: unknown = depth === 0 ? document?.contents : document?.getIn(path.slice(0, depth), true);
    const start = isNode(node) ? node.range?.[0] : undefined;
    if (start === undefined) continue;
    const { line, col } = lines.linePos(start);
    return `${file}:${line}:${col}`;
  }
  return file;
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

/** A value that a file must not hold. The message begins with the path of the value: `droplets[0].id must be integer`. */
export class BadValue extends Error {
  override readonly name: string = "BadValue";
  /** Keys and positions that lead to the value; empty for the whole file. */
  readonly path: readonly (string | number)[];

  /** @param named the path that the message begins with, where that is not the whole one */
  constructor(path: readonly (string | number)[], why: string, named: readonly (string | number)[] = path) {
    super(`${pathText(named)} ${why}`);
    this.path = path;
  }
}

/** `droplets[0].id`; `the file` for the whole. */
function pathText(path: readonly (string | number)[]): string {
  const text = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return text === "" ? "the file" : text.replace(/^\./, "");
}

/**
 * Returns a value as a JSON Schema has it, defaults filled in. The input is not changed.
 * @throws BadValue for the first fault
 */
export function checked<T>(validate: ValidateFunction, input: unknown): T {
  const value: unknown = structuredClone(input);
  if (validate(value)) return value as T;
  const { instancePath = "", message = "is invalid", params } = validate.errors?.[0] ?? {};
  const path = instancePath
    .split("/")
    .slice(1)
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const unknown: unknown = params?.["additionalProperty"];
  const allowed: unknown = params?.["allowedValues"];
  const detail = typeof unknown === "string" ? `: ${unknown}` : Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
  throw new BadValue(typeof unknown === "string" ? [...path, unknown] : path, `${message}${detail}`, path);
}

/** Returns a check for {@link checked}. */
export function fileSchema(schema: object): ValidateFunction {
  return new Ajv({ useDefaults: true, strictTypes: false }).compile(schema);
}
