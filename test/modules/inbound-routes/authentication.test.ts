/** SPF, DKIM, DMARC and ARC of received mail, and the one result that refuses it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { sealMessage } from "mailauth/lib/arc";
import { ReceiveRefusal } from "../../../src/modules/inbound-routes/refusal.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { signMessage } from "../../../src/protocols/dkim/sign.ts";
import { waitUntil } from "../../support/eventually.ts";
import { valueAt } from "../../support/json.ts";
import { type InboundApp, inboundApp, mail } from "./inbound-app.ts";
import { inboundReceiving } from "../../../src/modules/inbound-routes/inbound-routes.ts";
import { inboundTargets } from "../../../src/modules/inbound-routes/inbound-routes.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");
const TO = "support@in.acme.test";
const ALLOWED = "8.8.8.8";
const OTHER = "1.1.1.1";

let t: InboundApp;
beforeAll(async () => {
  t = await inboundApp();
  await t.start();
  await t.route(TO);
  const { records } = t.server;
  for (const policy of ["reject", "quarantine", "none"]) {
    const name = `${policy}.example`;
    records[name] = { TXT: [`v=spf1 ip4:${ALLOWED} -all`] };
    records[`_dmarc.${name}`] = { TXT: [`v=DMARC1; p=${policy}`] };
    records[`s1._domainkey.${name}`] = {
      TXT: [`v=DKIM1; p=${p}`.match(/.{1,255}/g) ?? []],
    };
  }
});
beforeEach(() => {
  for (const name of Object.keys(t.server.failures)) delete t.server.failures[name];
});
afterAll(() => t.close());

const message = (domain: string): Buffer =>
  Buffer.from(mail([`From: ada@${domain}`, `To: ${TO}`, "Subject: Hi"]));

const signed = (domain: string): Promise<Uint8Array> => {
  const keys = [{ algorithm: "rsa-sha256" as const, selector: "s1", privateKey }];
  return signMessage(message(domain), { domain, keys }, new Date(systemClock.now()));
};

/** Receives a message from this address. Returns the results in the event, or the refusal. */
async function receive(
  raw: Uint8Array,
  sender: string,
  peer: string,
  routes = [TO],
): Promise<unknown> {
  const [receiving, targets] = [inboundReceiving(t.app.app), inboundTargets(t.app.app)];
  const target = targets.find(TO);
  if (target === null) throw new Error("there is no route");
  const arrival = receiving.open(target.projectSeq);
  await arrival.add(raw);
  const { projectSeq } = target;
  const to = {
    projectSeq,
    recipients: [TO],
    routes,
    forwardTo: [],
    about: null,
    host: "in.acme.test",
  };
  try {
    const { signal } = new AbortController();
    await arrival.complete(
      { sender, peer, helo: "mx.example.net", trace: Buffer.of(), signal },
      to,
    );
  } catch (error) {
    if (error instanceof ReceiveRefusal) return `${error.code} ${error.message}`;
    throw error;
  }
  const data = t.received().at(-1);
  return ["spf", "dkim", "dmarc", "arc"].map((name) => valueAt(data, name)).join(" ");
}

describe("a mail is accepted or refused", () => {
  const refused =
    "550 5.7.1 The mail is not authentic: DMARC fails for reject.example, whose policy is p=reject";
  const cases: [what: string, domain: string, peer: string, result: string][] = [
    ["from an allowed address", "reject.example", ALLOWED, "pass none pass none"],
    ["from another one, p=reject", "reject.example", OTHER, refused],
    ["from another one, p=quarantine", "quarantine.example", OTHER, "fail none fail none"],
    ["from another one, p=none", "none.example", OTHER, "fail none fail none"],
    ["through a proxy", "reject.example", "172.17.0.1", "skipped none fail none"],
    ["of a domain without records", "unknown.example", OTHER, "none none none none"],
  ];
  test.each(cases)("%s", async (_, domain, peer, result) => {
    expect(await receive(message(domain), `ada@${domain}`, peer)).toBe(result);
  });

  test("signed, from another address", async () => {
    const raw = await signed("reject.example");
    expect(await receive(raw, "ada@elsewhere.example", OTHER)).toBe("none pass pass none");
  });

  test("signed, and changed on the way", async () => {
    const raw = Buffer.from(await signed("reject.example"))
      .toString()
      .replace("Hello", "Hullo");
    expect(await receive(Buffer.from(raw), "ada@reject.example", OTHER)).toBe(refused);
  });

  test("later, if the look-ups fail", async () => {
    t.server.records["_dmarc.later.example"] = { TXT: ["v=DMARC1; p=reject"] };
    t.server.failures["later.example TXT"] = "servfail";
    expect(await receive(message("later.example"), "ada@later.example", OTHER)).toBe(
      "451 4.7.0 The sender cannot be verified now, try again later",
    );
  });

  test("with a chain of ARC", async () => {
    const seal = { signingDomain: "none.example", selector: "s1", privateKey: pem() };
    const raw = message("unknown.example");
    const set = await sealMessage(raw, { ...seal, authResults: "mx; none", cv: "none" });
    const sealed = Buffer.concat([set, raw]);
    expect(await receive(sealed, "ada@unknown.example", OTHER)).toBe("none none none pass");
    const broken = Buffer.from(sealed.toString("latin1").replace("Subject: Hi", "Subject: Ho"));
    expect(await receive(broken, "ada@unknown.example", OTHER)).toBe("none none none fail");
  });
});

describe("what a sender adds does not prevent the policy p=reject", () => {
  const SIGNATURE = "DKIM-Signature: v=1; a=rsa-sha256; d=evil.example; s=s; h=from; bh=a; b=b\r\n";
  const junk: [what: string, fields: string][] = [
    ["11 signatures", SIGNATURE.repeat(11)],
    ["22 fields of ARC", "ARC-Seal: i=1; a=rsa-sha256; d=x; s=y\r\n".repeat(22)],
    ["64 KiB of header", `X: ${"a".repeat(900)}\r\n`.repeat(80)],
    ["64 KiB of folded header", `X: a${"\r\n a".repeat(20_000)}\r\n`],
  ];
  const withFields = (fields: string) =>
    Buffer.concat([Buffer.from(fields), message("reject.example")]);

  test.each(junk)("%s", async (_, fields) => {
    const refused =
      "550 5.7.1 The mail is not authentic: DMARC fails for reject.example, whose policy is p=reject";
    expect(await receive(withFields(fields), "ada@reject.example", OTHER)).toBe(refused);
    expect(await receive(withFields(fields), "ada@reject.example", ALLOWED)).toBe(
      "pass permerror permerror permerror",
    );
  });

  const later = "451 4.7.0 The sender cannot be verified now, try again later";
  test("a slow record of SPF", async () => {
    t.server.failures["slow.example"] = "timeout";
    // The policy is in the cache then, so that the time limit is about SPF only.
    await receive(message("reject.example"), "ada@reject.example", ALLOWED);
    t.server.queries.splice(0);
    const reply = receive(message("reject.example"), "x@slow.example", OTHER);
    await waitUntil(() => t.server.count("slow.example TXT") > 0);
    t.clock.advance(20_000);
    expect(await reply).toBe(later);
  });

  test("a policy whose look-up fails", async () => {
    t.server.records["unsure.example"] = { TXT: ["v=spf1 -all"] };
    t.server.failures["_dmarc.unsure.example"] = "servfail";
    expect(await receive(message("unsure.example"), "x@unsure.example", OTHER)).toBe(later);
  });

  test.each([
    ["a header of more than a MiB", `X: ${"a".repeat(900)}\r\n`.repeat(1_200)],
    ["fields From of more than 64 KiB", `From: (${"\r\n a".repeat(20_000)}) a@evil.example\r\n`],
  ])("%s", async (_, fields) => {
    expect(await receive(withFields(fields), "ada@reject.example", OTHER)).toBe(
      "552 5.3.4 The header of the message is too large",
    );
  });
});

describe("a message whose From names several domains", () => {
  const refused =
    "550 5.7.1 The mail is not authentic: DMARC fails for reject.example, whose policy is p=reject";
  const reject = "From: ada@reject.example";
  const allowed = "From: x@none.example";
  const unclear: [what: string, fields: string[]][] = [
    ["two fields, the second one of p=reject", [allowed, reject]],
    ["two fields, the first one of p=reject", [reject, allowed]],
    [
      "a name without quotes between them",
      ["From: x@none.example <ada@reject.example> <b@c.test>"],
    ],
    ["a second field with a blank before its colon", [allowed, "from : ada@reject.example"]],
    ["addresses of two domains", ["From: x@none.example, ada@reject.example"]],
    ["addresses of two domains on two lines", ["From: x@none.example,\n ada@reject.example"]],
    ["a group of two domains", ["From: all: x@none.example, ada@reject.example;"]],
    ["two addresses without a comma", ["From: x@none.example ada@reject.example"]],
    ["two addresses in brackets", ["From: <x@none.example> <ada@reject.example>"]],
    ["an address in a comment without an end", ["From: x@none.example (<ada@reject.example>"]],
    ["an address with two domains", ["From: x@none.example@reject.example"]],
    ["a comment in a comment", ["From: (a(b) x@none.example) ada@reject.example"]],
    ["an escaped bracket in a comment", ["From: (a\\) x@none.example) ada@reject.example"]],
    ["an escaped quote in a name", ['From: "\\" <x@none.example>" <ada@reject.example>']],
    ["a NUL in a name", ["From: ada@reject.example\0 <x@none.example>"]],
    [
      "an encoded word behind an address",
      ["From: x@none.example =?utf-8?q?ada=40reject.example?="],
    ],
  ];
  const raw = (fields: readonly string[]) =>
    Buffer.from(mail([...fields, `To: ${TO}`, "Subject: Hi"]));

  test.each(unclear)("is refused if only the mild one passes: %s", async (_, fields) => {
    for (const peer of [OTHER, ALLOWED]) {
      expect(await receive(raw(fields), "x@none.example", peer)).toBe(refused);
    }
  });

  test.each(unclear)("is received if the strict one passes: %s", async (_, fields) => {
    expect(await receive(raw(fields), "ada@reject.example", ALLOWED)).toStartWith("pass none ");
  });

  test.each(unclear)("has the result of the strict one behind a proxy: %s", async (_, fields) => {
    expect(await receive(raw(fields), "x@none.example", "172.17.0.1")).toBe(
      "skipped none fail none",
    );
  });

  test.each([
    ["no field", []],
    ["an empty field", ["From:"]],
    ["no address", ["From: MAILER-DAEMON"]],
  ])("has no policy with %s", async (_, fields) => {
    expect(await receive(raw(fields), "x@none.example", ALLOWED)).toBe("pass none none none");
  });

  test("of which there are more than ten is refused", async () => {
    const addresses = Array.from({ length: 11 }, (_, i) => `a@d${i}.example`);
    const [ten, eleven] = [10, 11].map((n) => raw([`From: ${addresses.slice(0, n).join(", ")}`]));
    expect(await receive(ten ?? raw([]), "x@none.example", ALLOWED)).toBe("pass none none none");
    expect(await receive(eleven ?? raw([]), "x@none.example", ALLOWED)).toStartWith("552 5.3.4 ");
  });

  test.each([
    ["several addresses of one domain", "From: ada@reject.example, bob@reject.example"],
    ["a name with an address", "From: x@none.example via List <list@reject.example>"],
    ["a quoted name with a comma", 'From: "x@none.example, Ada" <ada@reject.example>'],
    ["a name with a comment", "From: Ada (x@none.example) <ada@reject.example>"],
    ["a field on two lines", "From: Ada\n <ada@reject.example>"],
  ])("is not one with %s", async (_, field) => {
    expect(await receive(raw([field]), "ada@reject.example", ALLOWED)).toBe("pass none pass none");
  });

  test("is received as a bounce of forwarded mail", async () => {
    const before = t.countRows("received_mails");
    await receive(raw([allowed, reject]), "", OTHER, []);
    await receive(raw([]), "", OTHER, []);
    expect(t.countRows("received_mails")).toBe(before + 2);
  });
});

test("the record has the verdicts in full", async () => {
  await receive(message("reject.example"), "ada@reject.example", ALLOWED);
  const record = await t.call("GET", "/received-mails?limit=1");
  expect(record.at("data.items.0.authentication.spf")).toMatchObject({
    result: "pass",
    domain: "reject.example",
  });
  expect(record.at("data.items.0.authentication.dmarc")).toEqual({
    result: "pass",
    domain: "reject.example",
    info: "p=reject",
  });
});

describe("a domain that is shown as another one", () => {
  const refused =
    "550 5.7.1 The mail is not authentic: DMARC fails for reject.example, whose policy is p=reject";
  const forms: [what: string, domain: string][] = [
    ["full-width letters", "\uff52\uff45\uff4a\uff45\uff43\uff54.example"],
    ["an ideographic full stop", "reject\u3002example"],
    ["a zero-width space", "re\u200bject.example"],
    ["a soft hyphen", "re\u00adject.example"],
    ["blanks around its dot", "reject . example"],
    ["comments around its dot", "reject(a).(b)example"],
    ["a final dot", "reject.example."],
    ["a label above it that is no host name", "x_y.reject.example"],
    ["a label above it that cannot exist", "x!y.reject.example"],
  ];
  test.each(forms)("has the policy of the one that is shown: %s", async (_, domain) => {
    for (const from of [`ada@${domain}`, `Ada <ada@${domain}>`]) {
      const raw = Buffer.from(mail([`From: ${from}`, `To: ${TO}`, "Subject: Hi"]));
      expect(await receive(raw, "x@none.example", ALLOWED)).toMatch(
        /^550 5\.7\.1 .* DMARC fails for (?:\w+\.)?reject\.example, /,
      );
    }
  });

  test("is the domain of the contact as well", async () => {
    await t.sent("ceo@reject.example");
    const field = "From: (a(b) x@none.example) ceo@\uff52eject.example";
    const raw = Buffer.from(mail([field, `To: ${TO}`, "Subject: Hi"]));
    expect(await receive(raw, "x@none.example", ALLOWED)).toBe(refused);
    expect(await receive(raw, "x@reject.example", ALLOWED)).toBe("pass none fail none");
    const record = await t.call("GET", "/received-mails?limit=1");
    expect(record.at("data.items.0.from")).toBe("ceo@reject.example");
    // DMARC fails for one of the domains that mail programs may show.
    expect(record.at("data.items.0.contactId")).toBeNull();
  });
});

test("only a mail that passes DMARC is tied to the contact with the address of From", async () => {
  await t.sent("ada@reject.example");
  await t.sent("ada@none.example");
  const contactOf = async (domain: string, peer: string) => {
    await receive(message(domain), `ada@${domain}`, peer);
    return (await t.call("GET", "/received-mails?limit=1")).at("data.items.0.contactId");
  };
  expect(await contactOf("reject.example", ALLOWED)).toEqual(
    expect.stringMatching(/^[0-9a-f-]{36}$/),
  );
  expect(await contactOf("none.example", OTHER)).toBeNull();
});

test("a hostile message causes at most 60 look-ups", async () => {
  const { records, queries } = t.server;
  const includes = Array.from({ length: 30 }, (_, i) => `include:i${i}.many.example`).join(" ");
  records["many.example"] = { TXT: [`v=spf1 ${includes} -all`] };
  for (let i = 0; i < 30; i++) {
    records[`i${i}.many.example`] = { TXT: ["v=spf1 mx a exists:%{i}.many.example ?all"] };
  }
  const sets = Array.from({ length: 60 }, (_, i) => `ARC-Seal: i=${i + 1}; a=rsa-sha256; d=x; s=y`);
  const raw = (fields: readonly string[]) => Buffer.from(mail([...fields, "From: a@many.example"]));
  queries.splice(0);
  let signed: Uint8Array = raw([]);
  for (let i = 0; i < 10; i++) {
    const keys = [{ algorithm: "rsa-sha256" as const, selector: "s", privateKey }];
    const signer = { domain: `d${i}.example`, keys };
    signed = await signMessage(signed, signer, new Date(systemClock.now()));
  }
  await receive(signed, "a@many.example", OTHER);
  expect(queries.length).toBeGreaterThan(10);
  expect(queries.length).toBeLessThanOrEqual(60);
  queries.splice(0);
  expect(await receive(raw(sets), "a@many.example", OTHER)).toEndWith(
    " permerror permerror permerror",
  );
  expect(queries.length).toBeLessThanOrEqual(60);
});

function pem(): string {
  return privateKey.export({ type: "pkcs8", format: "pem" });
}
