/** Large bodies that the routes accept, so that their handlers run as well. */

import type { Shape } from "./forms.ts";

const MIB = 1024 * 1024;
const FROM = "attacker@bench.test";

export function validBody({ route }: Shape): string {
  return JSON.stringify(VALID[route]?.() ?? {});
}

let next = 0;
const address = () => `person-${next++}@example.net`;

const VALID: Readonly<Record<string, () => unknown>> = {
  "POST /v1/send": () => ({
    to: Array.from({ length: 1000 }, address),
    from: FROM,
    subject: "Large",
    body: "<p>Large</p>",
    data: { text: { value: "x".repeat(24_000), persistent: false } },
    attachments: [{ filename: "a.bin", content: Buffer.alloc(10 * MIB).toString("base64") }],
  }),
  "POST /v1/track": () => ({
    event: "large",
    email: address(),
    data: { text: "x".repeat(15_000) },
  }),
  "POST /contacts": () => ({
    email: address(),
    data: { list: Array.from({ length: 21_000 }, () => ({})) },
  }),
  "POST /contacts/bulk": () => ({
    action: "subscribe",
    ids: Array.from({ length: 10_000 }, () => crypto.randomUUID()),
  }),
  "POST /templates": () => ({
    name: "Large",
    subject: "Large",
    body: `${"<p>{{ a }}</p>".repeat(9_999)}${"x".repeat(900_000)}`,
    type: "MARKETING",
  }),
};
