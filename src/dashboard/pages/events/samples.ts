/** Examples in code: recording an event. */

import type { Samples } from "../../ui/code.tsx";

export const trackSamples = (base: string): Samples => ({
  curl: `curl ${base}/v1/track \\
  -H "Authorization: Bearer sk_YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"event": "order.paid", "email": "ada@example.com", "data": {"total": 12}}'`,
  TypeScript: `await fetch("${base}/v1/track", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ event: "order.paid", email: "ada@example.com", data: { total: 12 } }),
});`,
  Python: `requests.post(
    "${base}/v1/track",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json={"event": "order.paid", "email": "ada@example.com", "data": {"total": 12}},
)`,
});
