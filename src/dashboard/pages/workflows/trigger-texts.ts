/** Describes the trigger of a workflow in words. */

import type { Config } from "./editor/draft.ts";
import { withCapital } from "../../ui/sentence.ts";
import { cronText } from "./editor/cron.ts";

type Triggered = {
  enabled: boolean;
  allowReentry: boolean;
  trigger: Config;
};

const textAt = (config: Config, name: string): string => {
  const value = config[name];
  return typeof value === "string" ? value : "";
};

/** A trigger, or the settings of a TRIGGER step, in a few words: "on signed_up". */
export function triggerText(trigger: Config): string {
  switch (trigger["type"]) {
    case "SCHEDULE":
      return cronText(textAt(trigger, "cron"));
    case "MANUAL":
      return "by hand";
    default:
      return `on ${textAt(trigger, "eventName")}`;
  }
}

/** Says who enters and when, in a sentence. */
export function entrySentence({ enabled, allowReentry, trigger }: Triggered): string {
  const again = allowReentry ? "unless the contact is in it already" : "once per contact";
  switch (trigger["type"]) {
    case "SCHEDULE": {
      const who =
        textAt(trigger, "segmentId") === "" ? "all contacts" : "the contacts of a segment";
      const except = allowReentry ? "unless they are in it already" : "each of them once";
      const text = `${cronText(textAt(trigger, "cron"))}, ${who} enter it, ${except}.`;
      return enabled ? withCapital(text) : `If it is enabled: ${text}`;
    }
    case "MANUAL":
      return enabled
        ? `It starts only by hand, ${again}.`
        : `If it is enabled, it starts only by hand, ${again}.`;
    default:
      return `${enabled ? "Each event" : "If it is enabled, each event"} ${textAt(trigger, "eventName")} starts it for its contact, ${again}.`;
  }
}

/** A sentence about who enters next. */
export function entryText(trigger: Config): string {
  switch (trigger["type"]) {
    case "SCHEDULE":
      return "Its schedule starts it at its next time.";
    case "MANUAL":
      return "It starts only when you start it for contacts.";
    default:
      return `The next event ${textAt(trigger, "eventName")} starts it.`;
  }
}
