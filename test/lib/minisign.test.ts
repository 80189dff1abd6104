import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  generateMinisignKeys,
  MinisignError,
  signMinisign,
  verifyMinisign,
} from "../../src/lib/minisign.ts";

/** Made by minisign 0.11 for these tests, with -W and with -t "mailstead 1.2.3"; the content is "hi\n". */
const PUBLIC_LINE = "RWRcoYT1dz9uhNM21NYolaLMdXlOXHatwWx6b0jAd5MJrx4j612ww5x/";
const PUBLIC_KEY = `untrusted comment: minisign public key 846E3F77F584A15C\n${PUBLIC_LINE}\n`;
const SECRET_KEY = `untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAXKGE9Xc/boTD7qYbm7ItmdU5H+hb+DoqYqcoWufBCMy7ygrNLlHrM9M21NYolaLMdXlOXHatwWx6b0jAd5MJrx4j612ww5x/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
`;
const SIGNATURE_LINE =
  "RURcoYT1dz9uhGyRSKHYsTI2+kNjP4SqiVe3XX5LwvNRDCLtVthRKfun2DTT5Gmpsh7KZRvp+M87Mk9vZnTk6WXdqRKXR4gONgc=";
const GLOBAL_LINE =
  "JLBU0oWKSy5vejo7owCWOzTSi3mK73ckHGeBJmxqDOzqgwRR2STwVQpPNeVmQ3ANlyxcIgyQ7ueQf1roE/aJBw==";
const SIGNATURE = `untrusted comment: signature from minisign secret key
${SIGNATURE_LINE}
trusted comment: mailstead 1.2.3
${GLOBAL_LINE}
`;
const LEGACY = `untrusted comment: signature from minisign secret key
RWRcoYT1dz9uhOptYoUl+5YmXEfmqabYGGoHT1WniS+JLwl2nkoCV+3BchY4qB9hlB/RsPcs1cjwDf+gWgB+c5CGM0nHngNtlgI=
trusted comment: hi
9o462UBUpgzPKi7zRRQ0MM1t1iLP8laG8eFLz2jvvAsHdVlXMXfHEhub31dVgJOqgb5LjgVKI0H5rsIcXXrrDA==
`;
const PROTECTED_KEY = `untrusted comment: minisign encrypted secret key
RWRTY0IykIh0/PwC9gs0Fb8fhBzKEaa2LwTijfF0nqssfTH5U6IAAAACAAAAAAAAAEAAAAAAB7swuG/W6LCYnDAjBzUT1Cwh7ux6Cl2qFhWSb8WGONQAbi0I8IWEU02EkParwQhVWV8XCLHxeuo0US7tVZemSj6EeDnLSOYqaB+exTs+qqmHcVHWnykheyt7D+k7EUYvYSlyKnvShOI=
`;
const CONTENT = Buffer.from("hi\n");

const messageOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof MinisignError) return error.message;
    throw error;
  }
  return "accepted";
};

describe("a signature", () => {
  test("of minisign is accepted, with its trusted comment, and a digest serves as well", () => {
    const trusted = { trustedComment: "mailstead 1.2.3" };
    expect(verifyMinisign(CONTENT, SIGNATURE, PUBLIC_KEY)).toEqual(trusted);
    expect(verifyMinisign(CONTENT, SIGNATURE.replaceAll("\n", "\r\n"), PUBLIC_LINE)).toEqual(
      trusted,
    );
    const blake2b512 = createHash("blake2b512").update(CONTENT).digest();
    expect(verifyMinisign({ blake2b512 }, SIGNATURE, PUBLIC_KEY)).toEqual(trusted);
  });

  test("is the same as that of minisign, except for the untrusted comment", () => {
    const made = signMinisign(CONTENT, SECRET_KEY, { trustedComment: "mailstead 1.2.3" });
    expect(made.split("\n").slice(1)).toEqual(SIGNATURE.split("\n").slice(1));
  });

  test("of a new key pair is accepted by its own public key only", () => {
    const [own, other] = [generateMinisignKeys(), generateMinisignKeys()];
    const made = signMinisign(CONTENT, own.secretKey, { trustedComment: "é" });
    expect(verifyMinisign(CONTENT, made, own.publicKey).trustedComment).toBe("é");
    expect(messageOf(() => verifyMinisign(CONTENT, made, other.publicKey))).toMatch(
      /^The signature was made with the key [0-9A-F]{16}, not with [0-9A-F]{16}\.$/,
    );
  });

  const flip = (line: string, at: number): string =>
    line.slice(0, at) + (line[at] === "A" ? "B" : "A") + line.slice(at + 1);

  test.each<[string, { content?: Buffer; signature?: string; key?: string }, string]>([
    ["other content", { content: Buffer.from("ho\n") }, "does not fit the content"],
    [
      "a changed signature",
      { signature: SIGNATURE.replace(SIGNATURE_LINE, flip(SIGNATURE_LINE, 40)) },
      "does not fit the content",
    ],
    ["another comment", { signature: SIGNATURE.replace("1.2.3", "1.2.4") }, "trusted comment"],
    [
      "a changed second signature",
      { signature: SIGNATURE.replace(GLOBAL_LINE, flip(GLOBAL_LINE, 3)) },
      "trusted comment",
    ],
    ["the legacy format", { signature: LEGACY }, "legacy format"],
    ["an empty file", { signature: "" }, 'line 1 must begin with "untrusted comment: "'],
    [
      "no trusted comment",
      { signature: SIGNATURE.split("\n").slice(0, 2).join("\n") },
      'line 3 must begin with "trusted comment: "',
    ],
    [
      "no second signature",
      { signature: SIGNATURE.replace(GLOBAL_LINE, "") },
      "64 bytes in base64",
    ],
    [
      "a cut line",
      { signature: SIGNATURE.replace(SIGNATURE_LINE, SIGNATURE_LINE.slice(0, 40)) },
      "74",
    ],
    ["no base64", { signature: SIGNATURE.replace(SIGNATURE_LINE, "%".repeat(100)) }, "74 bytes"],
    ["a page of HTML", { signature: `<html>${"x".repeat(20_000)}` }, "longer than 16384"],
    ["an unknown algorithm", { signature: SIGNATURE.replace("RURc", "Rk9c") }, "unknown algorithm"],
    ["no key", { key: "untrusted comment: no key yet" }, "public key is damaged"],
    ["a key that is no key", { key: "hello" }, "public key is damaged"],
    ["a secret key as the public one", { key: SECRET_KEY }, "public key is damaged"],
  ])("is refused with %s", (_, { content = CONTENT, signature = SIGNATURE, key }, expected) => {
    expect(messageOf(() => verifyMinisign(content, signature, key ?? PUBLIC_KEY))).toContain(
      expected,
    );
  });

  test.each<[string, string, string]>([
    ["a password", PROTECTED_KEY, "has a password. Remove it with minisign -C -W"],
    ["a public key", PUBLIC_KEY, "secret key is damaged"],
    ["halves of two keys", SECRET_KEY.replace("M9M21NYo", "M9M21NYp"), "do not belong together"],
    ["another format", SECRET_KEY.replace("RWQAAEIy", "RWQAAEIz"), "unknown form"],
  ])("is not made with %s", (_, key, expected) => {
    expect(messageOf(() => signMinisign(CONTENT, key, { trustedComment: "" }))).toContain(expected);
  });

  test("has no trusted comment of several lines", () => {
    const sign = () => signMinisign(CONTENT, SECRET_KEY, { trustedComment: "a\nb" });
    expect(messageOf(sign)).toContain("must be one line");
  });
});

const program = Bun.which("minisign");

describe.skipIf(program === null)("the program minisign", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "mailstead-minisign-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = (...words: string[]) => Bun.spawnSync([program ?? "", ...words], { cwd: folder });

  test("accepts what is made here, and makes what is accepted here", async () => {
    const { publicKey, secretKey } = generateMinisignKeys();
    await Promise.all([
      Bun.write(join(folder, "key.pub"), publicKey),
      Bun.write(join(folder, "key"), secretKey),
      Bun.write(join(folder, "sums"), CONTENT),
      Bun.write(
        join(folder, "sums.minisig"),
        signMinisign(CONTENT, secretKey, { trustedComment: "mailstead 2.0.0" }),
      ),
    ]);
    const verified = run("-V", "-H", "-p", "key.pub", "-m", "sums");
    expect([verified.exitCode, verified.stdout.toString()]).toEqual([
      0,
      expect.stringContaining("mailstead 2.0.0"),
    ]);
    const signed = run(
      "-S",
      "-W",
      "-s",
      "key",
      "-m",
      "sums",
      "-x",
      "theirs",
      "-t",
      "mailstead 3.0.0",
    );
    expect([signed.exitCode, signed.stderr.toString()]).toEqual([0, ""]);
    const theirs = await Bun.file(join(folder, "theirs")).text();
    expect(verifyMinisign(CONTENT, theirs, publicKey).trustedComment).toBe("mailstead 3.0.0");
  });
});
