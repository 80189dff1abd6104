import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDescriptorGuard } from "../../src/http/descriptor-guard.ts";
import { createLog } from "../../src/lib/log.ts";
import { freePort, processorMs } from "../../scripts/bench/children.ts";
import { startMailstead } from "../support/cli.ts";
import { manualClock } from "../support/clock.ts";

/** A process with 10 descriptors, of which 2 are reserved and `used` are taken by connections. */
function setUp() {
  const clock = manualClock();
  const lines: string[] = [];
  const state = {
    used: 0,
    reserve: 0,
    isListening: true,
    isSubstituteOpen: false,
    canListen: true,
  };
  const free = () => 10 - state.used - state.reserve;
  const guard = createDescriptorGuard({
    clock,
    every(ms, run) {
      let cancel = clock.after(ms, next);
      function next() {
        cancel = clock.after(ms, next);
        run();
      }
      return () => cancel();
    },
    log: createLog({ level: "debug", format: "text", write: (line) => lines.push(line) }),
    reserve: {
      acquire() {
        if (state.reserve === 0 && free() >= 4) state.reserve = 2;
        return state.reserve > 0;
      },
      release: () => void (state.reserve = 0),
    },
    hasFreeDescriptor: () => free() > 0,
    listener: {
      close: () => void (state.isListening = false),
      open() {
        if (!state.canListen) throw new Error("the address is in use");
        state.isListening = true;
      },
    },
    openSubstitute() {
      state.isSubstituteOpen = true;
      return { close: () => void (state.isSubstituteOpen = false) };
    },
  });
  guard.start();
  const shown = () => [state.isListening, state.isSubstituteOpen, state.reserve];
  return { clock, guard, lines, state, shown };
}

describe("the guard of file descriptors", () => {
  test("allows connections to use all descriptors but the reserve", () => {
    const { clock, shown, state } = setUp();
    state.used = 7;
    clock.advance(1_000);
    expect(shown()).toEqual([true, false, 2]);
  });

  test("closes the listener if no descriptor is free, and opens it again when enough are", () => {
    const { clock, guard, lines, shown, state } = setUp();
    state.used = 8;
    clock.advance(100);
    expect(shown()).toEqual([false, true, 0]);
    expect(guard.isExhausted()).toBe(true);
    state.used = 7;
    clock.advance(1_000);
    expect(shown()).toEqual([false, true, 0]); // Only one would be free beside the reserve.
    state.used = 6;
    clock.advance(100);
    expect(shown()).toEqual([true, false, 2]);
    expect(guard.isExhausted()).toBe(false);
    expect(lines).toHaveLength(1);
  });

  test("closes the substitute for a second if it has used up the reserve", () => {
    const { clock, shown, state } = setUp();
    state.used = 8;
    clock.advance(100);
    state.used = 10;
    clock.advance(100);
    expect(shown()).toEqual([false, false, 0]);
    state.used = 9;
    clock.advance(900);
    expect(shown()).toEqual([false, false, 0]);
    clock.advance(100);
    expect(shown()).toEqual([false, true, 0]);
  });

  test("tries again if it cannot listen", () => {
    const { clock, shown, state } = setUp();
    state.used = 8;
    clock.advance(100);
    state.canListen = false;
    state.used = 0;
    clock.advance(100);
    expect(shown()).toEqual([false, false, 0]);
    state.canListen = true;
    clock.advance(100);
    expect(shown()).toEqual([true, false, 2]);
  });

  test("logs repeated exhaustion within a minute once", () => {
    const { clock, lines, state } = setUp();
    for (let i = 0; i < 20; i++) {
      state.used = 8;
      clock.advance(1_000);
      state.used = 0;
      clock.advance(1_000);
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("WARN");
    clock.advance(60_000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain("INFO");
    state.used = 8;
    clock.advance(100);
    expect(lines).toHaveLength(3);
  });

  test("releases the reserve and closes the substitute when it stops", () => {
    const { clock, guard, shown, state } = setUp();
    state.used = 8;
    clock.advance(100);
    guard.stop();
    expect(shown()).toEqual([false, false, 0]);
    state.used = 0;
    clock.advance(10_000);
    expect(state.isListening).toBe(false);
  });
});

/** Descriptor limit of the process, which needs about 20 itself and reserves 16. */
const LIMIT = 64;
const WATCHED_MS = 400;

test("a server without free descriptors takes little CPU time, answers /readyz, and recovers", async () => {
  const data = mkdtempSync(join(tmpdir(), "mailstead-test-"));
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const words = ["serve", "--data", data, "--port", String(port), "--log-format", "json"];
  const server = await startMailstead(words, (greeting) => greeting.includes("transport"), {
    maxDescriptors: LIMIT,
  });
  const sockets: Socket[] = [];
  const flood = (count: number) => {
    for (let i = 0; i < count; i++) {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.on("error", () => undefined); // The server refuses or closes some connections.
      sockets.push(socket);
    }
  };
  const ready = async (): Promise<number> => {
    const signal = AbortSignal.timeout(1_000);
    const response = await fetch(`${url}/readyz`, { signal }).catch(() => null);
    await response?.arrayBuffer();
    return response?.status ?? 0;
  };
  const until = async (status: number): Promise<void> => {
    const deadline = performance.now() + 15_000;
    while ((await ready()) !== status) {
      if (performance.now() > deadline) throw new Error(`/readyz is not ${status}`);
      await Bun.sleep(50);
    }
  };

  await until(200);
  flood(150);
  await until(503);
  const before = processorMs(server.child.pid);
  await Bun.sleep(WATCHED_MS);
  expect(processorMs(server.child.pid) - before).toBeLessThan(WATCHED_MS / 4);
  flood(150); // These connections go to the substitute.
  await Bun.sleep(WATCHED_MS);
  expect(processorMs(server.child.pid) - before).toBeLessThan(WATCHED_MS / 2);
  await until(503);
  for (const socket of sockets) socket.destroy();
  await until(200);
  expect((await fetch(`${url}/livez`)).status).toBe(200);

  const { code, log } = await server.stop();
  rmSync(data, { recursive: true });
  expect(code).toBe(0);
  const lines = log.split("\n").filter((line) => /"level":"(?:warn|error)"/.test(line));
  const own = lines.filter((line) => !line.includes("event loop held"));
  expect(own).toEqual([expect.stringContaining("file descriptors are used up")]);
}, 60_000);
