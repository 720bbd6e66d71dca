import { beforeAll, describe, expect, test } from "vitest";
import { BROKEN_ANSWERS, type BrokenAnswer, WHOLE_ANSWERS } from "./broken-answer.ts";
import { type Beginnings, beginnings, callsOf, type Played, play, several } from "./play.ts";
import { sampled } from "./sampled.ts";
import { isWrite, type Strike, type WireCall } from "./wire.ts";
import { WIRE_STORIES, type WireStory } from "./wire-story.ts";

const ANSWERS = Object.keys(BROKEN_ANSWERS) as readonly BrokenAnswer[];
/** Beside answers that break after the effect: requests of which nothing arrives. */
const LOST: readonly BrokenAnswer[] = ["a reset without a byte", "silence", "an error page of a gateway"];
const CASES = [
  ...ANSWERS.map((answer) => ({ answer, isLost: false, when: "after its effect" })),
  ...LOST.map((answer) => ({ answer, isLost: true, when: "without an effect" })),
].map((one, at) => ({ ...one, at }));

/** Of all pairs of a call and a way to break its answer one in so many is played, other ones in each story: each call in one way or two. */
const ONE_IN = 16;
/** Most of a case is waiting. */
const AT_ONCE = 12;

/** Declares the tests that break the answer to every call of the story, one call per run. */
export function describeBrokenAnswers(story: WireStory): void {
  describe(`in ${story.name}, whichever one call is answered by`, () => {
    let begin: Beginnings;
    let calls: readonly WireCall[];
    beforeAll(async () => {
      begin = await beginnings();
      calls = await callsOf(story, begin);
    }, 60_000);

    test.for(CASES)(
      "$answer, $when, the next run makes it right and the one after writes nothing",
      async ({ answer, isLost, at }) => {
        const strike: Strike = { answer, isLost };
        const struck = sampled(calls, ONE_IN, at + 4 * WIRE_STORIES.indexOf(story)).filter(
          (call) => !isLost || isWrite(call),
        );
        const results = await several(struck, AT_ONCE, async (call) => {
          const played = await playStruck(story, begin, call, strike);
          const unseen = isLastLook(call) && !WHOLE_ANSWERS.has(answer) ? movedUnseen(call, played.calls) : [];
          return [...problemsOf(call, played), ...unseen].map((problem) => `${call.key}: ${problem}`);
        });
        expect(results.flat()).toEqual([]);
        expect(struck.length).toBeGreaterThan(0);
      },
    );
  });
}

/** On a machine so busy that the run came to grief before the call, it is played again. */
async function playStruck(story: WireStory, begin: Beginnings, call: WireCall, strike: Strike): Promise<Played> {
  let played = await play(story, begin, ({ key }) => (key === call.key ? strike : undefined));
  for (let tries = 1; tries < 3 && !played.isStruck && played.problems.length === 0; tries++)
    played = await play(story, begin, ({ key }) => (key === call.key ? strike : undefined));
  return played;
}

function problemsOf(call: WireCall, { isStruck, problems, run, calls }: Played): readonly string[] {
  const written = calls.filter((one) => isWrite(one) && !one.path.includes("/leases"));
  const isList = isRead(call) && !/leases|web$/.test(call.path) && !isLastLook(call);
  return [
    ...(isStruck ? [] : ["no such call was made"]),
    ...(isList && run.code !== 0 && run.code !== 75
      ? [`a list of the cluster failed, and the run ended with ${run.code}`]
      : []),
    ...(isList && run.code !== 0 && written.length > 0
      ? [`a list of the cluster failed, and ${written[0]?.key} was sent`]
      : []),
    ...problems,
  ];
}

function isRead({ server, method }: WireCall): boolean {
  return server === "kubernetes" && method === "GET";
}

/**
 * A look at the holder of one address, its node or the pods on it, right before the address is taken from it. Every list of the
 * run has been read by then. If the look fails, the address stays where it is, and the run goes on with everything else.
 */
function isLastLook(call: WireCall): boolean {
  return isRead(call) && (/\/nodes\/[^/]+$/.test(call.path) || call.fieldSelector?.includes("spec.nodeName=") === true);
}

/**
 * Returns the move of an address that followed a failed look at its holder, without another look in between: at the node alone, or as a list of it shows it. What its pods are is
 * no matter, since the node cannot serve.
 */
function movedUnseen(look: WireCall, calls: readonly WireCall[]): readonly string[] {
  const [, name] = /\/nodes\/([^/]+)$/.exec(look.path) ?? [];
  if (name === undefined) return [];
  const since = calls.slice(calls.findIndex(({ key }) => key === look.key) + 1);
  const move = since.findIndex((one) => isWrite(one) && /\/reserved_ips\/.+\/actions$/.test(one.path));
  const another = since.findIndex(
    (one) => (one.path === look.path && isLastLook(one)) || one.fieldSelector === `metadata.name=${name}`,
  );
  return move >= 0 && !(another >= 0 && another < move)
    ? [`nothing was known of the holder, and ${since[move]?.key} was sent`]
    : [];
}
