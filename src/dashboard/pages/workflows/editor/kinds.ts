/** The kinds of steps that can be added, with their sentences and their first settings. */

import type { Config, StepKind } from "./draft.ts";

type Kind = {
  type: StepKind;
  /** One sentence for the dialog that adds a step. */
  text: string;
  config: Config;
};

export const STEP_KINDS: readonly Kind[] = [
  {
    type: "SEND_EMAIL",
    text: "Sends a template to the contact or to another address.",
    config: { templateId: "" },
  },
  {
    type: "DELAY",
    text: "Waits for minutes, hours or days.",
    config: { amount: 1, unit: "days" },
  },
  {
    type: "WAIT_FOR_EVENT",
    text: "Waits until the contact does something, or for a time at most.",
    config: { eventName: "", timeout: 172_800 },
  },
  {
    type: "TIME_WINDOW",
    text: "Waits for some days and hours, such as weekdays from 9 to 17.",
    config: {
      days: ["MON", "TUE", "WED", "THU", "FRI"],
      from: "09:00",
      to: "17:00",
      timeZone: "CONTACT",
      fallbackTimeZone: "UTC",
    },
  },
  {
    type: "CONDITION",
    text: "Chooses a branch by data, events or segments of the contact.",
    config: { condition: null },
  },
  {
    type: "SPLIT",
    text: "Divides the contacts by chance, to compare two or more ways.",
    config: {
      branches: [
        { id: "A", weight: 50 },
        { id: "B", weight: 50 },
      ],
    },
  },
  {
    type: "UPDATE_CONTACT",
    text: "Sets data of the contact, or subscribes or unsubscribes it.",
    config: {},
  },
  {
    type: "WEBHOOK",
    text: "Sends a request to another server, such as your CRM.",
    config: { url: "", method: "POST" },
  },
  {
    type: "EXIT",
    text: "Ends here, with a reason that is shown with the execution.",
    config: {},
  },
];

/** The first settings of a step of a kind. */
export const firstConfig = (type: StepKind): Config =>
  STEP_KINDS.find((kind) => kind.type === type)?.config ?? {};
