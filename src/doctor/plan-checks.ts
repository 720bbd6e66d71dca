import { ACTIONS } from "../model/action-kinds.ts";
import type { GapSubject, Hold } from "../model/plan.ts";
import type { Reason } from "../model/reason.ts";
import { toldWith } from "../report/held-for.ts";
import type { Planned } from "./facts.ts";
import {
  allOr,
  type Check,
  type Checks,
  check,
  failing,
  fine,
  notApplicable,
  ofHold,
  unknown,
  type Verdict,
} from "./verdict.ts";

// What a run would find out, told by its plan: so a check never says anything else than the run does.

/** The checks of addresses, names and firewalls. */
export const PLAN_CHECKS: Checks<
  "FLP151" | "FLP152" | "FLP153" | "FLP154" | "FLP161" | "FLP162" | "FLP171" | "FLP172"
> = {
  FLP151: held("address", ["IPNotFound", "IPBlocked"], "every address exists, and none is blocked"),
  FLP152: held("address", ["ForeignHolder"], "no address is on a foreign machine"),
  FLP153: held("address", ["Conflict"], "no address is asked for twice"),
  FLP154: check(["plan", "machines"], ({ plan, machines: { asked, count } }) => {
    if (!has("address", plan)) return [notApplicable(NOTHING.address)];
    const missing = asked
      .filter(({ isKnown }) => isKnown === false)
      .map(({ provider, nodeName, machineID }) =>
        failing(`${provider} does not know machine ${machineID} of ${nodeName}`),
      );
    const open = asked.flatMap(({ nodeName, error }) =>
      error === undefined ? [] : [unknown(`${nodeName}: ${error}`)],
    );
    return allOr([...missing, ...open], fine(knownText(asked.length, count)));
  }),
  FLP161: held("name", ["ZoneNotFound"], "every zone is there"),
  FLP162: held("name", ["Conflict"], "no name is asked for twice"),
  FLP171: held(
    "firewall",
    ["FirewallUnchangeable", "FirewallNotFound", "FirewallAmbiguous", "FirewallReserved", "FirewallNotOwned"],
    "every firewall can be used",
  ),
  FLP172: held("firewall", ["FirewallFull"], "every firewall has room"),
};

/** A check that nothing is held for one of these reasons. */
function held(about: GapSubject, reasons: readonly Reason[], good: string): Check {
  return check(["plan"], ({ plan }) => {
    const found = toldWith(plan.plan.holds, reasons).filter(
      (hold) => about === "firewall" || isName(hold) === (about === "name"),
    );
    return judged(about, plan, found.map(ofHold), good);
  });
}

function knownText(asked: number, count: number): string {
  if (asked === count) return "every machine is known";
  if (asked === 1) return `the 1 machine that was asked about, of ${count}, is known`;
  return `the ${asked} machines that were asked about, of ${count}, are known`;
}

/** What is wrong, or that nothing is; where something could not be read, nobody knows of the rest. */
function judged(about: GapSubject, planned: Planned, wrong: readonly Verdict[], good: string): readonly Verdict[] {
  const { plan } = planned;
  if (!has(about, planned)) return [notApplicable(NOTHING[about])];
  const gaps = plan.gaps.filter((gap) => gap.putOff === undefined && gap.about.includes(about));
  const open = gaps.map(({ subject, error }) => unknown(subject === "" ? error : `${subject}: ${error}`));
  return allOr([...wrong, ...open], fine(good));
}

const NOTHING: Readonly<Record<GapSubject, string>> = {
  address: "no object has addresses",
  name: "no object has a name",
  firewall: "no issuer names a firewall",
};

function has(about: GapSubject, { plan, observation }: Planned): boolean {
  if (about === "address") return plan.pools.length > 0;
  if (about === "name")
    return plan.recordSets.length > 0 || observation.pools.some(({ spec }) => spec.dnsRecordSet !== undefined);
  return observation.pools.some(({ firewall }) => firewall !== undefined);
}

function isName({ kind }: Hold): boolean {
  return kind !== "reconcile" && ACTIONS[kind].affects === "name";
}
