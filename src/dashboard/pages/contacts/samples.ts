/** The request that adds a contact, in three languages, with the address of this server. */

import type { Samples } from "../../ui/code.tsx";

const CONTACT = { email: "ada@example.com", data: { name: "Ada", plan: "pro" } };

export function contactSamples(url: string): Samples {
  return {
    curl: `curl ${url}/contacts \\
  -H 'Authorization: Bearer sk_YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(CONTACT)}'`,
    TypeScript: `await fetch("${url}/contacts", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${JSON.stringify(CONTACT)}),
});`,
    Python: `import requests

requests.post(
    "${url}/contacts",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json=${JSON.stringify(CONTACT)},
)`,
  };
}
