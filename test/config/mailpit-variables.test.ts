import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  insteadOfFlag,
  withMailpitAliases,
  withMailpitVariables,
} from "../../src/config/mailpit-variables.ts";
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
    ["MP_SMTP_REQUIRE_STARTTLS", "on", { captureTls: "starttls" }],
    ["MP_SMTP_TLS_REQUIRED", "true", { captureTls: "starttls" }],
    ["MP_SMTP_SSL_CERT", "/tls/cert.pem", { smtpTlsCert: "/tls/cert.pem" }],
    ["MP_SMTP_SSL_KEY", "/tls/key.pem", { smtpTlsKey: "/tls/key.pem" }],
    ["MP_DATA_FILE", "/data/mailpit.db", { data: "/data/mailstead-data" }],
    ["MH_UI_BIND_ADDR", "0.0.0.0:9025", { host: "0.0.0.0", port: 9025 }],
    ["MH_API_BIND_ADDR", "127.0.0.1:9025", { host: "127.0.0.1", port: 9025 }],
    ["MH_SMTP_BIND_ADDR", "0.0.0.0:2525", { captureSmtp: { host: "0.0.0.0", port: 2525 } }],
    ["MH_UI_WEB_PATH", "mailhog", { mailpitWebroot: "/mailhog" }],
    ["MH_UI_WEB_PATH", "/", { mailpitWebroot: null }],
    ["MH_STORAGE", "memory", {}],
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
  ["MP_SMTP_REQUIRE_TLS", "ture"],
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

describe("a variable that may restrict access stops the start, and the message names the right one:", () => {
  test.each([
    ["MP_SMTP_ALOWED_RECIPIENTS", "MP_SMTP_ALLOWED_RECIPIENTS"],
    ["MP_SMTP_ALLOWED_RECIPENTS", "MP_SMTP_ALLOWED_RECIPIENTS"],
    ["MP_SMTP_RECIPIENTS_ALLOWED", "MP_SMTP_ALLOWED_RECIPIENTS"],
    ["MP_UI_AUHT", "MP_UI_AUTH"],
    ["MP_UI_AUTHFILE", "MP_UI_AUTH_FILE"],
    ["MP_UI_ATUH_FILE", "MP_UI_AUTH_FILE"],
    ["MP_AUTH", "MP_UI_AUTH"],
    ["MP_UI_PASSWORD", "MP_UI_AUTH"],
    ["MP_SMTP_REQIURE_TLS", "MP_SMTP_REQUIRE_TLS"],
    ["MP_SMTP_STARTTLS_REQUIRED", "MP_SMTP_TLS_REQUIRED"],
    ["MP_UI_BIND_ADR", "MP_UI_BIND_ADDR"],
    ["MP_UI_BINDADDR", "MP_UI_BIND_ADDR"],
    ["mp_ui_auth", "MP_UI_AUTH"],
    ["MH_AUTHFILE", "MH_AUTH_FILE"],
    ["MH_AUHT_FILE", "MH_AUTH_FILE"],
    ["MH_UI_AUTH", "MP_UI_AUTH"],
    ["MP_ALLOWED_HOSTS", "MAILSTEAD_ALLOWED_HOST"],
    ["MP_UI_TLS_CERT", "reverse proxy"],
    ["MP_UI_SSL_KEY", "reverse proxy"],
    ["MAILSTEAD_UI_AUHT", "MAILSTEAD_UI_AUTH"],
    ["MAILSTEAD_UIAUTH", "MAILSTEAD_UI_AUTH"],
    ["MAILSTEAD_CAPTURE_RECIPENTS", "MAILSTEAD_CAPTURE_RECIPIENTS"],
    ["MAILSTEAD_UI_AUTH_FIEL", "MAILSTEAD_UI_AUTH_FILE"],
  ])("%s", (name, right) => {
    const attempt = () => withMailpitVariables({ [name]: "x" });
    expect(attempt).toThrow(ConfigError);
    expect(attempt).toThrow(name);
    expect(attempt).toThrow(right);
    expect(() => withMailpitAliases({ [name]: "x" })).not.toThrow();
  });

  test.each(
    (
      "API_KEY USERS UI_USER PASSWD ACCESS_LIST IP_FILTER SMTP_DENY SMTP_BLOCKLIST DISABLE_API READ_ONLY " +
      "RESTRICT_API FORBIDDEN_HOSTS CORS_ORIGINS TLS_REQIURED SMTP_REJECT_UNKNOWN UI_LOGIN_REQUIRED " +
      "UI_TOKKEN SENDER_WHITELIST HTTPS_ONLY UI_CERTIFICATE SMTP_STRICT_SENDER TRUSTED_PROXIES ADMIN_PASS " +
      "UI_AUTHENTICATION AUTHORIZED_USERS OIDC_ISSUER SESSION_SECRET UI_BASIC UI_PW UI_LOOPBACK"
    ).split(" "),
  )("MP_%s and MH_%s", (suffix) => {
    for (const prefix of ["MP_", "MH_"]) {
      const name = prefix + suffix;
      expect(() => withMailpitVariables({ [name]: "x" })).toThrow(name);
      expect(withMailpitVariables({ [name]: "" }).ignored).toEqual([]);
      expect(withMailpitVariables({ [name]: "false" }).ignored).toEqual([name]);
    }
  });
});

test("other variables do not stop the start", () => {
  const names =
    "MP_THEME MP_COLOR MP_TIMEZONE MP_DEBUG MP_USE_IPC MP_NEW_LABEL MP_MAX_SIZE MH_HOSTNAME MH_CORS_ORIGIN " +
    "MH_MONGO_URI MH_MONGO_DB MH_MONGO_COLLECTION MH_MAILDIR_PATH MH_OUTGOING_SMTP MH_API_HOST " +
    "MH_INVITE_JIM MP_API_CORS MP_HIDE_DELETE_ALL_BUTTON MP_DISABLE_HTTP_COMPRESSION MP_WEBHOOK_LIMIT " +
    "MP_SMTP_RELAY_PASSWORD MP_SMTP_FORWARD_TLS MP_TAGS_DISABLE MP_SMTP_STRICT_RFC_HEADERS MP_TAGS_USERNAME " +
    "MP_VERSION MP_LOCALE MP_DOMAIN MH_LOCALE";
  for (const name of names.split(" ")) {
    expect(withMailpitVariables({ [name]: "x" }).ignored).toEqual([name]);
  }
  const silent =
    "MP_SERVICE_HOST MP_PORT_8025_TCP_ADDR MP_SMTP_SERVICE_PORT_SMTP MP_PORT MAILSTEAD_SERVICE_HOST " +
    "MAILSTEAD_PORT_8025_TCP_PROTO MAILSTEAD_API_KEY MAILSTEAD_KEY MAILSTEAD_ENV MAILSTEAD_VERSION MPI_AUTH PATH";
  for (const name of silent.split(" ")) {
    expect(withMailpitVariables({ [name]: "x" }).ignored).toEqual([]);
  }
});

test("the password file of MailHog names the users of the HTTP interface", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailhog-auth-"));
  const file = join(folder, "auth");
  const digest = "$2a$04$qxRo.ftFoNep7ld/5jfKtuBTnGqff/fZVyj53mUC5sVf9dtDLAi/S";
  writeFileSync(file, `test:${digest}\nada:${digest}\n`);
  try {
    expect(read({ MH_AUTH_FILE: file })).toMatchObject({
      uiAuth: [login("test", digest), login("ada", digest)],
    });
    writeFileSync(file, "");
    expect(() => read({ MH_AUTH_FILE: file })).toThrow(ConfigError);
    expect(() => read({ MH_AUTH_FILE: join(folder, "missing") })).toThrow(ConfigError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("of several variables for one setting, that of Mailpit wins; two addresses of MailHog are refused", () => {
  const both = { MP_UI_BIND_ADDR: "127.0.0.1:1", MH_UI_BIND_ADDR: "0.0.0.0:2" };
  expect(read(both)).toMatchObject({ host: "127.0.0.1", port: 1 });
  const same = { MH_API_BIND_ADDR: "127.0.0.1:1", MH_UI_BIND_ADDR: "127.0.0.1:1" };
  expect(read(same)).toMatchObject({ host: "127.0.0.1", port: 1 });
  const two = { MH_API_BIND_ADDR: "127.0.0.1:1", MH_UI_BIND_ADDR: "0.0.0.0:2" };
  expect(() => read(two)).toThrow("MH_API_BIND_ADDR");
});

test("a flag of Mailpit or MailHog has a variable, or what does the same", () => {
  const found = (
    "--ui-auth-file --auth-file -auth-file --smtp-auth-file --listen -s --smtp-allowed-recipients " +
    "--ui-tls-cert --label --auth --colour"
  )
    .split(" ")
    .map(insteadOfFlag);
  expect(found).toEqual([
    "set the variable MP_UI_AUTH_FILE",
    "set the variable MH_AUTH_FILE",
    "set the variable MH_AUTH_FILE",
    "set the variable MP_SMTP_AUTH_FILE",
    "set the variable MP_UI_BIND_ADDR",
    "set the variable MP_SMTP_BIND_ADDR",
    "set the variable MP_SMTP_ALLOWED_RECIPIENTS",
    "HTTPS is the work of a reverse proxy here (docs/operations.md)",
    "leave it out",
    null,
    null,
  ]);
});
