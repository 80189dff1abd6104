/** The request that creates a segment, in three languages, with the address of this server. */

import type { Samples } from "../../ui/code.tsx";

const SEGMENT = {
  name: "Pro customers",
  condition: {
    logic: "AND",
    groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
  },
};
const JSON_TEXT = JSON.stringify(SEGMENT, null, 2);

export const segmentSamples = (url: string): Samples => ({
  curl: `curl ${url}/segments \\
  -H 'Authorization: Bearer sk_YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON_TEXT}'`,
  TypeScript: `await fetch("${url}/segments", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${JSON_TEXT}),
});`,
  Python: `import requests

requests.post(
    "${url}/segments",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json=${JSON_TEXT},
)`,
});
