import { canonicalAddress, unreachableWhy } from "./address.ts";
import { compareText } from "./resource.ts";
import { plain } from "./text.ts";

/*
 * The annotation flipop.digitalocean.com/host-addresses of a node: the addresses that its system must have on an interface, and that `flipop host` puts there.
 * Sorted by text, with commas between them: 203.0.113.10,203.0.113.11
 */

/** What the annotation asks for. */
export interface HostAddresses {
  /** Canonical, sorted by text, each once. */
  readonly ips: readonly string[];
  /** What is no address that a host can serve, each once, with why: it is passed over. */
  readonly refused: readonly { readonly text: string; readonly why: string }[];
}

/** Returns what the annotation asks for; nothing where there is none. A person may have written anything. Never throws. Pure. */
export function readHostAddresses(text: string | undefined): HostAddresses {
  const read = [...new Set(writtenWords(text))].map((word) => ({
    word,
    ip: canonicalAddress(word),
    why: refusalOf(canonicalAddress(word)),
  }));
  const ips = read.flatMap(({ ip, why }) => (ip === undefined || why !== undefined ? [] : [ip]));
  return {
    ips: [...new Set(ips)].toSorted(compareText),
    refused: read.flatMap(({ word, why }) => (why === undefined ? [] : [{ text: plain(word).slice(0, 60), why }])),
  };
}

/** Returns what stands between the commas of the annotation, addresses in the one form that flipop writes; nothing where there is none. Pure. */
export function hostWords(text: string | undefined): readonly string[] {
  return writtenWords(text).map((word) => canonicalAddress(word) ?? word);
}

function writtenWords(text: string | undefined): readonly string[] {
  return (text ?? "").split(",").flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
}

/** Returns the text of the annotation for these words, as {@link hostWords} reads it again; undefined for none. A person may have written anything. Pure. */
export function hostAddressesText(words: readonly string[]): string | undefined {
  const sorted = [...new Set(hostWords(words.join(",")))].toSorted(compareText);
  return sorted.length === 0 ? undefined : sorted.join(",");
}

/** 4 or 6, of an address in its one form. Pure. */
export function familyOf(ip: string): 4 | 6 {
  return ip.includes(":") ? 6 : 4;
}

/** Reserved for later use, and by no provider given out: 240.0.0.0/4. */
const UNUSED = /^2(?:4\d|5[0-5])\./;

function refusalOf(ip: string | undefined): string | undefined {
  if (ip === undefined) return "it is no IP address";
  return unreachableWhy(ip) ?? (UNUSED.test(ip) ? "it is no address of one host" : undefined);
}
