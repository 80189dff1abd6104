/** The tracking host of a project as the interface shows and takes it. */

import { type Static, Type } from "@sinclair/typebox";
import { TRACKING_HOST_STATUSES } from "../../db/schema/projects.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });
const TEXTS = { host: "The name of the host, such as links.shop.example" };

const CnameRecord = named(
  "CnameRecord",
  described(
    Type.Object({
      type: Type.Literal("CNAME"),
      name: Type.String(),
      host: Type.String(),
      value: Type.String(),
    }),
    {
      type: "The type of the record",
      name: "Its name",
      host: "The name in the zone of the registered domain, as most DNS providers want it",
      value: "Its value",
    },
  ),
  { description: "A DNS record to publish" },
);

export const TrackingHost = named(
  "TrackingHost",
  described(
    Type.Object({
      id: Type.String(),
      host: Type.String(),
      url: Type.String(),
      status: OneOf(TRACKING_HOST_STATUSES),
      problem: Nullable(Type.String()),
      record: CnameRecord,
      verifiedAt: Nullable(Time),
      checkedAt: Nullable(Time),
      createdAt: Time,
    }),
    {
      ...TEXTS,
      id: "Id of the tracking host",
      url: "The beginning of the links in mail",
      status:
        "PENDING: links in mail lead to the host of the installation until a check has found no fault. " +
        "ACTIVE: links in new mail lead to this host",
      problem: "The fault that the latest check has found; null without one",
      record: "The DNS record to publish",
      verifiedAt: "Since when links lead to it; null if they do not",
      checkedAt: "When it was last checked; null if it never was",
      createdAt: "When it was added",
    },
  ),
  {
    description: "The host to which the tracked links of a project lead",
    example: {
      id: EXAMPLE.domainId,
      host: "links.shop.example",
      url: "https://links.shop.example",
      status: "PENDING",
      problem: "links.shop.example has no address in the DNS yet",
      record: {
        type: "CNAME",
        name: "links.shop.example",
        host: "links",
        value: "mail.example.com",
      },
      verifiedAt: null,
      checkedAt: EXAMPLE.createdAt,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type TrackingHost = Static<typeof TrackingHost>;

export const TrackingHostInput = named(
  "TrackingHostInput",
  described(Input({ host: Type.String({ minLength: 1, maxLength: 253 }) }), TEXTS),
  { description: "A tracking host to add", example: { host: "links.shop.example" } },
);
