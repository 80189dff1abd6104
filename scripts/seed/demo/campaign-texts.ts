/** The campaigns and segments of the demonstration. */

import type { Person } from "./people.ts";
import { layout, SITE } from "./template-texts.ts";

type Filter = { field: string; operator: string; value?: unknown; unit?: string };

const all = (...filters: Filter[]) => ({ logic: "AND", groups: [{ filters }] });
const data = (name: string, value: string): Filter => ({
  field: `data.${name}`,
  operator: "equals",
  value,
});

export type SegmentText = {
  name: string;
  description: string;
  /** Null for a STATIC segment. */
  condition: object | null;
  trackMembership?: true;
  /** The same condition for a contact in memory, for the audience of a campaign. */
  matches?: (person: Person) => boolean;
};

export const SEGMENTS: readonly SegmentText[] = [
  {
    name: "Club members",
    description: "Readers with the plan club or patron",
    condition: {
      logic: "OR",
      groups: [{ filters: [data("plan", "club")] }, { filters: [data("plan", "patron")] }],
    },
    trackMembership: true,
    matches: ({ plan }) => plan !== "reader",
  },
  {
    name: "Patrons",
    description: "Readers with the plan patron",
    condition: all(data("plan", "patron")),
    matches: ({ plan }) => plan === "patron",
  },
  {
    name: "Crime readers",
    description: "Readers whose favourite genre is crime",
    condition: all(data("favouriteGenre", "crime")),
    matches: ({ genre }) => genre === "crime",
  },
  {
    name: "Fantasy readers",
    description: "Readers whose favourite genre is fantasy",
    condition: all(data("favouriteGenre", "fantasy")),
    matches: ({ genre }) => genre === "fantasy",
  },
  {
    name: "German readers",
    description: "Mails to them are written in German",
    condition: all(data("language", "de")),
    matches: ({ language }) => language === "de",
  },
  {
    name: "London",
    description: "Readers in London, for readings and signings",
    condition: all(data("city", "London")),
    matches: ({ city }) => city === "London",
  },
  {
    name: "Recent buyers",
    description: "Readers who ordered within the last 30 days",
    condition: all({
      field: "event.order.placed",
      operator: "triggeredWithin",
      value: 30,
      unit: "days",
    }),
    trackMembership: true,
  },
  {
    name: "Sleeping readers",
    description: "Readers who have opened no mail for 90 days",
    condition: all({
      field: "email.opened",
      operator: "notTriggeredWithin",
      value: 90,
      unit: "days",
    }),
  },
  {
    name: "Basket left behind",
    description: "Readers who left a basket within the last 7 days",
    condition: all({
      field: "event.cart.abandoned",
      operator: "triggeredWithin",
      value: 7,
      unit: "days",
    }),
  },
  {
    name: "New this month",
    description: "Contacts who registered within the last 30 days",
    condition: all({ field: "createdAt", operator: "within", value: 30, unit: "days" }),
  },
  { name: "Press list", description: "Journalists, kept by hand", condition: null },
  { name: "Beta testers", description: "They see new pages first", condition: null },
];

export type CampaignStart = "SENT" | "SENDING" | "PAUSED" | "CANCELLED";

export type CampaignText = {
  name: string;
  subject: string;
  body: string;
  /** Index in SEGMENTS; null for all contacts. */
  segment: number | null;
  status: CampaignStart | "SCHEDULED" | "DRAFT";
  /** Paths of its links. */
  links: readonly string[];
};

/** Topics with the index of their segment. */
const TOPICS: readonly (readonly [name: string, subject: string, segment: number | null])[] = [
  ["New crime", "Five crime novels for long evenings", 2],
  ["New fantasy", "Maps, dragons and one talking lighthouse", 3],
  ["Club letter", "The book of the month for our club", 0],
  ["Patron letter", "A letter to our patrons", 1],
  ["German newsletter", "Neue Bücher für lange Abende", 4],
  ["Readings in London", "Three readings in London this month", 5],
];

function bodyOf(heading: string, links: readonly string[]): string {
  const list = links
    .map((path) => `<a href="${SITE}${path}">${path.slice(1).replaceAll(/[-/]/g, " ")}</a>`)
    .join(" · ");
  const paragraphs = ["Dear {{ name ?? reader }},", "here is what our booksellers picked.", list];
  return layout(heading, paragraphs, ["Visit the shop", `${SITE}/new`]);
}

function campaign(
  [name, subject, segment]: readonly [string, string, number | null],
  status: CampaignText["status"],
): CampaignText {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const links = ["/new", `/lists/${slug}`, `/lists/${slug}/staff-picks`, "/events", "/club"];
  return { name, subject, body: bodyOf(subject, links), segment, status, links };
}

export const MONTHS = 12;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The campaigns of the last twelve months: two a month and some besides. */
function sentCampaigns(untilMs: number): CampaignText[] {
  return Array.from({ length: MONTHS }, (_, i) => {
    const at = untilMs - (MONTHS - i) * 30 * DAY_MS;
    const month = new Date(at).toLocaleString("en-GB", { month: "long", timeZone: "UTC" });
    const topic = TOPICS[i % TOPICS.length] ?? ["", "", null];
    const second = TOPICS[(i + 3) % TOPICS.length] ?? ["", "", null];
    return [
      campaign([`Newsletter ${month}`, `${month} at the harbour: new books`, null], "SENT"),
      campaign([`${topic[0]} ${month}`, topic[1], topic[2]], "SENT"),
      ...(i % 2 === 0
        ? [campaign([`${second[0]} ${month} extra`, second[1], second[2]], "SENT")]
        : []),
    ];
  }).flat();
}

/** All campaigns, in the order in which they were created. */
export function campaignTexts(untilMs: number): CampaignText[] {
  return [
    ...sentCampaigns(untilMs),
    campaign(["Summer sale reminder", "Last day of the summer sale", 3], "CANCELLED"),
    campaign(["Readers of the old shop", "We have moved to the harbour", 2], "PAUSED"),
    campaign(["Advent calendar", "Twenty-four doors, twenty-four books", null], "SENDING"),
    campaign(["Christmas post", "Order by the 18th and it arrives in time", null], "SCHEDULED"),
    campaign(["New year letter", "A quiet start into the new year", null], "DRAFT"),
    campaign(["Poetry week", "Seven poems for seven days", null], "DRAFT"),
    campaign(["Spring catalogue", "The spring catalogue is here", 0], "DRAFT"),
    campaign(["Travel writing", "Books to leave with", null], "DRAFT"),
    campaign(["Children's shelf", "Read aloud: ten books for small readers", null], "DRAFT"),
    campaign(["Signed copies", "Signed copies for our patrons", 1], "DRAFT"),
  ];
}
