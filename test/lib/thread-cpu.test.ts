import { expect, test } from "bun:test";
import {
  cpuMsOfThread,
  recentThreadCpuMs,
  threadCpuMs,
  threadNumber,
} from "../../src/lib/thread-cpu.ts";

function work(ms: number): void {
  const endsAt = threadCpuMs() + ms;
  while (threadCpuMs() < endsAt);
}

test.skipIf(process.platform !== "linux")("the kernel counts the time of this thread", () => {
  const number = threadNumber();
  const before = [threadCpuMs(), cpuMsOfThread(number) ?? 0];
  work(200);
  const after = [threadCpuMs(), cpuMsOfThread(number) ?? 0];
  const [own = 0, kernel = 0] = after.map((ms, i) => ms - (before[i] ?? 0));
  expect(own).toBeGreaterThanOrEqual(200);
  expect(Math.abs(kernel - own)).toBeLessThanOrEqual(50);
});

test("a thread that has no number or has ended has no time", () => {
  expect(cpuMsOfThread(null)).toBeNull();
  expect(cpuMsOfThread(2 ** 22 + 1)).toBeNull();
});

test("a recent time is that of now or up to 20 ms more, while the thread works or waits", async () => {
  for (let i = 0; i < 40; i++) {
    const [before, recent, after] = [threadCpuMs(), recentThreadCpuMs(), threadCpuMs()];
    expect(recent).toBeGreaterThanOrEqual(before - 5); // The kernel and the clock count differently.
    expect(recent).toBeLessThanOrEqual(after + 21);
    if (i % 2 === 0) work(i % 7);
    else await Bun.sleep(i % 9);
  }
});
