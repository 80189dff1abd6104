/** The order of mails that wait for a thread, and which of them are one batch. */

import { expect, test } from "bun:test";
import type { FlowKind } from "../../../src/outbox/compose/flow-costs.ts";
import { createFlowCosts } from "../../../src/outbox/compose/flow-costs.ts";
import { type ComposeJob, createJobQueue } from "../../../src/outbox/compose/job-queue.ts";
import { mailRow, testJob, testSigner } from "../../support/compose.ts";

function setUp(kinds: Record<string, FlowKind> = {}) {
  const queue = createJobQueue({ kindOf: (flow) => kinds[flow] ?? "fast" });
  const ids = new Map<ComposeJob, string>();

  function add(flow: string, count: number, rest: Partial<ComposeJob> = {}): void {
    for (let i = 1; i <= count; i++) {
      const campaignSeq = flow.startsWith("c") ? 1 : null;
      const { job } = testJob(mailRow({ campaignSeq }), { flow, ...rest });
      ids.set(job, `${flow}-${i}`);
      queue.add(job);
    }
  }

  const take = (isFastOnly = false, withCampaigns = true) => {
    const batch = queue.takeNext({ mayBegin: isFastOnly ? null : () => true, withCampaigns });
    return batch === null ? null : batch.jobs.map((job) => ids.get(job));
  };

  return { queue, add, take, ids };
}

test("transactional mail is a batch before campaigns", () => {
  const { add, take } = setUp();
  add("c1", 2);
  add("p1", 2);
  add("p2", 1);
  expect(take()).toEqual(["p1-1", "p1-2", "p2-1"]);
  expect(take()).toEqual(["c1-1", "c1-2"]);
  expect(take()).toBeNull();
});

test("a batch has at most 64 unsigned mails or 16 signed ones", async () => {
  const { add, take } = setUp();
  add("p1", 100);
  expect(take()).toHaveLength(64);
  expect(take()).toHaveLength(36);
  add("p1", 40, { signer: await testSigner() });
  expect([take(), take(), take()].map((batch) => batch?.length)).toEqual([16, 16, 8]);
});

test("a batch has at most 4 MiB of bodies, or one mail", () => {
  const { queue, take, ids } = setUp();
  for (const size of [3, 3, 9, 1, 1]) {
    const { job } = testJob(mailRow({ html: "x".repeat(size * 1_000_000) }), { flow: "p1" });
    ids.set(job, `${size} MB`);
    queue.add(job);
  }
  const batches = [take(), take(), take(), take(), take()];
  expect(batches).toEqual([["3 MB"], ["3 MB"], ["9 MB"], ["1 MB", "1 MB"], null]);
});

test("flows are served in turn", () => {
  const { add, take } = setUp();
  add("c1", 100);
  add("c2", 100);
  expect(new Set(take()?.map((id) => id?.slice(0, 2)))).toEqual(new Set(["c1"]));
  expect(new Set(take()?.map((id) => id?.slice(0, 2)))).toEqual(new Set(["c2"]));
});

test("the mails of a new flow are a batch of their own, of at most eight", () => {
  const { add, take } = setUp({ c2: "new" });
  add("c1", 1);
  add("c2", 10);
  expect(take(true)).toEqual(["c1-1"]);
  expect(take(true)).toBeNull();
  expect(take()).toHaveLength(8);
  expect(take()).toHaveLength(2);
});

test("slow flows and halves of batches are taken apart from all others", () => {
  const { queue, add, take, ids } = setUp({ c1: "slow" });
  add("c1", 2);
  expect([take(), queue.hasSlow(), queue.hasOthers()]).toEqual([null, true, false]);
  const { job } = testJob(mailRow());
  ids.set(job, "half");
  queue.addHalf([job]);
  const slow = () => queue.takeSlow({ withCampaigns: true });
  expect(slow()).toEqual({ kind: "half", jobs: [job] });
  expect(slow()?.jobs.map((each) => ids.get(each))).toEqual(["c1-1", "c1-2"]);
  expect([slow(), queue.hasSlow()]).toEqual([null, false]);
});

test("mails that are put back are the first ones of their flow, in their order", () => {
  const { queue, add, take } = setUp();
  add("p1", 5);
  const batch = queue.takeNext({ mayBegin: () => true, withCampaigns: true });
  add("p1", 1);
  queue.putBack(batch?.jobs.slice(3) ?? []);
  expect(take()).toEqual(["p1-4", "p1-5", "p1-1"]);
});

test("campaigns wait if only transactional mail may be taken", () => {
  const { queue, add, take } = setUp({ c2: "slow" });
  add("c1", 1);
  add("c2", 1);
  expect(take(false, false)).toBeNull();
  expect(queue.takeSlow({ withCampaigns: false })).toBeNull();
  add("p1", 1);
  expect(take(false, false)).toEqual(["p1-1"]);
  expect(queue.takeAll()).toHaveLength(2);
});

test.each<[string, number[], FlowKind]>([
  ["no mail", [], "new"],
  ["mails that take no time worth noting", [0, 0, 0], "fast"],
  ["one mail that takes a second", [1_000], "slow"],
  ["one mail of a second among usual ones", [0, 0, 1_000], "slow"],
  ["the same, after a few usual ones", [0, 1_000, ...Array<number>(8).fill(0)], "fast"],
  ["mails of 40 ms", Array<number>(100).fill(40), "fast"],
  ["mails of 60 ms", Array<number>(100).fill(60), "slow"],
])("the kind of a flow after %s", (_, times, kind) => {
  const costs = createFlowCosts();
  for (const ms of times) costs.note("c1", ms);
  expect(costs.kindOf("c1")).toBe(kind);
});
