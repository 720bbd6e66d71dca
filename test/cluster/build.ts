// Compiles etcd, kube-apiserver, kubectl, helm and other programs from their pinned Go modules. `go install …@version` refuses them (their go.mod has
// `replace`), hence the small modules next to this file; they stay apart because their grpc and otel pins differ.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

const version = "1.35.4";
const [major, minor] = version.split(".");
const compiler = "go";
const versionPackage = "k8s.io/component-base/version";

type Step = {
  readonly program: string;
  /** The folder of the module, next to this file. */
  readonly module: string;
  /** How long it takes on two cores, for people. */
  readonly duration: string;
  readonly flags: readonly string[];
  readonly target: string;
};

/** Programs that are compiled together: one step per program, with the arguments of `go build` that matter for the result. */
export interface Kit {
  readonly steps: readonly Step[];
  /** The files that the result depends on. */
  readonly sources: readonly string[];
}

// Without the version flags a program calls itself v0.0.0-master, and what looks at it goes wrong.
const versionFlags = `-X ${versionPackage}.gitVersion=v${version} -X ${versionPackage}.gitMajor=${major} -X ${versionPackage}.gitMinor=${minor}`;

/** What a test cluster is made of. */
export const CLUSTER: Kit = {
  steps: [
    {
      program: "etcd",
      module: "etcd",
      duration: "about a minute",
      flags: ["-ldflags", "-s -w"],
      target: ".",
    },
    {
      program: "kube-apiserver",
      module: "kas",
      duration: "about 5 minutes",
      flags: ["-pgo=off", "-ldflags", `-s -w ${versionFlags}`],
      target: "k8s.io/kubernetes/cmd/kube-apiserver",
    },
  ],
  sources: filesOf("etcd/go.mod", "etcd/go.sum", "etcd/main.go", "kas/go.mod", "kas/go.sum"),
};

/** A program that tests use by itself. */
export type Tool =
  | "kubectl"
  | "helm"
  | "doctl"
  | "krew"
  | "validate-krew-manifest"
  | "actionlint"
  | "external-dns-webhook";

/** Each is a kit of its own. */
export const TOOLS: Readonly<Record<Tool, Kit>> = {
  kubectl: toolOf("clients", {
    program: "kubectl",
    duration: "one to three minutes",
    flags: ["-ldflags", `-s -w ${versionFlags}`],
    target: "./kubectl",
  }),
  // Most of it is kubectl's, too, and compiled once for both.
  helm: toolOf("clients", {
    program: "helm",
    duration: "one to three minutes",
    flags: ["-ldflags", "-s -w"],
    target: "helm.sh/helm/v4/cmd/helm",
  }),
  // Of its versions the module proxy has few.
  doctl: toolOf("doctl", {
    program: "doctl",
    duration: "about two minutes",
    flags: ["-ldflags", "-s -w"],
    target: "github.com/digitalocean/doctl/cmd/doctl",
  }),
  krew: toolOf("clients", {
    program: "krew",
    duration: "a few seconds, or half a minute without kubectl before",
    flags: ["-ldflags", "-s -w"],
    target: "sigs.k8s.io/krew/cmd/krew",
  }),
  "validate-krew-manifest": toolOf("clients", {
    program: "validate-krew-manifest",
    duration: "a few seconds",
    flags: ["-ldflags", "-s -w"],
    target: "sigs.k8s.io/krew/cmd/validate-krew-manifest",
  }),
  actionlint: toolOf("actionlint", {
    program: "actionlint",
    duration: "ten seconds",
    flags: ["-ldflags", "-s -w"],
    target: "github.com/rhysd/actionlint/cmd/actionlint",
  }),
  // Not all of external-dns can be built from the module proxy; this part can.
  "external-dns-webhook": toolOf("external-dns", {
    program: "external-dns-webhook",
    duration: "one to two minutes",
    flags: ["-ldflags", "-s -w"],
    target: "./webhook",
  }),
};

function toolOf(module: string, step: Omit<Step, "module">): Kit {
  const own = step.target.startsWith("./") ? [`${module}/${step.target.slice(2)}/main.go`] : [];
  return { steps: [{ ...step, module }], sources: filesOf(`${module}/go.mod`, `${module}/go.sum`, ...own) };
}

function filesOf(...names: readonly string[]): readonly string[] {
  return names.map((name) => join(import.meta.dirname, name));
}

/**
 * Compiles the programs of a kit and moves them to `directory` in one step, so that a half-built directory is never seen.
 * @throws Error when `go` is missing or the compiler fails; the message ends with what it said last.
 */
export async function buildKit({ steps }: Kit, directory: string): Promise<void> {
  await mkdir(dirname(directory), { recursive: true });
  const temporary = await mkdtemp(`${directory}.building-`);
  try {
    say(`building ${steps.map(({ program }) => program).join(" and ")} from source for the tests; this happens once`);
    for (const step of steps) {
      say(`building ${step.program} (${step.duration})`);
      const startedAtMs = Date.now();
      const output = join(temporary, step.program);
      await go(join(import.meta.dirname, step.module), step.flags, output, step.target);
      say(`built ${step.program} in ${seconds(startedAtMs)} s`);
    }
    await moveIntoPlace(temporary, directory);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function moveIntoPlace(temporary: string, directory: string): Promise<void> {
  try {
    await rename(temporary, directory);
  } catch (error) {
    // Another process was quicker: its result is as good as ours.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}

async function go(cwd: string, flags: readonly string[], output: string, target: string): Promise<void> {
  const child = spawn(
    compiler,
    ["build", "-mod=readonly", "-buildvcs=false", "-trimpath", ...flags, "-o", output, target],
    {
      cwd,
      // A go.work above the checkout would bring its own versions.
      env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let tail = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    tail = `${tail}${text}`.slice(-2000);
  });
  const startedAtMs = Date.now();
  const heartbeat = setInterval(() => say(`still building, ${seconds(startedAtMs)} s`), 60_000);
  try {
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`go build ${target} failed:\n${tail}`);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new Error("there is no `go` on the PATH", { cause: error });
    }
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

function seconds(sinceMs: number): number {
  return Math.round((Date.now() - sinceMs) / 1000);
}

function say(line: string): void {
  process.stderr.write(`flipop-test: ${line}\n`);
}
