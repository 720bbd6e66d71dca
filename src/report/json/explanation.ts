import { type ObjectRef, refKey } from "../../model/action.ts";
import { CHECKS, type CheckCode } from "../../model/check.ts";
import type { ChangeTold, Explanation, Section, ShownGate, Subject } from "../../model/explanation.ts";
import { FINDINGS, type FindingCode } from "../../model/finding.ts";
import { gateOf } from "../../model/gates.ts";
import { REASONS, type Reason } from "../../model/reason.ts";
import { plain, plainValue } from "../../model/text.ts";
import { type ExplainedPast, gateText } from "../text/explanation.ts";
import { rfc3339 } from "../text/times.ts";
import { API_VERSION, type JSONObject } from "./document.ts";
import { pastField } from "./history.ts";
import { actionField, objectField } from "./plan.ts";
import { nameField } from "./simulation.ts";

/** Returns the document `Explanation`; its JSON Schema is `schema/explanation.json`. `past` absent = it was not asked for. */
export function explanationDocument(explanation: Explanation, past?: ExplainedPast): JSONObject {
  const { observedAtMs, cluster, subject, sections, facts, horizonMs, assumed } = explanation;
  return {
    apiVersion: API_VERSION,
    kind: "Explanation",
    observedAt: rfc3339(observedAtMs),
    cluster,
    subject: subjectField(subject, sections),
    holds: sections.length > 0 && sections.every(({ holds }) => holds),
    message: plain(sections.map(({ message }) => message).join(" ")),
    assumptions: {
      horizonSeconds: horizonMs / 1000,
      assignSeconds: assumed.assignMs / 1000,
      dnsSeconds: assumed.dnsMs / 1000,
    },
    facts: facts.map(plain),
    sections: sections.map((section) => sectionField(section, observedAtMs)),
    ...(past === undefined ? {} : { history: past.changes.map(pastField), historyGaps: past.gaps.map(plain) }),
  };
}

function subjectField(subject: Subject, sections: readonly Section[]): JSONObject {
  switch (subject.kind) {
    case "pair":
      return { kind: "pair", ip: subject.ip, node: subject.node };
    case "ip":
      return { kind: "ip", ip: subject.ip };
    case "node":
      return { kind: "node", node: subject.node };
    case "name":
      return { kind: "name", name: subject.fqdn };
    case "object":
      return { kind: sections[0]?.object.kind ?? "pool", objects: sections.map(({ object }) => refKey(object)) };
  }
}

function sectionField(section: Section, nowMs: number): JSONObject {
  const { object, holds, isComing, message, gates, nodes, facts, counterfactual, plans, next } = section;
  return {
    object: objectField(object),
    holds,
    comesTrueByItself: isComing,
    message: plain(message),
    facts: facts.map(plain),
    gates: gates.map((gate) => gateField(gate, object, nowMs)),
    nodes: nodes.map(({ node, gate }) => ({
      node,
      gate: gate === undefined ? null : gate.id,
      reason: gate?.reason ?? null,
      detail: plain(gate?.detail ?? ""),
    })),
    plans,
    change:
      counterfactual === undefined
        ? null
        : {
            edits: counterfactual.changes.map(changeField),
            alternatives: counterfactual.alternatives.map((others) => others.map(changeField)),
          },
    next: next.steps.map(({ atMs, actions }) => ({
      atSeconds: Math.round((atMs - nowMs) / 1000),
      actions: actions.map((action) => actionField(action, [])),
    })),
    names: next.names.map(nameField),
  };
}

function gateField(gate: ShownGate, object: ObjectRef, nowMs: number): JSONObject {
  const { id, pass, isUnread, reason, sinceMs, notBeforeMs, about, evidence } = gate;
  return {
    id,
    pass: pass ?? null,
    reached: pass !== undefined || isUnread === true,
    reason: reason ?? null,
    message: gateText(gate, object.kind, nowMs),
    ...(about === undefined ? {} : { about }),
    ...(sinceMs === undefined ? {} : { since: rfc3339(sinceMs) }),
    ...(notBeforeMs === undefined ? {} : { notBefore: rfc3339(notBeforeMs) }),
    evidence: evidence.map(({ path, value, sinceMs: ms }) => ({
      path: plain(path),
      value: plainValue(value),
      ...(ms === undefined ? {} : { since: rfc3339(ms) }),
    })),
  };
}

function changeField({ edit, cost, command, message }: ChangeTold): JSONObject {
  return { edit: edit ?? null, cost, command: command ?? null, message };
}

/** Returns the document `Explanation` of a reason, which needs no cluster. */
export function reasonDocument(reason: Reason): JSONObject {
  const { text, advice } = REASONS[reason];
  return {
    apiVersion: API_VERSION,
    kind: "Explanation",
    subject: { kind: "reason", reason },
    message: text,
    advice: advice ?? null,
    gate: gateOf(reason) ?? null,
  };
}

/** A code of `flipop doctor` or of `flipop validate`. */
export type Code = CheckCode | FindingCode;

/** Returns the document `Explanation` of a code, which needs no cluster. */
export function codeDocument(code: Code): JSONObject {
  const [message, advice] = isCheck(code)
    ? [CHECKS[code].text, `${CHECKS[code].consequence} ${CHECKS[code].hint}`]
    : [FINDINGS[code].text, null];
  return {
    apiVersion: API_VERSION,
    kind: "Explanation",
    subject: { kind: "code", code },
    message,
    advice,
    gate: null,
  };
}

function isCheck(code: Code): code is CheckCode {
  return Object.hasOwn(CHECKS, code);
}
