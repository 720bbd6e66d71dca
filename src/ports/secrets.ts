/** Knows the secrets of a process, and keeps them out of texts. Every place that reads a secret adds it; every place where text leaves asks for it. */
export interface Secrets {
  /** Makes a text a secret from now on. */
  add(secret: string): void;
  /** Returns a text of our own with every known secret replaced by `[redacted]`, as it is and as URLs, JSON and headers write it. */
  redact(text: string): string;
  /** As {@link redact}, for words of somebody else that a text quotes: there short secrets are replaced, too. */
  redactQuoted(text: string): string;
}
