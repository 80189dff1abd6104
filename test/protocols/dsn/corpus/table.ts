/** Reads all forms of the corpus and counts them by kind, for the test and for scripts/bounces.ts. */

import { readDsn, type RecipientFinding } from "../../../../src/protocols/dsn/report.ts";
import { readMessage } from "../../../../src/protocols/mime/read-parts.ts";
import { NO_BOUNCES } from "./automatic-forms.ts";
import type { Sample } from "./build.ts";
import { STANDARD_FORMS } from "./standard-forms.ts";
import { TEXT_FORMS } from "./text-forms.ts";

export const BOUNCE_FORMS: readonly Sample[] = [...STANDARD_FORMS, ...TEXT_FORMS];

export type Read = Pick<RecipientFinding, "action" | "class" | "recipient">;

/** The finding about the first recipient of a form; null if it is no report. */
export function readForm({ raw }: Pick<Sample, "raw">): Read | null {
  const report = readDsn(readMessage(Buffer.from(raw)));
  if (report.kind !== "delivery") return null;
  const [first] = report.findings;
  if (first === undefined) return null;
  return { action: first.action, class: first.class, recipient: first.recipient };
}

/** The class of a report of success means nothing. */
export function expectedOf({ action, class: found, recipient }: Sample): Partial<Read> {
  const hasClass = action === "failed" || action === "delayed";
  return { action, recipient, ...(hasClass ? { class: found } : {}) };
}

export type KindCounts = { kind: string; forms: number; right: number };

export function countsByKind(): { bounces: KindCounts[]; others: KindCounts[] } {
  return {
    bounces: counted(BOUNCE_FORMS, (form) => {
      const read = readForm(form);
      const expected = Object.entries(expectedOf(form));
      return expected.every(([name, value]) => read !== null && Reflect.get(read, name) === value);
    }),
    others: counted(NO_BOUNCES, (form) => readForm(form) === null),
  };
}

function counted<T extends { kind: string }>(
  forms: readonly T[],
  isRight: (form: T) => boolean,
): KindCounts[] {
  const kinds = new Map<string, KindCounts>();
  for (const form of forms) {
    const counts = kinds.get(form.kind) ?? { kind: form.kind, forms: 0, right: 0 };
    counts.forms++;
    if (isRight(form)) counts.right++;
    kinds.set(form.kind, counts);
  }
  return [...kinds.values()].toSorted((a, b) => b.forms - a.forms);
}
