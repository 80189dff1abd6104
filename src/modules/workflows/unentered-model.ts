/** The response about the workflows that a contact never entered. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";

const DateTime = Type.String({ format: "date-time" });

const UnenteredWorkflow = named(
  "UnenteredWorkflow",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      enabled: Type.Boolean(),
      eventName: Type.String(),
      createdAt: DateTime,
      lastEventAt: Nullable(DateTime),
    }),
    {
      id: "Id of the workflow",
      name: "Name of the workflow",
      enabled: "Whether events start executions at present",
      eventName: "Name of the event that starts an execution",
      createdAt: "When the workflow was created",
      lastEventAt: "When that event last happened for the contact; null if it never did",
    },
  ),
  { description: "A workflow of which the contact has no execution" },
);
export type UnenteredWorkflow = Static<typeof UnenteredWorkflow>;

export const UnenteredWorkflows = named(
  "UnenteredWorkflows",
  described(Type.Object({ items: Type.Array(UnenteredWorkflow) }), {
    items: "Enabled workflows first, then the newest first; at most 100",
  }),
  {
    description: "The workflows that a contact never entered",
    example: {
      items: [
        {
          id: EXAMPLE.workflowId,
          name: "Welcome",
          enabled: true,
          eventName: "signed_up",
          createdAt: EXAMPLE.createdAt,
          lastEventAt: null,
        },
      ],
    },
  },
);
