import { chmod, rename, rm, writeFile } from "node:fs/promises";
import { ConfigError } from "../model/errors.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { orMissing } from "../observe/read-cluster.ts";
import { EXIT } from "../report/exit-code.ts";
import { API_VERSION, type JSONObject } from "../report/json/document.ts";
import { rfc3339 } from "../report/text/times.ts";
import { writeSnapshot } from "../snapshot/snapshot.ts";
import { resolveConfig } from "./config.ts";
import { readVersion } from "./environment.ts";
import type { SnapshotFlags } from "./flags.ts";
import { digestOf } from "./from-snapshot.ts";
import { writeLine, writeText } from "./output.ts";
import type { Session } from "./session.ts";
import { readLease } from "./status.ts";
import type { Planner } from "./wiring.ts";
import { yamlText } from "./yaml-text.ts";

/** Runs `snapshot`: writes what one pass observes as YAML, to a new file or to standard output. Never writes to the cluster or a provider. Returns the exit code. */
export async function runSnapshot(session: Session, file: string | undefined, flags: SnapshotFlags): Promise<number> {
  const { withPlanner } = await session.loadWiring();
  const config = resolveConfig(flags, session.env, session);
  const { text, gaps } = await withPlanner(config, (planner) =>
    untilInterrupted(takenFrom(planner, flags), session.signal),
  );
  if (holdsSecret(text, session)) {
    writeLine(session, "error", "The snapshot would hold a token, so none was written. Please report it as a bug.");
    return EXIT.unexpected;
  }
  if (file === undefined) writeText(session.streams, text);
  else await writeNewFile(file, text, flags.force ?? false);
  for (const gap of gaps) writeLine(session, "warn", gap);
  return gaps.length === 0 ? EXIT.done : EXIT.partly;
}

/** The snapshot of a world, and what it lacks because it could not be read. */
async function takenFrom(
  { cluster, plan }: Planner,
  { leaseNamespace, leaseName }: SnapshotFlags,
): Promise<{ readonly text: string; readonly gaps: readonly string[] }> {
  const [pools, { objects: routedIPs }, lease] = await Promise.all([
    cluster.listPools(),
    orMissing(() => cluster.listRoutedIPs()),
    readLease(cluster, leaseNamespace, leaseName),
  ]);
  const { observation, plan: planned } = await plan({});
  const stored = { pools, routedIPs, leaseKey: `${leaseNamespace}/${leaseName}`, ...lease };
  const written = writeSnapshot({ observation, stored });
  const document = {
    apiVersion: API_VERSION,
    kind: "Snapshot",
    takenAt: rfc3339(observation.observedAtMs),
    flipopVersion: readVersion(),
    planId: planned.planID,
    digest: digestOf(written),
    ...written,
  };
  const gaps = planned.gaps.map(({ provider, subject, error }) => `not read: ${subject || provider}: ${error}`);
  return { text: yamlText(document as JSONObject), gaps };
}

/** What looks like a token of a provider or of the cluster, whoever it belongs to. */
const TOKEN =
  /\bdo[opr]_v1_[0-9a-f]{16,}|\bbearer\s+[A-Za-z0-9._~+/-]{16,}|\beyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\./i;

function holdsSecret(text: string, { secrets }: Session): boolean {
  return TOKEN.test(text) || secrets.redact(text) !== text;
}

/** Writes a file that only its owner may read, in one step. @throws ConfigError `usage` where there is one already, `invalid` where it cannot be written */
async function writeNewFile(path: string, text: string, mayReplace: boolean): Promise<void> {
  try {
    if (!mayReplace) return await writeFile(path, text, { flag: "wx", mode: 0o600 });
    const next = `${path}.${process.pid}.new`;
    await writeFile(next, text, { flag: "wx", mode: 0o600 });
    await chmod(next, 0o600);
    await rename(next, path).catch(async (error: unknown) => {
      await rm(next, { force: true });
      throw error;
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new ConfigError("usage", `${path} exists. --force replaces it.`, { cause: error });
    throw new ConfigError("invalid", `Cannot write ${path}: ${message}`, { cause: error });
  }
}
