// Makes sure that no server outlives the process that started it, however that process ends.
import { spawn } from "node:child_process";

// `read` returns with an error at the end of its input, that is when the parent has ended, even by SIGKILL: the kernel
// closes the pipe. A handler in the parent could not see that case. A line means "all is well, leave".
const script = `read -r line || {
  for file in "$1"/*.pid; do [ -f "$file" ] && kill -KILL "$(cat "$file")" 2>/dev/null; done
  sleep 0.2
  rm -rf "$1"
}`;

/**
 * Starts a watcher that, when this process ends without calling the returned function, kills every process whose id is
 * in a `*.pid` file of `directory`, and removes the directory. The returned function sends the watcher home.
 */
export function guardChildren(directory: string): () => void {
  const child = spawn("/bin/sh", ["-c", script, "guard", directory], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.unref();
  // The pipe is a socket at run time; it must not keep this process alive either.
  if ("unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  // Somebody may have ended the guard before us; then there is nobody to tell.
  child.stdin.on("error", () => undefined);
  return () => {
    if (!child.stdin.writableEnded) child.stdin.end("done\n");
  };
}
