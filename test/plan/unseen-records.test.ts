import { expect, test } from "vitest";
import type { WriteDNS } from "../../src/model/action.ts";
import type { DNSFacts, RecordsFact } from "../../src/model/dns.ts";
import type { Observation } from "../../src/model/observation.ts";
import type { ForeignRecordsPolicy, PublishedName, RecordSetSpec } from "../../src/model/resource.ts";
import { timestamp } from "../../src/model/time.ts";
import { attemptedName } from "../../src/plan/names/plan-dns.ts";
import { plan } from "../../src/plan/plan.ts";
import { aNode, anObservation, NOW } from "./builders.ts";
import { aRecordSet, dnsFacts } from "./dns-builders.ts";
import { planText } from "./plan-text.ts";

const FQDN = "nodes.example.com";
/** `A` is on a node; nobody has `B` and `C`. */
const [A, B, C] = ["203.0.113.1", "203.0.113.2", "203.0.113.3"] as const;
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const NOW_TEXT = timestamp(NOW);

function nameOf(foreignRecords: ForeignRecordsPolicy): Partial<RecordSetSpec> {
  return { dnsRecordSet: { provider: "", zone: "example.com", recordName: "nodes", ttlSeconds: 60, foreignRecords } };
}

/** A record set that has this on record under its name, whose records are as said. */
function world(
  name: Partial<PublishedName>,
  shown: readonly string[],
  { spec, fact }: { readonly spec?: Partial<RecordSetSpec>; readonly fact?: Partial<RecordsFact> } = {},
): Observation {
  const publishedDNS = { provider: "digitalocean", zone: "example.com", name: FQDN, addresses: [A], ...name };
  const facts = dnsFacts({ [FQDN]: shown });
  const records = [...facts.records].map(([key, known]) => [key, { ...known, ...fact } as RecordsFact] as const);
  const dns: DNSFacts = { ...facts, records: new Map(records) };
  return anObservation({
    nodes: [aNode({ name: "n1", addresses: [{ type: "ExternalIP", address: A }] })],
    recordSets: [aRecordSet({ spec: { ...nameOf("Share"), ...spec }, status: { publishedDNS } })],
    dns: [dns],
  });
}

function remembered(observation: Observation): PublishedName | undefined {
  return plan(observation, {}).recordSets[0]?.status.publishedDNS;
}

const PUT_OFF = { putOffUntilMs: NOW + 60_000 };

test.for<[string, Observation, PublishedName["unseen"]]>([
  [
    "an own address that the list lacks stays on record from now on",
    world({ addresses: [A, B] }, [A]),
    [{ address: B, since: NOW_TEXT }],
  ],
  [
    "several are sorted",
    world({ addresses: [A, C], unseen: [{ address: B, since: ago(60) }] }, [A]),
    [
      { address: B, since: ago(60) },
      { address: C, since: NOW_TEXT },
    ],
  ],
  ["it stays since then", world({ unseen: [{ address: B, since: ago(599) }] }, [A]), [{ address: B, since: ago(599) }]],
  ["after ten minutes it is forgotten", world({ unseen: [{ address: B, since: ago(600) }] }, [A]), undefined],
  [
    "a name that was not looked at proves nothing",
    world({ unseen: [{ address: B, since: ago(9000) }] }, [A], { fact: PUT_OFF }),
    [{ address: B, since: ago(9000) }],
  ],
  [
    "a time that is lost, or in the future, is now",
    world(
      {
        unseen: [
          { address: B, since: "" },
          { address: C, since: ago(-60) },
        ],
      },
      [A],
    ),
    [
      { address: B, since: NOW_TEXT },
      { address: C, since: NOW_TEXT },
    ],
  ],
  [
    "what somebody wrote there twice, or that is no address, is told once or not at all",
    world({ addresses: [A, B], unseen: [B, B, "192.0.2.01", "x"].map((address) => ({ address, since: ago(60) })) }, [
      A,
    ]),
    [{ address: B, since: ago(60) }],
  ],
  ["what this pass took out is gone", world({ addresses: [A, B] }, [A], { fact: { removed: [B] } }), undefined],
  [
    "another one's address that the list lacks is gone",
    world({ addresses: [A, B], foreign: [{ address: B, since: ago(60) }] }, [A]),
    undefined,
  ],
  [
    "where all records are adopted, nothing is kept",
    world({ addresses: [A, B] }, [A], { spec: { ...nameOf("Adopt"), reclaimPolicy: "Delete" } }),
    undefined,
  ],
  [
    "where others' are held, it is kept",
    world({ addresses: [A, B] }, [A], { spec: nameOf("Hold") }),
    [{ address: B, since: NOW_TEXT }],
  ],
])("%s", ([, observation, unseen]) => {
  expect(remembered(observation)?.unseen).toEqual(unseen);
});

test("one that is seen again is flipop's own, and leaves", () => {
  expect(planText(world({ unseen: [{ address: B, since: ago(300) }] }, [A, B]))).toEqual([
    `update-dns ${FQDN} {${A} ${B}}/60 -> {${A}}/60: RecordsDiffer`,
  ]);
});

test("one that is about to be added again is on record as if it were there", () => {
  const name = { provider: "digitalocean", zone: "example.com", name: FQDN, addresses: [A] };
  const unseen = [B, C].map((address) => ({ address, since: ago(60) }));
  const write = {
    dnsProvider: "digitalocean",
    fqdn: FQDN,
    before: { addresses: [A] },
    after: { addresses: [A, B], ttlSeconds: 60 },
    others: { addresses: [], expected: "any" },
  } as unknown as WriteDNS;
  expect(attemptedName({ publishedDNS: { ...name, unseen }, formerDNS: [] }, write)).toEqual({
    publishedDNS: { ...name, addresses: [A, B], unseen: [{ address: C, since: ago(60) }] },
  });
});
