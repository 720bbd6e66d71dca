import { open } from "node:fs/promises";

/** Kubeconfigs, tokens and certificates are far smaller. A larger file was named by mistake. */
const MAX_BYTES = 1 << 20;

/**
 * Returns the text of a file of at most 1 MiB. Pipes and devices work, too: no more than 1 MiB is ever read.
 * @throws Error of node:fs with its `code`; for a larger file the code is `EFBIG`.
 */
export async function readSmallFile(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
      length += bytesRead;
      if (length > MAX_BYTES) throw Object.assign(new Error("larger than 1 MiB"), { code: "EFBIG" });
      if (bytesRead === 0) return buffer.toString("utf8", 0, length);
    }
  } finally {
    await handle.close();
  }
}

/** Returns why {@link readSmallFile} failed, for texts: a code such as `EACCES`, or that the file is too large. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === "EFBIG" ? "it is larger than 1 MiB" : (code ?? "unknown error");
}
