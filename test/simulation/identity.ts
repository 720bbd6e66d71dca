/** The holder's name of an incarnation: every process has its own. */
export function identityOf(slot: number, incarnation: number): string {
  return `${["a", "b", "c", "d", "e", "f", "g"][slot] ?? "r"}${incarnation}`;
}
