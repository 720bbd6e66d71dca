/** How errors speak about one provider. */
export interface ProviderVoice {
  /** As in ProviderError: `digitalocean`. */
  readonly provider: string;
  /** For people: `DigitalOcean`. */
  readonly label: string;
  /** What to do about a token that lacks this scope: one sentence. */
  readonly scopeAdvice: (scope: string) => string;
}
