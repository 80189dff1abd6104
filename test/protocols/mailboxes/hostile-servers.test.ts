/** Servers of mailboxes that send too much, too little or nonsense, and servers without valid TLS. */

import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { openImap } from "../../../src/protocols/mailboxes/imap.ts";
import { type MailboxWire, withWire } from "../../../src/protocols/mailboxes/mailbox-wire.ts";
import { openPop3 } from "../../../src/protocols/mailboxes/pop3.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { deliver, hostileServer, imapServer } from "../../support/mailbox-servers.ts";
import { makeCertificate } from "../../support/tls.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const LOGIN = { username: "a", password: "s3cret", folder: "INBOX" };
const MIB = 1024 * 1024;

type Options = { isEncrypted?: boolean; ca?: string; clock?: ReturnType<typeof manualClock> };

/** Returns the result of `use` with a connection to the port, or the message of its fault. */
function trial(
  port: number,
  use: (wire: MailboxWire) => Promise<unknown>,
  { isEncrypted = false, ca, clock = manualClock() }: Options = {},
): Promise<unknown> {
  const server = { host: "localhost", port, isEncrypted, ca };
  const options = { clock, addresses: ["127.0.0.1"], sessionMs: 60_000 };
  const { signal } = new AbortController();
  return withWire(server, { ...options, signal }, use).catch((error: unknown) =>
    error instanceof Error ? error.message : error,
  );
}

/** Sends the text again and again while the client reads, and counts what the system took. */
function flood(socket: Socket, text: string): void {
  const chunk = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

const readImap = (wire: MailboxWire, login = LOGIN): Promise<unknown> =>
  openImap(wire, login).then(async (session) => {
    await session.findUids(0, new Date(0));
    return session.read(5, MIB);
  });
const readPop3 = (wire: MailboxWire, login = LOGIN): Promise<unknown> =>
  openPop3(wire, login).then(async (session) => {
    await session.list();
    const raw = await session.read(1, MIB);
    return { octets: raw?.byteLength, isSpent: session.isSpent };
  });

/** An IMAP server that answers as it should, but for the commands in the table. */
const imap =
  (hostile: Record<string, (socket: Socket, tag: string) => void>) =>
  (line: string, socket: Socket): void => {
    const [tag = "", ...words] = line.split(" ");
    const command = words.join(" ");
    const found = Object.entries(hostile).find(([start]) => command.startsWith(start));
    if (found !== undefined) return found[1](socket, tag);
    if (command.startsWith("SELECT")) socket.write("* OK [UIDVALIDITY 1] valid\r\n");
    if (command.startsWith("UID SEARCH")) socket.write("* SEARCH 5\r\n");
    socket.write(`${tag} OK\r\n`);
  };
const pop3 =
  (hostile: Record<string, (socket: Socket) => void>) =>
  (line: string, socket: Socket): void => {
    const found = Object.entries(hostile).find(([start]) => line.startsWith(start));
    if (found !== undefined) return found[1](socket);
    socket.write(line === "UIDL" ? "+OK\r\n1 a\r\n.\r\n" : "+OK\r\n");
  };

const OK = (socket: Socket) => void socket.write("* OK ready\r\n");
const POP_OK = (socket: Socket) => void socket.write("+OK ready\r\n");
const NO_ANSWER = "no answer within 30 s";

type Attempt = [
  name: string,
  read: (wire: MailboxWire) => Promise<unknown>,
  greet: (socket: Socket) => unknown,
  answer: (line: string, socket: Socket) => void,
  expected: unknown,
];

test.each<Attempt>([
  [
    "an endless greeting",
    readImap,
    (s: Socket) => flood(s, "x"),
    () => {},
    "more than 262144 octets",
  ],
  [
    "a greeting of HTTP",
    readImap,
    (s: Socket) => s.write("HTTP/1.1 400\r\n"),
    () => {},
    "no answer of IMAP: HTTP/1.1 400",
  ],
  [
    "a server that ends",
    readImap,
    (s: Socket) => s.end("* BYE full\r\n"),
    () => {},
    "the server ended the session: * BYE full",
  ],
  [
    "endless short responses",
    readImap,
    OK,
    imap({ SELECT: (s) => flood(s, "* 1 RECENT\r\n") }),
    "more than was asked for",
  ],
  [
    "a huge literal",
    readImap,
    OK,
    imap({ SELECT: (s) => s.write("* X {4000000000}\r\n") }),
    "more than was asked for",
  ],
  [
    "many literals",
    readImap,
    OK,
    imap({ CAPABILITY: (s) => flood(s, "* X {4}\r\nabcd\r\n") }),
    "more than was asked for",
  ],
  [
    "an endless search",
    readImap,
    OK,
    imap({ "UID SEARCH": (s) => flood(s, "* SEARCH 1 2 3\r\n") }),
    "more than was asked for",
  ],
  [
    "an endless line of a search",
    readImap,
    OK,
    imap({ "UID SEARCH": (s) => flood(s, "* SEARCH 7 ") }),
    "more than 4194304 octets",
  ],
  [
    "a message longer than asked for",
    readImap,
    OK,
    imap({ "UID FETCH": (s) => s.write("* 1 FETCH (UID 5 BODY[]<0> {2000000}\r\n") }),
    "more than was asked for",
  ],
  [
    "a message that is gone",
    readImap,
    OK,
    imap({ "UID FETCH": (s, tag) => s.write(`${tag} NO gone\r\n`) }),
    null,
  ],
  ...[
    "NO [UNAVAILABLE] later",
    "NO [SERVERBUG] no such message",
    "NO backend has gone",
    "BAD x",
  ].map((refusal): Attempt => [
    `a message that is refused with ${refusal}`,
    readImap,
    OK,
    imap({ "UID FETCH": (s, tag) => s.write(`${tag} ${refusal}\r\n`) }),
    `message 5 was refused: ${refusal}`,
  ]),
  ...["[EXPUNGEISSUED] x", "Some of the requested messages no longer exist"].map(
    (refusal): Attempt => [
      `a message that is gone with ${refusal}`,
      readImap,
      OK,
      imap({ "UID FETCH": (s, tag) => s.write(`${tag} NO ${refusal}\r\n`) }),
      null,
    ],
  ),
  ...["[SYS/TEMP] later", "[SYS/TEMP] no such message", "cannot read it"].map(
    (refusal): Attempt => [
      `a message that is refused with -ERR ${refusal}`,
      readPop3,
      POP_OK,
      pop3({ RETR: (s) => s.write(`-ERR ${refusal}\r\n`) }),
      `message 1 was refused: -ERR ${refusal}`,
    ],
  ),
  [
    "a message that is gone in POP3",
    readPop3,
    POP_OK,
    pop3({ RETR: (s) => s.write("-ERR no such message, only 1 in maildrop\r\n") }),
    { octets: undefined, isSpent: false },
  ],
  [
    "a message of another UID",
    readImap,
    OK,
    imap({
      "UID FETCH": (s, tag) => s.write(`* 1 FETCH (UID 6 BODY[]<0> {1}\r\nx)\r\n${tag} OK\r\n`),
    }),
    null,
  ],
  [
    "a folder without UIDVALIDITY",
    readImap,
    OK,
    imap({ SELECT: (s, tag) => s.write(`${tag} OK\r\n`) }),
    "no UIDVALIDITY",
  ],
  [
    "no such folder",
    readImap,
    OK,
    imap({ SELECT: (s, tag) => s.write(`${tag} NO \u0007none\r\n`) }),
    "SELECT INBOX was refused: NO ?none",
  ],
  [
    "a password that is repeated",
    readImap,
    OK,
    imap({ LOGIN: (s, tag) => s.write(`${tag} NO not s3cret\r\n`) }),
    "refused the login: NO not ***",
  ],
  [
    "a question that was not asked for",
    readImap,
    OK,
    imap({ LOGIN: (s) => s.write("+ more?\r\n") }),
    "no answer of IMAP: + more?",
  ],
  [
    "an endless list",
    readPop3,
    POP_OK,
    pop3({ UIDL: (s) => (s.write("+OK\r\n"), flood(s, "1 a\r\n")) }),
    "more than 10000 messages",
  ],
  [
    "an endless line of a list",
    readPop3,
    POP_OK,
    pop3({ UIDL: (s) => (s.write("+OK\r\n"), flood(s, "1")) }),
    "more than 2048 octets",
  ],
  [
    "an endless message",
    readPop3,
    POP_OK,
    pop3({ RETR: (s) => (s.write("+OK\r\n"), flood(s, `${"x".repeat(998)}\r\n`)) }),
    { octets: MIB, isSpent: true },
  ],
  [
    "a message in one endless line",
    readPop3,
    POP_OK,
    pop3({ RETR: (s) => (s.write("+OK\r\n"), flood(s, ".")) }),
    { octets: MIB, isSpent: true },
  ],
  [
    "no UIDL",
    readPop3,
    POP_OK,
    pop3({ UIDL: (s) => s.write("-ERR what?\r\n") }),
    "UIDL was refused: -ERR what?",
  ],
  [
    "an answer of IMAP",
    readPop3,
    (s: Socket) => s.write("* OK\r\n"),
    () => {},
    "no answer of POP3: * OK",
  ],
])("%s is handled within the limits", async (_, read, greet, answer, expected) => {
  const server = await hostileServer(greet, answer);
  closers.push(server.close);
  const found = await trial(server.port, read);
  if (typeof expected === "string") expect(found).toContain(expected);
  else expect(found).toEqual(expected);
});

/** The longest processor time of an iteration of the event loop while `work` is done, in milliseconds. */
async function longestIteration(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isDone = false;
  const measure = (before: NodeJS.CpuUsage) => {
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    if (!isDone) setImmediate(measure, process.cpuUsage());
  };
  setImmediate(measure, process.cpuUsage());
  await work();
  await settleEventLoop();
  isDone = true;
  return longest;
}

test("24 MiB of blank lines do not hold the event loop", async () => {
  const message = Buffer.from(`+OK\r\n${"\r\n".repeat(12 * MIB)}.\r\n`);
  const answer = pop3({ RETR: (s) => s.write(message) });
  const server = await hostileServer(POP_OK, answer);
  closers.push(server.close);
  const longest = await longestIteration(async () => {
    expect(await trial(server.port, readPop3)).toEqual({ octets: MIB, isSpent: false });
  });
  expect(longest).toBeLessThan(200);
});

test("a search that finds 380,000 messages does not hold the event loop", async () => {
  const uids = Array.from({ length: 380_000 }, (_, n) => 1_000_000_000 + ((n * 123_457) % 380_041));
  const found = Buffer.from(
    `* SEARCH ${uids.join(" ")} 3\r\n* SEARCH\r\n* SEARCH 7 ${uids[0]}\r\n`,
  );
  const answer = imap({
    "UID SEARCH": (s, tag) => (s.write(found), s.write(`${tag} OK\r\n`)),
  });
  const server = await hostileServer(OK, answer);
  closers.push(server.close);
  let read: unknown;
  const longest = await longestIteration(async () => {
    read = await trial(server.port, async (wire) => {
      const session = await openImap(wire, LOGIN);
      return session.findUids(5, new Date(0));
    });
  });
  expect(read).toEqual([7, ...uids.toSorted((a, b) => a - b)]);
  expect(longest).toBeLessThan(100);
});

/** A server that answers the line with the password with what `say` makes of it. */
function repeater(say: (line: string) => string) {
  const answers = new Map([
    ["m1 CAPABILITY", "* CAPABILITY AUTH=PLAIN\r\nm1 OK\r\n"],
    ["m2 AUTHENTICATE PLAIN", "+ \r\n"],
    [`USER ${LOGIN.username}`, "+OK\r\n"],
  ]);
  return (line: string, socket: Socket) =>
    void socket.write(answers.get(line) ?? say(line), "latin1");
}

test.each<[string, typeof readImap, typeof OK, (line: string) => string, string]>([
  ["BYE", readImap, OK, (line) => `* BYE ${line}\r\n`, "ended the session: * BYE ***"],
  ["no answer of IMAP", readImap, OK, (line) => `${line}\r\n`, "no answer of IMAP: ***"],
  ["no answer of POP3", readPop3, POP_OK, (line) => `${line}\r\n`, "no answer of POP3: PASS ***"],
])("the password that a server repeats in %s is not shown", async (_, read, greet, say, shown) => {
  const server = await hostileServer(greet, repeater(say));
  closers.push(server.close);
  const found = await trial(server.port, (wire) => read(wire, { ...LOGIN, password: 'ü"s3cret' }));
  expect(found).toEndWith(shown);
});

test.each([
  ["that is silent", () => {}, NO_ANSWER],
  ["that stops in a line", (s: Socket) => s.write("* OK"), NO_ANSWER],
])("a server %s ends after 30 s", async (_, greet, expected) => {
  let isConnected = false;
  const server = await hostileServer((socket) => {
    isConnected = true;
    greet(socket);
  });
  closers.push(server.close);
  const clock = manualClock();
  const found = trial(server.port, readImap, { clock });
  await waitUntil(() => isConnected && clock.untilNextTimer() <= 30_000);
  clock.advance(31_000);
  expect(await found).toContain(expected);
});

test("a server that answers slowly ends with the time of the session", async () => {
  const clock = manualClock();
  let lines = 0;
  const server = await hostileServer(OK, (_, socket) => {
    const drip = () => {
      if (socket.destroyed) return;
      lines++;
      socket.write("* 1 RECENT\r\n");
      clock.advance(2_000);
      setImmediate(drip);
    };
    drip();
  });
  closers.push(server.close);
  expect(await trial(server.port, readImap, { clock })).toBe("no answer within 60 s");
  expect(lines).toBeLessThan(60);
});

test("over TLS, a certificate of an unknown authority or another name is refused", async () => {
  const good = makeCertificate(["localhost"]);
  const other = makeCertificate(["imap.acme.test"]);
  const [server, misnamed] = await Promise.all([imapServer(good), imapServer(other)]);
  closers.push(server.close, misnamed.close);
  server.state.username = LOGIN.username;
  server.state.password = LOGIN.password;
  deliver(server.state, "Subject: hi\r\n\r\n\u00e9\r\n");
  const read = async (wire: MailboxWire) => {
    const session = await openImap(wire, LOGIN);
    const [uid = 0] = await session.findUids(0, new Date(0));
    return Buffer.from((await session.read(uid, 4)) ?? "").toString();
  };
  expect(await trial(server.port, read, { isEncrypted: true, ca: good.ca })).toBe("Subj");
  for (const [port, ca] of [
    [server.port, other.ca],
    [server.port, undefined],
    [misnamed.port, other.ca],
  ] as const) {
    const options = ca === undefined ? {} : { ca };
    const found = await trial(port, read, { isEncrypted: true, ...options });
    expect(found).toContain("the certificate of localhost does not verify");
  }
  // A server without TLS never sees the password.
  const plain = await imapServer();
  closers.push(plain.close);
  expect(await trial(plain.port, read, { isEncrypted: true, ca: good.ca })).toContain("TLS:");
  expect(plain.state.commands).toEqual([]);
});
