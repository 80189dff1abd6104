/**
 * The branch of a SPLIT step. It follows from the ids of the contact, the workflow and the step alone:
 * a contact stays in its branch, and a simulation takes the same one as a live run.
 */

import { createHash } from "node:crypto";

export function splitBranch(
  branches: readonly { id: string; weight: number }[],
  { contactId, workflowId, stepId }: { contactId: string; workflowId: string; stepId: string },
): string {
  const digest = createHash("sha256").update(JSON.stringify([workflowId, stepId, contactId]));
  const total = branches.reduce((sum, { weight }) => sum + weight, 0);
  // 48 bits of the digest: the weights are at most 1,000 together, so the rest does not matter.
  let left = digest.digest().readUIntBE(0, 6) % total;
  for (const { id, weight } of branches) {
    if (left < weight) return id;
    left -= weight;
  }
  throw new Error("a split has no branches");
}
