/**
 * Common series that a workflow can begin as. They are plain data: `templateId` of a SEND_EMAIL names a
 * template of the series, and SEGMENT stands for the id of its segment. series-operations.ts makes the
 * templates, the segment and a workflow that is not enabled.
 */

type SeriesTemplate = {
  name: string;
  type: "MARKETING" | "TRANSACTIONAL";
  subject: string;
  body: string;
};

type SeriesStep = { id: string; type: string; name: string; config: Record<string, unknown> };

export type Series = {
  id: string;
  name: string;
  description: string;
  templates: Readonly<Record<string, SeriesTemplate>>;
  /** Made for a schedule; null if the series needs none. */
  segment: { name: string; description: string; filters: readonly object[] } | null;
  workflow: {
    trigger: Record<string, unknown>;
    exits: readonly object[];
    allowReentry: boolean;
    steps: readonly SeriesStep[];
    /** From, to and the branch of each transition; the first step follows the trigger. */
    transitions: readonly (readonly [from: string, to: string, branch?: string])[];
  };
};

/** Stands for the id of the segment of the series. */
export const SEGMENT = "SEGMENT";

const HELLO = "<p>Hello {{ firstName | default: 'there' }},</p>";

const marketing = (name: string, subject: string, text: string): SeriesTemplate => ({
  name,
  type: "MARKETING",
  subject,
  body: `${HELLO}\n${text}`,
});

const mail = (id: string, name: string, template = id): SeriesStep => ({
  id,
  type: "SEND_EMAIL",
  name,
  config: { templateId: template },
});

const days = (id: string, amount: number): SeriesStep => ({
  id,
  type: "DELAY",
  name: amount === 1 ? "Wait a day" : `Wait ${amount} days`,
  config: { amount, unit: "days" },
});

const officeHours: SeriesStep = {
  id: "office-hours",
  type: "TIME_WINDOW",
  name: "On weekdays from 9 to 17",
  config: {
    days: ["MON", "TUE", "WED", "THU", "FRI"],
    from: "09:00",
    to: "17:00",
    timeZone: "CONTACT",
  },
};

export const SERIES: readonly Series[] = [
  {
    id: "welcome",
    name: "Welcome",
    description: "Greets people who subscribe, and shows them three days later what there is.",
    templates: {
      welcome: marketing(
        "Welcome",
        "Welcome to {{ project.name }}",
        "<p>Thank you for subscribing. From now on you get our news.</p>",
      ),
      tour: marketing(
        "Welcome: what there is",
        "Three things to begin with",
        "<p>Write here what new people like best, with a link to each.</p>",
      ),
    },
    segment: null,
    workflow: {
      trigger: { type: "EVENT", eventName: "contact.subscribed" },
      exits: [{ on: "UNSUBSCRIBED" }],
      allowReentry: false,
      steps: [mail("welcome", "Send the welcome"), days("wait", 3), mail("tour", "Send the tour")],
      transitions: [
        ["welcome", "wait"],
        ["wait", "tour"],
      ],
    },
  },
  {
    id: "onboarding",
    name: "Onboarding",
    description:
      "Helps people who signed up to take the first step. Those who have not taken it after three " +
      "days get help that fits their plan.",
    templates: {
      start: marketing(
        "Onboarding: the first step",
        "Your first step",
        "<p>Describe the first step here, and link to it.</p>",
      ),
      team: marketing(
        "Onboarding: help for teams",
        "May we show your team around?",
        "<p>Offer a call here, and link to a calendar.</p>",
      ),
      help: marketing(
        "Onboarding: help",
        "Do you need help with the first step?",
        "<p>Answer the most frequent question here.</p>",
      ),
      next: marketing(
        "Onboarding: what comes next",
        "Well done. What comes next?",
        "<p>Describe the second step here, and link to it.</p>",
      ),
    },
    segment: null,
    workflow: {
      trigger: { type: "EVENT", eventName: "signed_up" },
      exits: [{ on: "UNSUBSCRIBED" }],
      allowReentry: false,
      steps: [
        mail("start", "Send the first step"),
        {
          id: "activated",
          type: "WAIT_FOR_EVENT",
          name: "Took the first step?",
          config: { eventName: "activated", timeout: 3 * 24 * 60 * 60 },
        },
        mail("next", "Send what comes next"),
        {
          id: "is-team",
          type: "CONDITION",
          name: "Has the plan team?",
          config: { field: "data.plan", operator: "equals", value: "team" },
        },
        mail("team", "Offer a call"),
        mail("help", "Send help"),
      ],
      transitions: [
        ["start", "activated"],
        ["activated", "next"],
        ["activated", "is-team", "timeout"],
        ["is-team", "team", "yes"],
        ["is-team", "help", "no"],
      ],
    },
  },
  {
    id: "win-back",
    name: "Win-back",
    description:
      "Every Monday, people who have opened nothing for 60 days are asked to come back, and once " +
      "more a week later. Those who buy leave the series.",
    templates: {
      missed: marketing(
        "Win-back",
        "We have missed you",
        "<p>Write here what is new since their last visit.</p>",
      ),
      last: marketing(
        "Win-back: last mail",
        "Shall we stay in touch?",
        "<p>Make an offer here, or link to the settings of your mail.</p>",
      ),
    },
    segment: {
      name: "Inactive for 60 days",
      description: "Made for the series Win-back",
      filters: [
        { field: "subscribed", operator: "equals", value: true },
        { field: "createdAt", operator: "olderThan", value: 60, unit: "days" },
        { field: "event.email.opened", operator: "notTriggeredWithin", value: 60, unit: "days" },
      ],
    },
    workflow: {
      trigger: { type: "SCHEDULE", cron: "0 10 * * MON", segmentId: SEGMENT },
      exits: [{ on: "EVENT", eventName: "order_placed" }, { on: "UNSUBSCRIBED" }],
      allowReentry: false,
      steps: [
        officeHours,
        mail("missed", "Ask to come back"),
        {
          id: "clicked",
          type: "WAIT_FOR_EVENT",
          name: "Clicked within a week?",
          config: { eventName: "email.clicked", timeout: 7 * 24 * 60 * 60 },
        },
        mail("last", "Ask once more"),
      ],
      transitions: [
        ["office-hours", "missed"],
        ["missed", "clicked"],
        ["clicked", "last", "timeout"],
      ],
    },
  },
  {
    id: "receipt",
    name: "Receipt and review",
    description:
      "Sends a receipt for each order, and asks for a review when a week has passed without another " +
      "one. The event has a “number” and a “total” in its data.",
    templates: {
      receipt: {
        name: "Receipt",
        type: "TRANSACTIONAL",
        subject: "Your order {{ number }}",
        body: `${HELLO}\n<p>Thank you for your order {{ number }} of {{ total }}.</p>`,
      },
      review: marketing(
        "Review request",
        "How do you like your order?",
        "<p>Two sentences are enough. Link to the review here.</p>",
      ),
    },
    segment: null,
    workflow: {
      trigger: { type: "EVENT", eventName: "order_placed" },
      exits: [{ on: "EVENT", eventName: "order_refunded" }],
      allowReentry: true,
      steps: [
        mail("receipt", "Send the receipt"),
        {
          id: "another",
          type: "WAIT_FOR_EVENT",
          name: "Another order within a week?",
          config: { eventName: "order_placed", timeout: 7 * 24 * 60 * 60 },
        },
        officeHours,
        mail("review", "Ask for a review"),
      ],
      transitions: [
        ["receipt", "another"],
        ["another", "receipt"],
        ["another", "office-hours", "timeout"],
        ["office-hours", "review"],
      ],
    },
  },
  {
    id: "birthday",
    name: "Birthday",
    description:
      "Congratulates people every year. Their data have the date as “birthday”, such as 1990-05-17.",
    templates: {
      birthday: marketing(
        "Birthday",
        "Happy birthday, {{ firstName | default: 'and all the best' }}",
        "<p>All the best from {{ project.name }}. Add a present here.</p>",
      ),
    },
    segment: {
      name: "Birthday today",
      description: "Made for the series Birthday",
      filters: [
        { field: "subscribed", operator: "equals", value: true },
        { field: "data.birthday", operator: "anniversary" },
      ],
    },
    workflow: {
      trigger: { type: "SCHEDULE", cron: "0 9 * * *", segmentId: SEGMENT },
      exits: [],
      allowReentry: true,
      steps: [mail("birthday", "Send the congratulation")],
      transitions: [],
    },
  },
];
