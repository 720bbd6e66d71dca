import { parseAllDocuments, stringify } from "yaml";

/** The part of a YAML document that a story changes. */
export interface Editable {
  setIn(path: readonly (string | number)[], value: unknown): void;
  getIn(path: readonly (string | number)[], keepScalar?: boolean): unknown;
  deleteIn(path: readonly (string | number)[]): boolean;
}

/** Returns a change of a YAML file: of the object with this name. @throws Error when no object has the name */
export function object(name: string, change: (document: Editable) => void): (text: string) => string {
  return (text) => {
    const documents = parseAllDocuments(text);
    const found = documents.find((document) => document.getIn(["metadata", "name"]) === name);
    if (found === undefined) throw new Error(`no object is named ${name}`);
    change(found);
    return documents.map((document) => String(document).replace(/^---\n/, "")).join("---\n");
  };
}

/** Returns a change of a YAML file: one more object. */
export function added(value: object): (text: string) => string {
  return (text) => `${text}---\n${stringify(value)}`;
}

/** Returns a change of a file: a text in it, which must be there, is another one. */
export function replaced(from: string | RegExp, to: string): (text: string) => string {
  return (text) => text.replace(from, to);
}

/** Returns a change of a node: its kubelet says since a time that it is ready, or not. */
export function ready(name: string, isReady: boolean, sinceMs: number): (text: string) => string {
  const since = new Date(sinceMs).toISOString().replace(/\.\d+Z$/, "Z");
  return object(name, (node) =>
    node.setIn(
      ["status", "conditions"],
      [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: since }],
    ),
  );
}

/** Returns a change of a node: it is cordoned, as `kubectl cordon` does. */
export function cordoned(name: string, atMs: number): (text: string) => string {
  const timeAdded = new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
  return object(name, (node) => {
    node.setIn(["spec", "unschedulable"], true);
    node.setIn(["spec", "taints"], [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded }]);
  });
}

/** Returns a change of a node: it is not cordoned any more, as after `kubectl uncordon`. */
export function uncordoned(name: string): (text: string) => string {
  return object(name, (node) => {
    node.deleteIn(["spec", "unschedulable"]);
    node.deleteIn(["spec", "taints"]);
  });
}

/** Returns a change of `faults.yaml`: these calls misbehave from now on. */
export function failing(...faults: readonly object[]): (text: string) => string {
  return (text) => text.replace(/\[\]\s*$/, stringify(faults));
}
