import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Of which kind of histories a seed is, as the options of `run.ts` name it; absent = of the usual ones. */
export interface ProofKind {
  readonly routed?: boolean;
  readonly lasting?: boolean;
  readonly shards?: boolean;
  readonly watch?: boolean;
}

/** The kinds there are. */
export const PROOF_KINDS: readonly (keyof ProofKind)[] = ["routed", "lasting", "shards", "watch"];

/** A history that finds a planted bug: the one of a seed, or a story struck at one call; `strike` is JSON. */
export type Proof = ({ readonly seed: number } & ProofKind) | { readonly story: string; readonly strike: string };

/** The arguments of `run.ts` that play it. */
export function argsOf(proof: Proof): readonly string[] {
  if ("story" in proof) return ["--story", proof.story, "--strike", proof.strike];
  const kinds = PROOF_KINDS.flatMap((kind) => (proof[kind] === true ? [`--${kind}`] : []));
  return [...kinds, "--seed", `${proof.seed}`];
}

/** Where `npm run mutations -- --record` writes what finds each bug. */
export const PROOFS_FILE: string = fileURLToPath(new URL("caught-by.json", import.meta.url));

/** What found each planted bug when that was last written down, by the bug's name. */
export const CAUGHT_BY: ReadonlyMap<string, Proof> = new Map(
  Object.entries(
    existsSync(PROOFS_FILE) ? (JSON.parse(readFileSync(PROOFS_FILE, "utf8")) as Record<string, Proof>) : {},
  ),
);
