/**
 * Returns a YAML file whose commented lines from the first `# metadata:` on are no comments any more, with everything else as it was.
 * @throws Error when there is no such line.
 */
export function uncomment(text: string): string {
  const lines = text.split("\n");
  const from = lines.indexOf("# metadata:");
  if (from < 0) throw new Error("nothing in the file is commented out");
  return lines.map((line, index) => (index < from ? line : line.replace(/^# /, ""))).join("\n");
}
