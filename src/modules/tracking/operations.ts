/** Texts of the tracked links and pixels for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const trackingOperations = describeOperations(
  { tag: "Recipients" },
  {
    getTrackingPixel: {
      role: "ANYONE",
      summary: "Tracking pixel: counts an open",
      description: "Answers with an image even if the token is not valid.",
      parameters: { pixel: "A signed token and `.gif`" },
      security: [],
    },
    followTrackedLink: {
      role: "ANYONE",
      summary: "Tracked link: counts a click and redirects to its target",
      description: "The token signs the target, so that the link leads nowhere else.",
      headers: ["Location"],
      parameters: { token: "The signed token of the link", target: "The target in base64url" },
      security: [],
    },
  },
);
