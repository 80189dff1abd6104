/** Prepares the messages of leased mails (prepare.ts) with the keys of their senders' domains. */

import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Garbage } from "../../lib/garbage.ts";
import type { Log } from "../../lib/log.ts";
import type { Signer } from "../../protocols/dkim/sign.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { TokenKeys } from "../../render/shapes/tokens.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import type { LeasedMail } from "../lease-rows.ts";
import { type Busy, WITHDRAWN } from "../outcome.ts";
import { createPreparation, type Prepared, unsigned } from "./prepare.ts";

type ComposerDeps = TokenKeys & {
  templateCache: TemplateCache;
  clock: Clock;
  log: Log;
  /** Signs with the keys of a domain; null if it has none. Throws if they cannot be read. */
  signerOf: (projectSeq: number, domain: string) => Signer | null;
  /** Yields to other work of the event loop if the current iteration has taken long. */
  yieldIfBusy: () => Promise<void>;
  /**
   * Called when synchronous work on a mail begins, so that the log can explain a blocked event
   * loop.
   */
  beginWork: (emailId: string) => void;
  /** Records how long rendering blocked the event loop. */
  noteRendering: (campaignSeq: number, ms: number) => void;
  /** True if rendering took too long for this campaign, so that no more of it may be rendered. */
  isTooCostly: (campaignSeq: number) => boolean;
  /** Told of the memory that preparing a large mail leaves. */
  garbage: Garbage;
};

/** Copies of a message that are garbage when it is prepared: parts, and the unsigned message. */
const COPIES = 2;

/** Returns the function that renders, composes and signs the message of a mail. */
export function createComposer(deps: ComposerDeps): (mail: LeasedMail) => Promise<Prepared | Busy> {
  const { clock, garbage } = deps;
  const preparation = createPreparation({ ...deps, keys: deps });

  return async function prepare(mail) {
    let signer: Signer | null;
    try {
      signer = deps.signerOf(mail.projectSeq, domainOf(mail.fromAddress));
    } catch (error) {
      return unsigned(error);
    }
    await deps.yieldIfBusy();
    if (mail.campaignSeq !== null && deps.isTooCostly(mail.campaignSeq)) return WITHDRAWN;
    deps.beginWork(mail.id);
    const startedMs = systemClock.elapsed();
    // The mail is rendered and composed before this call returns its promise.
    const preparing = preparation.prepare(mail, { signer, at: new Date(clock.now()) });
    if (mail.campaignSeq !== null) {
      deps.noteRendering(mail.campaignSeq, systemClock.elapsed() - startedMs);
    }
    const prepared = await preparing;
    if (prepared.kind === "prepared") garbage.add(COPIES * prepared.message.byteLength);
    return prepared;
  };
}
