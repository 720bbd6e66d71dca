/** Stand for a DigitalOcean token wherever the real program is run. */
export const SECRET_TOKEN = "dop_v1_0123456789abcdef0123456789abcdef";

/** The same for Cloudflare. */
export const CLOUDFLARE_SECRET = "cf0123456789abcdefABCDEF0123456789abcdef";

/** The same for the password of a Pushgateway. */
export const PUSH_PASSWORD = "hunter2-hunter2";

/** The same for a URL that is notified, and for the secret that signs what is posted. */
export const HOOK_PATH = "/services/T0123ABCD/B0123ABCD/hook0123456789abcdef";
/** Signs what is posted. */
export const SIGNING_SECRET = "signing-secret-0123456789";

/** Tokens that every command line run inside the tests' own process has in its environment. */
export const INVOKED_TOKENS = {
  DIGITALOCEAN_ACCESS_TOKEN: "dop_v1_invoked_0123456789",
  CLOUDFLARE_TOKEN: "cf_invoked_0123456789",
} as const;

/** All of them: none may be in any output of any suite. */
const FAKE_TOKENS: readonly string[] = [
  SECRET_TOKEN,
  CLOUDFLARE_SECRET,
  PUSH_PASSWORD,
  HOOK_PATH,
  "hook0123456789abcdef",
  SIGNING_SECRET,
  ...Object.values(INVOKED_TOKENS),
];

/** The fake tokens that a text shows, as they are or as a header, a URL or an environment variable may carry them. Pure. */
export function shownTokens(text: string): readonly string[] {
  return FAKE_TOKENS.filter((token) => formsOf(token).some((form) => text.includes(form)));
}

/** In base64 a token looks otherwise behind another text; these are the parts that stay, whatever is before and behind. */
function formsOf(token: string): readonly string[] {
  const encoded = ["", "x", "xx"].map((before) => {
    const text = Buffer.from(before + token).toString("base64");
    return text.slice(before === "" ? 0 : 4, -4);
  });
  return [token, encodeURIComponent(token), ...encoded];
}
