import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetesSandbox } from "../../../src/sandbox/kubernetes/kubernetes-sandbox.ts";
import { SandboxClient } from "./sandbox-client.ts";

/** A directory of world files for one test. */
export class WorldDirectory {
  readonly path: string = mkdtempSync(join(tmpdir(), "flipop-world-"));
  /** What was reported as broken. */
  readonly errors: unknown[] = [];
  private nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);

  /** Starts a sandbox on the files, as a new process would. */
  open(): SandboxClient {
    const now = (): number => this.nowMs;
    return new SandboxClient(
      kubernetesSandbox({ directory: this.path, now, onError: (error) => this.errors.push(error) }),
    );
  }

  passMs(ms: number): void {
    this.nowMs += ms;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8");
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** Changes a file as a person with an editor would. @throws Error when the text to replace is not there */
  edit(name: string, from: string, to: string): void {
    const text = this.read(name);
    if (!text.includes(from)) throw new Error(`${name} has no ${JSON.stringify(from)}:\n${text}`);
    this.write(name, text.replace(from, to));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A pools.yaml as a person writes it. */
export const POOLS = `# Try something.
metadata:
  name: web
  namespace: ingress
spec:
  provider: digitalocean
  ips: [203.0.113.10] # the first one
  match: {}
`;

/** A nodes.yaml as a person writes it. */
export const NODES = `metadata: {name: worker-1}
spec: {providerID: digitalocean://1}
status:
  conditions:
    - {type: Ready, status: "True"}
---
metadata: {name: worker-2}
`;
