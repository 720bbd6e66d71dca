import { runProcess } from "../../src/cli/command-line.ts";

// A program for crash.long.test.ts: the real command line, in which something throws where nobody awaits it, with a secret in its message.

await runProcess(async () => {
  const { DIGITALOCEAN_TOKEN: _, SAYS = "", HOW } = process.env;
  setTimeout(() => {
    const error = new Error(`it broke at ${SAYS}`, { cause: new Error(`since ${SAYS}`) });
    if (HOW === "rejection") void Promise.reject(error);
    else if (HOW === "text") throw SAYS;
    else throw error;
  }, 50);
  return await new Promise(() => setTimeout(() => undefined, 20_000));
});
