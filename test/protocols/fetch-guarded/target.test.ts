import { describe, expect, test } from "bun:test";
import type { RefusalReason } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { objectToTarget, readTarget } from "../../../src/protocols/fetch-guarded/target.ts";

const REFUSED: [reason: RefusalReason, urls: string[]][] = [
  [
    "invalid_url",
    [
      "",
      "x",
      "/path",
      "http://",
      "http://a b/",
      "http://[::1",
      "http://127.0.0.1%2f/",
      "http://1.2.3.256/",
    ],
  ],
  ["invalid_url", ["http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://a.test:99999/"]],
  ["invalid_url", ["https://a.test/\r\nx", "https://a\n.test/", "https://a.test/\u0085"]],
  ["scheme", ["ftp://a.test/", "file:///etc/passwd", "data:text/plain,x", "ws://a.test/"]],
  ["scheme", ["gopher://127.0.0.1:25/x", "blob:http://a.test/x", "unix:/run/x", "s3://a/b"]],
  ["credentials", ["http://a@b.test/", "https://a:b@c.test/", "http://:b@c.test/"]],
  ["port", ["http://a.test:25/", "http://a.test:22/", "https://a.test:587/", "http://a.test:0/"]],
  ["private_address", ["http://127.0.0.1/", "http://127.1/", "http://2130706433/"]],
  ["private_address", ["http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://0x7f000001/"]],
  [
    "private_address",
    ["http://１２７.0.0.1/", "http://127.0.0.1./", "http://0/", "http://0.0.0.0/"],
  ],
  ["private_address", ["http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/"]],
  ["private_address", ["http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[fe80::1]/"]],
  ["private_address", ["http://[fc00::1]/", "http://[2002:7f00:1::1]/", "http://[ff02::1]/"]],
  ["private_address", ["http://169.254.169.254/latest/meta-data/", "http://100.64.0.1/"]],
  ["private_address", ["http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.1.1:8080/"]],
  ["private_address", ["http://localhost/", "http://LOCALHOST./", "http://a.localhost:8080/"]],
  ["private_address", ["http://%6cocalhost/", "http://ｌocalhost/"]],
];

describe("a URL that is refused before a look-up", () => {
  for (const [reason, urls] of REFUSED) {
    test.each(urls)(`${reason}: %s`, (url) => {
      const refusal = objectToTarget(url, { allowPrivateAddresses: false });
      expect(refusal?.reason).toBe(reason);
      expect(refusal?.isTemporary).toBe(false);
    });
  }
});

test.each([
  "http://a.test",
  "https://a.test/x?y#z",
  "http://a.test:8080/",
  "http://8.8.8.8/",
  "https://[2606:4700::1111]/",
  "http://localhost.a.test/",
  "http://notlocalhost/",
  "https://bücher.test/",
])("%s is allowed", (url) => {
  expect(objectToTarget(url, { allowPrivateAddresses: false })).toBeNull();
});

test.each(["http://127.0.0.1:3000/", "http://localhost/", "http://[::1]/", "http://10.0.0.1/"])(
  "%s is allowed if private addresses are",
  (url) => {
    expect(objectToTarget(url, { allowPrivateAddresses: true })).toBeNull();
  },
);

test("a URL is parsed without fragment and final dots", () => {
  expect(readTarget("https://A.test.:443/x?y#z").href).toBe("https://a.test/x?y");
});
