/**
 * A name server on loopback that speaks the wire format over UDP and TCP. What it knows is a plain
 * map of records; what must go wrong is a plain map of failures. It answers as a resolver would:
 * aliases are followed within its map.
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
import type { DnsServer } from "../../src/lib/dns/servers.ts";

/** Records of one name. MX as in a zone file: `10 mx.example.com`. */
export type TestRecords = {
  A?: readonly string[];
  AAAA?: readonly string[];
  MX?: readonly string[];
  NS?: readonly string[];
  PTR?: readonly string[];
  /** A list within the list is one record of several strings. */
  TXT?: readonly (string | readonly string[])[];
  CNAME?: string;
};

/**
 * - timeout: no answer. malformed: our id and then noise. servfail, refused, formerr: the code.
 * - truncate: over UDP always "ask by TCP". no-tcp: the same, and then TCP is closed.
 * - no-edns: FORMERR to every question with EDNS. wrong-id, wrong-question, wrong-port: what a
 *   forger would send, and nothing else; forged: the same, and then the right answer.
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
  /** By name in lower case. A name exists if one below it does. */
  records?: Record<string, TestRecords>;
  /** By name and type, as in `example.com MX`, by name, or `*` for all. */
  failures?: Record<string, DnsFailure>;
  /** Of all records. */
  ttlSeconds?: number;
  /** Last field of the SOA record that comes with "no"; null: there is none. */
  negativeSeconds?: number | null;
};

export type TestDns = {
  /** For the client. */
  server: DnsServer;
  /** Both may be changed while it runs. */
  records: Record<string, TestRecords>;
  failures: Record<string, DnsFailure>;
  /** `example.com MX udp` for each question, in order. */
  queries: string[];
  /** The ports that questions came from over UDP, and their ids. */
  sources: { port: number; id: number }[];
  /** How many questions began like this: `example.com MX`. */
  count(question: string): number;
  close(): Promise<void>;
};

export async function startDns(options: TestDnsOptions = {}): Promise<TestDns> {
  const sockets = new Set<net.Socket>();
  const { udp, tcp, port } = await bind();
  const forger = dgram.createSocket("udp4");
  const state: TestDns = {
    server: { address: "127.0.0.1", port },
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
    const failure = note(state, query, "udp");
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
      const failure = note(state, query, "tcp");
      if (failure === "no-tcp") return socket.destroy();
      const answer = answerTo(query, failure, { state, options });
      if (answer === null) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      // In two pieces, as a network may deliver it.
      socket.write(Buffer.concat([length, answer.subarray(0, 1)]));
      setImmediate(() => socket.write(answer.subarray(1)));
    });
  });
  return state;
}

/** One port that is free over TCP and over UDP. */
async function bind(): Promise<{ udp: dgram.Socket; tcp: net.Server; port: number }> {
  const tcp = net.createServer();
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const address = tcp.address();
  if (address === null || typeof address === "string") throw new Error("not listening on TCP");
  const udp = dgram.createSocket("udp4");
  const isBound = await new Promise<boolean>((resolve) => {
    udp.once("error", () => resolve(false));
    udp.bind(address.port, "127.0.0.1", () => resolve(true));
  });
  if (isBound) return { udp, tcp, port: address.port };
  await new Promise<void>((resolve) => tcp.close(() => resolve()));
  return bind();
}

type Context = { state: TestDns; options: TestDnsOptions };

function note(state: TestDns, query: DecodedPacket, by: "udp" | "tcp"): DnsFailure | null {
  const { name, type } = questionOf(query);
  state.queries.push(`${name} ${type} ${by}`);
  const { failures } = state;
  return failures[`${name} ${type}`] ?? failures[name] ?? failures["*"] ?? null;
}

function questionOf(query: DecodedPacket): { name: string; type: string } {
  const [question] = query.questions ?? [];
  return { name: question?.name.toLowerCase() ?? "", type: question?.type ?? "A" };
}

/** Null where nothing is said. */
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

/** RFC 1035 §4.2.1, RFC 6891 §6.2.3: what does not fit is left out, and that is said. */
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
    case "TXT":
      return (records.TXT ?? []).map((data) => ({ type, name, ttl, data: [data].flat() }));
    default:
      return [];
  }
}

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
