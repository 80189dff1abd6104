/** The steps of a workflow in words: their types, their settings and their branches. */

import type { Workflow } from "../../../modules/workflows/model.ts";

export type Step = Workflow["steps"][number];
export type Transition = Workflow["transitions"][number];

export const TYPE_WORDS: Readonly<Record<Step["type"], string>> = {
  TRIGGER: "Start",
  SEND_EMAIL: "Send email",
  DELAY: "Wait",
  WAIT_FOR_EVENT: "Wait for event",
  CONDITION: "Condition",
  TIME_WINDOW: "Time window",
  SPLIT: "Split",
  WEBHOOK: "Call",
  UPDATE_CONTACT: "Update contact",
  EXIT: "End",
};

const BRANCH_WORDS: Readonly<Record<string, string>> = {
  yes: "Yes",
  no: "No",
  timeout: "Not in time",
  default: "Otherwise",
};

/** The word of a branch; null for the only way on. */
export const branchWord = (branch: string | null): string | null =>
  branch === null ? null : (BRANCH_WORDS[branch] ?? branch);

/** The settings of a step in a few words; empty without any. */
export function settingsText({ type, config }: Pick<Step, "type" | "config">): string {
  switch (type) {
    case "TRIGGER":
      return triggerConfigText(config);
    case "TIME_WINDOW":
      return `${textAt(config, "from")} to ${textAt(config, "to")}`;
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
      return "";
  }
}

type Config = Step["config"];
type Trigger = Workflow["trigger"];

/** What starts a workflow, in a few words: its event, its schedule, or by hand. */
export function triggerText(trigger: Trigger): string {
  if (trigger.type === "EVENT") return trigger.eventName;
  return trigger.type === "SCHEDULE" ? `${trigger.cron} (${trigger.timeZone})` : "by hand";
}

/** A sentence about who enters next. */
export function entryText(trigger: Trigger): string {
  if (trigger.type === "EVENT") return `The next event ${trigger.eventName} starts it.`;
  return trigger.type === "SCHEDULE"
    ? "Its schedule starts it at its next time."
    : "It starts only when you start it for contacts.";
}

function triggerConfigText(config: Config): string {
  const eventName = textAt(config, "eventName");
  if (eventName !== "") return `on ${eventName}`;
  return textAt(config, "type") === "SCHEDULE"
    ? `at ${textAt(config, "cron")} (${textAt(config, "timeZone")})`
    : "by hand";
}

function splitText(config: Config): string {
  const branches: unknown = config["branches"];
  if (!Array.isArray(branches)) return "";
  return branches.map((branch) => `${branch.id} ${branch.weight}`).join(", ");
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
  if (field === "") return "a condition of several filters";
  const value = config["value"];
  const shown = value === undefined ? "" : ` ${JSON.stringify(value)}`;
  return `${field} ${textAt(config, "operator")}${shown}`;
}

function updateText(config: Config): string {
  const updates = config["updates"];
  const names = typeof updates === "object" && updates !== null ? Object.keys(updates) : [];
  const action = textAt(config, "subscriptionAction");
  return [...(names.length === 0 ? [] : [`set ${names.join(", ")}`]), action]
    .filter((text) => text !== "")
    .join(", ");
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
