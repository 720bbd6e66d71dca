import { readFileSync } from "node:fs";
import {
  type ChooseProxy,
  type ProxySettings,
  type ProxyVariable,
  proxyChoice,
} from "../adapters/http/proxy-choice.ts";
import type { KubeConfigInputs } from "../adapters/kube/config.ts";
import { PROVIDER_ENTRIES, type ProviderEntry } from "../adapters/registry.ts";
import { SANDBOX_TOKEN } from "../sandbox/token.ts";

/** Environment variables by name; also what tests pass instead of the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The source of a token: a variable, a file that is read again at each pass, or none. `variables` are those that would supply one; `isPublic` = it
 * is no secret; `unneeded` = the provider wants none.
 */
export type TokenSource =
  | { readonly kind: "value"; readonly variable: string; readonly token: string; readonly isPublic?: boolean }
  | { readonly kind: "file"; readonly variable: string; readonly path: string }
  | { readonly kind: "unneeded" }
  | { readonly kind: "none"; readonly variables: readonly string[] };

/** Token, URL and user agent for one provider; an absent field means the adapter's default. */
export interface ProviderSettings {
  readonly token: TokenSource;
  readonly apiURL?: string;
  readonly userAgent?: string;
}

/** The settings in the environment, resolved once; `config.ts` lays flags over them. */
export interface EnvironmentSettings {
  /** How to reach each provider of the registry, by its name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Which cluster is used, as far as the environment says. */
  readonly kube: Pick<KubeConfigInputs, "kubeconfigEnv" | "home" | "inCluster" | "environment">;
  /** The proxy that the environment names for a URL. */
  readonly chooseProxy: ChooseProxy;
}

/**
 * Returns a copy of the process's environment. The only place that reads it. Effect: removes the secrets from the process's own environment, so that no library
 * passes them on. client-node would: it starts the program of a legacy auth-provider with all of it (2.0.1, read 2026-11-22).
 */
export function takeEnvironment(): Environment {
  const env = { ...process.env };
  for (const name of SECRET_VARIABLES) delete process.env[name];
  return env;
}

/** Variables that hold the secrets of the Pushgateway, and the URLs of receivers, which may be secrets. */
const SECRETS = {
  pushPassword: ["PUSHGATEWAY_PASSWORD"],
  pushToken: ["PUSHGATEWAY_TOKEN"],
  notify: ["FLIPOP_NOTIFY"],
} as const;

/** All variables that hold secrets; each has a twin `…_FILE` that names a file with it. Of several for one thing the first that is set wins. */
const SECRET_NAMES: readonly string[] = [
  ...PROVIDER_ENTRIES.flatMap(({ tokenVariables }) => tokenVariables),
  ...Object.values(SECRETS).flat(),
];

const SECRET_VARIABLES: ReadonlySet<string> = new Set(SECRET_NAMES.flatMap(withTwin));

/** Returns the tokens and passwords in the environment, with those in the URLs of proxies. Secrets in files are not among them. */
export function secretsIn(env: Environment): readonly string[] {
  const own = SECRET_NAMES.flatMap((name) => env[name]?.trim() || []).filter((secret) => secret !== SANDBOX_TOKEN);
  const { http, https } = resolveProxies(env);
  return [...own, ...[http, https].flatMap((proxy) => (proxy === undefined ? [] : passwordsIn(proxy.text)))];
}

/** Returns the password of a URL in three forms: as written, decoded, and as basic authentication. Empty if the URL has none. */
export function passwordsIn(url: string): readonly string[] {
  const [, user = "", password = ""] = /^(?:[^:/?#]+:\/\/)?([^:@/?#]*):([^@/?#]+)@/.exec(url) ?? [];
  if (password === "") return [];
  const login = `${percentDecoded(user)}:${percentDecoded(password)}`;
  return [password, percentDecoded(password), Buffer.from(login).toString("base64")];
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the environment for other programs: without the secrets that flipop reads, and without the names of files that hold them. */
export function withoutSecrets(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.has(name)));
}

function withTwin(name: string): readonly string[] {
  return [name, `${name}_FILE`];
}

/** Returns what the environment says, frozen. Empty variables count as absent. */
export function resolveEnvironment(env: Environment): EnvironmentSettings {
  const text = (name: string): string | undefined => env[name] || undefined;
  const inCluster = given({ host: text("KUBERNETES_SERVICE_HOST"), port: text("KUBERNETES_SERVICE_PORT") });
  const kubeconfig = given({ kubeconfigEnv: text("KUBECONFIG") });
  return Object.freeze({
    providers: Object.fromEntries(PROVIDER_ENTRIES.map((entry) => [entry.traits.name, providerSettings(env, entry)])),
    kube: { ...kubeconfig, home: env["HOME"] ?? "", inCluster, environment: withoutSecrets(env) },
    chooseProxy: proxyChoice(resolveProxies(env)),
  });
}

/** Returns the fields that are not undefined: for optional fields of a new object. */
export function given<T extends object>(fields: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The settings for a Pushgateway in the environment. */
export interface PushgatewaySettings {
  readonly url?: string;
  readonly username?: string;
  readonly password: TokenSource;
  /** Sent as a bearer token; goes before user and password. */
  readonly token: TokenSource;
}

/** Returns what the environment says of the Pushgateway. Empty variables count as absent. */
export function resolvePushgateway(env: Environment): PushgatewaySettings {
  return Object.freeze({
    ...given({ url: env["PUSHGATEWAY_URL"] || undefined, username: env["PUSHGATEWAY_USERNAME"] || undefined }),
    password: tokenSource(env, SECRETS.pushPassword),
    token: tokenSource(env, SECRETS.pushToken),
  });
}

/** Returns the proxy settings of the environment. As in Go, upper case goes before lower case, and an empty variable counts as absent. */
export function resolveProxies(env: Environment): ProxySettings {
  const variable = (...names: readonly string[]): ProxyVariable | undefined => {
    const name = names.find((one) => env[one]);
    return name === undefined ? undefined : { name, text: env[name] ?? "" };
  };
  return Object.freeze({
    ...given({ http: variable("HTTP_PROXY", "http_proxy"), https: variable("HTTPS_PROXY", "https_proxy") }),
    except: variable("NO_PROXY", "no_proxy")?.text ?? "",
    isCGI: Boolean(env["REQUEST_METHOD"]),
  });
}

function providerSettings(
  env: Environment,
  { variablePrefix: prefix, urlVariable = "", tokenVariables }: ProviderEntry,
): ProviderSettings {
  const apiURL = env[`${prefix}_API_URL`] || env[urlVariable] || undefined;
  const userAgent = env[`${prefix}_USER_AGENT`] || undefined;
  return Object.freeze({ token: tokenSource(env, tokenVariables), ...given({ apiURL, userAgent }) });
}

/** The first variable that is set wins; of a pair the value before the file. */
function tokenSource(env: Environment, names: readonly string[]): TokenSource {
  for (const name of names) {
    const token = env[name]?.trim();
    if (token) return { kind: "value", variable: name, token, ...(token === SANDBOX_TOKEN ? { isPublic: true } : {}) };
    const path = env[`${name}_FILE`];
    if (path) return { kind: "file", variable: `${name}_FILE`, path };
  }
  return { kind: "none", variables: names.flatMap(withTwin) };
}

/** Returns the version of this program, from its package.json. */
export function readVersion(): string {
  return readPackage("version") ?? "unknown";
}

/** Returns the page of this program, from its package.json; `""` if it has none. */
export function readHomepage(): string {
  return readPackage("homepage") ?? "";
}

function readPackage(field: string): string | undefined {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const value: unknown = JSON.parse(text)[field];
  return typeof value === "string" ? value : undefined;
}
