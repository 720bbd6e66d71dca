import { LineCounter, parseDocument } from "yaml";

/** What a text holds, or why it is no YAML: with the line where it breaks, never its content. */
export type ParsedYAML =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "broken"; readonly why: string };

/** Returns the one document of a YAML text. @throws never */
export function parseYAML(text: string): ParsedYAML {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined) {
    // The parser's own text quotes the source, which may be a secret; what comes before the first quotation mark does not.
    const reason = error.message.split(/["'`]/, 1)[0]?.trim() || error.code;
    return { kind: "broken", why: `line ${lineCounter.linePos(error.pos[0]).line}: ${reason}` };
  }
  try {
    return { kind: "value", value: document.toJS() };
  } catch {
    // Aliases that grow without end.
    return { kind: "broken", why: "its aliases cannot be resolved" };
  }
}
