import { shippedText } from "./shipped.ts";

/** One stage of the shipped Dockerfile, as far as the tests look into it. */
export interface Stage {
  /** What it copies out of the repository, as written. */
  readonly copied: readonly string[];
  /** Its RUN lines. */
  readonly runs: readonly string[];
  /** Program and arguments; empty when it has none. */
  readonly entrypoint: readonly string[];
  /** What it starts from, as written. */
  readonly from: string;
  readonly user: string | undefined;
  readonly workdir: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

/** The stages of the shipped Dockerfile, in order. */
export function dockerfileStages(): readonly Stage[] {
  const [, ...stages] = shippedText("Dockerfile").split(/^FROM /m);
  return stages.map((text) => ({
    copied: [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, names]) => (names ?? "").split(" ")),
    runs: [...text.matchAll(/^RUN (.+)$/gm)].map(([, command]) => command ?? ""),
    entrypoint: JSON.parse(/^ENTRYPOINT (.+)$/m.exec(text)?.[1] ?? "[]") as string[],
    from: text.split("\n")[0] ?? "",
    user: /^USER (.+)$/m.exec(text)?.[1],
    workdir: /^WORKDIR (.+)$/m.exec(text)?.[1],
    labels: Object.fromEntries([...text.matchAll(/^(?:LABEL)? +(\S+)="([^"]*)"/gm)].map(([, ...pair]) => pair)),
  }));
}
