import { isBareURL, isLoopbackURL } from "../adapters/http/proxy-choice.ts";
import { PROVIDERS } from "../adapters/registry.ts";
import { WEBHOOK } from "../adapters/webhook/traits.ts";
import { ConfigError } from "../model/errors.ts";

/** Where the DNS providers are that speak external-dns' webhook protocol. */
export interface DNSWebhook {
  /** As objects write it: `webhook`, `webhook-route53`. */
  readonly name: string;
  readonly url: string;
  /** File with the bearer token. Absent = none is sent. */
  readonly tokenFile?: string;
}

/** How the flags name webhooks: `webhook-route53=http://127.0.0.1:8888`; without a name it is `webhook`. */
export interface WebhookFlags {
  readonly dnsWebhook: readonly string[];
  readonly dnsTokenFile: readonly string[];
}

/**
 * Returns the webhooks that the flags name, in their order.
 * @throws ConfigError `usage` for a name or a URL that is none, for a name given twice, for a token of no webhook, and where a webhook elsewhere would be spoken to without TLS or without a token
 */
export function dnsWebhooksOf({ dnsWebhook, dnsTokenFile }: WebhookFlags): readonly DNSWebhook[] {
  const urls = named("--dns-webhook", dnsWebhook);
  const files = named("--dns-token-file", dnsTokenFile);
  const alone = [...files.keys()].find((name) => !urls.has(name));
  if (alone !== undefined)
    throw refused("--dns-token-file", alone, "is of no webhook. Name it with --dns-webhook, too.");
  return [...urls].map(([name, { value: url, text }]) => {
    const tokenFile = files.get(name)?.value;
    const problem = problemOf(url, tokenFile);
    if (problem !== undefined) throw refused("--dns-webhook", text, problem);
    return { name, url, ...(tokenFile === undefined ? {} : { tokenFile }) };
  });
}

/** What one flag says. */
interface Named {
  readonly value: string;
  /** As it was given. */
  readonly text: string;
}

/** What stands behind the `=`, by the name before it. */
function named(flag: string, texts: readonly string[]): ReadonlyMap<string, Named> {
  const all = new Map<string, Named>();
  for (const text of texts) {
    const [, name = WEBHOOK, value = ""] = /^(?:([a-z0-9-]*)=)?(.*)$/s.exec(text.trim()) ?? [];
    if (!PROVIDERS.isMember(name))
      throw refused(flag, text, `has no name of a webhook. Write it like ${WEBHOOK}, or ${WEBHOOK}-route53.`);
    if (value === "") throw refused(flag, text, "says nothing behind the name.");
    if (all.has(name)) throw refused(flag, text, `names ${name} for the second time.`);
    all.set(name, { value, text });
  }
  return all;
}

/** The protocol has no login of its own: whoever reaches a webhook changes names. */
function problemOf(text: string, tokenFile: string | undefined): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return "is no URL. Write it like webhook=http://127.0.0.1:8888.";
  if (!isBareURL(url)) return "must have no user, password, query or fragment.";
  if (isLoopbackURL(url)) return undefined;
  if (url.protocol !== "https:")
    return "leads to another machine in plain text. Run the webhook in the same pod, or put https in front of it.";
  return tokenFile === undefined
    ? "leads to another machine. Name the file with its token: --dns-token-file NAME=FILE."
    : undefined;
}

/** A URL may hold secrets: neither its user and password nor its query is shown. */
function refused(flag: string, text: string, why: string): ConfigError {
  const shown = text.replace(/(?<=^|=)([a-z]+:\/\/)[^@/]*@/, "$1…@").replace(/\?.*$/s, "?…");
  return new ConfigError("usage", `${flag} '${shown}' ${why}`);
}
