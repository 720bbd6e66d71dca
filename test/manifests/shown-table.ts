import { readFileSync } from "node:fs";
import { request } from "node:https";
import { json } from "node:stream/consumers";
import type { ClusterFacts } from "../cluster/start.ts";

/** A list as `kubectl get` asks for it. */
interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** What `kubectl get` shows of the first object of a list. */
export interface ShownTable {
  /** The usual columns and their cells. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** The names of the columns that only `-o wide` adds. */
  readonly wide: readonly string[];
  /** Characters the usual columns take. */
  readonly width: number;
  /** The cells of all columns. */
  readonly cells: Readonly<Record<string, unknown>>;
}

/** Asks for the list at a path as kubectl does. */
export async function shownTable(cluster: ClusterFacts, path: string): Promise<ShownTable> {
  const { columnDefinitions, rows } = await table(cluster, path);
  const row = rows[0]?.cells ?? [];
  const all = columnDefinitions.map((column, i) => ({ ...column, cell: row[i] }));
  const usual = all.filter(({ priority }) => priority === 0);
  return {
    shown: Object.fromEntries(usual.map(({ name, cell }) => [name, cell])),
    wide: all.filter(({ priority }) => priority > 0).map(({ name }) => name),
    width: usual.reduce((sum, { name, cell }) => sum + Math.max(name.length, String(cell).length) + 3, 0),
    cells: Object.fromEntries(all.map(({ name, cell }) => [name, cell])),
  };
}

function table(cluster: ClusterFacts, path: string): Promise<Table> {
  const headers = {
    authorization: `Bearer ${cluster.adminToken}`,
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
  };
  return new Promise((resolve, reject) => {
    request(`${cluster.server}${path}`, { headers, ca: readFileSync(cluster.caFile) }, (answer) => {
      json(answer).then((body) => resolve(body as Table), reject);
    })
      .on("error", reject)
      .end();
  });
}
