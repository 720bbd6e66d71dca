import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FILES = ["token", "ca.crt", "namespace"] as const;

/**
 * A folder like the one the kubelet mounts for a service account: the files are links into a version, and all of them change at
 * once when another version takes its place.
 */
export class ServiceAccountFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), "flipop-account-"));
  readonly #caFile: string;
  readonly #namespace: string;
  #versions = 0;

  constructor(options: { readonly caFile: string; readonly namespace: string; readonly token: string }) {
    this.#caFile = options.caFile;
    this.#namespace = options.namespace;
    this.rotate(options.token);
    for (const name of FILES) symlinkSync(join("..data", name), join(this.path, name));
  }

  /** Puts another token in place of the present one. */
  rotate(token: string): void {
    this.#versions += 1;
    const version = `..v${this.#versions}`;
    mkdirSync(join(this.path, version));
    writeFileSync(join(this.path, version, "token"), token);
    writeFileSync(join(this.path, version, "namespace"), this.#namespace);
    copyFileSync(this.#caFile, join(this.path, version, "ca.crt"));
    symlinkSync(version, join(this.path, "..new"));
    renameSync(join(this.path, "..new"), join(this.path, "..data"));
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
