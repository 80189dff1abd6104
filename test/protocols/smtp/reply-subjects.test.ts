/** Whom replies and reports mean: tables of texts that sound alike and mean different ones. */

import { describe, expect, test } from "bun:test";
import { diagnose } from "../../../src/protocols/dsn/classify.ts";
import { classifyReply } from "../../../src/protocols/smtp/classify-reply.ts";

const RECIPIENT = "ada@example.org";

const at = (step: "mail" | "rcpt" | "data" | "dot", text: string, code = 550) =>
  classifyReply({ step, code, enhanced: null, text });
const inReport = (text: string, status: string | null = null) =>
  diagnose(status, text, { recipient: RECIPIENT }).class;

/** The sender is unknown or refused, so nothing is known of the recipient. */
const SENDER: readonly string[] = [
  "5.1.0 envelope sender: user unknown",
  "Can't verify sender: user unknown",
  "Backend rejected sender: unknown user",
  "Sender: user unknown",
  "reverse-path: unknown user",
  "Reverse path user unknown",
  "return path: no such user",
  "authenticated user unknown",
  "user not found in our allow list of senders",
  "5.1.1 Address rejected: sender's mailbox not found",
  "Sender verify failed",
  "5.1.1 Sender verify failed",
  "sender address a@shop.example does not exist",
  "<a@shop.example>: sender address does not exist",
  "5.1.1 <a@shop.example>: Sender address rejected: User unknown",
  "Sender address rejected. No such user.",
  "The sender's e-mail address could not be found",
  "The sender mailbox is unavailable",
  "Unknown user in From: header",
  "MAIL FROM: user unknown",
  "mail from a@shop.example: mailbox not found",
  "envelope-from: account does not exist",
  "envelope from <a@shop.example> is unknown: no such user here",
  "originator: unknown user",
  "Originator address does not exist",
  "No such user: MAIL FROM",
  "5.1.1 unknown user: sender",
  "Invalid sender: mailbox does not exist",
  "Bad sender, user unknown",
  "callout to verify the sender said: no such user",
  "Sender verify failed (mx.shop.example said: 550 5.1.1 user unknown)",
  "Verification failed for <a@shop.example> No Such User Here",
  "From address: account not found",
  "From: mailbox does not exist",
  "Domain of sender not found",
  "Sender domain shop.example does not exist",
  "your address does not exist",
  "your e-mail address is unknown: user not found",
  "the auth user does not exist",
  "5.1.1 Login user unknown",
  "5.2.1 sender mailbox disabled",
  "sender account has been deleted",
  "the return-path mailbox is inactive",
  "Absender: Benutzer unbekannt",
  "Expéditeur inconnu: adresse introuvable",
  "remitente: usuario desconocido",
  " 5.1.0 sender rejected: user unknown",
  "The user in MAIL FROM does not exist",
  "5.1.7 invalid sender address: mailbox not found",
  "The address you are sending from does not exist",
  "from mailbox unknown",
  "Source address unknown: no such user",
  "no such user (sender)",
  "Sender's account has been disabled",
  "user unknown for this sender",
  "sender: mailbox unavailable",
  "The sending address is not a valid mailbox",
  "SMTP user does not exist",
  "Return-Path address not found",
  "Envelope sender address is not a local user: unknown user",
  "bounce address does not exist",
  "reply-to address does not exist",
  "Your account does not exist",
  "Originating address unknown",
  "Sending user unknown",
  "Sending account not found",
  "Submitter unknown: no such user",
  "X-Envelope-From: unknown user",
  "Mailfrom address: user unknown",
  "P1 sender user not found",
  "Author address does not exist",
  "absender: Postfach existiert nicht",
  "you are an unknown user",
  "sender mailbox not active",
  "Unknown sender mailbox",
];

/** The recipient is unknown, although the sender is named as well. */
const NOT_SENDER: readonly string[] = [
  "user unknown (sender: a@shop.example)",
  "user unknown (sender=a@shop.example)",
  "5.1.1 user unknown (from a@shop.example)",
  "5.1.1 <ada@example.org>: Recipient address rejected: User unknown; from=<a@shop.example> to=<ada@example.org>",
  "5.1.1 user unknown [envelope-from: a@shop.example]",
  "No such user. Returning the message to the sender.",
  "User unknown, message returned to sender",
  "Mailbox does not exist; please contact the sender",
  "Mail from a@shop.example to ada@example.org: user unknown",
  "Message from <a@shop.example> to <ada@example.org>: no such user",
  "Sender ok, but the recipient is unknown: no such user",
  "sender accepted; user unknown",
  "Dear sender, the mailbox does not exist",
  "Dear sender: this address no longer accepts mail",
  "Sender a@shop.example, recipient ada@example.org: user unknown",
  "user unknown",
  "RCPT TO: user unknown",
  "5.1.1 recipient's mailbox not found",
  "5.1.10 Recipient ada@example.org not found by SMTP address lookup",
  "The email account that you tried to reach does not exist",
  "5.2.1 The email account that you tried to reach is disabled",
  "no mailbox here by that name",
  "5.1.0 recipient: user unknown",
  "User unknown. Sender address: a@shop.example",
  "No such user here (a@shop.example -> ada@example.org)",
  "Unknown recipient, the sender was informed",
  "Address rejected: recipient's mailbox not found",
  "forward-path: user unknown",
  "5.1.1 Requested action not taken: mailbox unavailable",
  "Destination user unknown",
];

describe("the sender or the recipient", () => {
  test.each([...SENDER])("the sender: %s", (text) => {
    for (const step of ["rcpt", "dot"] as const) {
      const reading = at(step, text);
      expect([step, reading.about, reading.class]).toEqual([step, "sender", "infrastructure"]);
    }
    for (const status of [null, "5.1.1", "5.0.0"]) {
      const words = `host mx.example.org said: 550 ${text} (in reply to RCPT TO command)`;
      expect(inReport(words, status)).not.toBe("no_such_recipient");
      expect(inReport(text, status)).not.toBe("no_such_recipient");
    }
  });

  test.each([...NOT_SENDER])("the recipient: %s", (text) => {
    expect(at("rcpt", text)).toMatchObject({ about: "recipient", class: "no_such_recipient" });
    const words = `host mx.example.org said: 550 ${text} (in reply to RCPT TO command)`;
    expect(inReport(words)).toBe("no_such_recipient");
  });

  test("the innermost reply is about the sender if the reply around it checks the sender", () => {
    for (const words of [
      "host mx.example.org said: 550 Sender verify failed: host mx.shop.example said: 550 5.1.1 user unknown",
      "550 5.1.1 Could not verify sender ('550 user unknown')",
    ]) {
      for (const status of [null, "5.1.1"]) {
        expect(inReport(words, status)).toBe("infrastructure");
      }
    }
  });
});

describe("a quoted address of ours", () => {
  const envelope = { from: "b+4711.x@bounce.shop.example", to: RECIPIENT };
  const about = (text: string, given = envelope) =>
    classifyReply({ step: "rcpt", code: 550, enhanced: "5.1.1", text, envelope: given }).about;

  test.each([
    "<b+4711.x@bounce.shop.example>: user unknown",
    "<B+4711.X@Bounce.Shop.Example>: Address rejected: no such user",
    "b+4711.x@bounce.shop.example does not exist",
    "User unknown: b+4711.x@bounce.shop.example.",
    "No such user (#5.1.1) b+4711.x@bounce.shop.example",
    "<b+4711.x@bounce.shop.example>: Address rejected",
  ])("is the sender: %s", (text) => {
    expect(about(text)).toBe("sender");
  });

  test.each([
    "user unknown (b+4711.x@bounce.shop.example)",
    "user unknown from=<b+4711.x@bounce.shop.example> to=<ada@example.org>",
    "Mail from b+4711.x@bounce.shop.example to ada@example.org: user unknown",
    "<ada@example.org>: user unknown; b+4711.x@bounce.shop.example",
    "<xb+4711.x@bounce.shop.example>: user unknown",
    "<b+4711.x@bounce.shop.example.org>: user unknown",
    "<ada@example.org>: user unknown",
  ])("is a remark, or another address: %s", (text) => {
    expect(about(text)).toBe("recipient");
  });

  test("is the recipient of a mail to the sender", () => {
    const own = { from: RECIPIENT, to: "Ada@example.org" };
    expect(about("<ada@example.org>: user unknown", own)).toBe("recipient");
    expect(about("<>: user unknown", { from: "", to: RECIPIENT })).toBe("recipient");
  });
});

/** The relay refuses all that our account sends. */
const ACCOUNT: readonly string[] = [
  "5.2.0 STOREDRV.Submission.Exception:OutboundSpamException; Failed to process message due to a permanent exception with message [BeginDiagnosticData] WASCL UserAction verdict is not None. Actual verdict is Suspend, ShowTierUpgrade.",
  "SMTP API monthly usage limit exceeded",
  "Sender limit has been reached",
  "Free plan limit reached",
  "Your free plan's limit is reached",
  "Plan limit exceeded",
  "API limit exceeded",
  "Sending limit exceeded for this account",
  "Monthly limit exceeded",
  "Daily email limit reached",
  "You have reached the daily limit",
  "Exceeded your monthly email limit",
  "Account has exceeded its monthly sending quota",
  "Sending has been stopped",
  "Sending was halted for this account",
  "Sending is temporarily paused",
  "Sandbox subdomains are for test purposes only. Please add your own domain or add the address to authorized recipients in Account Settings.",
  "You can only send testing emails to your own email address (a@shop.example). To send emails to other recipients, please verify a domain",
  "Sending paused for this account. For more information, please check the inbox of the email address associated with your account",
  "Maximum credits exceeded",
  "Not enough credits",
  "You have no credits left",
  "Your account is pending approval",
  "While your account is pending approval, all recipient addresses must share the same domain as the From address",
  "Account is under review",
  "Your SMTP account is not yet activated. Please contact us",
  "SMTP account is inactive",
  "The server is inactive",
  "Server is archived",
  "This server has been suspended",
  "Subscription is awaiting activation",
  "Your account has been temporarily blocked",
  "Please upgrade your plan",
  "Invoice is overdue",
  "Sender address rejected: quota exceeded",
  "5.2.2 Sender address rejected: quota exceeded",
  "sender's mailbox is full",
  "5.2.2 sender over quota",
  "5.7.1 You have reached your daily sending limit",
  "Your free trial has ended",
  "Trial expired",
  "Your sending privileges were revoked",
  "Sending disabled",
  "Email sending is disabled for your account",
  "Account not approved for sending",
  "Account is not active yet",
  "account awaiting approval",
  "API key is invalid",
  "Invalid API key",
  "API key revoked",
  "Rate of monthly emails exceeded",
  "You are sending too many emails. Upgrade to a paid plan",
  "Your plan does not allow",
  "Monthly quota reached",
  "Sending quota exceeded",
  "Sending is not allowed for this account",
  "You've exceeded your allotted credits",
  "Insufficient balance",
  "Insufficient funds",
  "Subscription expired",
  "Your subscription has expired",
  "User limit for outbound messages reached",
  "Max send limit reached",
  "Emails limit of the plan reached",
  "Hourly sending cap reached",
  "5.7.0 Account disabled: too many bounces",
  "Too many bounces, sending paused",
  "Your bounce rate is too high, sending suspended",
  "Compliance review of your account pending",
  "This server is inactive and cannot send",
  "The Server is paused",
  "Message rejected: your account is in the sandbox",
  "Access denied for outbound: tenant suspended",
  "5.7.705 Access denied, tenant has exceeded threshold",
  "STOREDRV.Submission.Exception:SomeOtherException",
  "Free tier exceeded",
  "Quota for the current billing period exhausted",
  "billing problem",
  "Payment overdue",
  "Sender blocked by provider: outbound spam",
];

/** One recipient, or its server, refuses, so no other mail may be held (docs/delivery.md#R5). */
const NOT_ACCOUNT: readonly string[] = [
  "Your domain is blocked by the recipient",
  "Your address has been blocked by this user",
  "Your server is blocked by the recipient's domain",
  "Your domain is blocked by recipient's policy",
  "Your account is restricted by the recipient's settings",
  "host mx.example.org said: 550 5.7.1 Your server is blocked",
  "host mx.example.org[192.0.2.1] said: 550 5.7.1 Daily sending limit exceeded",
  "Remote server returned: 550 your domain is blocked",
  "The recipient server refused: your account is suspended",
  "5.2.2 Mailbox full",
  "Mailbox quota exceeded",
  "User quota exceeded",
  "mailbox usage limit exceeded",
  "disk usage limit exceeded",
  "The recipient's account is over its quota",
  "Message size limit exceeded",
  "Too many connections",
  "User unknown",
  "Account disabled",
  "You tried to send to a recipient that has been marked as inactive",
  "The message was rejected as spam",
  "Recipient has exceeded the receiving limit",
  "The user is over the daily limit of received messages set by the recipient's domain",
  "Your message was blocked by the recipient's spam filter",
  "Sender a@shop.example is blocked by the user",
  "Your address is not on the recipient's allow list",
  "Your account is blocked for this recipient",
  "The recipient blocked your address",
  "blocked by recipient",
  "Recipient ada has blocked you",
  "Your domain is on the mailbox owner's block list",
  "Recipient limit exceeded",
  "e-mail quota exceeded",
  "The e-mail quota of the user is exceeded",
  "Message contains an invoice, payment overdue",
  "Recipient over daily limit",
  "your message was not delivered: mailbox full",
  "Connection limit reached",
  "Mailbox limit exceeded",
  "Your message exceeds the size limit",
  "The message contains a phishing link about a payment",
  "Attachment invoice.exe is not allowed",
  "Recipient address rejected",
  "Account inactive",
  "Mailbox is disabled",
  "The recipient's subscription has expired",
];

/** Words for a recipient in refusals of our server. */
const OUR_SERVER: readonly string[] = [
  "Relay access denied for this recipient",
  "Relaying denied for the recipient",
  "Your IP 192.0.2.7 was blocked by user complaints",
  "Daily limit of recipients exceeded",
  "You have exceeded the number of recipients, daily limit reached",
];

describe("our account or one recipient", () => {
  test.each([...OUR_SERVER])("our server: %s", (text) => {
    expect(at("rcpt", text).about).toBe("account");
  });

  test.each([...ACCOUNT])("the account: %s", (text) => {
    for (const step of ["mail", "rcpt", "data", "dot"] as const) {
      for (const code of [550, 554, 452]) {
        expect([step, code, at(step, text, code).about]).toEqual([step, code, "account"]);
      }
    }
  });

  test.each([...NOT_ACCOUNT])("not the account: %s", (text) => {
    for (const step of ["rcpt", "dot"] as const) {
      expect([step, at(step, text).about]).not.toEqual([step, "account"]);
    }
  });
});

const DEAD: readonly string[] = [
  "The address has been deleted",
  "a is no longer with the company",
  "Ada has left the company",
  "ada is no longer employed here",
  "She does not work here anymore",
  "Account blocked due to inactivity",
  "Mailbox disabled due to inactivity",
  "mailbox suspended for inactivity",
  "Mailbox for this user is not active",
  "Account expired",
  "The account has expired",
  "user account was closed",
  "This mailbox has been permanently removed",
  "The recipient has been removed",
  "email address was discontinued",
  "#5.1.0 Address rejected.",
  "5.1.0 Address rejected.",
  "5.7.1 Hosted tenant which has no mail-enabled subscriptions. ATTR5",
  "mailbox has not been used for 12 months",
  "Ada ist nicht mehr im Unternehmen",
  "User unknown in virtual alias table",
  "We could not deliver your message: the user does not exist",
  "Your message could not be delivered because the recipient's address was not found",
  "Your email to ada@example.org couldn't be delivered. The address does not exist",
  "Invalid recipient",
  "no such user - please check the address and contact your administrator",
  "I'm sorry, your recipient is unknown: no such user",
  "the address to which you are sending does not exist",
  "Addresses of this user do not exist: unknown user, mail from a@shop.example",
  "sorry, no mailbox here by that name; sender a@shop.example",
  "Unknown local part ada in <ada@example.org>",
  "5.1.1 Mailbox not found; authenticated sender a@shop.example",
  "authenticated sender a@shop.example, recipient unknown: no such user",
  "Your mail to this address was refused: mailbox does not exist",
  "The account ada@example.org does not exist. If you are the sender, check the address",
  "Unrouteable address",
  "#5.1.0 Address rejected ada@example.org",
  "5.1.0 Address rejected",
  "Mailbox no longer in use",
  "User is no longer a student",
  "The person no longer works for this company",
  "Ce compte n'existe pas",
  "Esta cuenta ya no existe",
  "account has been closed",
  "address discontinued",
  "user left company",
  "Ada left the organization",
  "mailbox is dormant",
  "inactive mailbox",
  "mailbox inactive for more than 180 days",
  "Account is inactive",
  "This account is not in use",
  "Benutzer hat das Unternehmen verlassen",
  "Diese Adresse existiert nicht mehr",
  "email account deactivated",
  "Recipient suspended",
  "this email address is no longer valid",
  "L'utilisateur n'existe plus",
];

const FULL: readonly string[] = [
  "Postfach voll",
  "Das Postfach ist voll",
  "Postfach von Ada ist überfüllt",
  "Quota überschritten",
  "boîte pleine",
  "La boîte aux lettres du destinataire est pleine",
  "boite mail saturée",
  "quota dépassé",
  "buzón lleno",
  "El buzón del usuario está lleno",
  "casilla llena",
  "cuota excedida",
  "casella piena",
  "La casella di posta è piena",
  "caixa cheia",
  "caixa postal cheia",
  "Postvak vol",
  "mailbox is vol",
  "skrzynka jest pełna",
  "schránka je plná",
  "brevlådan är full",
  "posta kutusu dolu",
  "ящик переполнен",
  "邮箱已满",
  "Mailbox is full",
  "Postfach ist zu voll",
  "Speicherplatz des Postfachs erschoepft",
  "buzon lleno",
  "Buzon de correo lleno",
  "bandeja de entrada llena",
  "La casella del destinatario e' piena",
  "Caixa de entrada cheia",
  "boite de reception pleine",
  "BAL pleine",
  "Mailbox vol",
  "Inbox van de ontvanger is vol",
  "Mailbox overfull",
  "mailbox has exceeded the limit",
  "storage limit reached",
];

/** Words of the tables above that mean something else. */
const OTHERS: readonly string[] = [
  "Sender address rejected.",
  "Client address rejected.",
  "Your IP address has been removed from our allow list",
  "TLS certificate expired",
  "The message has expired",
  "Message removed by the content filter",
  "account is not allowed to receive mail from outside",
  "The connection was closed",
  "Greylisting is active",
  "Please read the full policy",
  "Spam content in the mailbox filter",
];

describe("the mailbox of the recipient", () => {
  test.each([...DEAD])("does not exist any more: %s", (text) => {
    expect(at("rcpt", text)).toMatchObject({ about: "recipient", class: "no_such_recipient" });
    expect(at("rcpt", text, 450).class).not.toBe("no_such_recipient");
    expect(inReport(`host mx.example.org said: 550 ${text}`)).toBe("no_such_recipient");
    expect(inReport(text, "5.0.0")).toBe("no_such_recipient");
  });

  test.each([...FULL])("is full: %s", (text) => {
    expect(at("rcpt", text)).toMatchObject({ about: "recipient", class: "mailbox_full" });
    expect(at("dot", text, 552)).toMatchObject({ about: "recipient", class: "mailbox_full" });
    expect(inReport(`host mx.example.org said: 550 ${text}`)).toBe("mailbox_full");
    expect(inReport(text, "5.0.0")).toBe("mailbox_full");
  });

  test.each([...OTHERS])("is not meant: %s", (text) => {
    expect(["no_such_recipient", "mailbox_full"]).not.toContain(at("rcpt", text).class);
    expect(["no_such_recipient", "mailbox_full"]).not.toContain(inReport(text));
  });
});
