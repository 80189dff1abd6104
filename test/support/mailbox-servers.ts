/**
 * Small servers of mailboxes on loopback: IMAP and POP3 as the standards say, and hostile ones that a
 * test writes as a function of the connection.
 */

import net from "node:net";
import tls from "node:tls";

type StoredMessage = { uid: number; raw: string; isSeen: boolean };

export type MailboxState = {
  username: string;
  password: string;
  uidValidity: number;
  messages: StoredMessage[];
  /** The commands that were received, without their tags. */
  commands: string[];
  capabilities: string;
  /** Called before a command is answered; true ends the connection instead. */
  breaksAt: (command: string) => boolean;
  /** The refusal that answers a command instead, without its tag; null if it is answered. */
  refuses: (command: string) => string | null;
};

export type MailboxServer = { port: number; state: MailboxState; close: () => Promise<void> };

/** Adds a message, and returns its UID. */
export function deliver({ messages }: MailboxState, raw: string): number {
  const uid = (messages.at(-1)?.uid ?? 10) + 3;
  messages.push({ uid, raw: raw.replaceAll(/\r?\n/g, "\r\n"), isSeen: false });
  return uid;
}

type Certificate = { key: string; cert: string };

async function listen(
  serve: (socket: net.Socket) => void,
  certificate?: Certificate,
): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<net.Socket>();
  const accept = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A client that leaves in the middle of an answer is expected.
    socket.on("error", () => socket.destroy());
    serve(socket);
  };
  const server =
    certificate === undefined ? net.createServer(accept) : tls.createServer(certificate, accept);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    port: address.port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A server that does what `serve` says with each connection and with each line that it gets. */
export const hostileServer = (
  greet: (socket: net.Socket) => void,
  answer: (line: string, socket: net.Socket) => void = () => {},
) =>
  listen((socket) => {
    onLines(socket, (line) => answer(line, socket));
    greet(socket);
  });

function onLines(socket: net.Socket, onLine: (line: string) => void): void {
  let rest = "";
  socket.on("data", (chunk: Buffer) => {
    rest += chunk.toString("latin1");
    for (let end = rest.indexOf("\r\n"); end !== -1; end = rest.indexOf("\r\n")) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      onLine(line);
    }
  });
}

function newState(): MailboxState {
  return {
    username: "bounces@acme.test",
    password: 'p "w\\d',
    uidValidity: 7,
    messages: [],
    commands: [],
    capabilities: "IMAP4rev1 AUTH=PLAIN",
    breaksAt: () => false,
    refuses: () => null,
  };
}

export async function imapServer(certificate?: Certificate): Promise<MailboxServer> {
  const state = newState();
  const server = await listen((socket) => serveImap(socket, state), certificate);
  return { ...server, state };
}

function serveImap(socket: net.Socket, state: MailboxState): void {
  let plainTag: string | null = null;
  let isLoggedIn = false;
  const send = (...lines: string[]) => socket.write(lines.map((line) => `${line}\r\n`).join(""));
  send("* OK [CAPABILITY IMAP4rev1] ready");
  onLines(socket, (line) => {
    if (plainTag !== null) {
      const given = Buffer.from(line, "base64").toString().split("\0");
      isLoggedIn = given[1] === state.username && given[2] === state.password;
      send(`${plainTag} ${isLoggedIn ? "OK done" : `NO wrong: ${line}`}`);
      plainTag = null;
      return;
    }
    const [tag = "", ...words] = line.split(" ");
    const command = words.join(" ");
    state.commands.push(command);
    if (state.breaksAt(command)) return void socket.destroy();
    const refusal = state.refuses(command);
    if (refusal !== null) return void send(`${tag} ${refusal}`);
    if (command === "CAPABILITY")
      return void send(`* CAPABILITY ${state.capabilities}`, `${tag} OK`);
    if (command === "AUTHENTICATE PLAIN") {
      plainTag = tag;
      return void send("+ ");
    }
    if (command.startsWith("LOGIN ")) {
      isLoggedIn = command === String.raw`LOGIN "${state.username}" "p \"w\\d"`;
      return void send(`${tag} ${isLoggedIn ? "OK" : "NO wrong"}`);
    }
    if (command === "LOGOUT") return void send("* BYE see you", `${tag} OK`);
    if (!isLoggedIn) return void send(`${tag} BAD not now`);
    answerImap({ tag, command }, state, socket);
  });
}

function answerImap(
  { tag, command }: { tag: string; command: string },
  state: MailboxState,
  socket: net.Socket,
): void {
  const { messages, uidValidity } = state;
  const send = (...lines: string[]) => socket.write(lines.map((line) => `${line}\r\n`).join(""));
  const [, from] = /^UID SEARCH UID (\d+):\* SINCE \d+-\w{3}-\d{4}$/.exec(command) ?? [];
  const [, fetched, first, count] =
    /^UID FETCH (\d+) \(UID BODY\.PEEK\[\]<(\d+)\.(\d+)>\)$/.exec(command) ?? [];
  const [, stored] = /^UID STORE (\d+) \+FLAGS\.SILENT \(\\Seen\)$/.exec(command) ?? [];
  if (command === 'SELECT "INBOX"') {
    send(
      `* ${messages.length} EXISTS`,
      "* FLAGS (\\Seen)",
      `* OK [UIDVALIDITY ${uidValidity}] valid`,
    );
    send(`${tag} OK [READ-WRITE] selected`);
  } else if (from !== undefined) {
    const last = messages.at(-1)?.uid;
    const found = messages.filter(({ uid }) => uid >= Number(from) || uid === last);
    send(["* SEARCH", ...found.map(({ uid }) => uid).toReversed()].join(" "), `${tag} OK`);
  } else if (fetched !== undefined) {
    const index = messages.findIndex(({ uid }) => uid === Number(fetched));
    const raw = messages[index]?.raw;
    if (raw === undefined) return void send(`${tag} OK nothing`);
    const part = raw.slice(Number(first), Number(first) + Number(count));
    // Another client changed a flag meanwhile.
    send("* 1 FETCH (FLAGS (\\Seen) UID 1)");
    send(`* ${index + 1} FETCH (BODY[]<0> {${Buffer.byteLength(part)}}`);
    socket.write(part);
    send(` UID ${fetched})`, `${tag} OK`);
  } else if (stored !== undefined) {
    for (const message of messages) if (message.uid === Number(stored)) message.isSeen = true;
    send(`${tag} OK`);
  } else send(`${tag} BAD ${command}`);
}

export async function pop3Server(): Promise<MailboxServer> {
  const state = newState();
  const server = await listen((socket) => servePop3(socket, state));
  return { ...server, state };
}

function servePop3(socket: net.Socket, state: MailboxState): void {
  const send = (...lines: string[]) => socket.write(lines.map((line) => `${line}\r\n`).join(""));
  const removed = new Set<number>();
  let isLoggedIn = false;
  send("+OK ready");
  onLines(socket, (line) => {
    const [word = "", argument = ""] = line.split(/ (.*)/);
    const number = Number(argument);
    const message = state.messages[number - 1];
    state.commands.push(line);
    if (state.breaksAt(line)) return void socket.destroy();
    const refusal = state.refuses(line);
    if (refusal !== null) return void send(refusal);
    if (word === "USER") return void send("+OK");
    if (word === "PASS") {
      isLoggedIn = argument === state.password;
      return void send(isLoggedIn ? "+OK" : `-ERR wrong password ${argument}`);
    }
    if (word === "QUIT") {
      state.messages = state.messages.filter((_, index) => !removed.has(index + 1));
      return void send("+OK bye");
    }
    if (!isLoggedIn) return void send("-ERR not now");
    if (word === "UIDL") {
      return void send(
        "+OK",
        ...state.messages.map(({ uid }, index) => `${index + 1} u${uid}`),
        ".",
      );
    }
    if (message === undefined) return void send("-ERR no such message");
    if (word === "DELE") removed.add(number);
    if (word === "RETR") {
      const text = message.raw.endsWith("\r\n") ? message.raw : `${message.raw}\r\n`;
      send("+OK");
      socket.write(text.replaceAll(/^\./gm, ".."));
      return void send(".");
    }
    send("+OK");
  });
}
