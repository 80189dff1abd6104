/** The problems for which the server refused to save the workflow; each one leads to its step. */

import { useEffect, useRef } from "react";
import { stepName } from "../step-texts.ts";
import { type Fault, faultText } from "./faults.ts";
import { DRAFT_LABELS } from "./draft.ts";
import { numbersOf } from "./outline.ts";
import type { WorkflowEditing } from "./use-editor.ts";

const MOST = 20;

export function Problems(props: { editor: WorkflowEditing; onOpen: (step: string) => void }) {
  const { editor, onOpen } = props;
  const { faults, status } = editor;
  const list = useRef<HTMLUListElement>(null);
  const isRefused = status === "REFUSED" && faults.length > 0;
  useEffect(() => {
    if (isRefused) list.current?.querySelector("button")?.focus();
  }, [isRefused]);
  if (faults.length === 0) return null;
  // Several steps may have the same name.
  const numbers = numbersOf(editor.value);
  return (
    <section className="problems" aria-label="Problems">
      <p role="alert">
        The workflow is not saved.{" "}
        {faults.length === 1 ? "One thing is not right:" : `${faults.length} things are not right:`}
      </p>
      <ul ref={list}>
        {faults.slice(0, MOST).map((fault, i) => (
          <li key={i}>
            {fault.step === null ? (
              <span>{ownText(fault)}</span>
            ) : (
              <button type="button" className="link" onClick={() => onOpen(fault.step?.id ?? "")}>
                {numbers.get(fault.step.id)}. {stepName(fault.step)}: {fieldWord(fault.field)}{" "}
                {fault.message}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The words of the forms for fields of the interface, by their last part. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  templateId: "the template",
  eventName: "the event",
  segmentId: "the segment",
  amount: "the time",
  timeout: "the longest wait",
  url: "the URL",
  updates: "the data",
  email: "the address",
  cron: "the schedule",
  timeZone: "the time zone",
  days: "the days",
  step: "it",
};

function fieldWord(field: string): string {
  const path = field.replace(/^config\.?/, "");
  return FIELD_WORDS[path.split(".").at(-1) ?? ""] ?? (path === "" ? "it" : path);
}

const LABELS: Readonly<Record<string, string>> = DRAFT_LABELS;

/** The text of a fault that no step has. */
function ownText(fault: Fault): string {
  const label = LABELS[fault.field.split(".")[0] ?? ""];
  return label === undefined ? faultText(fault) : `${label} ${fault.message}.`;
}
