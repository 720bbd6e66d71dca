import { ConfigError } from "../model/errors.ts";

/** Where a server listens; no host means every address of the machine. */
export interface ListenAddress {
  readonly host?: string;
  readonly port: number;
}

/**
 * Reads `:8080`, `127.0.0.1:8080` or `[::1]:8080`.
 * @throws ConfigError `usage` for anything else
 */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535)
    throw new ConfigError(
      "usage",
      `--metrics-addr '${text}' is no address to listen on. Write it like :8080 or 127.0.0.1:8080.`,
    );
  const host = ipv6 ?? name ?? "";
  return host === "" ? { port } : { host, port };
}
