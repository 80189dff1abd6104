/** A request as a reader knows it from HTTP, and its body alone. */

import type { DeliveryDetails } from "../../../modules/webhooks/model.ts";
import type { Samples } from "../../ui/code.tsx";

type Request = DeliveryDetails["request"];

/** The tabs of the request. The body is indented; it was sent in one line. */
export function requestText({ method, url, headers, body }: Request): Samples {
  const { host, pathname, search } = new URL(url);
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return { Body: indented(body), Headers: lines.join("\n") };
}

function indented(body: string): string {
  const value: unknown = JSON.parse(body);
  return JSON.stringify(value, null, 2);
}
