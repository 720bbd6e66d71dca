/** Knows the secrets of a process, and keeps them out of texts. Code that reads a secret adds it; code that sends a text away has it redacted. */
export interface Secrets {
  /** Makes a text a secret from now on. */
  add(secret: string): void;
  /** Returns a text with `[redacted]` in place of every known secret: as it is, and as URLs, JSON, HTML and base64 write it. */
  redact(text: string): string;
  /** As {@link redact}, for a text of somebody else: replaces short secrets, too, if they stand as whole words. */
  redactQuoted(text: string): string;
}
