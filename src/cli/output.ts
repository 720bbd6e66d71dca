import { isLoopbackURL } from "../adapters/http/proxy-choice.ts";
import { escapedJSON, plain, withoutSteering } from "../model/text.ts";
import type { Secrets } from "../ports/system.ts";
import type { JSONObject } from "../report/json/document.ts";
import type { Sample } from "../report/metrics/samples.ts";

/** A stream to write to, and what it is. */
export interface OutputStream {
  readonly isTTY: boolean;
  /** Width of the terminal; absent for anything else. */
  readonly columns?: number;
  write(text: string): void;
  /** True once nobody reads any more, as far as a write has shown it. Absent = always false. */
  readonly isClosed?: () => boolean;
}

/** The two streams of a command. */
export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** Formats of `-o`: `jsonl` is JSON with each document in one line, `markdown` a comment on a pull request. */
export type OutputFormat = "table" | "wide" | "json" | "jsonl" | "yaml" | "name" | "markdown";

/** Warns a person of something that does not stop the run; `reason` is for machines. */
export type Warn = (reason: string, text: string) => void;

/** The style of lines on stderr. */
export interface LineStyle {
  readonly format: "text" | "json";
  readonly isQuiet: boolean;
  /** RFC 3339 time of a JSON line. */
  readonly now: () => string;
  /** Fields that every JSON line carries. */
  readonly fields: JSONObject;
}

/** Level of a line on stderr. */
export type Level = "info" | "warn" | "error";

/** Our own line ends and colours: a text may steer a terminal by nothing else. Texts from outside are plain by now. */
const OWN_CODES = new RegExp(`(\\n|${String.fromCharCode(27)}\\[\\d{1,2}m)`);

/** Writes a result to stdout. Its line ends and colours are our own; nothing else in it can steer a terminal. */
export function writeText(streams: Streams, text: string): void {
  if (text !== "") streams.stdout.write(shownText(text));
}

/** Writes lines to stdout, each as one line whatever it holds. */
export function writeLines(streams: Streams, lines: readonly string[]): void {
  writeText(streams, lines.map((line) => `${plain(line)}\n`).join(""));
}

function shownText(text: string): string {
  return text
    .split(OWN_CODES)
    .map((part, at) => (at % 2 === 1 ? part : withoutSteering(part)))
    .join("");
}

/** A result in the forms that it can be printed in; only the one that `-o` asks for is made. */
export interface Result {
  readonly document: () => JSONObject;
  readonly names: () => readonly string[];
  readonly text: () => string;
  /** Absent for a command whose `-o` does not know it. */
  readonly markdown?: () => string;
  /** Says that no object was selected. The text says it by itself; the other forms cannot. */
  readonly none?: string | undefined;
}

/** Writes a result to stdout as `-o` asks for it, each name once. */
export async function writeResult(voice: Voice, output: OutputFormat, result: Result): Promise<void> {
  const { streams } = voice;
  const isText = !isDocument(output) && output !== "name";
  if (result.none !== undefined && !isText) writeLine(voice, "warn", result.none);
  if (output === "markdown") writeText(streams, result.markdown?.() ?? "");
  else if (isText) writeText(streams, result.text());
  else if (isDocument(output)) await writeDocument(streams, result.document(), output);
  else writeLines(streams, [...new Set(result.names())]);
}

/** A format that prints documents. */
type DocumentFormat = "json" | "jsonl" | "yaml";

/** True for the formats that print documents: exactly one, unless the command goes on. */
export function isDocument(output: OutputFormat): output is DocumentFormat {
  return output === "json" || output === "jsonl" || output === "yaml";
}

/** Writes exactly one document to stdout, as JSON or YAML. */
export async function writeDocument(streams: Streams, document: JSONObject, format: DocumentFormat): Promise<void> {
  if (format === "jsonl") return writeDocumentLine(streams, document);
  if (format === "json") return streams.stdout.write(`${escapedJSON(JSON.stringify(document, null, 2))}\n`);
  const { yamlText } = await import("./yaml-text.ts");
  streams.stdout.write(yamlText(document));
}

/** Writes one document to stdout, as JSON in one line. */
export function writeDocumentLine(streams: Streams, document: JSONObject): void {
  streams.stdout.write(`${escapedJSON(JSON.stringify(document))}\n`);
}

/** Writes one of several documents to stdout: JSON in one line, YAML behind a line `---`. */
export async function writeNextDocument(streams: Streams, document: JSONObject, format: DocumentFormat): Promise<void> {
  if (format !== "yaml") return writeDocumentLine(streams, document);
  streams.stdout.write("---\n");
  await writeDocument(streams, document, format);
}

/** The streams of a command, with the style of its lines on stderr. */
export interface Voice {
  readonly streams: Streams;
  readonly lines: LineStyle;
}

/** Writes one line to stderr, as text or as JSON; `-q` leaves only errors. A text of several lines is our own. */
export function writeLine({ streams, lines }: Voice, level: Level, msg: string, fields: JSONObject = {}): void {
  if (lines.isQuiet && level !== "error") return;
  const text =
    lines.format === "json"
      ? escapedJSON(JSON.stringify({ time: lines.now(), level, msg, ...lines.fields, ...fields }))
      : shownText(`flipop: ${msg}`);
  streams.stderr.write(`${text}\n`);
}

// The last place that a text passes before it leaves the program. Adapters take secrets out of the texts they quote, before they cut them. This file does it again
// for every text, so that nothing gets through that nobody thought of.

const REDACTED = "[redacted]";
/** A shorter secret is a word or a number of many texts. To replace it would make them unreadable, and protects nothing. */
const SHORTEST = 6;
/** A secret of 3 to 5 characters is replaced only in quoted texts, and only as a whole word. */
const SHORTEST_QUOTED = 3;
/** The most secrets known at a time. A process that watches reads a new token every hour. */
const MOST = 100;
/** A shorter line of a private key is not searched for: it may be anything. */
const SHORTEST_LINE = 16;

/** The secrets of one process, the newest hundred of them. */
export class KnownSecrets implements Secrets {
  /** By the secret, in the order in which they came; each with everything to search for, longest first. */
  readonly #forms = new Map<string, readonly string[]>();
  #all: readonly string[] = [];

  add(secret: string): void {
    const isNew = !this.#forms.has(secret);
    const forms = this.#forms.get(secret) ?? formsOf(secret);
    this.#forms.delete(secret);
    this.#forms.set(secret, forms);
    if (!isNew) return;
    const [oldest] = this.#forms.keys();
    if (this.#forms.size > MOST && oldest !== undefined) this.#forms.delete(oldest);
    this.#all = [...new Set([...this.#forms.values()].flat())].sort((a, b) => b.length - a.length);
  }

  redact(text: string): string {
    return this.#all.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
  }

  redactQuoted(text: string): string {
    const short = [...this.#forms.keys()].filter(({ length }) => length >= SHORTEST_QUOTED && length < SHORTEST);
    return short.reduce((rest, secret) => rest.replace(asWord(secret), REDACTED), this.redact(text));
  }
}

/** Returns streams that write a text without the secrets that are known by then. */
export function redactingStreams({ stdout, stderr }: Streams, secrets: Secrets): Streams {
  const redacting = (stream: OutputStream): OutputStream => ({
    ...stream,
    write: (text) => stream.write(secrets.redact(text)),
  });
  return { stdout: redacting(stdout), stderr: redacting(stderr) };
}

/** Returns samples without secrets in what their labels say; the names of metrics and labels are flipop's own. */
export function redactedSamples(samples: readonly Sample[], secrets: Secrets): readonly Sample[] {
  return samples.map((one) => {
    const labels = Object.entries(one.labels).map(([name, value]) => [name, secrets.redact(value)] as const);
    return { ...one, labels: Object.fromEntries(labels) };
  });
}

function asWord(secret: string): RegExp {
  return new RegExp(`(?<!\\w)${secret.replace(/[^\w]/g, "\\$&")}(?!\\w)`, "g");
}

/** Returns every form in which a text may hold a secret; none for a secret that is too short. */
function formsOf(secret: string): readonly string[] {
  const text = secret.trim();
  if (text.length < SHORTEST) return [];
  if (text.includes("PRIVATE KEY-----")) return keyForms(secret);
  const escaped = jsonOf(text);
  const percent = encodeURIComponent(text);
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  const plain = [text, escaped, jsonOf(escaped), asciiJSON(text), percent, form, htmlOf(text)];
  const inURLs = [percent, form].map((encoded) => encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  return [...new Set([...plain, ...inURLs, ...base64Forms(text)])].filter(({ length }) => length >= SHORTEST);
}

/** Returns the forms of a private key: the whole PEM, its base64 as in a kubeconfig, and each line, since an error may show one. */
function keyForms(pem: string): readonly string[] {
  const lines = pem.split(/\r?\n/).filter((line) => line.length >= SHORTEST_LINE && !line.startsWith("-----"));
  const whole = [pem, pem.trim()].flatMap((text) => [text, jsonOf(text), Buffer.from(text).toString("base64")]);
  return [...new Set([...whole, ...lines])];
}

/** Returns the base64 forms of a text. Behind one or two more bytes it looks different, and only the middle is always the same. */
function base64Forms(text: string): readonly string[] {
  const whole = Buffer.from(text).toString("base64");
  const shifted = [1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]).toString("base64");
    return encoded.replace(/=+$/, "").slice(before + 1, -1);
  });
  // If bytes follow, they change the last character of an incomplete group.
  const open = whole.replace(/=+$/, "");
  const core = whole === open ? open : open.slice(0, -1);
  const all = [whole, open, core, ...shifted];
  return [...all, ...all.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Returns a text as a JSON string holds it, without the quotation marks. */
function jsonOf(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns a text as JSON in ASCII holds it: other letters escaped. */
function asciiJSON(text: string): string {
  return jsonOf(text).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function htmlOf(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/**
 * Warns of credentials that go to another machine unencrypted; does nothing for `https:` and for this machine.
 * @param what - as the subject of a sentence: `The token of DigitalOcean`
 */
export function warnOfPlainText(warn: Warn, url: string, what: string): void {
  const target = URL.parse(url);
  if (target === null || target.protocol !== "http:" || isLoopbackURL(target)) return;
  const text = `${what} goes to ${target.origin} unencrypted: whoever is on the way can read it. Use https://.`;
  warn("Unencrypted", text);
}
