/**
 * Sends mails through the API without pause while the server is killed and restarted. Afterwards each
 * accepted mail must have arrived. A mail may have arrived twice only if it was under way at a kill,
 * and then with identical content.
 */

import { directTo, relayTo } from "../bench/children.ts";
import { limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { countEmails, waitUntilDrained } from "./emails.ts";
import {
  type CrashOptions,
  killRepeatedly,
  leasedAtStarts,
  stopAndCheck,
  sum,
  withCrashStore,
} from "./kills.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createSender, recipientOf, type Sender } from "./sender.ts";

const CONNECTIONS = 4;
const MAX_UPTIME_MS = 400;

export function crashMails(transport: "relay" | "direct", options: CrashOptions): Promise<Outcome> {
  return withCrashStore(options, { isSigned: transport === "direct" }, async (store) => {
    const { data, key, port } = store;
    const mailbox = await openMailbox();
    const args = transport === "direct" ? directTo(mailbox) : relayTo(mailbox.port, 0);
    const client = { url: `http://127.0.0.1:${port}`, key };
    const sender = createSender({ ...client, connections: CONNECTIONS });
    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      work: (_, isOver) => sender.run(isOver),
      progress: () => sender.accepted.size,
      expectsProgress: () => true,
    });
    const server = await store.launch(options.kills, args);
    while (sender.unansweredCount() > 0) await sender.run(() => sender.unansweredCount() === 0);
    await waitUntilDrained(client, options.drainLimitMs);
    const records = await countEmails(client, "");
    const checks = await stopAndCheck(server, data);
    await mailbox.close();
    const underWay = sum(leasedAtStarts(data));
    const { delivered, duplicates, differing } = compareArrivals(sender, mailbox);
    const { broken, replayed } = sender.counts;
    return {
      figures: [
        ["accepted", whole(sender.accepted.size)],
        ["delivered", whole(delivered)],
        ["under way at the kills", whole(underWay)],
        ["requests without a response", whole(broken)],
        ["of these, mail was already stored", whole(replayed)],
      ],
      aims: [
        presenceAim("accepted", sender.accepted.size),
        limitAim("lost", sender.accepted.size - delivered),
        limitAim("duplicates", duplicates, underWay, "the mails under way"),
        limitAim("mails with wrong Message-ID or bytes", differing),
        limitAim("records other than one per mail", Math.abs(records - sender.accepted.size)),
        ...checks,
      ],
    };
  });
}

function compareArrivals(sender: Sender, mailbox: Mailbox) {
  let delivered = 0;
  let duplicates = 0;
  let differing = 0;
  for (const [number, emailId] of sender.accepted) {
    const [first, ...more] = mailbox.to(recipientOf(number));
    if (first === undefined) continue;
    delivered++;
    duplicates += more.length;
    const isDifferent = (arrival: typeof first) =>
      arrival.messageId !== emailId || arrival.digest !== first.digest;
    differing += [first, ...more].filter(isDifferent).length;
  }
  return { delivered, duplicates, differing };
}
