/** The faults of a refused workflow, each with the step that it belongs to. */

import type { DraftStep, WorkflowDraft } from "./draft.ts";

export type Fault = {
  /** The step as it was sent; null for a fault of the whole workflow. */
  step: DraftStep | null;
  /** The path in the step, such as `config.amount`; of the workflow for a fault without a step. */
  field: string;
  message: string;
};

/** `value` is the workflow that was sent. The fault of a transition is that of the step it leaves. */
export const faultsOf = (
  errors: readonly { field: string; message: string }[],
  value: WorkflowDraft,
): Fault[] =>
  errors.map(({ field, message }) => {
    const [list = "", index = "", ...rest] = field.split(".");
    const own = rest.join(".");
    if (list === "steps") {
      const step = value.steps[Number(index)];
      return step === undefined
        ? { step: null, field, message }
        : { step, field: own, message: plain(message) };
    }
    if (list === "transitions") {
      const from = value.transitions[Number(index)]?.from;
      const step = value.steps.find(({ id }) => id === from) ?? null;
      return { step, field: `transition.${own}`, message };
    }
    if (list === "trigger") {
      const step = value.steps.find(({ type }) => type === "TRIGGER") ?? null;
      return {
        step,
        field: ["config", index, ...rest].filter((part) => part !== "").join("."),
        message,
      };
    }
    return { step: null, field, message };
  });

/** The message without the name of the step, beside which it is shown. */
function plain(message: string): string {
  const end = message.lastIndexOf(", in step ");
  return end === -1 ? message : message.slice(0, end);
}

/** Messages are predicates, such as `is required`. */
export const faultText = ({ message }: Fault): string => `This ${message}.`;

/** The texts of the faults at a field of a step, and below it; undefined without any. */
export function faultAt(faults: readonly Fault[], field: string): string | undefined {
  const found = faults.filter(
    (fault) => fault.field === field || fault.field.startsWith(`${field}.`),
  );
  return found.length === 0 ? undefined : [...new Set(found.map(faultText))].join(" ");
}
