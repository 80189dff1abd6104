/**
 * Prepares the messages of leased mails (prepare.ts). The mails of one iteration of the event loop are
 * gathered. Mails that may be expensive go to threads (pool.ts), so that no template holds the event
 * loop, and so does signed mail, unless it is transactional and little of it is sent at once.
 *
 * Cheap unsigned mail is prepared on the event loop. There it takes 38 µs of processor time; by a
 * thread it takes 48 to 58 µs, of which 7 to 12 are on the event loop (batches of 64 and of 16). A
 * campaign of 50,000 took 0.30 processor seconds for 1,000 mails on the event loop and 0.35 with a
 * thread. For signed mail the two ways take the same, but the signatures of a thread do not delay
 * the syncs of the database, which share their threads with signatures made on the event loop.
 */

import { callForEach, type Callbacks } from "../../lib/callbacks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Garbage } from "../../lib/garbage.ts";
import type { Log } from "../../lib/log.ts";
import { recentThreadCpuMs, threadCpuMs } from "../../lib/thread-cpu.ts";
import type { Signer } from "../../protocols/dkim/sign.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { TokenKeys } from "../../render/letter/tokens.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import type { LeasedMail } from "../lane/rows.ts";
import { type Busy, WITHDRAWN } from "../outcome.ts";
import { createCheapMails } from "./cheap-mails.ts";
import type { ComposeJob } from "./job-queue.ts";
import { createPool, type PoolDeps } from "./pool.ts";
import {
  createPreparation,
  type MailRow,
  type Preparation,
  type Prepared,
  unsigned,
} from "./prepare.ts";

type EventLoopDeps = {
  clock: Clock;
  /** Runs a piece of work, in a later iteration of the event loop if this one has taken long. */
  runInSlices: (piece: () => void) => void;
  /**
   * Called when synchronous work on a mail begins, so that the log can explain a blocked event
   * loop.
   */
  beginWork: (emailId: string) => void;
  /** Told of the memory that preparing a large mail leaves. */
  garbage: Garbage;
};

type ComposerDeps = TokenKeys &
  EventLoopDeps & {
    templateCache: TemplateCache;
    log: Log;
    /**
     * Signs with the keys of a domain; null if it has none, or if the relay signs. Throws if they cannot be
     * read.
     */
    signerOf: (projectSeq: number, domain: string, relay: Relay | null) => Signer | null;
    /** The host that receives the bounces of a domain; null if its records are not in the DNS yet. */
    bounceHostOf: (projectSeq: number, domain: string) => string | null;
    /** Called for a mail that failed because its template takes too long. */
    noteTooSlow: (campaignSeq: number) => void;
    /** True if that happened to too many mails of a campaign, so that no more of it is rendered. */
    isTooCostly: (campaignSeq: number) => boolean;
    /** The program, the clock and the limits of the threads, for tests. */
    threads?: Pick<PoolDeps, "file" | "clock" | "renderLimitMs" | "limitMs" | "heldMs">;
    /** Memory that the messages of campaigns may take while they wait to be sent. */
    maxMessageBytes?: number;
  };

export type Composer = {
  prepare(mail: LeasedMail, answer: Callbacks<Prepared | Busy>): void;
  /** Must be called when a prepared message of a campaign is not needed any more. */
  release(mail: LeasedMail, message: Uint8Array): void;
  /** Ends the threads. Mails that are not prepared go back to the queue. */
  close(): void;
};

/** Copies of a message that are garbage when it is prepared: parts, and the unsigned message. */
const COPIES = 2;
/** A mail that takes more processor time on the event loop took long. */
const HELD_MS = 20;
/** This many signed transactional mails are prepared on the event loop; more go to threads. */
const FEW = 4;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function createComposer(deps: ComposerDeps): Composer {
  const { maxMessageBytes = MAX_MESSAGE_BYTES } = deps;
  const { isCheap, noteLong } = createCheapMails();
  const prepareHere = createEventLoopPreparation({
    ...deps,
    preparation: createPreparation({
      ...deps,
      keys: deps,
      renderLimitMs: deps.threads?.renderLimitMs,
    }),
    isStopped,
    noteLong,
  });
  let messageBytes = 0;
  const pool = createPool({
    ...deps.threads,
    keys: deps,
    log: deps.log,
    now: deps.clock.now,
    prepareHere,
    mayCompose: () => messageBytes <= maxMessageBytes,
  });
  /** The mails of this iteration of the event loop. */
  let gathered: ComposeJob[] = [];

  function isStopped({ campaignSeq }: Pick<LeasedMail, "campaignSeq">): boolean {
    return campaignSeq !== null && deps.isTooCostly(campaignSeq);
  }

  /** Distributes the gathered mails. */
  function distribute(): void {
    const jobs = gathered;
    gathered = [];
    const isFew = jobs.filter(({ isTransactional }) => isTransactional).length <= FEW;
    const here: ComposeJob[] = [];
    const elsewhere: ComposeJob[] = [];
    for (const job of jobs) (belongsHere(job, isFew) ? here : elsewhere).push(job);
    pool.add(elsewhere);
    callForEach(here, prepareHere);
  }

  function belongsHere({ mail, signer, isTransactional }: ComposeJob, isFew: boolean): boolean {
    if (!pool.isAvailable()) return true;
    // A submitted message needs no work but its signature.
    if (mail.submitted !== null && signer === null) return true;
    if (!isCheap(mail)) return false;
    if (signer === null || (isTransactional && isFew)) return true;
    if (pool.isUp()) return false;
    pool.warmUp();
    return true;
  }

  function prepare(mail: LeasedMail, answer: Callbacks<Prepared | Busy>): void {
    if (isStopped(mail)) return answer.resolve(WITHDRAWN);
    const { projectSeq, campaignSeq, fromAddress } = mail;
    const domain = domainOf(fromAddress);
    let signer: Signer | null = null;
    try {
      // A signature would vouch for the From of a forwarded message, which is not ours.
      if (mail.envelopeFrom === null) {
        signer = deps.signerOf(projectSeq, domain, mail.slot?.relay ?? null);
      }
    } catch (error) {
      return answer.resolve(unsigned(error));
    }
    const bounceHost = mail.isMarketing ? deps.bounceHostOf(projectSeq, domain) : null;
    // The row is the mail itself, because to copy its 35 columns takes time for each mail.
    const row = Object.assign(mail, { bounceHost });
    const isTransactional = campaignSeq === null;
    const flow = isTransactional ? `project ${projectSeq}` : `campaign ${campaignSeq}`;
    const backlog = pool.backlogOf(flow);
    if (backlog !== null) return answer.resolve(backlog);
    const resolve = isTransactional
      ? answer.resolve
      : (prepared: Prepared | Busy) => {
          noteResult(campaignSeq, prepared);
          if (isStopped(mail)) pool.withdraw(flow);
          answer.resolve(prepared);
        };
    if (gathered.length === 0) queueMicrotask(distribute);
    const { reject } = answer;
    gathered.push({ mail: row, signer, flow, isTransactional, timeouts: 0, resolve, reject });
  }

  function noteResult(campaignSeq: number, prepared: Prepared | Busy): void {
    if (prepared.kind === "failed" && prepared.isTooSlow) deps.noteTooSlow(campaignSeq);
    if (prepared.kind === "prepared") messageBytes += prepared.message.byteLength;
  }

  return {
    prepare,
    release({ campaignSeq }, message) {
      if (campaignSeq === null) return;
      const wasFull = messageBytes > maxMessageBytes;
      messageBytes -= message.byteLength;
      if (wasFull) pool.schedule();
    },
    close: pool.close,
  };
}

/**
 * Prepares mails on the event loop, in slices of a few milliseconds. `isStopped` is true for a mail
 * whose campaign is not composed any more; `noteLong` is told of mails that took long. RSA signatures
 * are made on another thread.
 */
function createEventLoopPreparation(
  deps: EventLoopDeps & {
    preparation: Preparation;
    isStopped: (mail: MailRow) => boolean;
    noteLong: (mail: MailRow) => void;
  },
): (job: ComposeJob) => void {
  const { preparation, isStopped, noteLong, clock, garbage } = deps;

  function prepareNow(job: ComposeJob): void {
    const { mail, signer } = job;
    if (isStopped(mail)) return job.resolve(WITHDRAWN);
    if (signer === null) {
      const prepared = tryOr(job, () =>
        timed(mail, (at) => preparation.prepareSync(mail, { signer, at })),
      );
      if (prepared !== null) end(job, prepared);
      return;
    }
    // The mail is rendered and composed before this call returns its promise.
    const preparing = tryOr(job, () =>
      timed(mail, (at) => preparation.prepare(mail, { signer, at })),
    );
    void preparing?.then((prepared) => end(job, prepared), job.reject);
  }

  function end(job: ComposeJob, prepared: Prepared): void {
    if (prepared.kind === "prepared") garbage.add(COPIES * prepared.message.byteLength);
    job.resolve(prepared);
  }

  /** Notes a mail that takes long, so that the next ones like it are prepared by threads. */
  function timed<T>(mail: MailRow, prepareAt: (at: Date) => T): T {
    deps.beginWork(mail.id);
    const beganMs = systemClock.elapsed();
    const beganCpuMs = recentThreadCpuMs();
    const result = prepareAt(new Date(clock.now()));
    if (systemClock.elapsed() - beganMs > HELD_MS && threadCpuMs() - beganCpuMs > HELD_MS)
      noteLong(mail);
    return result;
  }

  return (job) => deps.runInSlices(() => prepareNow(job));
}

/** Returns null, and rejects the job, if the work throws. */
function tryOr<T>(job: ComposeJob, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    job.reject(error);
    return null;
  }
}
