import type { Clock } from "../ports/clock.ts";
import type { IPProvider, IPProviderReader } from "../ports/ip-provider.ts";
import type { ProviderAccess } from "../ports/provider-access.ts";
import type { Config } from "./config.ts";
import { readToken } from "./token.ts";
import { readVersion } from "./version.ts";

/**
 * Returns the providers by name, for a run that only reads.
 * @throws ConfigError when the token file cannot be read
 */
export async function openProviderReaders(
  config: Config,
  clock: Clock,
): Promise<ReadonlyMap<string, ProviderAccess<IPProviderReader>>> {
  return byName(config, async () => {
    const { createDigitalOceanReader } = await import("../adapters/digitalocean/create-digitalocean-reader.ts");
    return createDigitalOceanReader(digitalOceanOptions(config, clock));
  });
}

/**
 * Returns the providers by name, for a run that may write.
 * @throws ConfigError when the token file cannot be read
 */
export async function openProviders(
  config: Config,
  clock: Clock,
): Promise<ReadonlyMap<string, ProviderAccess<IPProvider>>> {
  return byName(config, async () => {
    const { createDigitalOcean } = await import("../adapters/digitalocean/create-digitalocean.ts");
    return createDigitalOcean(digitalOceanOptions(config, clock));
  });
}

async function byName<P extends IPProviderReader>(
  { digitalOcean }: Config,
  create: () => Promise<P>,
): Promise<ReadonlyMap<string, ProviderAccess<P>>> {
  const hasToken = readToken(digitalOcean.token) !== undefined;
  const access: ProviderAccess<P> = hasToken
    ? { kind: "usable", provider: await create() }
    : { kind: "no-token", name: "digitalocean", variables: TOKEN_VARIABLES };
  return new Map([["digitalocean", access]]);
}

/** What a person is told to set; the aliases work, too. */
const TOKEN_VARIABLES: readonly string[] = ["DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_ACCESS_TOKEN_FILE"];

interface DigitalOceanSettings {
  readonly token: () => string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly baseURL?: string;
}

function digitalOceanOptions({ digitalOcean }: Config, clock: Clock): DigitalOceanSettings {
  const { token, apiURL, userAgent } = digitalOcean;
  return {
    token: () => readToken(token) ?? "",
    userAgent: userAgent ?? `flipop/${readVersion()}`,
    clock,
    ...(apiURL === undefined ? {} : { baseURL: apiURL }),
  };
}
