import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type KubeConfigInputs, loadConfig } from "../../../src/adapters/kube/config.ts";
import { rejection } from "./with-server.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "flipop-config-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Writes a kubeconfig and returns its path. */
function file(name: string, text: string): string {
  const path = join(home, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const inputs = (rest: Partial<KubeConfigInputs>): KubeConfigInputs => ({
  home,
  inCluster: {},
  environment: {},
  ...rest,
});
const cluster = (name: string, server: string): string => `{name: ${name}, cluster: {server: "${server}"}}`;
const context = (name: string, inner: string): string => `{name: ${name}, context: {${inner}}}`;

const first = `
current-context: ""
clusters: [${cluster("c1", "https://first:6443/")}]
contexts: [${context("x", "cluster: c1, user: u1, namespace: web")}]
users: [{name: u1, user: {token: first}}]
`;
const second = `
current-context: y
clusters: [${cluster("c1", "https://second")}, ${cluster("c2", "http://two:8080/k8s")}]
contexts: [${context("x", "cluster: c2")}, ${context("y", "cluster: c2, user: u1")}]
users: [{name: u1, user: {token: second, username: u}}]
`;

describe("which kubeconfig", () => {
  test("$KUBECONFIG merges its files: the first file wins for each name, and the first that sets current-context", async () => {
    const kubeconfigEnv = [file("a", first), join(home, "missing"), "", file("empty", ""), file("b", second)].join(
      delimiter,
    );
    const y = await loadConfig(inputs({ kubeconfigEnv }));
    expect(y).toMatchObject({
      server: "http://two:8080/k8s",
      context: "y",
      namespace: "default",
      user: { token: "first" },
    });
    expect(y.user).not.toHaveProperty("username");
    const x = await loadConfig(inputs({ kubeconfigEnv, context: "x" }));
    expect(x).toMatchObject({ server: "https://first:6443", namespace: "web" });
  });

  test("--kubeconfig beats $KUBECONFIG, which beats ~/.kube/config, which beats the service account", async () => {
    const one = (server: string): string =>
      `{current-context: x, clusters: [${cluster("c", server)}], contexts: [${context("x", "cluster: c")}]}`;
    file(".kube/config", one("https://home"));
    const account = join(home, "account");
    file("account/token", "t");
    const inCluster = { host: "fd00::1", port: "443", folder: account };
    const kubeconfig = file("flag", one("https://flag"));
    const kubeconfigEnv = file("env", one("https://env"));
    const servers = [
      inputs({ kubeconfig, kubeconfigEnv, inCluster }),
      inputs({ kubeconfigEnv, inCluster }),
      inputs({ inCluster }),
    ];
    expect(await Promise.all(servers.map(async (input) => (await loadConfig(input)).server))).toEqual([
      "https://flag",
      "https://env",
      "https://home",
    ]);
    writeFileSync(join(home, ".kube/config"), "# nothing\n");
    expect(await loadConfig(inputs({ inCluster }))).toMatchObject({
      server: "https://[fd00::1]:443",
      source: "the pod's service account",
      namespace: "default",
      user: { tokenFile: join(account, "token") },
      tls: { authorityFile: join(account, "ca.crt"), isInsecure: false },
    });
    file("account/namespace", "ops\n");
    expect((await loadConfig(inputs({ inCluster }))).namespace).toBe("ops");
  });

  test("relative paths are relative to the file they stand in, also when files are merged", async () => {
    const text = `
current-context: x
clusters: [{name: c, cluster: {server: h, certificate-authority: ca.crt}}]
contexts: [${context("x", "cluster: c, user: u")}]
users: [{name: u, user: {client-certificate: ../c.crt, client-key: /abs/c.key, tokenFile: t, exec: {command: ./plugin}}}]
`;
    const kubeconfigEnv = [file("one/a", "clusters: []"), file("two/b", text)].join(delimiter);
    expect(await loadConfig(inputs({ kubeconfigEnv }))).toMatchObject({
      server: "https://h",
      tls: { authorityFile: join(home, "two/ca.crt") },
      user: {
        certificateFile: join(home, "c.crt"),
        keyFile: "/abs/c.key",
        tokenFile: join(home, "two/t"),
        exec: { command: join(home, "two/plugin") },
      },
    });
  });
});

test.for([
  ["./plugin", "two/plugin"],
  ["bin/../plugin", "two/plugin"],
  ["../plugin", "plugin"],
] as const)(
  "the plugin %s lies where its kubeconfig says, however the kubeconfig itself is named",
  async ([command, place]) => {
    const user = `{name: u, user: {client-certificate: c.crt, client-key: c.key, tokenFile: t, exec: {command: "${command}"}}}`;
    const text = `
current-context: x
clusters: [{name: c, cluster: {server: h, certificate-authority: ca.crt}}]
contexts: [${context("x", "cluster: c, user: u")}]
users: [${user}]
`;
    const kubeconfig = relative(process.cwd(), file("two/k", text));
    for (const given of [{ kubeconfig }, { kubeconfigEnv: kubeconfig }]) {
      expect(await loadConfig(inputs(given))).toMatchObject({
        tls: { authorityFile: join(home, "two/ca.crt") },
        user: {
          certificateFile: join(home, "two/c.crt"),
          keyFile: join(home, "two/c.key"),
          tokenFile: join(home, "two/t"),
          exec: { command: join(home, place) },
        },
      });
    }
  },
);

test("a plugin without a slash is looked for on the PATH of flipop itself, whatever its own environment says", async () => {
  const user = `{name: u, user: {exec: {command: doctl, env: [{name: PATH, value: /elsewhere}]}}}`;
  const text = `{current-context: x, clusters: [${cluster("c", "https://h")}], contexts: [${context("x", "cluster: c, user: u")}], users: [${user}]}`;
  const { user: found } = await loadConfig(inputs({ kubeconfig: file("k", text), environment: { PATH: "/usr/bin" } }));
  expect(found.exec).toMatchObject({
    command: "doctl",
    searchPath: "/usr/bin",
    environment: { PATH: "/elsewhere" },
  });
});

describe("what a context says", () => {
  test("certificate data is decoded, TLS options, proxy, impersonation and plugins are read", async () => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const kubeconfig = file(
      "k",
      `
current-context: x
clusters:
- name: c
  cluster:
    server: https://user:secret@h:1/
    certificate-authority-data: ${base64("CA")}
    tls-server-name: real
    insecure-skip-tls-verify: true
    proxy-url: socks5://p:1
contexts: [${context("x", "cluster: c, user: u")}]
users:
- name: u
  user:
    client-certificate-data: ${base64("CERT")}
    client-key-data: ${base64("KEY")}
    as: a
    as-groups: [g, h]
    as-uid: "1"
    as-user-extra: {k: [v]}
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: doctl
      args: [a, b]
      env: [{name: E, value: F}]
      provideClusterInfo: true
      interactiveMode: IfAvailable
      installHint: Install it.
`,
    );
    const connection = await loadConfig(inputs({ kubeconfig, environment: { PATH: "/bin" } }));
    expect(connection).toMatchObject({
      server: "https://h:1",
      tls: { authority: "CA", serverName: "real", isInsecure: true },
      proxy: { url: new URL("socks5://p:1"), source: `proxy-url of context "x" of ${kubeconfig}` },
      user: {
        certificate: "CERT",
        key: "KEY",
        exec: {
          apiVersion: "client.authentication.k8s.io/v1beta1",
          command: "doctl",
          args: ["a", "b"],
          environment: { PATH: "/bin", E: "F" },
          installHint: "Install it.",
          needsTerminal: false,
          cluster: { "tls-server-name": "real", "certificate-authority-data": base64("CA") },
        },
      },
      impersonation: { user: "a", groups: ["g", "h"], uid: "1", extra: { k: ["v"] } },
    });
  });

  test("--as and --as-group replace all impersonation of the kubeconfig", async () => {
    const text = `{current-context: x, clusters: [${cluster("c", "https://h")}], contexts: [${context("x", "cluster: c, user: u")}], users: [{name: u, user: {as: a, as-groups: [g]}}]}`;
    const kubeconfig = file("k", text);
    const { impersonation } = await loadConfig(inputs({ kubeconfig, as: "b", asGroups: ["h"] }));
    expect(impersonation).toEqual({ user: "b", groups: ["h"], extra: {} });
    expect(await rejection(loadConfig(inputs({ kubeconfig, asGroups: ["h"] })))).toMatchObject({ kind: "usage" });
  });
});

describe("what is wrong", () => {
  const refused = async (rest: Partial<KubeConfigInputs>): Promise<string> => {
    const error = await rejection(loadConfig(inputs(rest)));
    expect(error).toMatchObject({ name: "ConfigError", kind: "invalid" });
    return error.message.replaceAll(home, "HOME");
  };

  test("nothing is configured", async () => {
    expect(await refused({})).toBe(
      "No cluster is configured: neither --kubeconfig nor $KUBECONFIG is given, ~/.kube/config is missing or empty, and this " +
        "is not a pod with a service account. Set KUBECONFIG or pass --kubeconfig FILE; to try flipop without a cluster, pass --sandbox.",
    );
    expect(await refused({ inCluster: { host: "10.0.0.1", port: "443", folder: join(home, "none") } })).toContain(
      "No cluster",
    );
    expect(await refused({ context: "x" })).toContain('Cannot use context "x": no kubeconfig was found');
  });

  test("the files of $KUBECONFIG are empty", async () => {
    const hint = "and this is not a pod with a service account. Write a kubeconfig into it, set KUBECONFIG to another";
    expect(await refused({ kubeconfigEnv: file("none", "") })).toContain(
      `No cluster is configured: the kubeconfig HOME/none that $KUBECONFIG names is empty, ${hint}`,
    );
    const kubeconfigEnv = [file("none", "\n"), file("bare", "apiVersion: v1\n")].join(delimiter);
    expect(await refused({ kubeconfigEnv, context: "x" })).toMatch(
      /^Cannot use context "x": all of the kubeconfigs HOME\/none, HOME\/bare that \$KUBECONFIG names are empty, /,
    );
  });

  test("a context that does not exist lists those that do, sorted", async () => {
    const kubeconfigEnv = [file("b", second), file("a", first)].join(delimiter);
    expect(await refused({ kubeconfigEnv, context: "z" })).toBe(
      'Context "z" does not exist in HOME/b, HOME/a. It has: x, y. Choose one with --context NAME.',
    );
  });

  test("no current-context lists the contexts", async () => {
    expect(await refused({ kubeconfig: file("a", first) })).toBe(
      "No context is chosen: HOME/a sets no current-context. It has: x. Choose one with --context NAME.",
    );
    expect(await refused({ kubeconfig: file("none", "") })).toBe(
      "No cluster is configured: HOME/none has no contexts. Write a kubeconfig into it, or pass another with --kubeconfig FILE.",
    );
  });

  test("a context whose cluster or user is not defined, or whose server is no URL", async () => {
    const text = (server: string, inner: string): string =>
      file("k", `{current-context: x, clusters: [${cluster("c", server)}], contexts: [${context("x", inner)}]}`);
    expect(await refused({ kubeconfig: text("https://h", "cluster: d") })).toBe(
      'The context "x" of HOME/k names the cluster "d", which is not defined. Correct the kubeconfig, or choose another context with --context.',
    );
    expect(await refused({ kubeconfig: text("https://h", "cluster: c, user: u") })).toContain(
      'names the user "u", which',
    );
    expect(await refused({ kubeconfig: text("https://h", "user: u") })).toContain("names no cluster.");
    expect(await refused({ kubeconfig: text("", "cluster: c") })).toContain("has no usable server URL");
    expect(await refused({ kubeconfig: text("ftp://h", "cluster: c") })).toContain("has no usable server URL");
  });

  test("a file that is missing", async () => {
    expect(await refused({ kubeconfig: join(home, "no") })).toBe(
      "The kubeconfig HOME/no does not exist. Correct the path, or leave out --kubeconfig to use ~/.kube/config.",
    );
    expect(await refused({ kubeconfigEnv: `${join(home, "no")}${delimiter}${join(home, "nope")}` })).toBe(
      "No file of $KUBECONFIG (HOME/no, HOME/nope) exists. Correct the path, or unset the variable to use ~/.kube/config.",
    );
  });

  const tooLarge = `# ${"x".repeat(1 << 20)}\n${first}`;

  test("a file larger than 1 MiB, alone and in the list, also one that does not say how large it is", async () => {
    const large = file("large", tooLarge);
    const text = "Cannot read the kubeconfig HOME/large: it holds more than 1 MiB.";
    expect(await refused({ kubeconfig: large })).toContain(text);
    expect(await refused({ kubeconfigEnv: [file("a", second), large].join(delimiter) })).toContain(text);
    expect(await refused({ kubeconfig: "/dev/zero" })).toContain("/dev/zero: it holds more than 1 MiB.");
    file(".kube/config", tooLarge);
    expect(await refused({})).toContain("Cannot read the kubeconfig HOME/.kube/config: it holds more than 1 MiB.");
  });

  test("a file of 1 MiB is read", async () => {
    const padded = `${first.replace('""', "x")}#`.padEnd(1 << 20, "x");
    expect(await loadConfig(inputs({ kubeconfig: file("whole", padded) }))).toMatchObject({ context: "x" });
  });

  test("a file that cannot be read", async () => {
    expect(await refused({ kubeconfig: home })).toContain("Cannot read the kubeconfig HOME: EISDIR.");
    const locked = file("locked", first);
    chmodSync(locked, 0);
    // The superuser may read everything.
    if (process.getuid?.() !== 0) expect(await refused({ kubeconfig: locked })).toContain("EACCES");
  });

  test.for([
    ["users:\n- name: u\n  user:\n    token: hunter2\n   bad: [", "line 5"],
    ["a: b\na: hunter2\n", "line 2"],
    ["a: 'hunter2\n", "line "],
    ["- hunter2\n", "not a YAML mapping"],
    ["hunter2", "not a YAML mapping"],
  ] as const)("YAML that is broken: %j names the place and quotes nothing", async ([text, place]) => {
    const message = await refused({ kubeconfig: file("k", text) });
    expect(message).toContain("Cannot use the kubeconfig HOME/k: ");
    expect(message).toContain(place);
    expect(message).not.toContain("hunter2");
  });
});
