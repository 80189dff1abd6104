/** The input of a simulation: the contact, the start and the end. Each change is a new request. */

import type {
  SimulationInput,
  Simulation,
} from "../../../../modules/workflows/simulation/model.ts";
import { isRecord } from "../../../ui/is-record.ts";
import { exitsBody, graphBody, type WorkflowDraft } from "../editor/draft.ts";

export type PlannedEvent = { at: string; eventName: string; data: Record<string, unknown> };

export type SimulationPlan = {
  /** Empty for a sample contact. */
  contactId: string;
  /** JSON of the data of the sample contact. */
  sample: string;
  /** JSON of the data of the event that starts the workflow. */
  data: string;
  startAt: string;
  /** Null: until nothing is due any more. */
  until: string | null;
  events: readonly PlannedEvent[];
  /** The answers of WEBHOOK steps, by their ids. */
  answers: Readonly<Record<string, PlannedAnswer>>;
  /** The number of the mail that is open; null if none is. */
  mail: number | null;
};

/** `body` is JSON; empty for none. */
export type PlannedAnswer = { status: number; body: string };

export const SAMPLE_DATA = '{\n  "firstName": "Ada"\n}';

export const newPlan = (startAt: string): SimulationPlan => ({
  contactId: "",
  sample: SAMPLE_DATA,
  data: "",
  startAt,
  until: startAt,
  events: [],
  answers: {},
  mail: null,
});

/** The object of a JSON text, empty for an empty one; null if it is no object. */
export function objectIn(text: string): Record<string, unknown> | null {
  if (text.trim() === "") return {};
  const value = valueIn(text);
  return isRecord(value) ? value : null;
}

/** Undefined for a text that is not JSON. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isAnswerBody = (text: string): boolean =>
  text.trim() === "" || valueIn(text) !== undefined;

/** The body of the request; null while a field has no valid value. */
export function requestOf(
  plan: SimulationPlan,
  draft: WorkflowDraft | null,
): SimulationInput | null {
  const { contactId, startAt, until, events, mail } = plan;
  const sample = objectIn(plan.sample);
  const data = objectIn(plan.data);
  if ((contactId === "" && sample === null) || data === null) return null;
  if (!Object.values(plan.answers).every(({ body }) => isAnswerBody(body))) return null;
  const answers = Object.entries(plan.answers).map(([id, { status, body }]) => [
    id,
    { status, ...(body.trim() === "" ? {} : { body: valueIn(body) }) },
  ]);
  return {
    ...(contactId === "" ? { sample: { data: sample ?? {} } } : { contactId }),
    data,
    startAt,
    ...(until === null ? {} : { until }),
    events: [...events],
    answers: Object.fromEntries(answers),
    ...(mail === null ? {} : { mail }),
    ...(draft === null ? {} : { workflow: editedWorkflow(draft) }),
  };
}

/** The edits that are not saved, which are tried. */
export const editedWorkflow = (draft: WorkflowDraft): NonNullable<SimulationInput["workflow"]> =>
  Object({
    allowReentry: draft.allowReentry,
    ...exitsBody(draft),
    ...graphBody(draft),
  });

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The ways to move the clock, each with its new end; null if it cannot be moved so. */
export function clockMoves({ at, nextAt }: Pick<Simulation, "at" | "nextAt">) {
  const later = (ms: number) => new Date(Date.parse(at) + ms).toISOString();
  return { next: nextAt, hour: later(HOUR_MS), day: later(DAY_MS) };
}
