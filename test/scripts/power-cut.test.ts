import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const LIMIT_MS = 90_000;

/** A short version of scripts/power-cut.ts. */
async function runPowerCut(...words: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, "scripts/power-cut.ts", ...words], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: output + errors };
}

test.skipIf(Bun.which("strace") === null)(
  "after a power cut no mail has left without a lease, and none is SENT that did not leave",
  async () => {
    const words = ["--load", "campaign", "--mails", "100", "--cuts", "20"];
    expect(await runPowerCut(...words)).toMatchObject({ code: 0 });
    // Without syncs of the log, the leases of mails that left are lost: the check must find that.
    const lied = await runPowerCut(...words, "--lie", "log");
    expect(lied.code).toBe(1);
    expect(lied.output).toContain("MISSED left without a lease");
  },
  LIMIT_MS,
);
