import { describe, expect, test } from "bun:test";
import { withMailpitVariables } from "../../src/config/mailpit-variables.ts";
import { ConfigError, readConfig } from "../../src/config/read.ts";

const read = (environment: Record<string, string>) =>
  readConfig({}, withMailpitVariables(environment).environment);

const login = (user: string, password: string) => ({ user, password });

describe("a variable of Mailpit sets", () => {
  const cases: [name: string, value: string, expected: object][] = [
    ["MP_UI_BIND_ADDR", "0.0.0.0:9025", { host: "0.0.0.0", port: 9025 }],
    ["MP_UI_BIND_ADDR", "[::1]:80", { host: "::1", port: 80 }],
    ["MP_UI_BIND_ADDR", ":8025", { host: "0.0.0.0", port: 8025 }],
    ["MP_SMTP_BIND_ADDR", "[::]:2525", { captureSmtp: { host: "::", port: 2525 } }],
    ["MP_SMTP_BIND_ADDR", ":2525", { captureSmtp: { host: "0.0.0.0", port: 2525 } }],
    ["MP_DATABASE", "/data/mailpit.db", { data: "/data/mailstead-data" }],
    ["MP_DATABASE", "/data", { data: "/data/mailstead-data" }],
    ["MP_MAX_MESSAGES", "5000", { captureMaxMessages: 5000 }],
    ["MP_MAX_MESSAGES", "0", { captureMaxMessages: 0 }],
    ["MP_MAX_AGE", "7d", { captureMaxDays: 7 }],
    ["MP_MAX_AGE", "36h", { captureMaxDays: 2 }],
    ["MP_SMTP_TLS_CERT", "/tls/cert.pem", { smtpTlsCert: "/tls/cert.pem" }],
    ["MP_SMTP_TLS_CERT", "sans:mail.test", { smtpTlsCert: null }],
    ["MP_SMTP_TLS_KEY", "/tls/key.pem", { smtpTlsKey: "/tls/key.pem" }],
    ["MP_SMTP_REQUIRE_STARTTLS", "true", { captureTls: "starttls" }],
    ["MP_SMTP_REQUIRE_TLS", "1", { captureTls: "implicit" }],
    ["MP_SMTP_REQUIRE_TLS", "false", { captureTls: "optional" }],
    ["MP_SMTP_AUTH", "u:p v:q:r", { captureAuth: [login("u", "p"), login("v", "q:r")] }],
    ["MP_UI_AUTH", "u:p", { uiAuth: [login("u", "p")] }],
    ["MP_SEND_API_AUTH", "u:p", { sendApiAuth: [login("u", "p")] }],
    ["MP_SMTP_ALLOWED_RECIPIENTS", "@a\\.example$", { captureRecipients: /@a\.example$/ }],
    ["MP_SMTP_ALLOWED_RECIPIENTS", "(?i)@a", { captureRecipients: /@a/i }],
    ["MP_SMTP_MAX_RECIPIENTS", "1000", { captureMaxRecipients: 1000 }],
    ["MP_WEBROOT", "/mail/", { mailpitWebroot: "/mail" }],
    ["MP_WEBROOT", "a/b", { mailpitWebroot: "/a/b" }],
    ["MP_QUIET", "yes", { logLevel: "error" }],
    ["MP_VERBOSE", "1", { logLevel: "debug" }],
    ["MP_ENABLE_PROMETHEUS", "127.0.0.1:9090", { metrics: { host: "127.0.0.1", port: 9090 } }],
  ];
  test.each(cases)("%s=%s", (name, value, expected) => {
    expect(read({ [name]: value })).toMatchObject(expected);
    expect(withMailpitVariables({ [name]: value }).ignored).toEqual([]);
  });
});

test("an own variable wins over its alias, also as a file", () => {
  expect(read({ MP_MAX_MESSAGES: "5", MAILSTEAD_CAPTURE_MAX_MESSAGES: "7" })).toMatchObject({
    captureMaxMessages: 7,
  });
  const { environment } = withMailpitVariables({ MP_DATABASE: "/x.db", MAILSTEAD_DATA_FILE: "/y" });
  expect(environment["MAILSTEAD_DATA"]).toBeUndefined();
});

test("variables without a setting are listed, those that are always so are not", () => {
  const { ignored } = withMailpitVariables({
    MP_SMTP_RELAY_ALLOWED_RECIPIENTS: "a",
    MP_POP3_AUTH: "a:b",
    MP_ALLOW_UNTRUSTED_TLS: "1",
    MP_BLOCK_REMOTE_CSS_AND_FONTS: "true",
    MP_UI_TLS_REQUIRED: "false",
    MP_TENANT_ID: "x",
    MP_SMTP_AUTH_ACCEPT_ANY: "1",
    MP_SMTP_AUTH_ALLOW_INSECURE: "true",
    MP_DISABLE_VERSION_CHECK: "true",
    MP_SMTP_DISABLE_RDNS: "true",
    MP_WEBROOT: "/",
    MP_LABEL: "",
    PATH: "/bin",
  });
  expect(ignored).toEqual([
    "MP_ALLOW_UNTRUSTED_TLS",
    "MP_POP3_AUTH",
    "MP_SMTP_RELAY_ALLOWED_RECIPIENTS",
    "MP_TENANT_ID",
    "MP_UI_TLS_REQUIRED",
  ]);
});

test.each([
  ["MP_UI_BIND_ADDR", "8025"],
  ["MP_SMTP_BIND_ADDR", "unix:/tmp/socket"],
  ["MP_MAX_MESSAGES", "many"],
  ["MP_MAX_AGE", "a week"],
  ["MP_UI_TLS_CERT", "cert.pem"],
  ["MP_UI_ALLOWED_IPS", "10.0.0.1"],
  ["MP_SMTP_BLOCKED_SENDERS", "@a"],
  ["MP_NEW_REQUIRE_LOGIN", "true"],
])("%s=%s is refused, and the message names the variable", (name, value) => {
  const attempt = () => withMailpitVariables({ [name]: value });
  expect(attempt).toThrow(ConfigError);
  expect(attempt).toThrow(name);
});

test.each([
  ["MP_UI_AUTH", "ada"],
  ["MP_UI_AUTH", ":secret"],
  ["MP_SMTP_AUTH", "ada:$apr1$abcdefgh$0123456789012345678901"],
  ["MP_SMTP_ALLOWED_RECIPIENTS", "("],
  ["MP_SMTP_MAX_RECIPIENTS", "0"],
  ["MP_WEBROOT", "/a//b"],
  ["MP_WEBROOT", "/:id"],
  ["MP_WEBROOT", "/../x"],
  ["MP_WEBROOT", "/app/"],
])("%s=%s stops the start, and the message shows no password", (name, value) => {
  expect(() => read({ [name]: value })).toThrow(ConfigError);
  expect(() => read({ [name]: value })).not.toThrow("secret");
});
