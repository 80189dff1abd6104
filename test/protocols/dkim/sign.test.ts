import { beforeAll, describe, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { type Signer, signMessage } from "../../../src/protocols/dkim/sign.ts";
import { dkimRecord, generateDkimKeys, readPrivateKey } from "../../../src/protocols/dkim/keys.ts";
import { threadCpuMs } from "../../../src/lib/thread-cpu.ts";

const AT = new Date("2026-03-02T10:00:00.700Z");
const DOMAIN = "example.com";

let signer: Signer;
/** TXT records by name. */
const published = new Map<string, string>();

beforeAll(async () => {
  const pairs = await generateDkimKeys();
  const keys = pairs.map(({ algorithm, privateKey, publicKey }) => {
    const selector = algorithm === "rsa-sha256" ? "r1" : "e1";
    published.set(`${selector}._domainkey.${DOMAIN}`, dkimRecord(algorithm, publicKey));
    return { algorithm, selector, privateKey: readPrivateKey(privateKey) };
  });
  signer = { domain: DOMAIN, keys };
});

async function signed(message: string): Promise<string> {
  const bytes = await signMessage(Buffer.from(message, "latin1"), signer, AT);
  return Buffer.from(bytes).toString("latin1");
}

/** Results of an independent verifier, which shares no code with the signer. */
async function verified(message: string): Promise<string[]> {
  const { results } = await dkimVerify(Buffer.from(message, "latin1"), {
    resolver: async (name) => {
      const record = published.get(name);
      return record === undefined ? [] : [[record]];
    },
  });
  return results.map(({ status, algo, signingDomain }) =>
    [algo, signingDomain, status.result].join(" "),
  );
}

const BOTH_PASS = ["rsa-sha256 example.com pass", "ed25519-sha256 example.com pass"];

const HEADERS = [
  "From: Ada <ada@example.com>",
  "To: bob@example.net",
  "Subject: Hello",
  "Date: Mon, 02 Mar 2026 10:00:00 +0000",
  "Message-ID: <1@example.com>",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
];

function mail(body: string, headers: readonly string[] = []): string {
  return [...HEADERS, ...headers, "", body].join("\r\n");
}

/** The tags of the DKIM-Signature headers, unfolded, without white space. */
function tagsOf(message: string): Map<string, string>[] {
  const fields = message.split(/\r\n(?![ \t])/).filter((field) => field.startsWith("DKIM-"));
  return fields.map((field) => {
    const value = field.slice(field.indexOf(":") + 1).replace(/\s/g, "");
    const tags = value.split(";").map((tag): [string, string] => {
      const equals = tag.indexOf("=");
      return [tag.slice(0, equals), tag.slice(equals + 1)];
    });
    return new Map(tags);
  });
}

describe("the signature header", () => {
  test("names algorithm, domain, selector and time, and covers the whole body", async () => {
    const [rsa, ed, ...others] = tagsOf(await signed(mail("Hi\r\n")));
    expect(others).toEqual([]);
    for (const tags of [rsa, ed]) {
      expect(tags?.get("v")).toBe("1");
      expect(tags?.get("c")).toBe("relaxed/relaxed");
      expect(tags?.get("d")).toBe(DOMAIN);
      expect(tags?.get("t")).toBe("1772445600");
      expect([...(tags?.keys() ?? [])]).toEqual(["v", "a", "c", "d", "s", "t", "h", "bh", "b"]);
    }
    expect([rsa?.get("a"), rsa?.get("s")]).toEqual(["rsa-sha256", "r1"]);
    expect([ed?.get("a"), ed?.get("s")]).toEqual(["ed25519-sha256", "e1"]);
    expect(rsa?.get("bh")).toBe(ed?.get("bh") ?? "");
  });

  test("signs every header once more than it occurs", async () => {
    const [rsa] = tagsOf(await signed(mail("Hi\r\n", ["List-Unsubscribe: <https://e.com/u>"])));
    const twice = ["from", "to", "subject", "date", "message-id", "mime-version", "content-type"];
    const names = rsa?.get("h")?.split(":") ?? [];
    const countOf = (name: string) => names.filter((other) => other === name).length;
    for (const name of [...twice, "list-unsubscribe"])
      expect([name, countOf(name)]).toEqual([name, 2]);
    for (const name of ["cc", "reply-to", "list-unsubscribe-post"]) {
      expect([name, countOf(name)]).toEqual([name, 1]);
    }
    expect(names).not.toContain("feedback-id");
  });

  test("signs Feedback-ID if it is present", async () => {
    const [rsa] = tagsOf(await signed(mail("Hi\r\n", ["Feedback-ID: a:b:c:d"])));
    expect(rsa?.get("h")).toEndWith(":feedback-id:feedback-id");
  });

  test("has no line of more than 78 characters", async () => {
    const { fields, rest } = headLines(await signed(mail("Hi\r\n")));
    expect(fields.length).toBeGreaterThan(8);
    for (const line of fields) expect(line.length).toBeLessThanOrEqual(78);
    expect(rest).toBe(mail("Hi\r\n"));
  });

  test("has lines within the limit for the longest domain and selector", async () => {
    const label = "a".repeat(60);
    const domain = `${label}.${label}.${label}.${label}.example`;
    const keys = signer.keys.map((key) => ({ ...key, selector: "s".repeat(63) }));
    const bytes = await signMessage(Buffer.from(mail("Hi\r\n")), { domain, keys }, AT);
    const { fields } = headLines(Buffer.from(bytes).toString("latin1"));
    for (const line of fields) expect(line.length).toBeLessThanOrEqual(998);
  });
});

/** Splits a message into the lines of its signatures and the rest. */
function headLines(message: string): { fields: string[]; rest: string } {
  const end = message.indexOf("\r\nFrom:") + 2;
  return { fields: message.slice(0, end - 2).split("\r\n"), rest: message.slice(end) };
}

describe("an independent verifier accepts", () => {
  const cases: [why: string, message: string][] = [
    ["a plain mail", mail("Hello\r\n")],
    ["an empty body", mail("")],
    ["a body of blank lines", mail("\r\n\r\n  \r\n")],
    ["blank lines at the end", mail("Hello\r\n\r\n\r\n\r\n")],
    ["no line end at the end", mail("Hello")],
    ["blanks and tabs everywhere", mail("  a \t b\t\r\n\t\r\n \tc  \r\n \r\n")],
    ["dots in front of lines", mail(".\r\n..\r\n.x\r\n")],
    ["lines of 998 octets", mail(`${"x".repeat(998)}\r\n${"y z".repeat(332)}\r\n`)],
    ["no body and no blank line", HEADERS.join("\r\n")],
    ["a body of 200 kB", mail("line with  blanks \r\n".repeat(10_000))],
    [
      "folded headers",
      mail("a\r\n", ["List-Unsubscribe: <mailto:u@e.com>,\r\n\t <https://e.com/u>"]),
    ],
    ["odd white space in headers", mail("a\r\n", ["Reply-To \t:  \t x@example.com  \t"])],
    ["the same header twice", mail("a\r\n", ["Cc: a@example.com", "Cc: b@example.com"])],
    ["an empty header", mail("a\r\n", ["Cc:"])],
    ["UTF-8 in an address", mail("a\r\n", ["Cc: gr\xc3\xbc\xc3\x9fe@example.com"])],
    [
      "a feedback id and a list",
      mail("a\r\n", ["Feedback-ID: 1:2:3:4", "List-Id: <l.example.com>"]),
    ],
  ];
  test.each(cases)("%s", async (_, message) => {
    expect(await verified(await signed(message))).toEqual(BOTH_PASS);
  });

  test("mails with random white space", async () => {
    const random = seeded(6376);
    for (let i = 0; i < 60; i++) {
      const message = randomMail(random);
      const verdicts = await verified(await signed(message));
      expect({ message, verdicts }).toEqual({ message, verdicts: BOTH_PASS });
    }
  });
});

describe("an independent verifier detects", () => {
  const cases: [why: string, alter: (message: string) => string][] = [
    ["another word in the body", (text) => text.replace("Hello\r\n", "Hullo\r\n")],
    ["an additional line", (text) => `${text}more\r\n`],
    ["another subject", (text) => text.replace("Subject: Hello", "Subject: Hullo")],
    ["a second From", (text) => `From: Eve <eve@example.com>\r\n${text}`],
    ["a second Subject", (text) => `Subject: Win\r\n${text}`],
    ["a second To, at the end", (text) => text.replace("\r\n\r\n", "\r\nTo: e@e.com\r\n\r\n")],
    ["a Cc that was not there", (text) => `Cc: e@e.com\r\n${text}`],
    ["a Reply-To that was not there", (text) => `Reply-To: e@e.com\r\n${text}`],
    ["a List-Unsubscribe that was not there", (text) => `List-Unsubscribe: <x:>\r\n${text}`],
    ["another content type", (text) => `Content-Type: text/html\r\n${text}`],
  ];
  test.each(cases)("%s", async (_, alter) => {
    const verdicts = await verified(alter(await signed(mail("Hello\r\n"))));
    expect(verdicts).toHaveLength(2);
    for (const verdict of verdicts) expect(verdict).not.toEndWith("pass");
  });

  test("no change of white space, which servers may change on the way", async () => {
    const text = await signed(mail("Hello  you \r\n\r\n"));
    const altered = text
      .replace("Hello  you \r\n\r\n", "Hello you\r\n")
      .replace("Subject: Hello", "SUBJECT:\r\n\tHello");
    expect(await verified(altered)).toEqual(BOTH_PASS);
  });
});

test("a key that cannot sign throws and never returns an unsigned message", async () => {
  const [rsa, ed] = signer.keys;
  if (rsa === undefined || ed === undefined) throw new Error("two keys are needed");
  const keys = [{ ...rsa, privateKey: ed.privateKey }];
  const signing = signMessage(Buffer.from(mail("Hi")), { domain: DOMAIN, keys }, AT);
  expect(await signing.catch((error: unknown) => error)).toBeInstanceOf(Error);
});

test("RSA signatures are made outside of the event loop", async () => {
  const message = Buffer.from(mail("Hello\r\n"));
  const signMany = () =>
    Promise.all(Array.from({ length: 100 }, () => signMessage(message, signer, AT)));
  // The first round compiles the code, which costs the thread more than the signatures do.
  await signMany();
  const [ofProcess, ofThread] = [process.cpuUsage(), threadCpuMs()];
  await signMany();
  const { user, system } = process.cpuUsage(ofProcess);
  expect((threadCpuMs() - ofThread) / ((user + system) / 1_000)).toBeLessThan(0.5);
});

/** Mulberry32, a generator with the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns random text of words, blanks, tabs and line ends; header values are folded at blanks. */
function randomMail(random: () => number): string {
  const pick = (choices: readonly string[]) => choices[Math.floor(random() * choices.length)] ?? "";
  const some = (most: number, choices: readonly string[]) =>
    Array.from({ length: Math.floor(random() * most) }, () => pick(choices)).join("");
  const body = some(60, [
    "a",
    "bc",
    " ",
    "  ",
    "\t",
    "\r\n",
    "\r\n\r\n",
    " \r\n",
    ".",
    "\xe4",
    "=",
  ]);
  const value = () => `x${some(12, ["a", "b", " ", "\t", "\r\n ", "\r\n\t", ":", ";", "="])}x`;
  const headers = ["Subject", "Reply-To", "CC", "list-unsubscribe", "X-Other", "Feedback-ID"]
    .filter(() => random() < 0.6)
    .map((name) => `${name}${some(2, [" ", "\t"])}:${some(3, [" ", "\t"])}${value()}`);
  return ["From: ada@example.com", ...headers, "", body].join("\r\n");
}
