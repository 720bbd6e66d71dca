import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { dockerfileStages } from "./dockerfile.ts";
import { type CronJobOnWire, shippedText } from "./shipped.ts";

const DOCKERFILE = shippedText("Dockerfile");
const { version, license } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

test("what the ignore file admits is what the image is built from, and the last stage takes nothing else", () => {
  const admitted = shippedText("Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  const [build, ...others] = dockerfileStages();
  expect([...admitted].sort()).toEqual([...(build?.copied ?? [])].sort());
  expect(others.map(({ copied }) => copied)).toEqual([[], []]);
});

test("the image runs as the user that the CronJob names, and says which version and licence it has", () => {
  const { securityContext } = (parse(shippedText("cronjob.yaml")) as CronJobOnWire).spec.jobTemplate.spec.template.spec;
  expect(DOCKERFILE).toContain(`\nUSER ${securityContext.runAsUser}:${securityContext.runAsGroup}\n`);
  expect(DOCKERFILE).toContain(`image.version="${version}"`);
  expect(DOCKERFILE).toContain(`image.licenses="${license}"`);
});

test("the image starts Node without flags, because flags would go before those of the CronJob's NODE_OPTIONS", () => {
  expect(dockerfileStages().at(-1)?.entrypoint).toEqual(["/nodejs/bin/node", "/app/bin/start.js"]);
});

test("the image has the program ip beside Node, with its libraries and licences, for flipop host", () => {
  expect(dockerfileStages()[1]?.runs).toEqual([
    expect.stringMatching(/iproute2$/),
    expect.stringContaining("/usr/bin/ip "),
  ]);
  expect(DOCKERFILE).toContain("\nCOPY --from=host /host/ /\n");
});

test("the image is built without install scripts and from the lock file alone", () => {
  expect(dockerfileStages()[0]?.runs[0]).toMatch(/^npm ci --ignore-scripts /);
});
