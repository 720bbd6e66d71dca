import type { Secrets } from "../../ports/system.ts";
import type { ProxyServer } from "../http/proxy-choice.ts";

/** How to run an exec credential plugin (`client.authentication.k8s.io`). */
export interface ExecPlugin {
  /** An absolute path, or a name without a slash that is looked for in {@link searchPath}; `""` when the kubeconfig has none. */
  readonly command: string;
  /** The `$PATH` of flipop itself: what the kubeconfig adds to the plugin's environment does not count. */
  readonly searchPath: string;
  readonly args: readonly string[];
  /** The whole environment of the plugin. May hold secrets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly apiVersion: string;
  /** What the kubeconfig tells a person whose machine lacks the plugin; `""` when it says nothing. */
  readonly installHint: string;
  /** True when the plugin insists on a terminal, which flipop never gives it. */
  readonly needsTerminal: boolean;
  /** The values of added environment variables that have a name like a secret's, such as `VAULT_TOKEN`. */
  readonly secrets: readonly string[];
  /** `spec.cluster` of the plugin's input, when it asked for it. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

/** Who calls. At most one way to log in is used: plugin, provider, token file, token, password, certificate. */
export interface ConnectionUser {
  readonly token?: string;
  /** Read again while flipop runs: tokens of service accounts are replaced. */
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  /** PEM, decoded. */
  readonly certificate?: string;
  readonly certificateFile?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly exec?: ExecPlugin;
  /** A legacy `auth-provider` (oidc, gcp, azure), as written; client-node knows them. */
  readonly authProvider?: Readonly<Record<string, unknown>>;
}

/** Headers that make the API server treat the caller as somebody else. */
export interface Impersonation {
  readonly user?: string;
  readonly groups: readonly string[];
  readonly uid?: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A chosen API server and how to log in to it. Nothing in it changes; files it names may. */
export interface Connection {
  /** URL without credentials and without a slash at the end. */
  readonly server: string;
  /** For texts: `context "admin" of /home/me/.kube/config`, or `the pod's service account`. */
  readonly source: string;
  /** `""` for a service account. */
  readonly context: string;
  /** The namespace of the context or of the pod; `default` when there is none. */
  readonly namespace: string;
  readonly tls: {
    /** PEM, decoded. Wins over the file. */
    readonly authority?: string;
    readonly authorityFile?: string;
    readonly serverName?: string;
    readonly isInsecure: boolean;
  };
  /** Absent = the server is reached directly. */
  readonly proxy?: ProxyServer;
  readonly user: ConnectionUser;
  /** Learns the credentials, and takes secrets out of texts of the server and of plugins. Absent = texts stay as they are. */
  readonly secrets?: Secrets;
  readonly impersonation: Impersonation;
}
