import { setTimeout as sleep } from "node:timers/promises";
import { GROUP, VERSION } from "../../src/model/resource.ts";
import type { API } from "../cluster/api.ts";
import { documents, shippedFiles, shippedText } from "./shipped.ts";

/** Keywords that the definitions of earlier releases did not have. */
const LATER: readonly string[] = ["x-kubernetes-validations", "maxLength", "maxItems", "maximum"];

/** A part of a definition as an earlier release shipped it. */
function earlier(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(earlier);
  if (typeof part !== "object" || part === null) return part;
  const members = Object.entries(part).filter(([name]) => !LATER.includes(name));
  const former = members.map(([name, member]) => [name, name === "ttl" ? { type: "integer" } : earlier(member)]);
  return Object.fromEntries(former);
}

/** Applies the shipped definitions without the rules that earlier releases did not have, and waits until the server judges by them. A run meets an invalid spec only if such a definition let it in. */
export async function applyEarlierCRDs(api: API): Promise<void> {
  for (const file of shippedFiles("crds")) {
    const [crd] = documents(shippedText(file));
    await api.applyManifests(JSON.stringify(earlier(crd)));
  }
  await untilJudged(api, 201);
}

/** Applies the shipped definitions, and waits until the server judges by them. */
export async function applyPresentCRDs(api: API): Promise<void> {
  for (const file of shippedFiles("crds")) await api.applyManifests(shippedText(file));
  await untilJudged(api, 422);
}

/** One object of each kind that only the rules refuse. */
const PROBES: readonly (readonly [plural: string, kind: string, spec: object])[] = [
  ["floatingippools", "FloatingIPPool", { provider: "x", desiredIPs: 1 }],
  ["nodednsrecordsets", "NodeDNSRecordSet", { provider: "x", dnsRecordSet: { zone: "a", recordName: "b" } }],
  ["routedips", "RoutedIP", { issuer: "a", serviceName: "b", address: "x" }],
  ["routedipissuers", "RoutedIPIssuer", { provider: "x" }],
];

async function untilJudged(api: API, wanted: number): Promise<void> {
  await untilTrue(async () => {
    const answers = PROBES.map(([plural, kind, spec]) =>
      api.request("POST", `/apis/${GROUP}/${VERSION}/namespaces/default/${plural}?dryRun=All`, {
        apiVersion: `${GROUP}/${VERSION}`,
        kind,
        metadata: { name: "probe" },
        spec,
      }),
    );
    return (await Promise.all(answers)).every(({ status }) => status === wanted);
  });
}

/** Waits until the server has taken in what was applied. @throws Error after 20 seconds */
export async function untilTrue(isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 20_000;
  while (!(await isTrue())) {
    if (Date.now() > endMs) throw new Error("the API server goes on as before");
    await sleep(100);
  }
}
