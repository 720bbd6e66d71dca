/**
 * A 53-bit hash of a text as 14 hexadecimal digits: enough to tell two plans apart, no protection against anybody who wants a collision.
 * Two 32-bit multiplicative mixes over the code units; pure, so that the same content has the same hash everywhere.
 */
export function contentHash(text: string): string {
  let high = 0x9e3779b9;
  let low = 0x85ebca6b;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x5bd1e995) ^ (high >>> 15);
  }
  const upper = ((high ^ (low >>> 13)) >>> 0) & 0x1fffff;
  return (upper * 0x100000000 + (low >>> 0)).toString(16).padStart(14, "0");
}
