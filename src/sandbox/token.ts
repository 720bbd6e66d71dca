/** A token that the accounts of a sandbox accept. No secret: it opens nothing else, and may be shown. */
export const SANDBOX_TOKEN = "sandbox";
