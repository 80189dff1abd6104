/** A template as it is sent: its body with its preheader and in its layout, and the message of its mails. */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { assembleBody } from "../../render/layout.ts";
import type { Sender } from "../../http/admission.ts";
import type { SharedMessage } from "../../outbox/enqueue.ts";
import type { TemplateRow } from "../templates.ts";

type Parts = { body: string; preheader: string | null; layoutBody: string | null };
type Assembled = Parts & { source: string };

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The sources that were made last, by the `seq` of their template, the least recently used first. To
 * make one of 100 kB takes 2 ms, as long as the rest of a request.
 */
const assembled = perApp(() => ({ bySeq: new Map<number, Assembled>(), bytes: 0 }));

export function bodyToSend(
  app: App,
  { seq, body, preheader, layoutBody }: Parts & { seq: number },
): string {
  if (preheader === null && layoutBody === null) return body;
  const cache = assembled(app);
  const known = cache.bySeq.get(seq);
  if (known !== undefined) remove(cache, seq, known);
  // The parts are compared, because a revision of a change that failed has another content later.
  const isSame =
    known?.body === body && known.preheader === preheader && known.layoutBody === layoutBody;
  const source = isSame ? known.source : assembleBody({ body, preheader, layout: layoutBody });
  const made = { body, preheader, layoutBody, source };
  cache.bySeq.set(seq, made);
  cache.bytes += bytesOf(made);
  for (const [oldest, entry] of cache.bySeq) {
    if (cache.bytes <= MAX_BYTES) break;
    remove(cache, oldest, entry);
  }
  return source;
}

function remove(cache: ReturnType<typeof assembled>, seq: number, entry: Assembled): void {
  cache.bySeq.delete(seq);
  cache.bytes -= bytesOf(entry);
}

/** About the memory that an entry takes; a text has up to two bytes for each unit. */
const bytesOf = ({ source, body, layoutBody }: Assembled): number =>
  2 * (source.length + body.length + (layoutBody?.length ?? 0));

/** The content that the mails of a template share when this sender sends them. */
export function templateMessage(app: App, template: TemplateRow, sender: Sender): SharedMessage {
  return {
    projectSeq: template.projectSeq,
    fromAddress: sender.address,
    fromName: sender.name,
    replyTo: template.replyTo,
    html: bodyToSend(app, template),
    headers: [],
    isMarketing: template.type === "MARKETING",
    attachments: [],
    ...(template.topicSeq === null ? {} : { topicSeq: template.topicSeq }),
  };
}
