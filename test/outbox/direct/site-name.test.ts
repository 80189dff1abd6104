import { expect, test } from "bun:test";
import { siteName } from "../../../src/outbox/direct/route.ts";

test.each([
  ["one host", ["mx.example.com"], "mx.example.com"],
  ["two hosts", ["mx1.example.com", "mx2.example.com"], "mx1.example.com mx2.example.com"],
  [
    "a customer of a provider",
    ["example-com.mail.protection.outlook.com"],
    "mail.protection.outlook.com",
  ],
  [
    "another customer of the same provider",
    ["acme-de.mail.protection.outlook.com"],
    "mail.protection.outlook.com",
  ],
  ["Gmail", ["gmail-smtp-in.l.google.com"], "google.com"],
  ["a domain hosted by Gmail", ["aspmx.l.google.com"], "google.com"],
  ["a name with a similar ending", ["mx.notgoogle.com"], "mx.notgoogle.com"],
  ["two providers", ["a.google.com", "b.icloud.com"], "a.google.com b.icloud.com"],
  [
    "a provider and another host",
    ["a.google.com", "mx.example.com"],
    "a.google.com mx.example.com",
  ],
])("the site of %s", (_, best, name) => {
  expect(siteName(best)).toBe(name);
});

test("the site of many hosts has a short and unique name", () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, i) => `mx${i}.example.com`);
  expect(siteName(hosts(40)).length).toBe(64);
  expect(siteName(hosts(40))).not.toBe(siteName(hosts(41)));
});
