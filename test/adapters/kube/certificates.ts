import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = "openssl";

/** A certificate and its key, PEM. */
interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** An authority, and what it signed. */
export interface Certificates {
  readonly ca: string;
  /** For 127.0.0.1. */
  readonly server: Pair;
  /** For 127.0.0.1, valid until yesterday. */
  readonly expired: Pair;
  /** For `elsewhere.example.test` alone. */
  readonly elsewhere: Pair;
  readonly client: Pair;
}

/** True where the openssl program is installed. */
export function hasOpenSSL(): boolean {
  try {
    execFileSync(PROGRAM, ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Makes certificates with the openssl program; takes a tenth of a second. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), "flipop-certificates-"));
  const run = (...args: string[]): void => {
    execFileSync(PROGRAM, args, { cwd: folder, stdio: "ignore" });
  };
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const signed = (name: string, san: string, days: number): Pair => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${san}\n`);
    run("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${name}`);
    const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", String(days)];
    run("x509", "-req", "-in", `${name}.csr`, ...authority, "-extfile", `${name}.ext`, "-out", `${name}.crt`);
    return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
  };
  try {
    run("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test authority", "-days", "2");
    return {
      ca: read("ca.crt"),
      server: signed("server", "IP:127.0.0.1", 2),
      expired: signed("expired", "IP:127.0.0.1", -1),
      elsewhere: signed("elsewhere", "DNS:elsewhere.example.test", 2),
      client: signed("client", "DNS:client", 2),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
