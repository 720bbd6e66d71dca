import { execFile } from "node:child_process";
import { ConfigError, HostError } from "../../model/errors.ts";
import { plain } from "../../model/text.ts";

/** How long a call of the program may take. It asks the kernel, which answers at once. */
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 2 ** 24;
const MAX_QUOTED = 300;
/** Where the program lies where the search path of a person does not lead. */
const FOLDERS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/**
 * The metric by which flipop knows what it made itself, addresses and routes: "flip" in ASCII.
 * @see host-network.ts for why it is a metric
 */
export const OWN_METRIC = 0x66_6c_69_70;

/** Runs `ip` with these arguments. Returns what it prints. */
export type RunIP = (...args: readonly string[]) => Promise<string>;

/** The kernel refused a change, in the terms that matter here. */
export class IPRefusal extends HostError {
  /** `exists`: it is there already. `gone`: it is not there any more. */
  readonly kind: "exists" | "gone" | "other";
  constructor(kind: IPRefusal["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * Returns what runs the program `ip` of iproute2: Node itself has no way to the kernel's addresses.
 *
 * @param searchPath - folders to look into first, as in `$PATH`
 * @throws (the program) ConfigError `invalid` when it is missing, `permission` without the capability NET_ADMIN; HostError for anything else
 */
export function ipProgram(searchPath: string): RunIP {
  // The texts of errors are compared: they are those of no language.
  const env = { PATH: [...searchPath.split(":"), ...FOLDERS].filter((folder) => folder !== "").join(":"), LC_ALL: "C" };
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, encoding: "utf8" } as const;
  return (...args) =>
    new Promise((resolve, reject) => {
      execFile("ip", args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(failureOf(args, error, stderr));
      });
    });
}

/** What `ip` of iproute2 6.1 and 6.15 says on Linux 5.15 to 6.18, with and without messages of the kernel. Verified 2026-11-26. */
const EXISTS = /File exists|already assigned/i;
const GONE = /Cannot assign requested address|Address not found|No such process|No such file or directory/i;

function failureOf(
  args: readonly string[],
  error: Error & { readonly code?: unknown; readonly killed?: boolean },
  stderr: string,
): ConfigError | HostError {
  if (error.code === "ENOENT")
    return new ConfigError(
      "invalid",
      "The program ip is not here, and addresses of the host are read and changed by it. Install iproute2, or use the image of flipop.",
    );
  const said = plain(stderr).trim().slice(-MAX_QUOTED);
  if (/Operation not permitted/i.test(said)) return new ConfigError("permission", NOT_PERMITTED);
  const why =
    error.killed === true ? `it did not end within ${TIMEOUT_MS / 1000} s` : said || `it ended with ${error.code}`;
  const kind = EXISTS.test(said) ? "exists" : GONE.test(said) ? "gone" : "other";
  return new IPRefusal(kind, `ip ${args.join(" ")} failed: ${why}`);
}

/** What to say where the kernel lets nobody but others change addresses. */
export const NOT_PERMITTED: string =
  "The addresses of the host cannot be changed: the capability NET_ADMIN is missing. " +
  "Run it as root with that capability, in the network of the host: flipop manifests --only host prints a DaemonSet that does.";
