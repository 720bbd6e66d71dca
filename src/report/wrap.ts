/** Returns the words of a text in lines of at most `width` characters, each behind `indent`. No width = one line. */
export function wrap(text: string, indent: string, width?: number): string[] {
  if (width === undefined) return [indent + text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
