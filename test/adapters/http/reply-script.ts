/** One reply for every request, a list in order (the last one stays), or a function; `at` counts the requests from 0. */
export type ReplyScript<Received, Reply extends object> =
  | Reply
  | readonly Reply[]
  | ((request: Received, at: number) => Reply);

/** The script as a function. @throws Error, from the function, when the list is empty */
export function replyFunction<Received, Reply extends object>(
  script: ReplyScript<Received, Reply>,
): (request: Received, at: number) => Reply {
  if (typeof script === "function") return script;
  const replies = isList(script) ? script : [script];
  return (_, at) => {
    const reply = replies[Math.min(at, replies.length - 1)];
    if (reply === undefined) throw new Error("The script has no reply.");
    return reply;
  };
}

function isList<Reply extends object>(script: Reply | readonly Reply[]): script is readonly Reply[] {
  return Array.isArray(script);
}
