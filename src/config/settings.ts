/**
 * The table of settings. The type of the configuration, the flags of commands, their help texts and
 * docs/configuration.md derive from it; read.ts reads the values.
 */

import { hostname as systemHostname } from "node:os";
import { LOG_FORMATS, LOG_LEVELS } from "../lib/log.ts";
import * as kinds from "./kinds.ts";
import { type Setting, setting } from "./setting.ts";

const DURABILITIES = ["background", "sqlite"] as const;
/** True if the SMTP listener that catches mail needs TLS. */
const CAPTURE_TLS = ["optional", "starttls", "implicit"] as const;
const TLS_SOURCES = ["off", "files", "acme"] as const;
const SECOND_FACTOR_POLICIES = ["none", "owners", "all"] as const;
const TRANSPORTS = ["capture", "relay", "direct"] as const;

/** Longest retention: a hundred years. */
const MAX_DAYS = 36_500;

const TABLE = {
  data: setting("data", kinds.text("FOLDER"), {
    fallback: () => "./mailstead-data",
    help: "Folder of the database and the installation secret",
  }),
  durability: setting("durability", kinds.choice(DURABILITIES), {
    fallback: () => "background" as const,
    help: "Who syncs the database: a thread in the background, or SQLite itself (for replication tools)",
  }),
  host: setting("host", kinds.text("ADDRESS"), {
    fallback: () => "127.0.0.1",
    help: "Address to listen on",
  }),
  port: setting("port", kinds.integer("PORT", 0, 65_535), {
    fallback: () => 3000,
    shownDefault: "3000; 8025 in dev",
    help: "Port to listen on; 0 for any free port",
  }),
  /** Public base of links, without a slash at the end; null means `http://host:port`. */
  url: setting("url", kinds.optional(kinds.publicUrl), {
    fallback: () => null,
    shownDefault: "http://host:port",
    help: "Public base of the links in mails",
  }),
  /** The same for tracked links and pixels; null means the value of `url`. */
  trackingUrl: setting("tracking-url", kinds.optional(kinds.publicUrl), {
    fallback: () => null,
    shownDefault: "the value of --url",
    help: "Public base of tracked links and pixels, if it differs",
  }),
  transport: setting("transport", kinds.choice(TRANSPORTS), {
    fallback: () => "capture" as const,
    help: "How mail is sent: captured and not sent, through an SMTP relay, or directly to recipients",
  }),
  /** Address of the SMTP listener that catches mail; null if there is none. */
  captureSmtp: setting("capture-smtp", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "none; port 1025 of --host in dev",
    help: "Catch mail that arrives over SMTP on this address, for development and tests",
  }),
  /** Addresses of the listeners for submission; null if there is none. */
  submission: setting("submission", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "none",
    help: "Take mail for sending over SMTP on this address, usually port 587 (STARTTLS)",
  }),
  submissions: setting("submissions", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "none",
    help: "The same with TLS from the first byte, usually port 465",
  }),
  /** Address of the listener for mail from other servers; null if there is none. */
  inbound: setting("inbound", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "none",
    help: "Take bounces, complaints and mail for the postmaster on this address, usually port 25",
  }),
  smtpMaxBytes: setting("smtp-max-bytes", kinds.integer("BYTES", 65_536, 104_857_600), {
    fallback: () => 25 * 1024 * 1024,
    help: "Largest message that --submission and --inbound take",
  }),
  allowedHosts: setting("allowed-host", kinds.hostNames, {
    fallback: () => [],
    shownDefault: "none",
    help: "Names in the Host header by which inboxes may be used without a key, in dev only",
  }),
  /** Peers beside this machine whose requests need no key. */
  keylessPeers: setting("keyless-peer", kinds.peerRanges, {
    fallback: () => [],
    shownDefault: "none",
    help: "Other machines that may use inboxes without a key, in dev only; attached: those in the networks of this machine",
  }),
  /** A second path of Mailpit's interface, without a slash at its end; null if there is none. */
  mailpitWebroot: setting("mailpit-webroot", kinds.optional(kinds.webroot), {
    fallback: () => null,
    shownDefault: "none",
    help: "Serve Mailpit's HTTP interface below this path as well, as its --webroot does",
  }),
  /** Users of Mailpit's interface; if there are any, nothing in inboxes is open without a key. */
  uiAuth: setting("ui-auth", kinds.logins, {
    fallback: () => [],
    shownDefault: "none",
    help: "Users of Mailpit's HTTP interface; with them, no inbox can be used without a key or a password",
  }),
  sendApiAuth: setting("send-api-auth", kinds.logins, {
    fallback: () => [],
    shownDefault: "those of --ui-auth",
    help: "Users who may call /api/v1/send of Mailpit's HTTP interface and, in dev, the send calls of other providers",
  }),
  captureAuth: setting("capture-auth", kinds.logins, {
    fallback: () => [],
    shownDefault: "none: every login is accepted",
    help: "Users who may send to --capture-smtp; a session without a login is refused",
  }),
  captureTls: setting("capture-tls", kinds.choice(CAPTURE_TLS), {
    fallback: () => "optional" as const,
    help: "TLS on --capture-smtp: for clients that ask, needed before MAIL, or from the first byte",
  }),
  captureRecipients: setting("capture-recipients", kinds.optional(kinds.pattern), {
    fallback: () => null,
    shownDefault: "all",
    help: "Recipients that --capture-smtp takes, as a regular expression; others are refused",
  }),
  captureMaxRecipients: setting("capture-max-recipients", kinds.integer("N", 1, 10_000), {
    fallback: () => 100,
    help: "Recipients of a message on --capture-smtp; more are refused with 452",
  }),
  mailpitApi: setting("mailpit-api", kinds.boolean, {
    fallback: () => false,
    shownDefault: "false; true in dev",
    help: "Serve Mailpit's HTTP interface for inboxes; it asks for the name and password of an inbox",
  }),
  captureMaxMessages: setting("capture-max-messages", kinds.integer("N", 0, 100_000_000), {
    fallback: () => 500,
    help: "Messages that an inbox keeps, the newest ones; 0 for all",
  }),
  captureMaxDays: setting("capture-max-days", kinds.integer("DAYS", 0, MAX_DAYS), {
    fallback: () => 30,
    help: "Days until a message in an inbox is deleted; 0 for never",
  }),
  captureMaxBytes: setting("capture-max-bytes", kinds.integer("BYTES", 1_000_000, 1e15), {
    fallback: () => 2 * 1024 * 1024 * 1024,
    help: "Bytes that all messages in inboxes may take on disk; the oldest ones are deleted",
  }),
  /** The source of the certificate of HTTPS; off behind a proxy that ends TLS. */
  tls: setting("tls", kinds.choice(TLS_SOURCES), {
    fallback: () => "off" as const,
    help: "Serve HTTPS on --https, with a certificate from files or from a CA; off behind a proxy with TLS",
  }),
  /** The CA of --tls acme; null means Let's Encrypt. */
  acmeDirectory: setting("acme-directory", kinds.optional(kinds.publicUrl), {
    fallback: () => null,
    shownDefault: "Let's Encrypt",
    help: "ACME directory of the CA, for --tls acme, whose terms you accept with it",
  }),
  acmeCa: setting("acme-ca", kinds.optional(kinds.text("FILE")), {
    fallback: () => null,
    shownDefault: "those that the system trusts",
    help: "Certificates (PEM) that the server of --acme-directory is verified with, for a private CA",
  }),
  acmeEab: setting("acme-eab", kinds.optional(kinds.accountBinding), {
    fallback: () => null,
    shownDefault: "none",
    help: "Identifier and MAC key with which the CA binds the account to yours; use MAILSTEAD_ACME_EAB_FILE",
  }),
  /** Address of the HTTPS listener; null means port 443 of all addresses. */
  https: setting("https", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "port 443 of all addresses, with --tls",
    help: "Listen for HTTPS on this address, with --tls",
  }),
  tlsCert: setting("tls-cert", kinds.optional(kinds.text("FILE")), {
    fallback: () => null,
    shownDefault: "none",
    help: "Certificate chain (PEM) for --tls files; it is read again when the file changes",
  }),
  tlsKey: setting("tls-key", kinds.optional(kinds.text("FILE")), {
    fallback: () => null,
    shownDefault: "none",
    help: "Private key (PEM) of --tls-cert",
  }),
  /** Address of the listener without TLS, which redirects; null means port 80 of all addresses. */
  plainHttp: setting("plain-http", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "port 80 of all addresses, with --tls",
    help: "Redirect HTTP on this address to HTTPS, and answer the CA, with --tls",
  }),
  /** Files of the SMTP listeners' certificate; null means that of `tls`, else a self-signed one. */
  smtpTlsCert: setting("smtp-tls-cert", kinds.optional(kinds.text("FILE")), {
    fallback: () => null,
    shownDefault: "the one of --tls, else a self-signed one",
    help: "Certificate chain (PEM) of the SMTP listeners; it is read again when the file changes",
  }),
  smtpTlsKey: setting("smtp-tls-key", kinds.optional(kinds.text("FILE")), {
    fallback: () => null,
    shownDefault: "the one of --tls, else a self-signed one",
    help: "Private key (PEM) of --smtp-tls-cert",
  }),
  relayUrl: setting("relay-url", kinds.relayUrl, {
    fallback: () => null,
    shownDefault: "none",
    help: `${kinds.RELAY_URL_FORM}, or none; sign=false if the relay signs mail by itself`,
  }),
  fallbackRelayUrl: setting("fallback-relay-url", kinds.optional(kinds.relayUrl), {
    fallback: () => null,
    shownDefault: "none",
    help: "Relay for mail while the first one (--relay-url) cannot be reached",
  }),
  hostname: setting("hostname", kinds.hostName, {
    fallback: systemHostname,
    shownDefault: "the system's",
    help: "Name of this server in EHLO",
  }),
  /** Name servers for look-ups; null means those of the system. */
  dns: setting("dns", kinds.optional(kinds.dnsServers), {
    fallback: () => null,
    shownDefault: "the system's",
    help: "Name servers for DNS look-ups",
  }),
  directPort: setting("direct-port", kinds.integer("PORT", 1, 65_535), {
    fallback: () => 25,
    help: "Port of the receiving servers, with --transport direct; change it only for tests",
  }),
  /** Addresses of this machine that mail leaves from; if empty, the system chooses. */
  sourceAddresses: setting("source-address", kinds.ipAddresses, {
    fallback: () => [],
    shownDefault: "the system's choice",
    help: "Addresses of this machine that mail leaves from, with --transport direct",
  }),
  allowPrivateAddresses: setting("allow-private-addresses", kinds.boolean, {
    fallback: () => false,
    help: "Allow mail and webhooks to private and loopback addresses; for tests",
  }),
  sendRate: setting("send-rate", kinds.decimal("N", 0, 100_000), {
    fallback: () => 14,
    shownDefault: "14; 0 in dev with --transport capture",
    help: "Mails per second that leave; 0 for no limit",
  }),
  apiRate: setting("api-rate", kinds.integer("N", 0, 10_000_000), {
    fallback: () => 1000,
    shownDefault: "1000; 0 in dev",
    help: "Requests per minute and project with secret keys; 0 for no limit",
  }),
  publicKeyRate: setting("public-key-rate", kinds.integer("N", 0, 10_000_000), {
    fallback: () => 1000,
    help: "Requests per minute and project with public keys; 0 for no limit",
  }),
  publicClientRate: setting("public-client-rate", kinds.integer("N", 0, 10_000_000), {
    fallback: () => 300,
    help: "Requests per minute, project and client address with public keys; 0 for no limit",
  }),
  userRate: setting("user-rate", kinds.integer("N", 0, 10_000_000), {
    fallback: () => 1200,
    shownDefault: "1200; 0 in dev",
    help: "Requests per minute of one user with the dashboard; 0 for no limit",
  }),
  trustedProxies: setting("trusted-proxy", kinds.addressRanges, {
    fallback: () => [],
    shownDefault: "none",
    help: "Reverse proxies, as addresses or CIDR ranges, whose X-Forwarded-For names the client",
  }),
  quotaStorage: setting("quota-storage", kinds.integer("MIB", 0, 1_000_000_000), {
    fallback: () => 51_200,
    help: "MiB that the data of a project may take; 0 for no limit",
  }),
  quotaQueuedMails: setting("quota-queued-mails", kinds.integer("N", 0, 1_000_000_000), {
    fallback: () => 1_000_000,
    help: "Waiting mails of a project, without those of campaigns; 0 for no limit",
  }),
  quotaJobs: setting("quota-jobs", kinds.integer("N", 0, 100_000), {
    fallback: () => 10,
    help: "Concurrent imports, exports and bulk actions of a project; 0 for no limit",
  }),
  quotaWebhookCalls: setting("quota-webhook-calls", kinds.integer("N", 0, 1000), {
    fallback: () => 32,
    help: "Concurrent webhook requests of a project; 0 for no limit except a fair share",
  }),
  requireVerifiedDomain: setting("require-verified-domain", kinds.boolean, {
    fallback: () => true,
    shownDefault: "true; false in dev",
    help: "Refuse senders whose domain is not verified",
  }),
  retainBodies: setting("retain-bodies", kinds.integer("DAYS", 0, MAX_DAYS), {
    fallback: () => 90,
    help: "Days until body, variables and attachments of a mail are deleted; 0 for never",
  }),
  retainRaw: setting("retain-raw", kinds.integer("DAYS", 0, MAX_DAYS), {
    fallback: () => 30,
    help: "Days until captured messages are deleted; 0 for never",
  }),
  retainEvents: setting("retain-events", kinds.integer("DAYS", 0, MAX_DAYS), {
    fallback: () => 0,
    help: "Days until events and ended workflow executions are deleted; 0 for never",
  }),
  campaignBounceLimit: setting("campaign-bounce-limit", kinds.decimal("SHARE", 0, 1), {
    fallback: () => 0.1,
    help: "Share of bounces (0 to 1) above which a campaign is paused",
  }),
  campaignComplaintLimit: setting("campaign-complaint-limit", kinds.decimal("SHARE", 0, 1), {
    fallback: () => 0.003,
    help: "Share of complaints (0 to 1) above which a campaign is paused",
  }),
  campaignLimitAfter: setting("campaign-limit-after", kinds.integer("MAILS", 1, 1_000_000), {
    fallback: () => 500,
    help: "Number of sent mails of a campaign from which these two limits apply",
  }),
  /** Sender of mails that belong to no project; null means the default sender of a project. */
  systemFrom: setting("system-from", kinds.optional(kinds.mailbox), {
    fallback: () => null,
    shownDefault: "the default sender of the project",
    help: "Sender of invitations to the dashboard and of links for a new password",
  }),
  requireSecondFactor: setting("require-second-factor", kinds.choice(SECOND_FACTOR_POLICIES), {
    fallback: () => "none" as const,
    help: "Users of the dashboard who must have a second factor, and set it up at their next sign-in",
  }),
  /** Address of the owner that the first start creates; null means that a link is printed. */
  ownerEmail: setting("owner-email", kinds.optional(kinds.emailAddress), {
    fallback: () => null,
    shownDefault: "none: the first start prints a link",
    help: "Address of the owner that is created if there is none; needs a password",
  }),
  ownerPassword: setting("owner-password", kinds.optional(kinds.text("TEXT")), {
    fallback: () => null,
    shownDefault: "none",
    help: "Password of that owner; use MAILSTEAD_OWNER_PASSWORD_FILE to keep it out of process lists",
  }),
  softBounceLimit: setting("soft-bounce-limit", kinds.integer("N", 0, 100), {
    fallback: () => 3,
    help: "Soft bounces, without a delivery between them, that suppress an address; 0 for never",
  }),
  softBounceDays: setting("soft-bounce-days", kinds.integer("DAYS", 1, 365), {
    fallback: () => 30,
    help: "Days within which these soft bounces must be",
  }),
  softBounceSuppressDays: setting("soft-bounce-suppress-days", kinds.integer("DAYS", 1, 3650), {
    fallback: () => 30,
    help: "Days for which soft bounces suppress an address",
  }),
  mcpChanges: setting("mcp-changes", kinds.boolean, {
    fallback: () => false,
    help: "Offer tools over MCP that send or change something, each after a dry run; others only read",
  }),
  /** Absolute path or s3://… of the scheduled backups; null if there are none. */
  backupTo: setting("backup-to", kinds.optional(kinds.backupTarget), {
    fallback: () => null,
    shownDefault: "none",
    help: "Make an encrypted and verified backup in this folder or bucket every day",
  }),
  eventsTo: setting("events-to", kinds.optional(kinds.backupTarget), {
    fallback: () => null,
    shownDefault: "none",
    help: "Write all events to this folder or bucket every hour, for a data warehouse",
  }),
  backupAt: setting("backup-at", kinds.timeOfDay, {
    fallback: () => ({ hour: 3, minute: 17 }),
    shownDefault: "03:17",
    help: "When that backup is made, in the time zone of the system",
  }),
  backupKeep: setting("backup-keep", kinds.backupKeep, {
    fallback: () => ({ days: 7, weeks: 4, months: 6 }),
    shownDefault: "7d,4w,6m",
    help: "Backups to keep there: the newest of each of the last days, weeks and months that have one",
  }),
  /** URL of the S3 service; null means that of AWS. */
  s3Endpoint: setting("s3-endpoint", kinds.optional(kinds.publicUrl), {
    fallback: () => null,
    shownDefault: "AWS, in --s3-region",
    help: "URL of the S3 service of backups in s3://…, such as that of MinIO, R2, B2 or Hetzner",
  }),
  s3Region: setting("s3-region", kinds.s3Region, {
    fallback: () => "us-east-1",
    help: "Region of the bucket; auto for R2",
  }),
  s3AccessKeyId: setting("s3-access-key-id", kinds.optional(kinds.text("ID")), {
    fallback: () => null,
    shownDefault: "none",
    help: "Access key that may list, read, write and delete in the bucket",
  }),
  s3SecretAccessKey: setting("s3-secret-access-key", kinds.optional(kinds.text("TEXT")), {
    fallback: () => null,
    shownDefault: "none",
    help: "Its secret; use MAILSTEAD_S3_SECRET_ACCESS_KEY_FILE to keep it out of process lists",
  }),
  updateCheck: setting("update-check", kinds.boolean, {
    fallback: () => true,
    shownDefault: "true; false in dev",
    help: "Ask once a day whether there is a newer version; the request does not tell who asks",
  }),
  /**
   * The recipients of alerts by mail, which does not go through the queue
   * (modules/alerts/operator-mail.ts).
   */
  operatorEmail: setting("operator-email", kinds.emailAddresses, {
    fallback: () => [],
    shownDefault: "none",
    help: "Addresses of the operators, who get alerts and the weekly digest by mail",
  }),
  /** The relay of that mail; null means straight to the mail server of each operator. */
  alertRelayUrl: setting("alert-relay-url", kinds.relayUrl, {
    fallback: () => null,
    shownDefault: "none: straight to the mail servers of the operators",
    help: "Relay of the mail to the operators, other than the one of --relay-url, which may be down",
  }),
  alertWebhook: setting("alert-webhook", kinds.optional(kinds.calledUrl), {
    fallback: () => null,
    shownDefault: "none",
    help: "Post alerts as signed JSON to this URL",
  }),
  alertNtfy: setting("alert-ntfy", kinds.optional(kinds.calledUrl), {
    fallback: () => null,
    shownDefault: "none",
    help: "Publish alerts to this topic of ntfy, such as https://ntfy.sh/TOPIC",
  }),
  alertSlack: setting("alert-slack", kinds.optional(kinds.calledUrl), {
    fallback: () => null,
    shownDefault: "none",
    help: "Post alerts to this incoming webhook of Slack or Mattermost, or of Discord with /slack at its end",
  }),
  heartbeatUrl: setting("heartbeat-url", kinds.optional(kinds.calledUrl), {
    fallback: () => null,
    shownDefault: "none",
    help: "Request this URL while everything works, so that a monitor notices when the requests end",
  }),
  heartbeatMinutes: setting("heartbeat-minutes", kinds.integer("N", 1, 1_440), {
    fallback: () => 5,
    help: "Minutes between these requests",
  }),
  weeklyDigest: setting("weekly-digest", kinds.boolean, {
    fallback: () => true,
    help: "Send the operators a mail with the figures of the week, on Mondays at 08:00 in the time zone of the system",
  }),
  logLevel: setting("log-level", kinds.choice(LOG_LEVELS), {
    fallback: () => "info" as const,
    help: "Lowest level that is logged",
  }),
  logFormat: setting("log-format", kinds.choice(LOG_FORMATS), {
    // The user who starts the server in a terminal reads the log, even if the log goes to a file.
    fallback: () => (process.stdout.isTTY || process.stderr.isTTY ? "text" : "json"),
    shownDefault: "text when started in a terminal, else json",
    help: "Format of log lines",
  }),
  /** Address on which `GET /metrics` is served; null if it is not served. */
  metrics: setting("metrics", kinds.optional(kinds.hostAndPort), {
    fallback: () => null,
    shownDefault: "none",
    help: "Serve GET /metrics (Prometheus) on this address; it needs no key, so keep it private",
  }),
  /** Installation secret; null means the one stored in the data folder. */
  secret: setting("secret", kinds.optional(kinds.secret), {
    fallback: () => null,
    shownDefault: "generated on the first start, stored in the data folder",
    help: "Installation secret, which signs links and encrypts stored keys",
  }),
};

export type SettingName = keyof typeof TABLE;

export type Config = {
  readonly [Name in SettingName]: ReturnType<(typeof TABLE)[Name]["fallback"]>;
};

export const SETTINGS: { readonly [Name in SettingName]: Setting<Config[Name]> } = TABLE;

export const SETTING_NAMES: readonly SettingName[] = Object.keys(TABLE).filter(isSettingName);

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(TABLE, name);
}
