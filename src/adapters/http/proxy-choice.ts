// Chooses the proxy for a request by the rules of Go, so that flipop and kubectl use the same one: golang.org/x/net/http/httpproxy (v0.51.0, read and run
// 2026-11-22).

import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { ConfigError } from "../../model/errors.ts";

/** A proxy, and the setting that names it. */
export interface ProxyServer {
  /** `http:`, `https:`, `socks5:` or `socks5h:`; may carry a user and a password. */
  readonly url: URL;
  /** For texts: `HTTPS_PROXY`, or `proxy-url of context "x" of FILE`. */
  readonly source: string;
}

/** Returns the proxy for a target; undefined if flipop connects to it directly. @throws ConfigError when the setting for the target names no proxy */
export type ChooseProxy = (target: URL) => ProxyServer | undefined;

/** A variable that is set. */
export interface ProxyVariable {
  readonly name: string;
  readonly text: string;
}

/** The proxy settings of the environment. */
export interface ProxySettings {
  /** For targets with `http:`. */
  readonly http?: ProxyVariable;
  /** For targets with `https:`. */
  readonly https?: ProxyVariable;
  /** Targets that are reached directly, separated by commas. */
  readonly except: string;
  /** True where `REQUEST_METHOD` is set: there `HTTP_PROXY` may come from a stranger's header. */
  readonly isCGI: boolean;
}

/** Reaches every target directly. */
export const NO_PROXY: ChooseProxy = () => undefined;

/**
 * Returns the choice that the environment makes:
 *
 *   localhost, 127.0.0.0/8, ::1      never through a proxy
 *   *                                no target through a proxy
 *   10.0.0.0/8, fd00::/8             addresses in the range; names are not looked up
 *   10.0.0.1, 10.0.0.1:6443, ::1     one address, at any port or at one; with a port IPv6 is in brackets
 *   example.com, example.com:443     the name and every name below it
 *   .example.com, *.example.com      every name below it, not the name itself
 */
export function proxyChoice(settings: ProxySettings): ChooseProxy {
  const exceptions = settings.except.split(",").flatMap((entry) => exceptionOf(entry.trim().toLowerCase()));
  return (target) => {
    const variable = target.protocol === "https:" ? settings.https : settings.http;
    if (variable === undefined) return undefined;
    const address = addressOf(target);
    if (isLoopback(address) || exceptions.some((covers) => covers(address))) return undefined;
    if (target.protocol === "http:" && settings.isCGI)
      throw refused(variable.name, "is not used where REQUEST_METHOD is set");
    return readProxy(variable.text, variable.name);
  };
}

/**
 * Returns the proxy that a text names: a URL, or `HOST[:PORT]` for one that speaks HTTP.
 * @throws ConfigError naming the source, never the text, which may hold a password
 */
export function readProxy(text: string, source: string): ProxyServer {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || url.hostname === "") throw refused(source, "is not the URL of a proxy");
  if (!/^(https?|socks5h?):$/.test(url.protocol)) throw refused(source, `has the scheme ${url.protocol}//`);
  return { url, source };
}

/** Returns a proxy for texts: scheme, host and port, never its user and password. */
export function proxyText({ url }: ProxyServer): string {
  return `${url.protocol}//${url.host}`;
}

function refused(source: string, why: string): ConfigError {
  const example = "http://proxy.example.com:3128";
  return new ConfigError(
    "invalid",
    `Cannot use the proxy of ${source}: it ${why}. Write it like ${example}; http, https, socks5 and socks5h are possible.`,
  );
}

/** True for a URL that leads to a place and says nothing more: without user, password, query and fragment. */
export function isBareURL({ username, password, search, hash }: URL): boolean {
  return username === "" && password === "" && search === "" && hash === "";
}

/** True for a URL whose server is this machine: `localhost`, 127.0.0.0/8 and ::1. */
export function isLoopbackURL(url: URL): boolean {
  return isLoopback(addressOf(url));
}

/** The server of a request. */
interface Address {
  /** A name in lower case, or an address without brackets. */
  readonly host: string;
  readonly port: string;
  /** The bytes of an address: 4, also of an IPv4 address written as IPv6, or 16; absent for a name. */
  readonly bytes?: readonly number[];
}

type Exception = (address: Address) => boolean;

function addressOf({ hostname, port, protocol }: URL): Address {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const bytes = bytesOf(host);
  const common = { host, port: port || (protocol === "https:" ? "443" : "80") };
  return bytes === undefined ? common : { ...common, bytes };
}

function isLoopback({ host, bytes }: Address): boolean {
  if (bytes === undefined) return host === "localhost";
  return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
}

/** Returns the check for one entry of the list; none for an entry that Go ignores, too. */
function exceptionOf(entry: string): readonly Exception[] {
  if (entry === "") return [];
  if (entry === "*") return [() => true];
  const range = rangeOf(entry);
  if (range !== undefined) return [range];
  const { host, port } = hostAndPort(entry);
  if (host === "") return [];
  const isAtPort = (address: Address): boolean => port === "" || port === address.port;
  const own = bytesOf(host);
  if (own !== undefined) return [(address) => isSame(own, address.bytes) && isAtPort(address)];
  const name = host.replace(/^\*(?=\.)/, "");
  const below = `.${asASCII(name.replace(/^\./, ""))}`;
  const isName = (text: string): boolean => text.endsWith(below) || (!name.startsWith(".") && text === below.slice(1));
  return [(address) => address.bytes === undefined && isName(address.host) && isAtPort(address)];
}

/** Returns the check for a range such as 10.0.0.0/8; undefined for any other entry. */
function rangeOf(entry: string): Exception | undefined {
  const [, text = "", digits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const network = bytesOf(text);
  const isMapped = network?.length === 4 && isIP(text) === 6;
  const bits = Number(digits) - (isMapped ? 96 : 0);
  if (network === undefined || digits === "" || bits < 0 || bits > network.length * 8) return undefined;
  return ({ bytes }) =>
    bytes?.length === network.length && network.every((byte, at) => isSameStart(byte, bytes[at] ?? 0, bits - at * 8));
}

/** True if the first `bits` of two bytes are equal; with 0 bits or fewer always. */
function isSameStart(a: number, b: number, bits: number): boolean {
  const unseen = 8 - Math.min(Math.max(bits, 0), 8);
  return a >> unseen === b >> unseen;
}

/** Splits `HOST:PORT` and `[IPv6]:PORT`; any other text is a host. */
function hostAndPort(entry: string): { readonly host: string; readonly port: string } {
  const [, bracketed, host, port] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(entry) ?? [];
  return port === undefined ? { host: entry, port: "" } : { host: bracketed ?? host ?? "", port };
}

function isSame(a: readonly number[], b: readonly number[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function asASCII(name: string): string {
  return domainToASCII(name) || name;
}

function bytesOf(text: string): readonly number[] | undefined {
  const kind = text.includes("%") ? 0 : isIP(text);
  if (kind === 0) return undefined;
  if (kind === 4) return text.split(".").map(Number);
  // A URL writes every IPv6 address in one way: groups in hexadecimal, one run of zeros as `::`.
  const [head = "", tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string): readonly number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  const bytes = all.flatMap((group) => [group >> 8, group & 255]);
  const isMapped = bytes.slice(0, 12).every((byte, at) => byte === (at < 10 ? 0 : 255));
  return isMapped ? bytes.slice(12) : bytes;
}
