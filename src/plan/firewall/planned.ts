/** What is planned for one firewall: ports, as `portText`, and machines → the action that brings them. */
export interface PlannedAt {
  readonly ports: Map<string, string>;
  readonly machines: Map<string, string>;
}

/** What objects have planned to add to firewalls so far; each enters its own. */
export class Planned {
  readonly #byID = new Map<string, PlannedAt>();

  /** What is planned for a firewall, to be entered into. */
  at(firewallID: string): PlannedAt {
    const known = this.#byID.get(firewallID) ?? { ports: new Map(), machines: new Map() };
    this.#byID.set(firewallID, known);
    return known;
  }
}
