/** The words for settings, and the URL of a relay that is pasted. */

import { describe, expect, test } from "bun:test";
import type { InstallationSetting } from "../../src/modules/settings/model.ts";
import {
  keepsPassword,
  relayInputOf,
  valuesOfRelay,
} from "../../src/dashboard/pages/server-settings/relay-values.ts";
import { readPastedUrl } from "../../src/dashboard/ui/relay-values.ts";
import {
  changeElsewhere,
  countShown,
  groupsOf,
  settingLabel,
  sourceText,
} from "../../src/dashboard/pages/server-settings/setting-words.ts";

const RATE: InstallationSetting = {
  name: "send-rate",
  variable: "MAILSTEAD_SEND_RATE",
  subject: "How mail leaves",
  help: "Mails per second that leave",
  accepts: "N",
  choices: null,
  value: null,
  default: "14",
  source: { kind: "DEFAULT", name: null, path: null },
  effect: "AT_ONCE",
  isSecret: false,
  isPending: false,
  revision: 0,
  updatedAt: null,
  updatedBy: null,
};
const PORT: InstallationSetting = {
  ...RATE,
  name: "port",
  variable: "MAILSTEAD_PORT",
  subject: "Where the server is",
  help: "Port to listen on",
  effect: null,
};
const source = (kind: InstallationSetting["source"]["kind"], name: string | null, path = null) => ({
  ...RATE,
  source: { kind, name, path },
});

test.each([
  ["relay-url", "Relay URL"],
  ["smtp-tls-cert", "SMTP TLS cert"],
  ["retain-bodies", "Retain bodies"],
])("%s is shown as %s", (name, label) => {
  expect(settingLabel(name)).toBe(label);
});

test.each([
  [RATE, "Default", null],
  [PORT, "Default", "Give --port or MAILSTEAD_PORT to the server, and restart it."],
  [
    source("FLAG", "--send-rate"),
    "Given by --send-rate",
    "Change --send-rate and restart the server, or remove it to set it here.",
  ],
  [
    source("FLAG", "mailstead dev"),
    "Given by mailstead dev",
    "It does not change while that runs.",
  ],
  [
    source("ENVIRONMENT", "MAILSTEAD_SEND_RATE"),
    "Given by the variable MAILSTEAD_SEND_RATE",
    "Change MAILSTEAD_SEND_RATE and restart the server, or remove it to set it here.",
  ],
  [source("DASHBOARD", null), "Set here", null],
])("a setting with the source $source.kind says where it is changed", (setting, where, how) => {
  expect([sourceText(setting), changeElsewhere(setting)]).toEqual([where, how]);
});

test("settings are in their groups, and a search looks in all of them", () => {
  const all = [PORT, RATE];
  const namesOf = (q: string, shown: "editable" | "changed" | "all") =>
    groupsOf(all, { q, shown }).map(([subject, found]) => [subject, found.map(({ name }) => name)]);
  expect(namesOf("", "all")).toEqual([
    ["Where the server is", ["port"]],
    ["How mail leaves", ["send-rate"]],
  ]);
  expect(namesOf("", "editable")).toEqual([["How mail leaves", ["send-rate"]]]);
  expect(namesOf("listen PORT", "editable")).toEqual([["Where the server is", ["port"]]]);
  expect(namesOf("nothing", "all")).toEqual([]);
  expect(countShown(all, "changed")).toBe(0);
});

describe("a relay", () => {
  test.each([
    [
      "smtp://api%40key:p%2Fw@mx.test",
      { host: "mx.test", port: "587", security: "STARTTLS", username: "api@key", password: "p/w" },
    ],
    ["smtps://mx.test:4465", { host: "mx.test", port: "4465", security: "TLS", username: "" }],
    ["smtps://mx.test", { port: "465", security: "TLS" }],
    [
      " smtp://[::1]:25?tls=none&sign=false ",
      { host: "::1", port: "25", security: "NONE", signedBy: "RELAY" },
    ],
    ["smtp://u:100%@mx.test", { password: "100%" }],
  ])("of the URL %s fills the form", (text, values) => {
    expect(readPastedUrl(text)).toMatchObject(values);
  });

  test.each(["smtp.example.com", "https://mx.test", "smtp://", "smtp:"])(
    "%s is no URL of one",
    (text) => {
      expect(readPastedUrl(text)).toBeNull();
    },
  );

  test("is sent with its password only if one was typed", () => {
    const known = {
      host: "mx.test",
      port: 587,
      tls: "starttls",
      user: "ada",
      hasPassword: true,
      sign: null,
    } as const;
    const values = valuesOfRelay(known);
    expect(relayInputOf(values)).toEqual({
      host: "mx.test",
      port: 587,
      tls: "starttls",
      user: "ada",
    });
    expect(relayInputOf({ ...values, password: "x", signedBy: "SERVER" })).toMatchObject({
      password: "x",
      sign: true,
    });
    expect(relayInputOf({ ...values, username: " ", password: "x" })).not.toHaveProperty(
      "password",
    );
    expect(keepsPassword(known, values)).toBe(true);
    expect(keepsPassword(known, { ...values, host: "other.test" })).toBe(false);
    expect(keepsPassword(known, { ...values, username: "eve" })).toBe(false);
  });
});
