/** The settings that owners may set in the dashboard, and the secrets in their values. */

import { describe, expect, test } from "bun:test";
import { buildConfig, readGiven } from "../../src/config/read.ts";
import { SETTING_NAMES, type SettingName } from "../../src/config/settings.ts";
import { storable } from "../../src/config/setting-subjects.ts";
import { maskOf } from "../../src/config/setting-masks.ts";

test.each<[SettingName, string, string]>([
  ["relayUrl", "smtp://ada:hunter2@mx.test", "smtp://ada:***@mx.test:587?tls=starttls"],
  ["relayUrl", "smtp://mx.test:2525?tls=none", "smtp://mx.test:2525?tls=none"],
  ["relayUrl", "not a URL with hunter2", "***"],
  ["relayUrl", "none", "none"],
  ["alertSlack", "https://hooks.test/services/hunter2?key=1", "https://hooks.test/***"],
  ["heartbeatUrl", "hunter2", "***"],
  ["s3SecretAccessKey", "hunter2", "***"],
  ["secret", "hunter2", "***"],
])("the value of %s, %s, is shown as %s", (name, text, shown) => {
  expect(maskOf(name)?.(text)).toBe(shown);
});

test("a setting whose name says that it is secret has a mask", () => {
  const secrets = SETTING_NAMES.filter((name) => /secret$|secretAccess|password|auth$/i.test(name));
  expect(secrets.filter((name) => maskOf(name) === null)).toEqual([]);
});

describe("a value of the dashboard", () => {
  const stored = { sendRate: "20", port: "80", transport: "relay" } as const;

  test("counts after flags, variables and files, and before the default", () => {
    const variables = { MAILSTEAD_SEND_RATE: "30", MAILSTEAD_RELAY_URL: "smtp://mx.test" };
    const build = (flags: Record<string, string>, environment: Record<string, string>) =>
      buildConfig(readGiven(flags, environment), { stored, defaults: { sendRate: 5 } });
    expect(build({ "send-rate": "40" }, variables).sendRate).toBe(40);
    expect(build({}, variables).sendRate).toBe(30);
    expect(build({}, { MAILSTEAD_RELAY_URL: "smtp://mx.test" }).sendRate).toBe(20);
    expect(buildConfig({}, { defaults: { sendRate: 5 } }).sendRate).toBe(5);
  });

  test("is not used for a setting that the dashboard may not set", () => {
    expect(storable("port")).toBeNull();
    const given = readGiven({ "relay-url": "smtp://mx.test" }, {});
    expect(buildConfig(given, { stored }).port).toBe(3000);
  });

  test("that does not fit is named with the flag that replaces it", () => {
    const wrong = { ...stored, transport: "capture", sendRate: "fast" };
    expect(() => buildConfig({}, { stored: wrong })).toThrow(
      "send-rate, which was set in the dashboard (--send-rate takes precedence over it): expected",
    );
    expect(() => buildConfig({}, { stored })).toThrow("--transport relay needs --relay-url");
    expect(() => buildConfig({}, { stored: null })).not.toThrow();
  });
});
