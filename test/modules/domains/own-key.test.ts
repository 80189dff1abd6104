/** A domain that keeps the DKIM key that it has already, with a real DNS server. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { systemClock } from "../../../src/lib/clock.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { startDnsServer, type TestDns } from "../../support/dns-server.ts";
import { expectError } from "../../support/refusal.ts";
import { statuses } from "../../support/zone.ts";
import { ACCEPTED, type TestTransport, testTransport } from "../../support/transport.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const shortRsa = generateKeyPairSync("rsa", { modulusLength: 512 });
const ed25519 = generateKeyPairSync("ed25519");
const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" });

const pkcs8 = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" });
const RSA_PEM = rsa.privateKey.export({ type: "pkcs1", format: "pem" });
const spki = rsa.publicKey.export({ type: "spki", format: "der" }).toString("base64");
const pkcs1 = rsa.publicKey.export({ type: "pkcs1", format: "der" }).toString("base64");
const bare = ed25519.publicKey
  .export({ type: "spki", format: "der" })
  .subarray(-32)
  .toString("base64");

let t: TestApp;
let dns: TestDns;
let transport: TestTransport;

beforeAll(async () => {
  dns = await startDnsServer();
  transport = testTransport({ answer: ACCEPTED });
  t = await testApp({
    transport,
    dns: createDns({ servers: [dns.server], clock: systemClock, tries: 1, timeoutMs: 1_000 }),
  });
});
afterAll(async () => {
  await t.close();
  await dns.close();
});

function publishAt(name: string, record: string): void {
  dns.records[name] = { TXT: [record.match(/.{1,255}/g) ?? []] };
}

const add = (domain: string, dkim: object) => t.call("POST", "/domains", { domain, dkim });

async function signaturesOf(from: string): Promise<string[]> {
  const before = transport.handed.length;
  const mail = { to: "a@example.net", from, subject: "Moved", body: "<p>Hello</p>" };
  await t.create("/v1/send", mail, "data.emails.0.email");
  await t.deliver();
  const message = Buffer.from(transport.handed[before]?.object.message ?? "");
  const { results } = await dkimVerify(message, {
    resolver: async (name) => dns.records[name]?.TXT?.map((texts) => [texts].flat()) ?? [],
  });
  return results.map(({ selector, algo, status }) => `${selector} ${algo} ${status.result}`);
}

test.each([
  ["plain.test", `v=DKIM1; k=rsa; p=${spki}`],
  ["folded.test", `k=rsa; t=s; p=${spki.slice(0, 60)} ${spki.slice(60)}`],
  ["old-form.test", `v=DKIM1; h=sha1:sha256; p=${pkcs1}`],
])(
  "signs the mail of %s with the key that the DNS has, which need not change",
  async (domain, record) => {
    publishAt(`s1._domainkey.${domain}`, record);
    const added = await add(domain, { selector: "S1", privateKey: RSA_PEM });
    expect(added.status).toBe(201);
    expect(statuses(added.at("data"))[0]).toBe("DKIM TXT PENDING");
    expect(added.at("data.records.0")).toMatchObject({
      name: `s1._domainkey.${domain}`,
      required: true,
    });
    const checked = await t.call("POST", `/domains/${added.text("data.id")}/verify`);
    expect([checked.text("data.status"), checked.text("data.records.0.status")]).toEqual([
      "VERIFIED",
      "OK",
    ]);
    expect(await signaturesOf(`news@${domain}`)).toEqual(["s1 rsa-sha256 pass"]);
  },
);

test("an Ed25519 key that is the only one is the required record", async () => {
  publishAt("ed._domainkey.short.test", `v=DKIM1; k=ed25519; p=${bare}`);
  const added = await add("short.test", {
    selector: "ed",
    privateKey: pkcs8(ed25519.privateKey),
  });
  expect(added.at("data.records.0.required")).toBe(true);
  const checked = await t.call("POST", `/domains/${added.text("data.id")}/verify`);
  expect(checked.text("data.status")).toBe("VERIFIED");
  expect(await signaturesOf("news@short.test")).toEqual(["ed ed25519-sha256 pass"]);
});

test("the key is stored sealed, and is in no answer", async () => {
  const secret = rsa.privateKey.export({ type: "pkcs8", format: "der" }).subarray(-100);
  const record = `v=DKIM1; p=${spki}`;
  const added = await add("sealed.test", { selector: "s1", privateKey: RSA_PEM, record });
  expect(added.status).toBe(201);
  const stored = t.db.sqlite.serialize();
  expect(Buffer.from(stored).includes(secret)).toBe(false);
  expect(JSON.stringify(added.body)).not.toContain(RSA_PEM.slice(40, 90));
});

test("a domain with generated keys takes the key that the DNS has, once", async () => {
  const generated = await t.call("POST", "/domains", { domain: "later.test" });
  const record = `v=DKIM1; p=${spki}`;
  const own = { selector: "s1", privateKey: RSA_PEM };
  expectError(await add("later.test", { ...own, record }), { status: 409, code: "CONFLICT" });
  publishAt("s1._domainkey.later.test", record);
  const taken = await add("later.test", own);
  expect([taken.status, taken.text("data.id")]).toEqual([200, generated.text("data.id")]);
  expect(taken.text("data.records.0.name")).toBe("s1._domainkey.later.test");
  expect(statuses(taken.at("data")).filter((each) => each.startsWith("DKIM"))).toHaveLength(1);
  const rows = () => t.countRows("dkim_keys");
  const before = rows();
  expect((await add("later.test", { ...own, record })).status).toBe(200);
  expect((await t.call("POST", "/domains", { domain: "later.test" })).status).toBe(200);
  expect(rows()).toBe(before);
});

const FOLDED = `"p=${spki.slice(0, 200)}" "${spki.slice(200)}"`;

test.each([
  ["a record of a zone file", { record: `s1._domainkey IN TXT ( "v=DKIM1; " ${FOLDED} ) ; DKIM` }],
  ["a key in one line", { privateKey: RSA_PEM.replaceAll("\n", "") }],
  ["a key with escaped line breaks", { privateKey: RSA_PEM.replaceAll("\n", "\\n") }],
  ["a key with text around it", { privateKey: `Bag Attributes\n${RSA_PEM}\n# end` }],
])("reads %s", async (name, dkim) => {
  const input = { selector: "s1", privateKey: RSA_PEM, record: `p=${spki}`, ...dkim };
  const added = await add(`${name.replaceAll(" ", "-")}.test`, input);
  expect(added.at("data.records.0")).toMatchObject({ value: `v=DKIM1; k=rsa; p=${spki}` });
});

const encrypted = rsa.privateKey.export({
  type: "pkcs8",
  format: "pem",
  cipher: "aes-256-cbc",
  passphrase: "x",
});
const OTHER = `v=DKIM1; k=ed25519; p=${bare}`;

test.each<[string, object, string, string]>([
  ["a text", { privateKey: "no key" }, "dkim.privateKey", "must be one private key in PEM"],
  [
    "a public key",
    { privateKey: rsa.publicKey.export({ type: "spki", format: "pem" }) },
    "dkim.privateKey",
    "must be one private key in PEM",
  ],
  [
    "two keys",
    { privateKey: `${RSA_PEM}${RSA_PEM}` },
    "dkim.privateKey",
    "must be one private key",
  ],
  ["a record for other uses", { record: `s=tlsrpt; p=${spki}` }, "dkim.record", "does not publish"],
  ["an encrypted key", { privateKey: encrypted }, "dkim.privateKey", "without a passphrase"],
  ["512 bits", { privateKey: pkcs8(shortRsa.privateKey) }, "dkim.privateKey", "but it has 512"],
  ["another curve", { privateKey: pkcs8(elliptic.privateKey) }, "dkim.privateKey", "or Ed25519"],
  ["a long text", { privateKey: "x".repeat(10_001) }, "dkim.privateKey", "10000"],
  ["a name as selector", { selector: "s1._domainkey.x." }, "dkim.selector", "before ._domainkey"],
  ["an unpublished selector", { selector: "none" }, "dkim.selector", "has no TXT record"],
  ["the selector of another key", { selector: "other" }, "dkim.privateKey", "is not the key that"],
  ["a record for SHA-1 only", { selector: "sha1" }, "dkim.privateKey", "is not the key that"],
  ["a silent DNS without a record", { selector: "silent" }, "dkim.record", "gives no answer"],
  ["the record of another key", { record: OTHER }, "dkim.record", "does not publish the key"],
  ["a record of SPF", { record: "v=spf1 -all" }, "dkim.record", "does not publish the key"],
])("refuses %s by the name of the field, and adds no domain", async (_, dkim, field, reason) => {
  publishAt("other._domainkey.refused.test", OTHER);
  publishAt("sha1._domainkey.refused.test", `v=DKIM1; h=sha1; p=${spki}`);
  dns.failures["silent._domainkey.refused.test"] = "servfail";
  const before = [t.countRows("domains"), t.countRows("dkim_keys")];
  const refused = await add("refused.test", { selector: "s1", privateKey: RSA_PEM, ...dkim });
  expect([refused.status, refused.text("error.errors.0.field")]).toEqual([422, field]);
  expect(refused.text("error.errors.0.message")).toContain(reason);
  expect([t.countRows("domains"), t.countRows("dkim_keys")]).toEqual(before);
});
