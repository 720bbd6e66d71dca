import type { ProviderVoice } from "../provider-http/provider-voice.ts";

/** How errors speak about DigitalOcean. */
export const DIGITALOCEAN_VOICE: ProviderVoice = {
  provider: "digitalocean",
  label: "DigitalOcean",
  scopeAdvice: (scope) => `Give the token the ${scope.includes(" and ") ? "scopes" : "scope"} ${scope}.`,
};
