const MEMBER = Buffer.from(',"managedFields":[');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Removes every `managedFields` list from a compact JSON text, in place, and returns the shorter view of the same bytes: a
 * third of a node or pod list is bookkeeping that would be parsed for nothing. No string value can contain the member's
 * unescaped quotation marks, so only members of that name are hit; in nodes and pods these are always metadata. Not for
 * custom resources, whose specs may have such a list. Text that ends within a list stays broken, for the parser to refuse.
 */
export function stripManagedFields(json: Buffer): Buffer {
  let start = json.indexOf(MEMBER);
  if (start < 0) return json;
  let kept = start;
  while (start >= 0) {
    const end = endOfList(json, start + MEMBER.length);
    if (end < 0) return Buffer.concat([json.subarray(0, kept), json.subarray(start)]);
    const next = json.indexOf(MEMBER, end);
    const stop = next < 0 ? json.length : next;
    json.copyWithin(kept, end, stop);
    kept += stop - end;
    start = next;
  }
  return json.subarray(0, kept);
}

/** Index after the bracket that closes the list whose inside begins at `from`; -1 when there is none. */
function endOfList(json: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at + 1);
    else if (byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACKET && --depth === 0) return at + 1;
  }
  return -1;
}

/** Index of the quotation mark that ends the string whose inside begins at `from`; the length when there is none. */
function endOfString(json: Buffer, from: number): number {
  for (let at = from; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return json.length;
}
