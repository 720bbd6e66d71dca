import { describe, expect, test } from "vitest";
import type { Explanation, Subject } from "../../src/model/explanation.ts";
import type { Observation } from "../../src/model/observation.ts";
import { explain } from "../../src/rehearse/explain.ts";
import { renderExplanation } from "../../src/report/text/explanation.ts";
import { PLAIN } from "../../src/report/text/layout.ts";
import { anObservation, aPool, known, nodes } from "../plan/builders.ts";
import { dnsFacts, WWW } from "../plan/dns-builders.ts";

const [A, B] = ["203.0.113.1", "203.0.113.2"] as const;
const WHY =
  "spec.approval is Voluntary, and a person has to approve it: nobody has approved it. Run flipop approve pool/ingress/web.";

/** A pool whose spec no longer has B, which is still on n2 and in the name. */
function world(): Observation {
  return anObservation({
    pools: [
      aPool({
        spec: { ips: [A], dnsRecordSet: WWW, approval: "Voluntary" },
        status: {
          publishedDNS: { provider: "digitalocean", zone: "example.com", name: "www.example.com", addresses: [A, B] },
          ips: {
            [A]: { state: "active", nodeName: "n1", providerID: "digitalocean://101" },
            [B]: { state: "active", nodeName: "n2", providerID: "digitalocean://102" },
          },
        },
      }),
    ],
    nodes: nodes(2),
    addresses: [known(A, { holderID: "101" }), known(B, { holderID: "102" })],
    dns: [dnsFacts({ "www.example.com": [A, B] })],
  });
}

function explained(subject: Subject): Explanation {
  return explain(world(), { subject, isMeant: () => true, horizonMs: 900_000 });
}

function textOf(explanation: Explanation): string {
  return renderExplanation(explanation, { palette: PLAIN, width: 250, wide: false });
}

describe("an address that was taken out of the spec, where a person has to approve what is taken", () => {
  test.for<Subject>([{ kind: "object" }, { kind: "name", fqdn: "www.example.com" }])(
    "is told with the command that approves it: %o",
    (subject) => {
      const explanation = explained(subject);
      const [section] = explanation.sections;
      expect(section?.counterfactual?.changes.map(({ command }) => command)).toEqual([
        "flipop approve pool/ingress/web",
      ]);
      expect(textOf(explanation)).toContain(`  ! approval          ${B}: ${WHY}\n`);
      expect(textOf(explanation)).toContain("update DNS www.example.com at digitalocean (-203.0.113.2 =203.0.113.1)");
    },
  );

  test("is told to be published still, and to wait for approval", () => {
    expect(explained({ kind: "ip", ip: B }).facts.slice(0, 2)).toEqual([
      "www.example.com still shows it.",
      `pool/ingress/web may not take it out of service yet. ${WHY}`,
    ]);
  });

  test("does not concern an address that stays", () => {
    expect(explained({ kind: "ip", ip: A }).facts).toEqual([
      expect.stringMatching(/^digitalocean has 203\.0\.113\.1 /),
    ]);
  });
});
