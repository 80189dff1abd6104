/** The steps of a workflow in words: their types, their settings and their branches. */

import type { Workflow } from "../../../modules/workflows/model.ts";
import { branchesOf, type Config, type DraftStep, type StepKind } from "./editor/draft.ts";
import type { WayOut } from "./editor/graph-edits.ts";
import { isRecord } from "../../ui/is-record.ts";
import { triggerText } from "./trigger-texts.ts";

export type Transition = Workflow["transitions"][number];

export const TYPE_WORDS: Readonly<Record<StepKind, string>> = {
  TRIGGER: "Start",
  SEND_EMAIL: "Send email",
  DELAY: "Wait",
  TIME_WINDOW: "Time window",
  WAIT_FOR_EVENT: "Wait for event",
  CONDITION: "Condition",
  SPLIT: "A/B split",
  WEBHOOK: "Call a URL",
  UPDATE_CONTACT: "Update contact",
  EXIT: "End",
};

/** The name of a step, or the word for its kind. A step without a name is stored with its type as one. */
export const stepName = ({ name, type }: Pick<DraftStep, "name" | "type">): string =>
  name === "" || name === type ? TYPE_WORDS[type] : name;

const BRANCH_WORDS: Readonly<Record<string, string>> = {
  yes: "Yes",
  no: "No",
  timeout: "Not in time",
  default: "Otherwise",
};

/** The word of a branch; null for the only way on. */
export const branchWord = (branch: string | null): string | null =>
  branch === null ? null : (BRANCH_WORDS[branch] ?? branch);

/** The word of a way out of a step; null for its only one. */
export const wayWord = (
  step: Pick<DraftStep, "type" | "config"> | undefined,
  branch: string | null,
): string | null =>
  branch === null && step !== undefined && branchesOf(step).length > 1
    ? "In time"
    : branchWord(branch);

/** "Add a step after Hello", and at which of its branches. */
export function addLabel(step: DraftStep | undefined, { from, branch }: WayOut): string {
  const name = step === undefined ? from : stepName(step);
  const word = wayWord(step, branch);
  return word === null ? `Add a step after ${name}` : `Add a step after ${name}, at “${word}”`;
}

/** The setting that each kind needs first, and the text that is shown while it is missing. */
const MISSING: Readonly<Partial<Record<StepKind, readonly [string, string]>>> = {
  SEND_EMAIL: ["templateId", "no template yet"],
  WAIT_FOR_EVENT: ["eventName", "no event yet"],
  WEBHOOK: ["url", "no URL yet"],
};

/** The settings of a step in a few words; empty without any. `names` has those of templates, by id. */
export function settingsText(
  { type, config }: Pick<DraftStep, "type" | "config">,
  names: ReadonlyMap<string, string> = new Map(),
): string {
  const [needed, missing] = MISSING[type] ?? [];
  if (needed !== undefined && missing !== undefined && textAt(config, needed) === "")
    return missing;
  switch (type) {
    case "TRIGGER":
      return triggerText(config);
    case "TIME_WINDOW":
      return windowText(config);
    case "SPLIT":
      return splitText(config);
    case "DELAY":
      return `${textAt(config, "amount")} ${unitText(config)}`;
    case "WAIT_FOR_EVENT":
      return `${textAt(config, "eventName")}${timeoutText(config["timeout"])}`;
    case "CONDITION":
      return conditionText(config);
    case "WEBHOOK":
      return `${textAt(config, "method")} ${textAt(config, "url")}`.trim();
    case "UPDATE_CONTACT":
      return updateText(config);
    case "EXIT":
      return textAt(config, "reason");
    case "SEND_EMAIL":
      return names.get(textAt(config, "templateId")) ?? "";
  }
}

function textAt(config: Config, name: string): string {
  const value = config[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** "day" for one. */
function unitText(config: Config): string {
  const unit = textAt(config, "unit");
  return config["amount"] === 1 ? unit.replace(/s$/, "") : unit;
}

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

/** ", at most 2 days". */
function timeoutText(timeout: unknown): string {
  if (typeof timeout !== "number") return "";
  const [size, unit] = UNITS.find(([seconds]) => timeout % seconds === 0) ?? [1, "second"];
  const count = timeout / size;
  return `, at most ${count} ${unit}${count === 1 ? "" : "s"}`;
}

function conditionText(config: Config): string {
  const branches: unknown = config["branches"];
  const field = textAt(config, "field");
  if (Array.isArray(branches)) return `${field}: ${branches.length} branches`;
  if (field === "") return wholeText(config["condition"] ?? null);
  const value = config["value"];
  const shown = value === undefined ? "" : ` ${JSON.stringify(value)}`;
  return `${field} ${textAt(config, "operator")}${shown}`;
}

/** A condition of one filter as a test; others would be too long. */
function wholeText(condition: unknown): string {
  if (condition === null) return "no condition yet";
  const groups: unknown = isRecord(condition) ? condition["groups"] : [];
  const [group, ...others] = Array.isArray(groups) ? groups : [];
  const filters: unknown = isRecord(group) ? group["filters"] : [];
  const [filter, ...rest] = Array.isArray(filters) ? filters : [];
  const isOne = isRecord(group) && others.length + rest.length === 0;
  return isOne && isRecord(filter) && (group["conditions"] ?? null) === null
    ? conditionText(filter)
    : "a condition of several filters";
}

const DAY_CODES = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
const DAY_WORDS: Readonly<Record<string, string>> = {
  MON: "Mon",
  TUE: "Tue",
  WED: "Wed",
  THU: "Thu",
  FRI: "Fri",
  SAT: "Sat",
  SUN: "Sun",
};

/** "Mon to Fri, 09:00 to 17:00". */
function windowText(config: Config): string {
  const given: unknown = config["days"];
  const days = Array.isArray(given) ? DAY_CODES.filter((day) => given.includes(day)) : [];
  const key = days.join();
  const shown =
    days.length === DAY_CODES.length
      ? "every day"
      : key === "MON,TUE,WED,THU,FRI"
        ? "Mon to Fri"
        : days.map((day) => DAY_WORDS[day]).join(", ");
  return `${shown}, ${textAt(config, "from")} to ${textAt(config, "to")}`;
}

/** "A 50 %, B 50 %". */
function splitText(config: Config): string {
  const given: unknown = config["branches"];
  const branches = Array.isArray(given) ? given.filter(isRecord) : [];
  const weights = branches.map(({ weight }) => (typeof weight === "number" ? weight : 0));
  const total = weights.reduce((sum, each) => sum + each, 0);
  return branches
    .map(({ id }, i) => `${String(id)} ${weightText(weights[i] ?? 0, total)}`)
    .join(", ");
}

/** The share of a weight in whole percents. */
export const weightText = (weight: number, total: number): string =>
  total === 0 ? "0 %" : `${Math.round((weight / total) * 100)} %`;

function updateText(config: Config): string {
  const updates = config["updates"];
  const names = typeof updates === "object" && updates !== null ? Object.keys(updates) : [];
  const action = textAt(config, "subscriptionAction");
  const texts = [names.length === 0 ? "" : `set ${names.join(", ")}`, action];
  return texts.filter((text) => text !== "").join(", ") || "no change yet";
}

/** A length of time such as "3 min" or "2 d 4 h", in its two largest units. */
export function spanText(ms: number): string {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const first = units.findIndex(([size]) => ms >= size);
  if (first === -1) return `${Math.max(0, Math.round(ms))} ms`;
  const [size, unit] = units[first] ?? [1, "ms"];
  const count = Math.floor(ms / size);
  const [smaller, smallerUnit] = units[first + 1] ?? [0, ""];
  const rest = smaller === 0 ? 0 : Math.floor((ms - count * size) / smaller);
  return rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smallerUnit}`;
}
