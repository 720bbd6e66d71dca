import type { ProviderVoice } from "../provider-http/provider-voice.ts";

/** How errors speak about Cloudflare. */
export const CLOUDFLARE_VOICE: ProviderVoice = {
  provider: "cloudflare",
  label: "Cloudflare",
  scopeAdvice: (permission) => `Give the token the permission ${permission} for that zone.`,
};
