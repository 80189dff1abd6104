/** Requests and responses of topics. */

import { type Static, Type } from "@sinclair/typebox";
import { TOPIC_DEFAULTS, TOPIC_VISIBILITIES } from "../../db/schema/topics.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import { slugOf } from "../segments/slug.ts";

const Default = named("TopicDefault", OneOf(TOPIC_DEFAULTS), {
  description:
    "Whether a contact without a choice of its own is in the topic. SUBSCRIBED: all subscribed contacts " +
    "get its mail until they leave it; UNSUBSCRIBED: only contacts who joined it get its mail",
});
const Visibility = named("TopicVisibility", OneOf(TOPIC_VISIBILITIES), {
  description:
    "PUBLIC: the preference page offers it to all contacts; PRIVATE: only to those who are in it",
});

const TEXTS = {
  name: "What recipients read on the preference page, such as Product news",
  description: "A sentence below the name; null for none",
};
const KEY = "Names the topic in conditions, such as `topic.product-news`; it never changes";
const DEFAULT = "Whether contacts without a choice of their own are in it; default UNSUBSCRIBED";
const VISIBILITY = "Who sees it on the preference page; default PUBLIC";

const NEWS = {
  name: "Product news",
  key: "product-news",
  description: "What is new, about once a month",
  default: "SUBSCRIBED",
  visibility: "PUBLIC",
} as const;

export const Topic = named(
  "Topic",
  described(
    Type.Object({
      id: Type.String(),
      key: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      default: Default,
      visibility: Visibility,
      subscribers: Nullable(Type.Integer()),
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      ...TEXTS,
      id: "Id of the topic",
      key: KEY,
      default: "Whether contacts without a choice of their own are in it",
      visibility: "Who sees it on the preference page",
      subscribers:
        "Subscribed contacts who are in it, by their choice or by the default; null if counting takes " +
        "more than two seconds",
      createdAt: "When the topic was created",
      updatedAt: "When the topic was changed last",
    },
  ),
  {
    description: "A kind of marketing mail that contacts may join and leave",
    example: {
      id: EXAMPLE.topicId,
      ...NEWS,
      subscribers: 8412,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Topic = Static<typeof Topic>;

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: "\\S" });
const Description = Nullable(Type.String({ maxLength: 500 }));

export const TopicInput = named(
  "TopicInput",
  withChecks(
    described(
      Input({
        name: Name,
        key: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
        description: Type.Optional(Description),
        default: Type.Optional(Default),
        visibility: Type.Optional(Visibility),
      }),
      {
        ...TEXTS,
        key: `${KEY}; made of the name if omitted`,
        default: DEFAULT,
        visibility: VISIBILITY,
      },
    ),
    ({ key }) => {
      if (typeof key !== "string" || key === "" || slugOf(key, "") === key) return [];
      const message =
        "must consist of lower-case letters and digits with single hyphens between them";
      return [{ field: "key", message, code: "invalid_format" }];
    },
  ),
  { description: "A topic to create", example: NEWS },
);
export type TopicInput = Static<typeof TopicInput>;

export const TopicPatch = named(
  "TopicPatch",
  described(
    Input({
      name: Type.Optional(Name),
      description: Type.Optional(Description),
      default: Type.Optional(Default),
      visibility: Type.Optional(Visibility),
    }),
    {
      ...TEXTS,
      default: "Also counts for existing contacts without a choice of their own",
      visibility: "Who sees it on the preference page",
    },
  ),
  {
    description: "Changes of a topic; omitted fields stay as they are",
    example: { visibility: "PRIVATE" },
  },
);
export type TopicPatch = Static<typeof TopicPatch>;

export const TopicUsage = named(
  "TopicUsage",
  described(
    Type.Object({
      users: Type.Array(
        described(
          Type.Object({
            kind: OneOf(["template", "campaign", "workflow", "segment", "form"]),
            id: Type.String(),
            name: Type.String(),
          }),
          { kind: "What it is", id: "Its id", name: "Its name" },
        ),
      ),
    }),
    { users: "What uses the topic; it cannot be deleted while there is anything" },
  ),
  {
    description: "Where a topic is used",
    example: { users: [{ kind: "template", id: EXAMPLE.templateId, name: "Newsletter" }] },
  },
);

const ContactTopic = named(
  "ContactTopic",
  described(
    Type.Object({
      topicId: Type.String(),
      key: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      visibility: Visibility,
      subscribed: Type.Boolean(),
      chosenAt: Nullable(Type.String({ format: "date-time" })),
    }),
    {
      ...TEXTS,
      topicId: "Id of the topic",
      key: "Names the topic in conditions",
      visibility: "Who sees it on the preference page",
      subscribed:
        "Whether the contact is in the topic, by its choice or by the default of the topic",
      chosenAt: "When this was chosen for the contact; null while it has the default",
    },
  ),
  { description: "A topic, and whether a contact is in it" },
);

export const ContactTopics = named(
  "ContactTopics",
  described(Type.Object({ topics: Type.Array(ContactTopic) }), {
    topics: "All topics of the project",
  }),
  {
    description: "The topics that a contact is in, and the others",
    example: {
      topics: [
        {
          topicId: EXAMPLE.topicId,
          key: NEWS.key,
          name: NEWS.name,
          description: NEWS.description,
          visibility: NEWS.visibility,
          subscribed: true,
          chosenAt: null,
        },
      ],
    },
  },
);
export type ContactTopics = Static<typeof ContactTopics>;

export const MAX_TOPICS = 100;

export const ContactTopicsInput = named(
  "ContactTopicsInput",
  described(
    Input({
      topics: Type.Array(
        described(Input({ topicId: Type.String({ maxLength: 100 }), subscribed: Type.Boolean() }), {
          topicId: "Id of the topic",
          subscribed: "Whether the contact is in the topic",
        }),
        { minItems: 1, maxItems: MAX_TOPICS },
      ),
    }),
    { topics: "The topics to join or to leave" },
  ),
  {
    description: "Choices of a contact; topics that are not named stay as they are",
    example: { topics: [{ topicId: EXAMPLE.topicId, subscribed: false }] },
  },
);
