/**
 * Receives the mail of inbound routes, and the bounces of mail that routes forwarded.
 *
 * 1. `open` starts a message of a project; its bytes arrive in pieces (arrival.ts).
 * 2. `complete` reads the message (read-mail.ts). A message in a loop is refused.
 * 3. SPF, DKIM, DMARC and ARC are evaluated (checks/authentication.ts). Mail is refused only if DMARC
 *    fails and the domain of From asks for that. Bounces are not evaluated, because the address to
 *    which they are sent proves where they come from.
 * 4. One change stores the mail, its event, and the mails by which it is forwarded. It resolves when
 *    they are on disk (storing.ts).
 */

import PQueue from "p-queue";
import type { Authentication } from "../../checks/authentication.ts";
import { type ArrivedMail, createMailArrivals } from "./arrival.ts";
import { type MailParser, type ReadMail, readMail } from "./read-mail.ts";
import { ReceiveRefusal } from "./refusal.ts";
import { createMailStore, type ReceivedEnvelope, type StoringDeps } from "./storing.ts";
import type { Targets } from "./targets.ts";

/** RFC 5321 §6.3: a message that was passed on more often is in a loop. */
const MAX_HOPS = 25;

export type MailReceipt = ReturnType<typeof createReceiving>;

export function createReceiving(
  deps: StoringDeps & {
    parser: MailParser;
    authenticate: (raw: Uint8Array, envelope: ReceivedEnvelope) => Promise<Authentication>;
    noteArrival: (bytes: number) => void;
  },
) {
  const { rows, writer } = deps;
  const openArrival = createMailArrivals(deps);
  const store = createMailStore(deps);
  /** Large messages are in memory one at a time. */
  const largeMessages = new PQueue({ concurrency: 1 });

  async function receive(
    arrived: ArrivedMail,
    envelope: ReceivedEnvelope,
    targets: Targets,
  ): Promise<string> {
    const raw = arrived.stored === null ? arrived.rest : rawOf(arrived, arrived.stored.seq);
    const mail = await readMail(raw, deps.parser);
    refuseLoop(mail, targets);
    const authentication =
      targets.routes.length === 0 ? null : await deps.authenticate(raw, envelope);
    if (authentication !== null) refuseUnauthentic(authentication, mail);
    return store({ arrived, envelope, targets, mail, authentication });
  }

  const rawOf = ({ rest }: ArrivedMail, seq: number) => Buffer.concat([rows.raw(seq), rest]);

  return {
    /** Starts a message. Its `add` takes the bytes; `complete` or `discard` ends it. */
    open(projectSeq: number) {
      const arrival = openArrival(projectSeq);
      return {
        add: arrival.add,
        discard: arrival.discard,

        /** Resolves to the id of the mail when it is on disk. Throws ReceiveRefusal or AppError. */
        complete(envelope: ReceivedEnvelope, targets: Targets): Promise<string> {
          const arrived = arrival.end();
          const run = () => receive(arrived, envelope, targets);
          return arrived.stored === null ? run() : largeMessages.add(run);
        },
      };
    },

    /** Removes messages that had not arrived completely when the process ended. */
    removeIncomplete: () => writer.write(rows.removeIncomplete),
  };
}

function refuseLoop({ hops, deliveredTo }: ReadMail, { recipients }: Targets): void {
  const isOurs = recipients.some((address) => deliveredTo.includes(address));
  if (hops <= MAX_HOPS && !isOurs) return;
  throw new ReceiveRefusal(554, "5.4.6 The message is in a loop of mail servers");
}

/** A look-up that failed for now may be the reason why DMARC fails, so the sender tries again. */
function refuseUnauthentic({ spf, dkim, dmarc, policy }: Authentication, { from }: ReadMail): void {
  // Without SPF, for instance behind a proxy, nothing is known of mail that is not signed.
  if (dmarc.result !== "fail" || policy !== "reject" || spf.result === "skipped") return;
  if ([spf, ...dkim].some(({ result }) => result === "temperror")) {
    throw new ReceiveRefusal(451, "4.7.0 The sender cannot be verified now, try again later");
  }
  throw new ReceiveRefusal(
    550,
    `5.7.1 The mail is not authentic: DMARC fails for ${dmarc.domain ?? from ?? "its sender"}, whose policy is p=reject`,
  );
}
