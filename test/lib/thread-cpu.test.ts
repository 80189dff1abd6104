import { expect, test } from "bun:test";
import { cpuMsOfThread, threadCpuMs, threadNumber } from "../../src/lib/thread-cpu.ts";

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
