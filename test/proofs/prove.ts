/**
 * Proofs are claims about the whole program that need a load: many requests, kills, random data or
 * long texts. Each test is a short form, which must be able to fail but need not find a rare fault.
 * The long form runs the same code with larger sizes: `bun scripts/proofs.ts`, or a script of its own.
 */

import { expect, test } from "bun:test";
import type { Aim } from "../../scripts/bench/report.ts";

export type Proof = {
  /** The claim, as a sentence. */
  name: string;
  /** False if this machine lacks something that the proof needs. */
  isPossible?: boolean;
  /** Runs the proof with the sizes of the form, and returns the aims that must be met. */
  run: (form: Form) => Promise<readonly Aim[]>;
};

export type Form = "short" | "long";

const FORM: Form = process.env["PROOFS"] === "long" ? "long" : "short";
/** A proof that takes so long hangs: the short forms take a few seconds each. */
export const LIMIT_MS = { short: 120_000, long: 60 * 60_000 }[FORM];

/** The executable, if `./scripts/test` built it; null for the sources. */
export const BINARY = process.env["TEST_EXECUTABLE"] ?? null;

export function prove(proofs: readonly Proof[]): void {
  for (const { name, isPossible = true, run } of proofs) {
    test.skipIf(!isPossible)(
      name,
      async () => {
        const aims = await run(FORM);
        expect(aims.length).toBeGreaterThan(0);
        expect(aims.filter(({ isMet }) => !isMet)).toEqual([]);
      },
      LIMIT_MS,
    );
  }
}
