import type { Config } from "./config.ts";

/**
 * Runs work on the cluster and accounts of the configuration, or, with `--sandbox`, on an embedded world that lives only
 * meanwhile: its kubeconfig, URLs and token replace those of the configuration, and nothing else knows.
 */
export async function withSandbox<T>(config: Config, work: (config: Config) => Promise<T>): Promise<T> {
  if (config.sandboxDir === undefined) return work(config);
  const { startSandbox } = await import("../sandbox/start.ts");
  const sandbox = await startSandbox({ dir: config.sandboxDir });
  const token = { kind: "value", variable: "the sandbox", token: sandbox.token, isPublic: true } as const;
  try {
    return await work({
      ...config,
      kubeconfigFlag: sandbox.kubeconfig,
      digitalOcean: { ...config.digitalOcean, apiURL: sandbox.digitaloceanURL, token },
      cloudflare: { ...config.cloudflare, apiURL: sandbox.cloudflareURL, token },
    });
  } finally {
    await sandbox.close();
  }
}
