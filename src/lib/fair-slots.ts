/**
 * Concurrency slots that several owners share. An owner may take a slot only as long as it holds
 * fewer than are free. So one owner gets at most half of the slots, the next one half of the rest,
 * and so on; as slots are released, n busy owners come to hold one in n + 1 each.
 */

export type FairSlots = {
  /** The number of slots that the owner may take now. */
  available(owner: number): number;
  /** Takes a slot for the owner. The slot must be available. */
  acquire(owner: number): void;
  release(owner: number): void;
  /** Slots in use by all owners. */
  inUse(): number;
};

/** `maxPerOwner`: the largest number of slots of one owner; 0 for no such limit. */
type Limits = { total: number; maxPerOwner: number };

export function createFairSlots({ total, ...limits }: Limits): FairSlots {
  const maxPerOwner = limits.maxPerOwner === 0 ? total : limits.maxPerOwner;
  const held = new Map<number, number>();
  let inUse = 0;

  function available(owner: number): number {
    const own = held.get(owner) ?? 0;
    const fairShare = Math.ceil((total - inUse - own) / 2);
    return Math.max(0, Math.min(fairShare, maxPerOwner - own));
  }

  return {
    available,
    acquire(owner) {
      held.set(owner, (held.get(owner) ?? 0) + 1);
      inUse++;
    },
    release(owner) {
      const own = held.get(owner) ?? 0;
      if (own === 0) throw new Error("a slot was released that was not acquired");
      if (own === 1) held.delete(owner);
      else held.set(owner, own - 1);
      inUse--;
    },
    inUse: () => inUse,
  };
}
