import type { Finding } from "../model/finding.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import type { ObjectTrial } from "../ports/trial.ts";
import { EditedObjects, type FileObject } from "../rehearse/edited-objects.ts";
import type { CheckedObject } from "../validate/checked-object.ts";
import { heldFindings, refusedFinding } from "../validate/held.ts";
import { resolveConfig } from "./config.ts";
import type { ValidateFlags } from "./flags.ts";
import type { Session } from "./session.ts";

/** What the cluster says of objects. */
interface InCluster {
  readonly findings: readonly Finding[];
  /** Why the API server could not be asked about some of them, one text for each. */
  readonly untried: readonly string[];
}

/**
 * Plans the cluster with these objects laid over the stored ones, asks the API server by dry runs whether it would take them, and returns what a person would have to mend.
 * Writes nothing.
 * @param found - what was found without the cluster; the API server is not asked about objects with errors
 * @throws KubeError where the cluster cannot be read
 */
export async function findInCluster(
  session: Session,
  flags: ValidateFlags,
  objects: readonly CheckedObject[],
  found: readonly Finding[],
): Promise<InCluster> {
  const { withTrial } = await session.loadWiring();
  const faulty = new Set(found.filter(({ severity }) => severity === "error").map(({ object }) => object));
  const good = objects.filter(({ ref }) => !faulty.has(ref));
  return await withTrial(
    resolveConfig(flags, session.env, session),
    new EditedObjects([], objects.map(fileObject)),
    async ({ plan }, trial) => {
      const held = heldFindings(objects, found, await untilInterrupted(plan({}), session.signal));
      const { findings, untried } = await untilInterrupted(tryAll(trial, good), session.signal);
      return { findings: [...held, ...findings], untried };
    },
  );
}

/** One after the other: a folder may hold a thousand objects, and nobody waits for this but a person. */
async function tryAll(trial: ObjectTrial, objects: readonly CheckedObject[]): Promise<InCluster> {
  const findings: Finding[] = [];
  const untried: string[] = [];
  for (const object of objects) {
    const tried = await trial.tryObject(fileObject(object));
    if (tried.kind === "refused") findings.push(refusedFinding(object, tried.message));
    if (tried.kind === "unknown") untried.push(tried.message);
  }
  return { findings, untried };
}

function fileObject({ spec, document }: CheckedObject): FileObject {
  const { namespace, name } = spec.object.meta;
  return { of: spec.of, namespace, name, object: document.value as FileObject["object"] };
}
