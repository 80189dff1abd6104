/**
 * A name server on loopback that speaks the DNS wire format over UDP and TCP. A map of records and a
 * map of failures define its responses. Like a resolver, it follows aliases within its records.
 */

import dgram from "node:dgram";
import net from "node:net";
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  RECURSION_AVAILABLE,
  TRUNCATED_RESPONSE,
  type Answer,
  type DecodedPacket,
  type Packet,
} from "dns-packet";
import type { DnsServer } from "../../src/protocols/dns/servers.ts";

/** Records of one name. An MX record is written as in a zone file: `10 mx.example.com`. */
export type TestRecords = {
  A?: readonly string[];
  AAAA?: readonly string[];
  /** As in a zone file, without quotation marks: `0 issue ca.example`. */
  CAA?: readonly string[];
  MX?: readonly string[];
  NS?: readonly string[];
  PTR?: readonly string[];
  /** An inner list is one record of several strings. */
  TXT?: readonly (string | readonly string[])[];
  CNAME?: string;
};

/**
 * The failures of the server:
 * - timeout: it does not respond.
 * - malformed: it responds with the right id and then random bytes.
 * - servfail, refused: it responds with that code.
 * - truncate: over UDP it sets the TC flag, so that clients use TCP.
 * - no-tcp: the same, but it closes TCP connections.
 * - no-edns: it answers queries with EDNS with FORMERR.
 * - wrong-id, wrong-question, wrong-port: it sends only a forged response with that defect.
 * - forged: it sends all three forged responses, and then the right one.
 */
export type DnsFailure =
  | "timeout"
  | "malformed"
  | "servfail"
  | "refused"
  | "truncate"
  | "no-tcp"
  | "no-edns"
  | "wrong-id"
  | "wrong-question"
  | "wrong-port"
  | "forged";

export type TestDnsOptions = {
  /** The IPv4 address to listen on; the default is 127.0.0.1. */
  address?: string;
  /** Records by name in lower case. A name also exists if a name below it has records. */
  records?: Record<string, TestRecords>;
  /** Failures by name and type (`example.com MX`), by name, or for all queries (`*`). */
  failures?: Record<string, DnsFailure>;
  /** TTL of all records. */
  ttlSeconds?: number;
  /** MINIMUM field of the SOA record in negative responses; null if they have no SOA record. */
  negativeSeconds?: number | null;
};

export type TestDns = {
  /** Address and port, as the client expects them. */
  server: DnsServer;
  /** The records; a test may change them while the server runs. */
  records: Record<string, TestRecords>;
  /** The failures; a test may change them while the server runs. */
  failures: Record<string, DnsFailure>;
  /** All queries in order, as `example.com MX udp`. */
  queries: string[];
  /** Source ports and ids of the queries over UDP. */
  sources: { port: number; id: number }[];
  /** Returns the number of queries that begin with this text, such as `example.com MX`. */
  count(question: string): number;
  close(): Promise<void>;
};

export async function startDnsServer(options: TestDnsOptions = {}): Promise<TestDns> {
  const sockets = new Set<net.Socket>();
  const { address = "127.0.0.1" } = options;
  const { udp, tcp, port } = await bind(address);
  const forger = dgram.createSocket("udp4");
  const state: TestDns = {
    server: { address, port },
    records: { ...options.records },
    failures: { ...options.failures },
    queries: [],
    sources: [],
    count: (question) => state.queries.filter((query) => query.startsWith(question)).length,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      forger.close();
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ]);
    },
  };

  udp.on("message", (bytes, from) => {
    const query = decode(bytes);
    const failure = recordQuery(state, query, "udp");
    state.sources.push({ port: from.port, id: query.id ?? 0 });
    const send = (answer: Buffer, by = udp) => by.send(answer, from.port, from.address);
    if (failure === "wrong-port") return send(encode(respond(query, state, options)), forger);
    if (failure === "forged") {
      send(encode(forge(query, state, options, "wrong-id")));
      send(encode(forge(query, state, options, "wrong-question")));
      send(encode(respond(query, state, options)), forger);
    }
    const answer = answerTo(query, failure, { state, options });
    if (answer !== null) send(fitUdp(query, answer, failure));
  });

  tcp.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes: Buffer) => {
      const query = decode(bytes.subarray(2));
      const failure = recordQuery(state, query, "tcp");
      if (failure === "no-tcp") return socket.destroy();
      const answer = answerTo(query, failure, { state, options });
      if (answer === null) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // The response is sent in two parts, as a network may deliver it.
      socket.write(Buffer.concat([length, answer.subarray(0, 1)]));
      setImmediate(() => socket.write(answer.subarray(1)));
    });
  });
  return state;
}

type Bound = { udp: dgram.Socket; tcp: net.Server; port: number };

/** Binds a port that is free for both TCP and UDP. */
async function bind(address: string): Promise<Bound> {
  const tcp = net.createServer();
  await new Promise<void>((resolve) => tcp.listen(0, address, resolve));
  const at = tcp.address();
  if (at === null || typeof at === "string") throw new Error("the server does not listen on TCP");
  const udp = dgram.createSocket("udp4");
  const isBound = await new Promise<boolean>((resolve) => {
    udp.once("error", () => resolve(false));
    udp.bind(at.port, address, () => resolve(true));
  });
  if (isBound) return { udp, tcp, port: at.port };
  await new Promise<void>((resolve) => tcp.close(() => resolve()));
  return bind(address);
}

type Context = { state: TestDns; options: TestDnsOptions };

function recordQuery(state: TestDns, query: DecodedPacket, by: "udp" | "tcp"): DnsFailure | null {
  const { name, type } = questionOf(query);
  state.queries.push(`${name} ${type} ${by}`);
  const { failures } = state;
  return failures[`${name} ${type}`] ?? failures[name] ?? failures["*"] ?? null;
}

function questionOf(query: DecodedPacket): { name: string; type: string } {
  const [question] = query.questions ?? [];
  return { name: question?.name.toLowerCase() ?? "", type: question?.type ?? "A" };
}

/** Returns the encoded response, or null if the server does not respond. */
function answerTo(
  query: DecodedPacket,
  failure: DnsFailure | null,
  { state, options }: Context,
): Buffer | null {
  switch (failure) {
    case "timeout":
      return null;
    case "malformed":
      return Buffer.concat([encode(header(query, 0)).subarray(0, 12), Buffer.alloc(20, 0xff)]);
    case "servfail":
      return encode(header(query, 2));
    case "refused":
      return encode(header(query, 5));
    case "no-edns":
      if ((query.additionals?.length ?? 0) > 0)
        return encode({ ...header(query, 1), questions: [] });
      break;
    case "wrong-id":
    case "wrong-question":
      return encode(forge(query, state, options, failure));
    default:
  }
  return encode(respond(query, state, options));
}

function forge(
  query: DecodedPacket,
  state: TestDns,
  options: TestDnsOptions,
  failure: "wrong-id" | "wrong-question",
): Packet {
  const right = respond(query, state, options);
  const answers = [record("A", questionOf(query).name, 300, "198.51.100.66")];
  return failure === "wrong-id"
    ? { ...right, answers, id: ((query.id ?? 0) + 1) % 0x1_0000 }
    : { ...right, answers, questions: [{ type: "A", class: "IN", name: "other.test" }] };
}

/** Replaces a response that is too large with a truncated one (RFC 1035 §4.2.1, RFC 6891 §6.2.3). */
function fitUdp(query: DecodedPacket, answer: Buffer, failure: DnsFailure | null): Buffer {
  const opt = query.additionals?.find((additional) => additional.type === "OPT");
  const limit = opt?.type === "OPT" ? opt.udpPayloadSize : 512;
  const isForced = failure === "truncate" || failure === "no-tcp";
  if (answer.length <= limit && !isForced) return answer;
  const { flags } = decode(answer);
  return encode({ ...header(query, 0), flags: (flags ?? 0) | TRUNCATED_RESPONSE });
}

function header(query: DecodedPacket, code: number): Packet {
  return {
    type: "response",
    id: query.id ?? 0,
    flags: AUTHORITATIVE_ANSWER | RECURSION_AVAILABLE | code,
    questions: query.questions ?? [],
  };
}

function respond(query: DecodedPacket, state: TestDns, options: TestDnsOptions): Packet {
  const { name, type } = questionOf(query);
  const { ttlSeconds = 300, negativeSeconds = 60 } = options;
  const answers: Answer[] = [];
  let owner = name;
  for (let steps = 0; steps < 20; steps++) {
    const alias = state.records[owner]?.CNAME;
    if (alias === undefined) break;
    answers.push(record("CNAME", owner, ttlSeconds, alias));
    owner = alias.toLowerCase();
  }
  const found = recordsOf(owner, type, state.records[owner] ?? {}, ttlSeconds);
  const hasSoa = found.length === 0 && negativeSeconds !== null;
  const authorities = hasSoa ? [soa(owner, negativeSeconds)] : [];
  const code = exists(owner, state.records) ? 0 : 3;
  return { ...header(query, code), answers: [...answers, ...found], authorities };
}

function exists(name: string, records: Record<string, TestRecords>): boolean {
  if (name in records) return true;
  return Object.keys(records).some((each) => each.endsWith(`.${name}`));
}

function recordsOf(name: string, type: string, records: TestRecords, ttl: number): Answer[] {
  switch (type) {
    case "A":
    case "AAAA":
    case "NS":
    case "PTR":
      return (records[type] ?? []).map((data) => record(type, name, ttl, data));
    case "MX":
      return (records.MX ?? []).map((text) => {
        const [preference, exchange = "."] = text.split(" ");
        return { type, name, ttl, data: { preference: Number(preference), exchange } };
      });
    case "CAA":
      return (records.CAA ?? []).map((text) => {
        const [flags, word, ...value] = text.split(" ");
        const tag = CAA_TAGS.find((each) => each === word) ?? "iodef";
        const data = { issuerCritical: flags === "128", tag, value: value.join(" ") };
        return { type, name, ttl, data };
      });
    case "TXT":
      return (records.TXT ?? []).map((data) => ({ type, name, ttl, data: [data].flat() }));
    default:
      return [];
  }
}

const CAA_TAGS = ["issue", "issuewild", "iodef"] as const;

function record(
  type: "A" | "AAAA" | "NS" | "PTR" | "CNAME",
  name: string,
  ttl: number,
  data: string,
): Answer {
  return { type, name, ttl, data };
}

function soa(name: string, minimum: number): Answer {
  const data = { mname: "ns.test", rname: "hostmaster.test", serial: 1, minimum };
  return { type: "SOA", name, ttl: 3_600, data };
}
