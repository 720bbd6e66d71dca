/** The holder's name of an incarnation: every process has its own. */
export function identityOf(slot: number, incarnation: number): string {
  return `${["a", "b"][slot] ?? "r"}${incarnation}`;
}
