import { examine, wantedFacts } from "../doctor/examine.ts";
import { gather } from "../doctor/gather.ts";
import { countResults } from "../model/check.ts";
import { plainValue } from "../model/text.ts";
import { untilInterrupted } from "../observe/interrupt.ts";
import { EXIT } from "../report/exit-code.ts";
import { checksDocument } from "../report/json/checks.ts";
import { renderChecks } from "../report/text/checks.ts";
import { resolveConfig } from "./config.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import { given, readHomepage } from "./environment.ts";
import { isDocument, writeDocument, writeText } from "./output.ts";
import type { Session } from "./session.ts";

/** Runs `doctor`: reads what checks look at, makes them, prints. Writes nothing. Returns the exit code. */
export async function runDoctor(session: Session, flags: DoctorFlags): Promise<number> {
  const isBefore = flags.pre ?? false;
  const chosen = { only: flags.only ?? [], skip: flags.skip ?? [], isBefore };
  const terms = {
    isBefore,
    asServiceAccount: flags.asServiceAccount ?? false,
    env: session.env,
    ...given({ mode: flags.mode, resolver: flags.resolver }),
  };
  const { withSources, clock } = await session.loadWiring();
  const config = resolveConfig(flags, session.env, session);
  const answers = await withSources(config, terms, (sources) =>
    untilInterrupted(gather(sources, wantedFacts(chosen), clock), session.signal),
  );
  const report = plainValue(examine(chosen, answers));
  const failures = countResults(report, "error") + (flags.failOn === "warning" ? countResults(report, "warning") : 0);
  const { streams, output, layout } = session;
  if (isDocument(output)) await writeDocument(streams, checksDocument(report, failures === 0, readHomepage()), output);
  else writeText(streams, renderChecks(report, layout));
  return failures === 0 ? EXIT.done : EXIT.unhealthy;
}
