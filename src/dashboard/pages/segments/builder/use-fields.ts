/** The fields that a condition may name: those of the contacts, events, mails and segments. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { FieldList } from "../../../../modules/contacts/model.ts";
import type { Segment } from "../../../../modules/segments/model.ts";
import type { Topic } from "../../../../modules/topics/topic-model.ts";
import { api, type ListPage, type Query } from "../../../api.ts";
import { unescapeKey } from "../../../ui/data-key.ts";
import { type DataKind, dataField } from "./operators.ts";

type Choice = { value: string; label: string };
type ChoiceGroup = { group: string; items: Choice[] };

export type FieldChoices = {
  groups: readonly ChoiceGroup[];
  /** The types of the fields of the data, by `data.KEY`. */
  dataKinds: ReadonlyMap<string, DataKind>;
  /** Offers the data of the events that started or continued an execution, by their names. */
  hasContext?: boolean;
};

const MOST = 100;

const CONTACT: Choice[] = [
  { value: "email", label: "Email address" },
  { value: "subscribed", label: "Subscribed" },
  { value: "createdAt", label: "Added" },
  { value: "updatedAt", label: "Changed" },
];
const MAILS: Choice[] = [
  { value: "email.sent", label: "A mail was sent" },
  { value: "email.delivered", label: "A mail was delivered" },
  { value: "email.opened", label: "A mail was opened" },
  { value: "email.clicked", label: "A link was clicked" },
  { value: "email.bounced", label: "A mail came back" },
  { value: "email.complained", label: "A mail was marked as spam" },
];
/** Events that the contacts themselves cause are named by the product. */
const OWN_EVENTS = /^(?:email|contact|segment|campaign)\./;

const KINDS: Readonly<Record<string, DataKind>> = { number: "number", boolean: "flag" };

/** Reads the data of which the fields are made. */
function useSources(project: string) {
  const read = <T>(path: string, query: Query = { limit: MOST }) => ({
    queryKey: ["builder-choices", project, path],
    queryFn: ({ signal }: { signal: AbortSignal }) => api.get<T>(path, { query, signal }),
    // An import, or a new segment, has changed them since the builder was last opened.
    staleTime: 0,
  });
  const fields = useQuery(read<FieldListAnswer>("/contacts/fields", { counted: "NEWEST" })).data;
  const events = useQuery(read<ListPage<string>>("/events/names")).data;
  const segments = useQuery(read<ListPage<Segment>>("/segments")).data;
  // This server knows no recipients of campaigns that another product has sent.
  const own = { limit: MOST, imported: false };
  const campaigns = useQuery(read<ListPage<Named>>("/campaigns/summaries", own)).data;
  const templates = useQuery(read<ListPage<Named>>("/templates")).data;
  const topics = useQuery(read<ListPage<Topic>>("/topics", {})).data;
  return { fields, events, segments, campaigns, templates, topics };
}

const choicesOf = (prefix: string, objects: readonly Named[] = []): Choice[] =>
  objects.map(({ id, name }) => ({ value: `${prefix}.${id}`, label: name }));

/** `except` is a segment that must not refer to itself. */
export function useFields(project: string, except?: string): FieldChoices {
  const { fields, events, segments, campaigns, templates, topics } = useSources(project);
  return useMemo(
    () => ({
      groups: [
        { group: "Contact", items: CONTACT },
        {
          group: "Topics",
          items: (topics?.items ?? []).map(({ key, name }) => ({
            value: `topic.${key}`,
            label: name,
          })),
        },
        {
          group: "Fields",
          items: (fields?.items ?? []).map(({ key }) => ({ value: dataField(key), label: key })),
        },
        {
          group: "Events",
          items: (events?.items ?? [])
            .filter((name) => !OWN_EVENTS.test(name))
            .map((name) => ({ value: `event.${name}`, label: name })),
        },
        { group: "Mails", items: MAILS },
        {
          group: "Mails of a campaign",
          items: choicesOf(
            "campaign",
            campaigns?.items.filter(({ status }) => status !== "DRAFT"),
          ),
        },
        { group: "Mails from a template", items: choicesOf("template", templates?.items) },
        {
          group: "Segments",
          items: choicesOf(
            "segment",
            segments?.items.filter(({ id }) => id !== except),
          ),
        },
      ].filter(({ items }) => items.length > 0),
      dataKinds: new Map(
        (fields?.items ?? []).flatMap(({ key, type, areDates }): [string, DataKind][] => {
          const kind = areDates ? "date" : KINDS[type];
          return kind === undefined ? [] : [[dataField(key), kind]];
        }),
      ),
    }),
    [fields, events, segments, campaigns, templates, topics, except],
  );
}

/** The members of campaigns and templates that the builder reads. */
type Named = { id: string; name: string; status?: string };
type FieldListAnswer = typeof FieldList.static;

/** The choices, with the chosen field if it is not among them, and the text that is searched for. */
export function choicesFor(choices: FieldChoices, search: string, value: string): ChoiceGroup[] {
  const { groups, hasContext = false } = choices;
  const known = new Set(groups.flatMap(({ items }) => items.map((item) => item.value)));
  const isKnown = (field: string) => known.has(field);
  const added: Choice[] = [];
  if (value !== "" && !isKnown(value)) added.push({ value, label: labelOf(value) });
  const typed = search.trim();
  const labels = new Set(groups.flatMap(({ items }) => items.map(({ label }) => label)));
  if (typed !== "" && !labels.has(typed) && typed !== labelOf(value)) {
    const link: [string, string][] = /^https?:\/\/./.test(typed)
      ? [[`link.${typed}`, `Link ${typed}`]]
      : [];
    for (const [field, label] of [
      ...link,
      [dataField(typed), `Field “${typed}”`],
      [`event.${typed}`, `Event “${typed}”`],
      ...(hasContext ? [[`context.${typed}`, contextLabel(typed)] as const] : []),
    ] as const) {
      if (!isKnown(field) && field !== value) added.push({ value: field, label });
    }
  }
  return added.length === 0 ? [...groups] : [...groups, { group: "Others", items: added }];
}

const contextLabel = (path: string): string => `“${path}” in the data of the event`;

/** The name of a field that is in no list. */
function labelOf(field: string): string {
  if (field.startsWith("context.")) return contextLabel(field.slice("context.".length));
  const [, prefix = "", rest = ""] =
    /^(data|event|segment|campaign|template|topic|link)\.([^]*)$/.exec(field) ?? [];
  if (prefix === "data") return unescapeKey(rest);
  return prefix === "" ? field : `${prefix[0]?.toUpperCase()}${prefix.slice(1)} ${rest}`;
}
