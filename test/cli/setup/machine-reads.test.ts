/** Setup reads the state of the machine: listening ports and the firewall. */

import { describe, expect, test } from "bun:test";
import net from "node:net";
import {
  findConflict,
  findListeners,
  howToStop,
  type Listener,
  nameOfListener,
  parseListeningSockets,
  parseUnitOfCgroup,
} from "../../../src/cli/setup/listening-ports.ts";
import { closedByNft, closedByUfw } from "../../../src/cli/setup/firewall.ts";

describe("listening ports", () => {
  const HEAD =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
  const line = (local: string, state: string, inode: string) =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0`;

  test("those of /proc/net/tcp and tcp6 are read", () => {
    const text = [
      HEAD,
      line("0100007F:0019", "0A", "17"),
      line("00000000:01BB", "0A", "18"),
      line("0100007F:C001", "01", "19"),
      line("00000000000000000000000000000000:0050", "0A", "20"),
      line("00000000000000000000000001000000:024B", "0A", "21"),
      line("B80D0120000000000000000001000000:01D1", "0A", "22"),
      "nonsense",
      line("XYZ:0019", "0A", "23"),
      "",
    ].join("\n");
    expect(parseListeningSockets(text)).toEqual([
      { address: "127.0.0.1", port: 25, inode: 17 },
      { address: "0.0.0.0", port: 443, inode: 18 },
      { address: "::", port: 80, inode: 20 },
      { address: "::1", port: 587, inode: 21 },
      { address: "2001:db8::1", port: 465, inode: 22 },
    ]);
  });

  test("the program that listens is found", async () => {
    const server = net.createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const found = findListeners().find((each) => each.port === port);
    server.close();
    expect(found).toMatchObject({ address: "127.0.0.1", pid: process.pid });
  });

  test("the unit is in the last part of the control group", () => {
    expect(parseUnitOfCgroup("0::/system.slice/exim4.service\n")).toBe("exim4.service");
    expect(parseUnitOfCgroup("0::/system.slice/system-postfix.slice/postfix@-.service\n")).toBe(
      "postfix@-.service",
    );
    expect(parseUnitOfCgroup("0::/user.slice\n")).toBeNull();
  });

  const listener = (changes: Partial<Listener>): Listener => ({
    address: "127.0.0.1",
    port: 25,
    pid: 812,
    program: "exim4",
    unit: "exim4.service",
    ...changes,
  });

  test.each([
    ["0.0.0.0", "127.0.0.1", true],
    ["127.0.0.1", "0.0.0.0", true],
    ["127.0.0.1", "::", true],
    ["192.0.2.1", "127.0.0.1", false],
    ["127.0.0.1", "127.0.0.1", true],
  ])("%s conflicts with %s: %p", (host, address, expected) => {
    expect(findConflict({ host, port: 25 }, [listener({ address })]) !== null).toBe(expected);
    expect(findConflict({ host, port: 26 }, [listener({ address })])).toBeNull();
  });

  test("a listener is named with the way to stop it", () => {
    expect([nameOfListener(listener({})), howToStop(listener({}))]).toEqual([
      "exim4 (process 812)",
      "systemctl disable --now exim4.service",
    ]);
    expect(howToStop(listener({ unit: null }))).toBe("stop process 812");
    expect(nameOfListener(listener({ pid: null }))).toBe("another program");
  });
});

describe("the firewall", () => {
  const chain = (policy: string) => ({
    chain: { family: "inet", table: "filter", name: "input", hook: "input", policy },
  });
  const rule = (...expr: unknown[]) => ({
    rule: { family: "inet", table: "filter", chain: "input", expr },
  });
  const dport = (right: unknown) => ({
    match: { op: "==", left: { payload: { protocol: "tcp", field: "dport" } }, right },
  });
  const accept = { accept: null };
  const closed = (...nftables: unknown[]) =>
    closedByNft({ nftables }, [25, 443, 587])?.ports ?? null;

  test("nftables closes what no rule accepts", () => {
    const established = {
      match: { op: "in", left: { ct: { key: "state" } }, right: "established" },
    };
    expect(closed(chain("accept"))).toBeNull();
    expect(closed(chain("drop"))).toEqual([25, 443, 587]);
    expect(closed(chain("drop"), rule(established, accept), rule(dport(22), accept))).toEqual([
      25, 443, 587,
    ]);
    expect(
      closed(chain("drop"), rule(dport({ set: [25, { range: [400, 600] }] }), accept)),
    ).toBeNull();
    expect(closed(chain("drop"), rule(dport({ range: [1, 443] }), accept))).toEqual([587]);
    expect(closed(chain("drop"), rule(dport(25), { drop: null }))).toEqual([25, 443, 587]);
    expect(closed(chain("drop"), rule(accept))).toBeNull();
    for (const odd of [null, 1, "x", {}, { nftables: 1 }, { nftables: [null, { chain: 1 }] }]) {
      expect(closedByNft(odd, [25])).toBeNull();
    }
  });

  test("it says how to open them", () => {
    expect(closedByNft({ nftables: [chain("drop")] }, [25, 443])).toMatchObject({
      firewall: "nftables (chain input of the table inet filter)",
      fix: expect.stringContaining(
        "nft insert rule inet filter input tcp dport '{ 25, 443 }' accept",
      ),
    });
  });

  test("ufw closes what its list does not allow", () => {
    const status = (...lines: string[]) =>
      ["Status: active", "", "To                         Action      From", ...lines].join("\n");
    const ports = [25, 443, 587];
    expect(closedByUfw("Status: inactive", ports)).toBeNull();
    expect(closedByUfw(status("22/tcp   ALLOW   Anywhere"), ports)).toEqual({
      firewall: "ufw",
      ports,
      fix: "ufw allow 25,443,587/tcp",
    });
    expect(closedByUfw(status("25,400:600/tcp   ALLOW   Anywhere"), ports)).toBeNull();
    expect(
      closedByUfw(
        status("443   ALLOW   Anywhere", "25/udp  ALLOW  Anywhere", "587/tcp  DENY  Anywhere"),
        ports,
      ),
    ).toMatchObject({
      ports: [25, 587],
    });
    expect(closedByUfw(status("443/tcp (v6)   ALLOW   Anywhere (v6)"), [443])).toBeNull();
  });
});
