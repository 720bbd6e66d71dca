import { durationText, formatTime } from "../model/time.ts";
import { countText, listText } from "../report/text/layout.ts";
import type { Account, Facts, Probe } from "./facts.ts";
import { runsAnHour } from "./runs.ts";
import {
  allOr,
  type Checks,
  check,
  failing,
  fine,
  notApplicable,
  suspicious,
  unknown,
  type Verdict,
} from "./verdict.ts";

const HOUR_MS = 3_600_000;
const NONE = notApplicable("no object names a provider");

const HAVE_TOKENS = check(["accounts"], ({ accounts }) =>
  accounts.length === 0
    ? NONE
    : allOr(
        accounts
          .filter(({ missing }) => missing.length > 0)
          .map(({ provider, label, missing, emptyFile }) =>
            emptyFile === undefined
              ? failing(`there is no token for ${label}`, { hint: `Set ${missing.join(" or ")}.`, provider })
              : failing(`there is no token for ${label}: ${emptyFile}`, { hint: "Write the token into it.", provider }),
          ),
        fine(accounts.map(({ label }) => label).join(", ")),
      ),
);

/** Without a client no account can be asked, so its token is the first thing that is not known. */
const WRONG_SETTING: Partial<Verdict> = {
  consequence: "Every run ends with exit code 78 and changes nothing.",
  hint: "Correct that setting.",
};

/** The checks of the providers' accounts. */
export const PROVIDER_CHECKS: Checks<"FLP141" | "FLP142" | "FLP143" | "FLP144" | "FLP145" | "FLP146" | "FLP148"> = {
  FLP141: {
    reads: ["accounts"],
    judge: (answers) => {
      const { accounts } = answers;
      const isWrong = accounts !== undefined && "error" in accounts && accounts.isWrongSetting === true;
      return isWrong ? [failing(withoutStop(accounts.error), WRONG_SETTING)] : HAVE_TOKENS.judge(answers);
    },
  },
  FLP142: check(["accounts"], ({ accounts }) => {
    const accepted = probed(accounts, "rejected", (account, [first]) =>
      failing(first?.failure?.message ?? account.label),
    );
    const isAccepted = accepted.every(({ result }) => result === "success");
    const ends = isAccepted ? accounts.flatMap(endingToken) : [];
    return ends.length === 0 ? accepted : ends;
  }),
  FLP143: check(["accounts"], ({ accounts }) => {
    const refused = probed(accounts, "forbidden", (_, probes) => {
      const text = probes.map(refusalText).join("; ");
      return probes.every(({ onlyFor }) => onlyFor !== undefined) ? suspicious(text, OPTIONAL) : failing(text);
    });
    const unanswered = accounts.flatMap(withoutAnswer);
    return unanswered.length > 0 ? [...refused.filter(({ result }) => result !== "success"), ...unanswered] : refused;
  }),
  FLP144: check(["accounts", "objects"], ({ accounts, objects }) => {
    const withToken = accounts.filter(({ missing }) => missing.length === 0);
    if (withToken.length === 0) return NONE;
    const all = [...objects.pools, ...objects.routedIPs, ...objects.recordSets];
    const refusals = new Set(all.flatMap(({ status }) => status.retries).flatMap(({ error }) => refusalOf(error)));
    return allOr(
      [...refusals].map((text) => failing(withoutStop(text))),
      unknown(
        `${labelsOf(withToken)} ${withToken.length > 1 ? "do" : "does"} not show what a token may write; nothing was refused yet`,
      ),
    );
  }),
  FLP145: check(["accounts", "plan"], ({ accounts, plan }) => quotaOf(accounts, plan)),
  FLP146: check(["accounts", "plan", "workloads"], ({ accounts, plan: { calls }, workloads }) => {
    const limited = accounts.filter(({ rateLimit }) => rateLimit?.limit !== undefined);
    if (limited.length === 0) return notApplicable("no provider tells its limit");
    return allOr(
      limited.flatMap(({ provider, label, rateLimit }) => {
        const { limit = 0, windowMs = 0 } = rateLimit ?? {};
        const runs = Math.ceil((runsAnHour(workloads) * windowMs) / HOUR_MS);
        const used = (calls.get(provider) ?? 0) * runs;
        if (used <= limit) return [];
        const window = durationText(windowMs);
        return [suspicious(`${label} allows ${limit} calls in ${window}, and ${runs} runs take at least ${used}`)];
      }),
      fine(limited.map(({ label, rateLimit }) => `${label}: ${rateLimit?.remaining ?? "?"} calls left`).join(", ")),
    );
  }),
  FLP148: check(["nodes", "objects", "own"], ({ nodes, objects, own }) => {
    if (objects.pools.length + objects.routedIPs.length === 0) return notApplicable("no object has addresses");
    const managed = nodes.filter(({ labels }) =>
      Object.keys(labels).some((label) => own.managedLabels.some((prefix) => label.startsWith(prefix))),
    );
    const [first] = managed;
    if (first === undefined) return fine("no node of a managed cluster");
    const more = managed.length > 1 ? ` and ${managed.length - 1} more` : "";
    return suspicious(`nodes of a managed cluster: ${first.name}${more}`);
  }),
};

/** What somebody may do without. */
const OPTIONAL: Partial<Verdict> = {
  consequence: "Nothing, as long as no object asks for it.",
  hint: "Give the token the scopes of what you will use.",
};

const NOT_REACHED = "Look at the provider's status page, and whether this machine reaches it.";

/** What an account did not answer. It fails where a run needs it: the run would not get it, either. */
function withoutAnswer({ provider, label, probes }: Account): readonly Verdict[] {
  const failed = probes.filter(({ failure }) => failure?.kind === "failed");
  const needed = failed.filter(({ onlyFor }) => onlyFor === undefined);
  const told = needed.length > 0 ? needed : failed;
  const [first] = told;
  if (first === undefined) return [];
  const why = withoutStop(first.failure?.message ?? "");
  if (failed.length === probes.length)
    return [failing(`${label} does not answer: ${why}`, { hint: NOT_REACHED, provider })];
  const text = `${listText(told.map(({ what }) => what))}: ${why}`;
  return [{ ...(needed.length > 0 ? failing(text, { hint: NOT_REACHED }) : unknown(text)), provider }];
}

function refusalText({ failure, onlyFor }: Probe): string {
  const text = withoutStop(failure?.message ?? "");
  return onlyFor === undefined ? text : `${text} (only for ${onlyFor})`;
}

/** How long before its end a token is warned of, milliseconds. */
const ENDS_SOON_MS = 14 * 24 * HOUR_MS;

/** A token that ends soon. Of one of which nobody knows the end, nobody is warned: it is accepted now. */
function endingToken({ provider, label, tokenEnd }: Account): readonly Verdict[] {
  if (tokenEnd === undefined) return [];
  const why = { hint: "Make a new token in time. One that stands in a file is read again at every run." };
  if ("error" in tokenEnd)
    return [{ ...unknown(`when the token of ${label} ends: ${withoutStop(tokenEnd.error)}`), provider }];
  const { atMs, inMs } = tokenEnd;
  const at = `${formatTime(atMs).slice(0, 16).replace("T", " ")} UTC`;
  if (inMs <= 0) return [suspicious(`the token of ${label} ended at ${at}, ${durationText(-inMs)} ago`, why)];
  return inMs > ENDS_SOON_MS ? [] : [suspicious(`the token of ${label} ends at ${at}, in ${durationText(inMs)}`, why)];
}

/** Verdicts on the probes that failed in one way, by account; where none did, that they were answered. */
function probed(
  accounts: readonly Account[],
  kind: NonNullable<Probe["failure"]>["kind"],
  say: (account: Account, probes: readonly Probe[]) => Verdict,
): readonly Verdict[] {
  const asked = accounts.filter(({ probes }) => probes.length > 0);
  if (asked.length === 0) return [accounts.length === 0 ? NONE : notApplicable("there is no token to ask with")];
  const wrong = asked.flatMap((account) => {
    const failed = account.probes.filter(({ failure }) => failure?.kind === kind);
    return failed.length === 0 ? [] : [{ ...say(account, failed), provider: account.provider }];
  });
  if (wrong.length > 0) return wrong;
  const answered = asked.filter(({ probes }) => probes.some(({ failure }) => failure?.kind !== "failed"));
  if (answered.length === 0)
    return asked.map(({ provider, label }) => ({ ...unknown(`${label} did not answer`), provider }));
  return [
    fine(answered.map(({ label, probes }) => `${label}: ${probes.map(({ what }) => what).join(", ")}`).join("; ")),
  ];
}

/** The text of a failure that lacks a scope, as adapters write it: the provider's own words are not looked at. */
function refusalOf(error: string): readonly string[] {
  return /\bGive the token\b/.test(error) ? [error] : [];
}

function quotaOf(accounts: readonly Account[], { plan }: Facts["plan"]): readonly Verdict[] {
  const limited = accounts.filter(({ used, limit }) => used !== undefined && limit !== undefined);
  if (limited.length === 0) return [notApplicable("no limit of addresses is known")];
  return limited.map(({ provider, label, used = 0, limit = 0 }) => {
    const missing = plan.pools
      .filter((pool) => pool.provider === provider)
      .reduce((sum, { desired, status }) => {
        const has = Object.values(status.ips).filter(({ state }) => state !== "disabled").length;
        return sum + Math.max(0, desired - has);
      }, 0);
    const text = `${label}: ${used} of ${countText(limit, "reserved address", "reserved addresses")} used`;
    if (missing === 0 || missing <= limit - used) return fine(text);
    return suspicious(`${text}, and objects still want ${missing}`);
  });
}

function withoutStop(text: string): string {
  return text.replace(/\.$/, "");
}

function labelsOf(providers: readonly { readonly label: string }[]): string {
  return listText(providers.map(({ label }) => label));
}
