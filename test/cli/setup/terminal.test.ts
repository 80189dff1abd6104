/** The questions of setup in a terminal, and the wait for DNS records. */

import { describe, expect, test } from "bun:test";
import { hostRecords, watchRecords } from "../../../src/cli/setup/dns-watch.ts";
import { checkSubmission } from "../../../src/cli/setup/interview.ts";
import { createPrompter, SetupStopped } from "../../../src/cli/setup/terminal.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { manualClock } from "../../support/clock.ts";
import { testStreams } from "../../support/command-line.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { waitUntil } from "../../support/eventually.ts";

function prompterOf(stdin: string | ReadableStream<Uint8Array>) {
  const streams = testStreams({ stdin });
  return { ...streams, prompter: createPrompter(streams.io, { isInteractive: true }) };
}

test.each([
  ["0.0.0.0:587", false],
  ["[::]:587", false],
  ["127.0.0.1:587", true],
  ["[::1]:587", true],
  ["none", true],
])("without a certificate, %s for passwords is allowed: %p", (answer, isAllowed) => {
  expect(checkSubmission("submission", answer).ok).toBe(isAllowed);
});

describe("a question", () => {
  test("takes a line, and Enter takes the shown value", async () => {
    const { prompter, written } = prompterOf("mail.shop.example\r\n\n");
    expect(await prompter.ask("Host", null)).toBe("mail.shop.example");
    expect(await prompter.ask("Domain", "shop.example")).toBe("shop.example");
    expect(written.stdout).toBe("Host: Domain [shop.example]: ");
  });

  test("without a shown value is asked again", async () => {
    const { prompter, written } = prompterOf("\n  \nx\n");
    expect(await prompter.ask("Host", null)).toBe("x");
    expect(written.stdout).toBe("Host: Host: Host: ");
  });

  test("of yes or no takes nothing else", async () => {
    const { prompter } = prompterOf("perhaps\nY\n\nno\n");
    const answers = [];
    for (const fallback of [false, true, true])
      answers.push(await prompter.confirm("Go on", fallback));
    expect(answers).toEqual([true, true, false]);
  });

  test("of a password keeps its blanks, and is not shown while it is typed", async () => {
    const { prompter, io } = prompterOf(" hush \n");
    const shown: boolean[] = [];
    io.stdin.showTyping = (isShown) => void shown.push(isShown);
    expect(await prompter.askHidden("Password")).toBe(" hush ");
    expect(shown).toEqual([false, true]);
  });

  test.each([
    ["the end of the input", "half a line"],
    ["a line without an end", "x".repeat(20_000)],
  ])("ends the setup at %s", (_, stdin) => {
    expect(prompterOf(stdin).prompter.ask("Host", null)).rejects.toBeInstanceOf(SetupStopped);
  });

  test("ends the setup with Ctrl-C, and shows the typing again", async () => {
    const { prompter, io, stop } = prompterOf(new ReadableStream());
    const shown: boolean[] = [];
    io.stdin.showTyping = (isShown) => void shown.push(isShown);
    const asked = prompter.askHidden("Password");
    stop();
    expect(asked).rejects.toBeInstanceOf(SetupStopped);
    await asked.catch(() => {});
    expect(shown).toEqual([false, true]);
    await prompter.close();
  });
});

describe("the wait for DNS records", () => {
  type State = Awaited<ReturnType<typeof watchRecords>>;
  const line = (
    name: string,
    state: "ok" | "missing",
    isRequired = false,
    value = "v",
  ): State["lines"][number] => ({
    type: "TXT",
    name,
    value,
    state,
    isRequired,
    note: "ask the relay",
  });

  /** Runs the watch on a clock of its own; `states` are those of the checks, the last one stays. */
  async function watch(states: readonly State["lines"][], mayWait = true) {
    const clock = manualClock();
    const { prompter } = prompterOf("");
    const said: string[] = [];
    const pauses: number[] = [];
    let checks = 0;
    const state = { isDone: false };
    const context = { clock, prompter, say: (text: string) => void said.push(text) };
    const watching = watchRecords(
      context,
      async () => ({
        isVerified: false,
        lines: states[Math.min(checks++, states.length - 1)] ?? [],
      }),
      { mayWait },
    ).finally(() => (state.isDone = true));
    while (!state.isDone) {
      await waitUntil(() => state.isDone || clock.untilNextTimer() < Infinity);
      if (state.isDone) break;
      pauses.push(clock.untilNextTimer() / 1000);
      clock.advance(clock.untilNextTimer());
    }
    await watching;
    return { checks, pauses, said };
  }

  test("ends when all are right, and shows each one that has become right", async () => {
    const { pauses, said } = await watch([
      [line("a", "missing", true), line("b", "missing")],
      [line("a", "missing", true), line("b", "missing")],
      [line("a", "ok", true), line("b", "missing")],
      [line("a", "ok", true), line("b", "ok")],
    ]);
    expect(pauses).toEqual([2, 3, 2]);
    expect(said.slice(-2)).toEqual(["  ok        TXT   a     v", "  ok        TXT   b     v"]);
  });

  test("goes on after a minute if only recommended ones are left", async () => {
    const { pauses } = await watch([
      [line("a", "missing", true), line("b", "missing")],
      [line("a", "ok", true), line("b", "missing")],
    ]);
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBe(62);
  });

  test("waits at most half an hour, with pauses of at most a minute", async () => {
    const { pauses, checks } = await watch([[line("a", "missing", true)]]);
    expect(pauses.reduce((sum, each) => sum + each, 0)).toBe(30 * 60);
    expect(Math.max(...pauses)).toBe(60);
    expect(checks).toBeLessThan(50);
  });

  test("does not wait for a value that only the relay knows, nor with --no-wait", async () => {
    const unknown = await watch([[line("a", "ok", true), line("b", "missing", false, "")]]);
    expect([unknown.pauses, unknown.said.at(-1)]).toEqual([
      [],
      "  missing   TXT   b     (ask the relay)",
    ]);
    expect((await watch([[line("a", "missing", true)]], false)).pauses).toEqual([]);
  });
});

test("the records of the host name are its addresses, and their names if it sends mail", async () => {
  const server = await startDnsServer({
    records: {
      "mail.shop.example": { A: ["8.8.4.4"] },
      "4.4.8.8.in-addr.arpa": { PTR: ["elsewhere.example"] },
    },
  });
  const dns = createDns({ servers: [server.server], clock: systemClock });
  const of = async (addresses: string[], isSending = true, hostname = "mail.shop.example") =>
    (await hostRecords(dns, { hostname, addresses, isSending })).map(
      ({ type, name, value, state }) => `${type} ${name} ${value} ${state}`,
    );
  expect(await of(["8.8.4.4"])).toEqual([
    "A mail.shop.example 8.8.4.4 ok",
    "PTR 8.8.4.4 mail.shop.example differs",
  ]);
  expect(await of(["9.9.9.9", "2001:db8::1"], false)).toEqual([
    "A mail.shop.example 9.9.9.9 differs",
    "AAAA mail.shop.example 2001:db8::1 differs",
  ]);
  expect(await of([], false)).toEqual(["A mail.shop.example 8.8.4.4 ok"]);
  expect(await of([], true, "new.shop.example")).toEqual(["A new.shop.example  missing"]);
  dns.close();
  await server.close();
});
