import { describe, expect, test } from "bun:test";
import { createPublicKey, sign, verify } from "node:crypto";
import {
  dkimRecord,
  generateDkimKeys,
  isDkimRecord,
  publishesKey,
  readPrivateKey,
} from "../../../src/protocols/dkim/keys.ts";
import { threadCpuMs } from "../../../src/lib/thread-cpu.ts";
import { dkimPairs } from "../../support/dkim.ts";

describe("a generated pair", () => {
  test("is RSA with 2048 bits, and Ed25519", async () => {
    const pairs = await dkimPairs();
    expect(pairs.map(({ algorithm }) => algorithm)).toEqual(["rsa-sha256", "ed25519-sha256"]);
    const [rsa, ed] = pairs.map(({ privateKey }) => readPrivateKey(privateKey));
    expect(rsa?.asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(ed?.asymmetricKeyType).toBe("ed25519");
  });

  test("publishes the public half of its private key", async () => {
    const [rsa, ed] = await dkimPairs();
    const data = Buffer.from("data");
    const rsaPublic = createPublicKey({
      key: Buffer.from(rsa?.publicKey ?? "", "base64"),
      type: "spki",
      format: "der",
    });
    const rsaSignature = sign("sha256", data, readPrivateKey(rsa?.privateKey ?? Buffer.alloc(0)));
    expect(verify("sha256", data, rsaPublic, rsaSignature)).toBe(true);
    // RFC 8463 §4: 32 bare octets, 44 characters.
    expect(ed?.publicKey).toMatch(/^[\w+/]{43}=$/);
    const edPublic = createPublicKey({
      key: {
        kty: "OKP",
        crv: "Ed25519",
        x: Buffer.from(ed?.publicKey ?? "", "base64").toString("base64url"),
      },
      format: "jwk",
    });
    const edSignature = sign(null, data, readPrivateKey(ed?.privateKey ?? Buffer.alloc(0)));
    expect(verify(null, data, edPublic, edSignature)).toBe(true);
  });

  test("differs each time, and its generation does not block the event loop", async () => {
    const [ofProcess, ofThread] = [process.cpuUsage(), threadCpuMs()];
    const one = await generateDkimKeys();
    const { user, system } = process.cpuUsage(ofProcess);
    expect((threadCpuMs() - ofThread) / ((user + system) / 1_000)).toBeLessThan(0.5);
    const two = await dkimPairs();
    expect(new Set([...one, ...two].map(({ publicKey }) => publicKey)).size).toBe(4);
  });
});

describe("a record", () => {
  test("publishes the key", () => {
    for (const algorithm of ["rsa-sha256", "ed25519-sha256"] as const) {
      expect(publishesKey(dkimRecord(algorithm, "AB+/="), algorithm, "AB+/=")).toBe(true);
    }
    expect(publishesKey(dkimRecord("rsa-sha256", "AB"), "ed25519-sha256", "AB")).toBe(false);
  });

  const cases: [record: string, isOne: boolean][] = [
    ["v=DKIM1; p=AB", true],
    ["p=", true],
    ["v=spf1 -all", false],
    ["hello", false],
    ["", false],
  ];
  test.each(cases)("%j is a key record: %p", (record, isOne) => {
    expect(isDkimRecord(record)).toBe(isOne);
  });
});
