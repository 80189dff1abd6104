import { describe, expect, test } from "bun:test";
import {
  type ExpectedRecord,
  expectedRecords,
  type Installation,
  type PublicKey,
} from "../../../src/modules/domains/records.ts";

const KEYS: PublicKey[] = [
  { algorithm: "rsa-sha256", selector: "ms1-rsa", publicKey: "A".repeat(392) },
  { algorithm: "ed25519-sha256", selector: "ms1-ed", publicKey: "B".repeat(44) },
];
const DIRECT: Installation = {
  mode: "direct",
  hostname: "mail.example.org",
  addresses: [],
  relayHost: null,
};
const RELAY: Installation = { ...DIRECT, mode: "relay", relayHost: "smtp.relay.test" };

function records(installation: Installation): ExpectedRecord[] {
  return expectedRecords("example.com", KEYS, installation);
}

function valueOf(installation: Installation, purpose: string, type = "TXT"): string | undefined {
  return records(installation).find((record) => record.purpose === purpose && record.type === type)
    ?.value;
}

describe("in any mode", () => {
  test("only the RSA key is required", () => {
    for (const installation of [DIRECT, RELAY]) {
      const required = records(installation).filter(({ required }) => required);
      expect(required.map(({ name }) => name)).toEqual(["ms1-rsa._domainkey.example.com"]);
    }
  });

  test("the values of long keys are complete", () => {
    const values = records(DIRECT).map(({ value }) => value);
    expect(values[0]).toBe(`v=DKIM1; k=rsa; p=${"A".repeat(392)}`);
    expect(values[1]).toBe(`v=DKIM1; k=ed25519; p=${"B".repeat(44)}`);
  });

  test("a DMARC record is advised", () => {
    expect(records(RELAY).find(({ purpose }) => purpose === "DMARC")).toMatchObject({
      name: "_dmarc.example.com",
      value: "v=DMARC1; p=none",
    });
  });
});

describe("with direct delivery", () => {
  test("SPF names this server", () => {
    expect(valueOf(DIRECT, "SPF")).toBe("v=spf1 a:mail.example.org ~all");
  });

  test("SPF names the addresses of this server if they are known", () => {
    const addresses = ["8.8.8.8", "2001:4860:4860::8888"];
    expect(valueOf({ ...DIRECT, addresses }, "SPF")).toBe(
      "v=spf1 ip4:8.8.8.8 ip6:2001:4860:4860::8888 ~all",
    );
  });

  test("a name that is not public is named as the reason why SPF and MX would not work", () => {
    const warned = (hostname: string) =>
      records({ ...DIRECT, hostname })
        .filter(({ note }) => note.includes(`“${hostname}” is no public host name`))
        .map(({ purpose, type }) => `${purpose} ${type}`);
    expect(warned("box")).toEqual(["SPF TXT", "RETURN_PATH MX"]);
    expect(warned("mail.example.org")).toEqual([]);
  });

  test("bounces return to this server, at a host with an SPF record", () => {
    expect(valueOf(DIRECT, "RETURN_PATH", "MX")).toBe("10 mail.example.org");
    expect(valueOf(DIRECT, "RETURN_PATH")).toBe("v=spf1 a:mail.example.org -all");
    const names = records(DIRECT).filter(({ purpose }) => purpose === "RETURN_PATH");
    expect(names.map(({ name }) => name)).toEqual(["bounce.example.com", "bounce.example.com"]);
  });
});

describe("with a relay", () => {
  test("a return path is advised if the relay passes our MAIL FROM on", () => {
    expect(valueOf(RELAY, "RETURN_PATH", "MX")).toBe("10 mail.example.org");
    const spf = records(RELAY).find(
      ({ purpose, type }) => purpose === "RETURN_PATH" && type === "TXT",
    );
    expect(spf).toMatchObject({ value: "", name: "bounce.example.com" });
    expect(spf?.note).toContain("known to its operator");
  });

  test("no return path is advised if the relay is known to replace MAIL FROM", () => {
    for (const relayHost of ["smtp.sendgrid.net", "smtp.gmail.com", "smtp.emailit.com"]) {
      expect(valueOf({ ...RELAY, relayHost }, "RETURN_PATH", "MX")).toBeUndefined();
    }
  });

  const known: [host: string, include: string][] = [
    ["email-smtp.eu-west-1.amazonaws.com", "amazonses.com"],
    ["smtp.sendgrid.net", "sendgrid.net"],
    ["smtp.eu.mailgun.org", "mailgun.org"],
    ["smtp.postmarkapp.com", "spf.mtasv.net"],
    ["smtp-relay.gmail.com", "_spf.google.com"],
    ["SMTP.Office365.com", "spf.protection.outlook.com"],
  ];
  test.each(known)("SPF has the include of %s", (relayHost, include) => {
    expect(valueOf({ ...RELAY, relayHost }, "SPF")).toBe(`v=spf1 include:${include} ~all`);
  });

  test("the note of the key says that a relay signs in our place", () => {
    const noteOf = (relayHost: string) =>
      records({ ...RELAY, relayHost }).find(({ purpose }) => purpose === "DKIM")?.note;
    expect(noteOf("email-smtp.eu-west-1.amazonaws.com")).toContain(
      "Amazon SES replaces Message-ID and Date and takes one DKIM-Signature at most, so it signs",
    );
    expect(noteOf("smtp.sendgrid.net")).toEndWith("the domain is yours.");
  });

  test.each(["smtp.relay.test", "notsendgrid.net", "192.0.2.25", "10.0.0.5", "smarthost"])(
    "the record of the unknown relay %s has no value, and the note says who knows it",
    (relayHost) => {
      const spf = records({ ...RELAY, relayHost }).find(({ purpose }) => purpose === "SPF");
      expect(spf?.value).toBe("");
      expect(spf?.note).toContain(`the relay ${relayHost} to send`);
      expect(spf?.note).toContain("known to its operator");
    },
  );

  test("a relay that sends with a MAIL FROM of its own needs no SPF record", () => {
    expect(valueOf({ ...RELAY, relayHost: "smtp.emailit.com" }, "SPF")).toBeUndefined();
  });
});
