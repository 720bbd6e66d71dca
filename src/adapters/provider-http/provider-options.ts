import type { Clock, Secrets } from "../../ports/system.ts";
import type { ChooseProxy } from "../http/proxy-choice.ts";

/** How to reach a provider. */
export interface ProviderOptions {
  /** The API token, or where to get it; asked again for every request, so that a rotated token is used at once. */
  readonly token: string | (() => Promise<string> | string);
  /** By default where the API says that it is. */
  readonly baseURL?: string;
  readonly userAgent: string;
  /** Deadline of one call over headers, body and the repeat of a read; by default that of the API's limits. */
  readonly timeoutMs?: number;
  /** When the run must be over, in {@link Clock.monotonicMs}: no call lasts longer, and later ones are not made. */
  readonly untilMs?: number;
  /** Takes secrets out of the provider's texts, which may repeat any of them. By default it knows only the token of the call. */
  readonly secrets?: Pick<Secrets, "redactQuoted">;
  /** The proxy for the API; by default none. */
  readonly chooseProxy?: ChooseProxy;
  /** For waits. Deadlines of connections always run by the machine's own clock. */
  readonly clock: Clock;
  /** Ends calls in flight and refuses later ones when it is aborted. */
  readonly signal?: AbortSignal;
}
