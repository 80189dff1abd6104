import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, readConfig } from "../../src/config/read.ts";
import { type Config, SETTINGS } from "../../src/config/settings.ts";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";

type Name = keyof Config;
type Row = [name: Name, flag: string, env: string, fallback: unknown, text: string, value: unknown];

const relay = { host: "smtp.example.com", port: 587, user: "u", password: "p:@", tls: "starttls" };
const secret = "0123456789abcdefghijklmnopqrstuv";

/** Settings with their default, an example text and its value. */
const table: Row[] = [
  [
    "data",
    "data",
    "MAILSTEAD_DATA",
    "./mailstead-data",
    "/var/lib/mailstead",
    "/var/lib/mailstead",
  ],
  ["host", "host", "MAILSTEAD_HOST", "127.0.0.1", "0.0.0.0", "0.0.0.0"],
  ["port", "port", "MAILSTEAD_PORT", 3000, "8080", 8080],
  [
    "url",
    "url",
    "MAILSTEAD_URL",
    null,
    "https://Mail.Example.com/base/",
    "https://mail.example.com/base",
  ],
  [
    "trackingUrl",
    "tracking-url",
    "MAILSTEAD_TRACKING_URL",
    null,
    "https://go.example.com/",
    "https://go.example.com",
  ],
  ["retainBodies", "retain-bodies", "MAILSTEAD_RETAIN_BODIES", 90, "0", 0],
  ["retainRaw", "retain-raw", "MAILSTEAD_RETAIN_RAW", 30, "7", 7],
  ["retainEvents", "retain-events", "MAILSTEAD_RETAIN_EVENTS", 0, "36500", 36_500],
  ["transport", "transport", "MAILSTEAD_TRANSPORT", "capture", "capture", "capture"],
  ["metrics", "metrics", "MAILSTEAD_METRICS", null, "[::1]:9090", { host: "::1", port: 9090 }],
  [
    "relayUrl",
    "relay-url",
    "MAILSTEAD_RELAY_URL",
    null,
    "smtp://u:p%3A%40@smtp.example.com",
    relay,
  ],
  [
    "hostname",
    "hostname",
    "MAILSTEAD_HOSTNAME",
    hostname(),
    "Mail.Example.com",
    "mail.example.com",
  ],
  ["sendRate", "send-rate", "MAILSTEAD_SEND_RATE", 14, "0.5", 0.5],
  ["apiRate", "api-rate", "MAILSTEAD_API_RATE", 1000, "0", 0],
  ["publicKeyRate", "public-key-rate", "MAILSTEAD_PUBLIC_KEY_RATE", 1000, "0", 0],
  ["publicClientRate", "public-client-rate", "MAILSTEAD_PUBLIC_CLIENT_RATE", 300, "5", 5],
  ["userRate", "user-rate", "MAILSTEAD_USER_RATE", 1200, "0", 0],
  [
    "trustedProxies",
    "trusted-proxy",
    "MAILSTEAD_TRUSTED_PROXY",
    [],
    "10.0.0.0/8, ::1",
    [parseAddressRange("10.0.0.0/8"), parseAddressRange("::1")],
  ],
  ["quotaStorage", "quota-storage", "MAILSTEAD_QUOTA_STORAGE", 51_200, "0", 0],
  ["quotaQueuedMails", "quota-queued-mails", "MAILSTEAD_QUOTA_QUEUED_MAILS", 1_000_000, "7", 7],
  ["quotaJobs", "quota-jobs", "MAILSTEAD_QUOTA_JOBS", 10, "0", 0],
  ["quotaWebhookCalls", "quota-webhook-calls", "MAILSTEAD_QUOTA_WEBHOOK_CALLS", 32, "0", 0],
  [
    "requireVerifiedDomain",
    "require-verified-domain",
    "MAILSTEAD_REQUIRE_VERIFIED_DOMAIN",
    true,
    "false",
    false,
  ],
  [
    "eventsTo",
    "events-to",
    "MAILSTEAD_EVENTS_TO",
    null,
    "s3://bucket/events",
    "s3://bucket/events",
  ],
  ["backupTo", "backup-to", "MAILSTEAD_BACKUP_TO", null, "/backup", "/backup"],
  [
    "backupAt",
    "backup-at",
    "MAILSTEAD_BACKUP_AT",
    { hour: 3, minute: 17 },
    "23:05",
    { hour: 23, minute: 5 },
  ],
  [
    "backupKeep",
    "backup-keep",
    "MAILSTEAD_BACKUP_KEEP",
    { days: 7, weeks: 4, months: 6 },
    "2m, 30d",
    { days: 30, weeks: 0, months: 2 },
  ],
  [
    "s3Endpoint",
    "s3-endpoint",
    "MAILSTEAD_S3_ENDPOINT",
    null,
    "https://s3.example/",
    "https://s3.example",
  ],
  ["s3Region", "s3-region", "MAILSTEAD_S3_REGION", "us-east-1", "auto", "auto"],
  ["s3AccessKeyId", "s3-access-key-id", "MAILSTEAD_S3_ACCESS_KEY_ID", null, "AK", "AK"],
  ["s3SecretAccessKey", "s3-secret-access-key", "MAILSTEAD_S3_SECRET_ACCESS_KEY", null, "SK", "SK"],
  ["logLevel", "log-level", "MAILSTEAD_LOG_LEVEL", "info", "debug", "debug"],
  [
    "logFormat",
    "log-format",
    "MAILSTEAD_LOG_FORMAT",
    process.stderr.isTTY ? "text" : "json",
    "text",
    "text",
  ],
  ["secret", "secret", "MAILSTEAD_SECRET", null, secret, secret],
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, text);
  return path;
}

const messageOf = (flags: Record<string, string>, environment: Record<string, string> = {}) => {
  try {
    readConfig(flags, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return "no error";
};

function read(
  name: Name,
  flags: Record<string, string>,
  environment: Record<string, string>,
): unknown {
  return readConfig(flags, environment)[name];
}

describe("every setting", () => {
  for (const [name, flag, env, fallback, text, value] of table) {
    test(`${name}: default, --${flag}, ${env}, ${env}_FILE`, () => {
      expect(SETTINGS[name]).toMatchObject({ flag, env });
      expect(read(name, {}, {})).toEqual(fallback);
      expect(read(name, { [flag]: text }, {})).toEqual(value);
      expect(read(name, {}, { [env]: text })).toEqual(value);
      expect(read(name, {}, { [`${env}_FILE`]: fileWith(text) })).toEqual(value);
      expect(read(name, {}, { [`${env}_FILE`]: fileWith(`${text}\n`) })).toEqual(value);
      expect(read(name, {}, { [`${env}_FILE`]: fileWith(`${text}\r\n`) })).toEqual(value);
    });

    test(`${name}: a flag wins over the environment, and an empty variable counts as absent`, () => {
      const impossible = "\0";
      expect(read(name, { [flag]: text }, { [env]: impossible })).toEqual(value);
      expect(read(name, { [flag]: text }, { [`${env}_FILE`]: "/nowhere" })).toEqual(value);
      expect(read(name, {}, { [env]: "" })).toEqual(fallback);
      expect(read(name, {}, { [env]: "", [`${env}_FILE`]: "" })).toEqual(fallback);
      expect(read(name, {}, { [env]: "", [`${env}_FILE`]: fileWith(text) })).toEqual(value);
    });
  }

  test("has a unique flag, a variable of the same name, and a help text", () => {
    const all = Object.values(SETTINGS);
    for (const { flag, env, help, placeholder, shownDefault } of all) {
      expect(flag).toMatch(/^(?:s3|[a-z]+)(-[a-z]+)*$/);
      expect(env).toBe(`MAILSTEAD_${flag.replaceAll("-", "_").toUpperCase()}`);
      for (const text of [help, placeholder, shownDefault]) expect(text).not.toBe("");
    }
    expect(new Set(all.map(({ flag }) => flag)).size).toBe(all.length);
  });
});

describe("the defaults of a command", () => {
  test("win over the general defaults, but not over flags and variables", () => {
    const defaults = { requireVerifiedDomain: false };
    const env = { MAILSTEAD_REQUIRE_VERIFIED_DOMAIN: "true" };
    expect(readConfig({}, {}, defaults).requireVerifiedDomain).toBe(false);
    expect(readConfig({}, env, defaults).requireVerifiedDomain).toBe(true);
  });
});

describe("the message for an invalid value names the flag and what is accepted", () => {
  const cases: [flag: string, values: string[], accepted: RegExp][] = [
    ["data", ["", " "], /not empty/],
    ["host", [""], /not empty/],
    [
      "port",
      ["-1", "65536", "80a", "", "1.5", "0x50", " 80", "1e3"],
      /whole number from 0 to 65535, got /,
    ],
    [
      "url",
      ["", "example.com", "ftp://x", "http://x/?a=1", "http://x/#a", "javascript:alert(1)"],
      /http or https URL/,
    ],
    [
      "backup-to",
      [
        "",
        "s3://",
        "s3://Bucket/x",
        "s3://user:pass@bucket/x",
        "s3://bucket/a b",
        "s3://bucket/../x",
      ],
      /not empty|a folder, or s3:\/\/BUCKET\/PREFIX/,
    ],
    [
      "backup-keep",
      ["", "7", "0d", "7d,7d", "7d,4w,6m,1y", "-1d", "1001d"],
      /days, weeks and months such as 7d,4w,6m, got /,
    ],
    ["s3-region", ["", "EU", "a b"], /name of a region/],
    ["transport", ["smtp", "", "CAPTURE"], /one of capture, relay.*, got /],
    [
      "relay-url",
      [
        "",
        "smtp.example.com",
        "http://x",
        "smtp://",
        "smtp://x/path",
        "smtp://x?tls=maybe",
        "smtp://x?a=1",
      ],
      /smtp\[s\]:\/\/user:pass@host:port/,
    ],
    [
      "hostname",
      ["", "a b", "-a.com", "a..b", "a.com.", "ü.example", "192.0.2.1"],
      /host name such as/,
    ],
    [
      "send-rate",
      ["-1", "fast", "", "100001", "1e2", "NaN", "Infinity"],
      /number from 0 to 100000, got /,
    ],
    ["api-rate", ["-1", "1.5", "", "many"], /whole number from 0 to/],
    ["public-key-rate", ["-1", "1.5", "many"], /whole number from 0 to/],
    ["public-client-rate", ["-1", "1.5", "many"], /whole number from 0 to/],
    ["user-rate", ["-1", "1.5", "many"], /whole number from 0 to/],
    [
      "trusted-proxy",
      ["", ",", "proxy.example", "10.0.0.0/33", "10.0.0.1,x", "10.0.0.1 ".repeat(101)],
      /at most 100 IP addresses or ranges such as 10\.0\.0\.0\/8/,
    ],
    ["require-verified-domain", ["yes", "", "TRUE", "2"], /true or false, got /],
    ["log-level", ["verbose", "INFO"], /one of debug, info, warn, error, silent, got /],
    ["log-format", ["xml"], /one of text, json, got /],
    ["secret", ["", "short", "x".repeat(31)], /at least 32 characters/],
  ];
  for (const [flag, values, accepted] of cases) {
    for (const value of values) {
      test(`--${flag} ${JSON.stringify(value)}`, () => {
        const message = messageOf({ [flag]: value });
        expect(message).toStartWith(`--${flag}: expected `);
        expect(message).toMatch(accepted);
      });
    }
  }

  test("names the variable instead if the value came from it or its file", () => {
    expect(messageOf({}, { MAILSTEAD_PORT: "x" })).toStartWith("MAILSTEAD_PORT: expected");
    const path = fileWith("x");
    expect(messageOf({}, { MAILSTEAD_PORT_FILE: path })).toStartWith(
      "MAILSTEAD_PORT_FILE: expected",
    );
    expect(messageOf({}, { MAILSTEAD_PORT_FILE: "/nowhere" })).toBe(
      "MAILSTEAD_PORT_FILE: cannot read the file /nowhere",
    );
    expect(messageOf({}, { MAILSTEAD_PORT: "1", MAILSTEAD_PORT_FILE: path })).toContain("both set");
  });

  test("never contains secrets", () => {
    expect(messageOf({ secret: "hunter2" })).not.toContain("hunter2");
    for (const url of [
      "smtp://u:hunter2@host/path",
      "http://u:hunter2@host",
      "smtp://u:hunter2@",
      "smtp://u:hunter2@h?tls=x",
    ]) {
      expect(messageOf({ "relay-url": url })).not.toContain("hunter2");
    }
  });

  test("names the missing flag if a relay has no address", () => {
    expect(messageOf({ transport: "relay" })).toMatch(
      /--transport relay needs --relay-url \(MAILSTEAD_RELAY_URL\)/,
    );
    expect(messageOf({ transport: "relay" }, { MAILSTEAD_RELAY_URL: "smtp://x" })).toBe("no error");
  });

  test("takes the relay URL none, which the systemd unit gives without a file, as absent", () => {
    const environment = { MAILSTEAD_RELAY_URL: "none" };
    expect(readConfig({ transport: "direct" }, environment).relayUrl).toBeNull();
    expect(messageOf({ transport: "relay" }, environment)).toMatch(
      /--transport relay needs --relay-url \(MAILSTEAD_RELAY_URL\)/,
    );
  });
});

describe("the settings of HTTPS", () => {
  const files = { "tls-cert": "cert.pem", "tls-key": "key.pem" };
  const url = "https://mail.example.com";
  const cases: [flags: Record<string, string>, message: string][] = [
    [{ tls: "files", url, ...files, https: "[::]:8443" }, "no error"],
    [{ tls: "files", url, "tls-cert": "cert.pem" }, "--tls files needs --tls-cert and --tls-key"],
    [files, "--tls-cert and --tls-key have an effect only with --tls files"],
    [
      {
        tls: "acme",
        url,
        "acme-directory": "https://ca.test/dir",
        "acme-ca": "ca.pem",
        "acme-eab": "kid:c2VjcmV0LW1hYy1rZXk",
      },
      "no error",
    ],
    [{ tls: "acme", url: "https://192.0.2.1" }, "--tls acme needs names such as"],
    [{ tls: "acme", url, "tracking-url": "https://server" }, "--tls acme needs names such as"],
    [{ "acme-ca": "ca.pem" }, "--acme-eab have an effect only with --tls acme"],
    [{ tls: "acme", url, "acme-directory": "http://ca.test/dir" }, "expected an https URL"],
    [{ https: "[::]:443" }, "--https and --plain-http have an effect only with --tls"],
    [{ tls: "files", ...files }, "--tls files needs --url https://… with the public name"],
    [{ tls: "files", ...files, url: "http://mail.example.com" }, "--tls files needs --url https"],
  ];
  for (const [flags, message] of cases) {
    test(`${JSON.stringify(flags)}: ${message}`, () => {
      expect(messageOf(flags)).toContain(message);
    });
  }
});

test("the configuration cannot be changed", () => {
  expect(Object.isFrozen(readConfig({}, {}))).toBe(true);
});
