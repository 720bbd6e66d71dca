import { importsOf, type Source, withoutComments } from "./sources.ts";

const PURE: readonly string[] = [
  "src/model/",
  "src/plan/",
  "src/report/",
  "src/rehearse/",
  "src/doctor/",
  "src/history/",
];
/** Packages that compute and do nothing else. */
const PURE_PACKAGES: readonly string[] = ["valibot"];
/** What pure code must not reach for: clock, randomness, environment, network, locale of the machine, output. */
const IMPURE: readonly (readonly [string, RegExp])[] = [
  ["the clock", /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(|\bperformance\b/],
  ["timers", /\b(setTimeout|setInterval|setImmediate|queueMicrotask)\b/],
  ["randomness", /\bMath\.random\b|\bcrypto\b|\brandomUUID\b/],
  ["the environment", /\bprocess\b(?=\s*[.[])|\bglobalThis\b/],
  ["the network", /\bfetch\(/],
  ["the machine's locale", /\.localeCompare\(|\.toLocale\w*\(|\bIntl\./],
  ["output", /\bconsole\b(?=\s*[.[])/],
];

/** What pure files use that is not pure, one sentence each. */
export function impurities(sources: readonly Source[]): readonly string[] {
  return sources.filter(isPure).flatMap((source) => {
    const code = withoutComments(source.text);
    const packages = importsOf(source).filter((one) => one.isPackage && !PURE_PACKAGES.includes(one.target));
    return [
      ...packages.map((one) => `${source.path} imports ${one.target}`),
      ...IMPURE.filter(([, pattern]) => pattern.test(code)).map(([what]) => `${source.path} uses ${what}`),
    ];
  });
}

/** Variables at the top level of a module that can be assigned again, one sentence each. */
export function moduleState(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) =>
    [...withoutComments(source.text).matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(
      ([, name]) => `${source.path} keeps ${name} at module level`,
    ),
  );
}

function isPure(source: Source): boolean {
  return PURE.some((folder) => source.path.startsWith(folder));
}
