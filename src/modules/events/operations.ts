/** Texts of the operations on events for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const eventOperations = describeOperations(
  { tag: "Events", id: "Id of the event" },
  {
    listEvents: {
      role: "VIEWER",
      summary: "List events",
      description: "Events that match all given filters, newest first.",
    },
    listEventNames: {
      role: "VIEWER",
      summary: "List unique event names, most used first",
      description: "The names of all events of the project, including those of the service.",
    },
    getEvent: {
      role: "VIEWER",
      summary: "Get an event",
      description: "The event with its data.",
    },
  },
);
