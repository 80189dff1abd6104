import { describe, expect, test } from "bun:test";
import {
  formatServer,
  parseDnsServers,
  readResolvConf,
  systemDnsServers,
  type DnsServer,
} from "../../../src/protocols/dns/servers.ts";

const LISTS: [text: string, servers: DnsServer[]][] = [
  ["127.0.0.1", [{ address: "127.0.0.1", port: 53 }]],
  ["127.0.0.1:5353", [{ address: "127.0.0.1", port: 5353 }]],
  ["::1", [{ address: "::1", port: 53 }]],
  ["[::1]", [{ address: "::1", port: 53 }]],
  ["[2001:db8::53]:5353", [{ address: "2001:db8::53", port: 5353 }]],
  ["fe80::1%eth0", [{ address: "fe80::1%eth0", port: 53 }]],
  [
    " 9.9.9.9, [::1]:54\n1.1.1.1:5 ",
    [
      { address: "9.9.9.9", port: 53 },
      { address: "::1", port: 54 },
      { address: "1.1.1.1", port: 5 },
    ],
  ],
];

const WRONG = [
  "",
  " , ",
  "localhost",
  "ns.example.com:53",
  "127.0.0.1:0",
  "127.0.0.1:65536",
  "127.0.0.1:",
  "127.0.0.1:domain",
  "[127.0.0.1]:53",
  "[::1]53",
  "::1:99999",
  "127.1",
  "1.1.1.1 2.2.2.2 3.3.3.3 4.4.4.4 5.5.5.5 6.6.6.6 7.7.7.7 8.8.8.8 9.9.9.9",
];

describe("a list of name servers", () => {
  test.each(LISTS)("%p is parsed", (text, servers) => {
    expect(parseDnsServers(text)).toEqual({ ok: true, servers });
  });

  test.each(LISTS)("%p can be parsed again after formatting", (_, servers) => {
    const shown = servers.map(formatServer).join(", ");
    expect(parseDnsServers(shown)).toEqual({ ok: true, servers });
  });

  test.each(WRONG)("%p is refused with a reason", (text) => {
    const parsed = parseDnsServers(text);
    expect(parsed).toMatchObject({ ok: false, message: expect.stringMatching(/^(names|must) /) });
  });
});

describe("the servers of the system", () => {
  test("are the nameserver lines of resolv.conf", () => {
    const text = `# nameserver 192.0.2.1
search example.com
nameserver 127.0.0.53
  nameserver fe80::1%eth0
nameserver 192.0.2.2 # second
nameserver not-an-address
options edns0 trust-ad
nameserver 192.0.2.3`;
    expect(readResolvConf(text).map(formatServer)).toEqual([
      "127.0.0.53:53",
      "[fe80::1%eth0]:53",
      "192.0.2.2:53",
    ]);
    expect(readResolvConf("")).toEqual([]);
  });

  test("are at least one", () => {
    expect(systemDnsServers().length).toBeGreaterThan(0);
  });
});
