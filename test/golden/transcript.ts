import type { Transcript } from "../cli/invoke.ts";

/** Renders a transcript as the Markdown that golden files hold; terminal codes are shown as `\e`, ids of plans as `PLANID`. */
export function transcriptText(argv: readonly string[], transcript: Transcript): string {
  const { stdout, stderr, exitCode } = transcript;
  const block = (name: string, text: string): string =>
    text === "" ? `${name}: empty\n` : `${name}:\n\`\`\`\n${text.replaceAll("\u001b", "\\e").replace(/\b[0-9a-f]{14}\b/g, "PLANID")}${text.endsWith("\n") ? "" : "⏎\n"}\`\`\`\n`;
  return [`# flipop ${argv.join(" ")}\n`, block("stdout", stdout), block("stderr", stderr), `exit code: ${exitCode}\n`].join("\n");
}
