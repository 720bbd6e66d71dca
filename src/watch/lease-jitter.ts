/**
 * `ms` lengthened by up to a fifth, so that contenders drift apart. Pure: the same identity and round give the same
 * length, different identities different ones.
 */
export function jittered(ms: number, identity: string, round: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${identity}/${round}`) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  }
  return ms * (1 + (hash % 1000) / 5000);
}
