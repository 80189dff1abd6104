/** The aims of scripts/content.ts. */

import { type Aim, limitAim, presenceAim, whole } from "../bench/report.ts";
import type { ContentReport } from "./run.ts";
import type { Verified } from "./signatures.ts";

/** A mail that cannot be rendered must fail, so that fewer arrive than were requested. */
const LEAST_ARRIVED = 0.9;

export function contentAims(report: ContentReport, verified: readonly Verified[]): Aim[] {
  const { contacts, faults, messages, templates } = report;
  const [fault = ""] = faults;
  const differing = limitAim("mails that differ", faults.length);
  return [
    { ...differing, measured: `${differing.measured} ${fault}`.trim() },
    presenceAim(
      "mails of the template with the fewest",
      Math.min(...templates.map(({ mails }) => mails)),
      contacts,
    ),
    presenceAim(
      "messages that arrived",
      messages.length,
      templates.length * contacts * LEAST_ARRIVED,
    ),
    ...verified.map((each) => signatureAim(each, messages.length)),
  ];
}

function signatureAim(verified: Verified, messages: number): Aim {
  const name = `signed twice, verified by ${verified.verifier}`;
  const wanted = whole(messages);
  if (!verified.ok) return { name, isMet: false, measured: `not run: ${verified.reason}`, wanted };
  const [fault] = verified.faults;
  const measured = `${whole(verified.valid)}${fault === undefined ? "" : `, the first fault: ${fault}`}`;
  return { name, isMet: verified.valid === messages, measured, wanted };
}
