/**
 * Limits what messages take from their final dot to their answer, so that no sender and no project
 * can keep the mail of others out.
 *
 * - Memory: each message takes a share of a pool. When a sender, a project or the server has used up
 *   its part, further messages are refused for now.
 * - Time: large messages are read one at a time, because each takes several times its size. Each
 *   sender has at most one of them in the queue of its project, and each project one in the queue of
 *   the server. So a message waits for one message of each other sender, however many they send.
 */

import PQueue from "p-queue";
import type { Clock } from "../../lib/clock.ts";
import { createFairPool, PoolExhaustedError, type Share } from "../../lib/fair-pool.ts";
import { clientNetwork } from "../../lib/client-network.ts";
import { createOwnerQueues } from "../../lib/owner-queues.ts";
import { ReceiveRefusal } from "./refusal.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Bytes that all messages hold in memory while they wait for look-ups or for their turn. */
const MAX_HELD_BYTES = 128 * MIB;
/** Smallest share, so that at most 1,024 messages wait. It covers what is known of a message. */
const MIN_SHARE_BYTES = 128 * KIB;
/** Fraction that one sender may hold: 16 messages of a MiB, or 128 small ones. */
const PEER_FRACTION = 1 / 8;
/** Fraction that the messages of one project may hold. */
const PROJECT_FRACTION = 3 / 4;

/** Where a message comes from, and where it goes. */
type Way = { peer: string; projectSeq: number };

export type ReceivingLimits = ReturnType<typeof createReceivingLimits>;

export function createReceivingLimits({ clock }: { clock: Clock }) {
  const heldByPeers = pool(clock, PEER_FRACTION);
  const heldByProjects = pool(clock, PROJECT_FRACTION);
  const peers = createOwnerQueues<string>(1);
  const projects = createOwnerQueues(1);
  const largeMessages = new PQueue({ concurrency: 1 });

  /** Takes the shares of a message, and returns the function that releases them. */
  async function hold(bytes: number, { peer, projectSeq }: Way): Promise<() => void> {
    const amount = Math.max(bytes, MIN_SHARE_BYTES);
    const shares: Share[] = [];
    const release = () => shares.forEach((share) => share.release());
    const signal = () => NEVER;
    try {
      shares.push(await heldByPeers.take({ amount, holder: clientNetwork(peer), signal }));
      shares.push(await heldByProjects.take({ amount, holder: projectSeq, signal }));
      return release;
    } catch (error) {
      release();
      if (!(error instanceof PoolExhaustedError)) throw error;
      throw new ReceiveRefusal(451, "4.3.2 Too many messages are being received, try again later");
    }
  }

  return {
    /** Runs the task while the message holds `bytes` of memory. Refuses it if there are none. */
    async whileHolding<T>(bytes: number, way: Way, task: () => Promise<T>): Promise<T> {
      const release = await hold(bytes, way);
      try {
        return await task();
      } finally {
        release();
      }
    },

    /** Runs the task when few enough other large messages of the client and the project are read. */
    runLarge: <T>({ peer, projectSeq }: Way, task: () => Promise<T>): Promise<T> =>
      peers.run(clientNetwork(peer), () => projects.run(projectSeq, () => largeMessages.add(task))),
  };
}

const NEVER = new AbortController().signal;

/** A pool without waiting: a message that waits for its share would need the same memory. */
function pool(clock: Clock, maxShareOfOne: number) {
  return createFairPool({
    clock,
    capacity: MAX_HELD_BYTES,
    waitingCost: () => 1,
    maxWaitingCost: 0,
    waitMs: 0,
    maxShareOfOne,
  });
}
