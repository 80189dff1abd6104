/**
 * Receives the mail of inbound routes, and the bounces of mail that routes forwarded.
 *
 * 1. `open` starts a message of a project; its bytes arrive in pieces (arrival.ts).
 * 2. `complete` takes a share of the memory for messages that wait (receiving-limits.ts).
 * 3. SPF, DKIM, DMARC and ARC are evaluated (sender.ts). Mail is refused only if DMARC fails for a
 *    domain of From that asks for that. Bounces are not evaluated, because the address to which they
 *    are sent proves where they come from.
 * 4. The message is read (read-mail.ts). A message in a loop is refused.
 * 5. One change stores the mail, its event, and the mails by which it is forwarded. It resolves when
 *    they are on disk (storing.ts).
 *
 * A large message waits for its turn before it is read, in the steps 3 and 4, but not while DNS
 * look-ups are under way. If its session ends before the change, the message is dropped, because its
 * sender sends it again.
 */

import type { Authentication } from "../../checks/authentication.ts";
import { headerOf } from "../../checks/author.ts";
import { clientNetwork } from "../../lib/client-network.ts";
import { readAuthor } from "../../protocols/mime/from-field.ts";
import { type ArrivedMail, createMailArrivals } from "./arrival.ts";
import { type MailParser, type ReadMail, readMail } from "./read-mail.ts";
import type { ReceivingLimits } from "./receiving-limits.ts";
import { ReceiveRefusal } from "./refusal.ts";
import type { SenderReader } from "./sender.ts";
import { createMailStore, type ReceivedEnvelope, type StoringDeps } from "./storing.ts";
import type { Targets } from "./targets.ts";

/** RFC 5321 §6.3: a message that was passed on more often is in a loop. */
const MAX_HOPS = 25;

export type MailReceipt = ReturnType<typeof createReceiving>;

export function createReceiving(
  deps: StoringDeps & {
    parser: MailParser;
    readSender: SenderReader;
    limits: ReceivingLimits;
    noteArrival: (bytes: number) => void;
  },
) {
  const { rows, writer, limits } = deps;
  const openArrival = createMailArrivals(deps);
  const store = createMailStore(deps);

  async function receive(
    arrived: ArrivedMail,
    envelope: ReceivedEnvelope,
    targets: Targets,
  ): Promise<string> {
    const { peer, signal } = envelope;
    function runWithinLimits<T>(task: () => Promise<T>): Promise<T> {
      if (arrived.stored === null) return task();
      return limits.runLarge({ peer, projectSeq: targets.projectSeq }, () => {
        signal.throwIfAborted();
        return task();
      });
    }
    const [head = arrived.rest] = piecesOf(arrived);
    const header = headerOf(head);
    const author = readAuthor(header);
    // The field From may be behind the piece, so whose policy applies is not known.
    const isCut = arrived.stored !== null && header.length === head.byteLength;
    async function readSender() {
      if (isCut || author === null) {
        throw new ReceiveRefusal(552, "5.3.4 The header of the message is too large");
      }
      return deps.readSender({ head, pieces: piecesOf(arrived), author }, envelope);
    }
    const verifySender = targets.routes.length === 0 ? null : await runWithinLimits(readSender);
    const authentication = (await verifySender?.()) ?? null;
    signal.throwIfAborted();
    if (authentication !== null) refuseUnauthentic(authentication);
    return runWithinLimits(async () => {
      const raw = Buffer.concat([...piecesOf(arrived)]);
      const from = { mailbox: author?.mailbox ?? null, sender: clientNetwork(peer) };
      const mail = await readMail(raw, from, deps.parser);
      refuseLoop(mail, targets);
      return store({ arrived, envelope, targets, mail, authentication });
    });
  }

  /** The message in pieces of at most a MiB, of which one is in memory at a time. */
  function* piecesOf({ stored, rest }: ArrivedMail): Generator<Uint8Array> {
    const { seq, pieces } = stored ?? { seq: 0, pieces: 0 };
    for (let position = 0; position < pieces; position++) {
      yield Bun.zstdDecompressSync(rows.piece(seq, position));
    }
    yield rest;
  }

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
          const way = { peer: envelope.peer, projectSeq };
          return limits.whileHolding(arrived.rest.byteLength, way, () =>
            receive(arrived, envelope, targets),
          );
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

/** A look-up that failed for now may be the reason why nothing passed, so the sender tries again. */
function refuseUnauthentic({ spf, dkim, dmarc, policy }: Authentication): void {
  if (policy !== "reject" && policy !== "unknown") return;
  // Without SPF, for instance behind a proxy, nothing is known of mail that is not signed.
  if (spf.result === "skipped") return;
  const isTemporary = [spf, dmarc, ...dkim].some(({ result }) => result === "temperror");
  if (policy === "unknown" || isTemporary) {
    throw new ReceiveRefusal(451, "4.7.0 The sender cannot be verified now, try again later");
  }
  throw new ReceiveRefusal(
    550,
    `5.7.1 The mail is not authentic: DMARC fails for ${dmarc.domain ?? "its sender"}, whose policy is p=reject`,
  );
}
