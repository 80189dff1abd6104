/**
 * The class of a bounce that a provider reports. The reply of the recipient's server decides, read as in
 * the bounces that arrive by mail; if the words quote none, the type that the provider gave decides.
 */

import { diagnose, findReply, isSpecific } from "../dsn/classify.ts";
import { statusOfPhrase } from "../dsn/reason-phrases.ts";
import type { ReplyClass } from "../smtp/reply-classes.ts";
import type { RelayReport } from "./report.ts";

type Bounce = Extract<RelayReport, { kind: "bounce" }>;

export function classifyReported(
  bounce: Bounce,
  sender: string | null,
): { class: ReplyClass; status: string | null } {
  const { status, words, isCertain, recipient, class: named } = bounce;
  const isSaid = findReply(words) !== null || statusOfPhrase(words) !== null || isSpecific(status);
  return isCertain || !isSaid
    ? { class: named, status }
    : diagnose(status, words, { recipient, sender });
}
