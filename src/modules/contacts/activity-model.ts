/** The entries of a contact's timeline. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { EmailSourceSchema, EmailStatusSchema } from "../../http/email-enums.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { OneOf } from "../../http/validation.ts";
import { Data } from "./model.ts";

const ActivityEvent = named(
  "ActivityEvent",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      data: Nullable(Data),
      emailId: Nullable(Type.String()),
      emailSubject: Nullable(Type.String()),
    }),
    {
      id: "Id of the event",
      name: "Name of the event",
      data: "Data that was recorded with the event",
      emailId: "Id of the mail that the event concerns",
      emailSubject: "Subject of that mail",
    },
  ),
  { description: "An event in the timeline of a contact" },
);

const ActivityEmail = named(
  "ActivityEmail",
  described(
    Type.Object({
      id: Type.String(),
      subject: Type.String(),
      status: EmailStatusSchema,
      source: EmailSourceSchema,
      templateId: Nullable(Type.String()),
    }),
    {
      id: "Id of the email record",
      subject: "Subject of the mail",
      status: "Current status of the mail",
      source: "Which part of the service sent the mail",
      templateId: "Id of its template",
    },
  ),
  { description: "A mail in the timeline of a contact" },
);

/** An event or a mail of a contact; the other of both fields is null. */
export const Activity = named(
  "Activity",
  described(
    Type.Object({
      kind: OneOf(["EVENT", "EMAIL"]),
      createdAt: Type.String({ format: "date-time" }),
      event: Nullable(ActivityEvent),
      email: Nullable(ActivityEmail),
    }),
    {
      kind: "Which of `event` and `email` is given",
      createdAt: "When the event was recorded or the mail accepted",
      event: "The event; null if this is a mail",
      email: "The mail; null if this is an event",
    },
  ),
  {
    description: "An event or a mail of a contact",
    example: {
      kind: "EVENT",
      createdAt: EXAMPLE.createdAt,
      event: {
        id: EXAMPLE.eventId,
        name: "signed_up",
        data: { plan: "pro" },
        emailId: null,
        emailSubject: null,
      },
      email: null,
    },
  },
);
export type Activity = Static<typeof Activity>;
