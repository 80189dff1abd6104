/** The requests that make a topic, and let a contact leave it. */

import type { Samples } from "../../ui/code.tsx";
import { quoted, shellWord } from "../../ui/shell-word.ts";

export function topicSamples(base: string): Samples {
  const topic = { name: "Product news", default: "SUBSCRIBED" };
  const choice = { topics: [{ topicId: "TOPIC_ID", subscribed: false }] };
  return {
    "Create a topic": request("", `${base}/topics`, topic),
    "Change a choice": request("-X PUT ", `${base}/contacts/CONTACT_ID/topics`, choice),
  };
}

const request = (method: string, url: string, body: object) => `curl ${method}${shellWord(url)} \\
  -H 'Authorization: Bearer sk_YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(JSON.stringify(body))}`;
