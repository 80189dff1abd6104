/**
 * Sends mail with the official clients of the providers, and reads what was caught. It runs in Node, in
 * a folder that has the packages: `node providers.mjs URL`. It prints one JSON object for each call.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import FormData from "form-data";
import Mailgun from "mailgun.js";
import { ServerClient } from "postmark";
import sendgrid from "@sendgrid/mail";
import * as v1 from "@aws-sdk/client-ses";
import * as v2 from "@aws-sdk/client-sesv2";

const [, , URL_OF_SERVER = ""] = process.argv;
const require = createRequire(import.meta.url);
const FILE = Buffer.from("%PDF-1.4 invoice");

async function api(method, path, body) {
  const response = await fetch(URL_OF_SERVER + path, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return (await response.json()).data;
}

/** The newest message of the inbox, with its source. */
async function newest(inbox) {
  const path = `/inboxes/${inbox}/messages/latest`;
  const [message, raw] = await Promise.all([
    api("GET", path),
    fetch(`${URL_OF_SERVER}${path}/raw`).then((response) => response.text()),
  ]);
  return { ...message, raw };
}

function expectPart(text, part) {
  if (!text.includes(part)) throw new Error(`"${part}" is missing in: ${text.slice(0, 1500)}`);
}

/** A call that is answered, and whose newest message has the given parts in its source. */
async function caught(inbox, run, ...parts) {
  const shown = String(await run());
  const { raw } = await newest(inbox);
  for (const part of parts) expectPart(raw, part);
  return shown;
}

/** A call that the client refuses with an error of its own. */
async function refused(run, className, part) {
  try {
    await run();
  } catch (error) {
    const details = JSON.stringify(error.response?.body ?? error.details ?? "");
    // The names of the classes of mailgun.js are shortened, but its errors have a type.
    const name = error.type ?? error.constructor.name;
    const shown = `${name}: ${error.message} ${details}`;
    if (name !== className) throw new Error(`another error: ${shown}`, { cause: error });
    expectPart(shown, part);
    return shown;
  }
  throw new Error("the call was not refused");
}

async function* sendgridCalls(inbox) {
  sendgrid.setApiKey(inbox);
  sendgrid.client.setDefaultRequest("baseUrl", URL_OF_SERVER);
  const mail = {
    to: "Ada <ada@example.com>",
    from: { email: "shop@example.org", name: "Shop" },
    subject: "SendGrid one",
    text: "Hello",
    html: "<p>Hello</p>",
  };
  yield [
    "send",
    () =>
      caught(
        inbox,
        async () => {
          const [response] = await sendgrid.send({
            ...mail,
            cc: "cc@example.com",
            replyTo: "help@example.org",
            headers: { "X-Order": "7" },
            categories: ["orders"],
            customArgs: { order: "7" },
            sendAt: 1_900_000_000,
            attachments: [{ content: FILE.toString("base64"), filename: "invoice.pdf" }],
          });
          return `${response.statusCode} ${response.headers["x-message-id"]}`;
        },
        "Subject: SendGrid one",
        "X-SendGrid-Categories: orders",
        "X-SendGrid-Send-At: 1900000000",
        "invoice.pdf",
        "X-Order: 7",
      ),
  ];
  yield [
    "send with substitutions",
    () =>
      caught(
        inbox,
        async () =>
          (
            await sendgrid.send({
              ...mail,
              to: undefined,
              text: "Hello {{name}}",
              personalizations: [
                { to: "a@example.com", substitutions: { name: "Ada" } },
                { to: "b@example.com", substitutions: { name: "Bob" } },
              ],
            })
          )[0].statusCode,
        "To: b@example.com",
        "Hello Bob",
      ),
  ];
  yield [
    "sendMultiple",
    () =>
      caught(
        inbox,
        async () =>
          (await sendgrid.sendMultiple({ ...mail, to: ["x@example.com", "y@example.com"] }))[0]
            .statusCode,
        "To: y@example.com",
      ),
  ];
  yield [
    "send with a template",
    () =>
      caught(
        inbox,
        async () => {
          const { to, from } = mail;
          const template = { templateId: "d-7", dynamicTemplateData: { code: "4711" } };
          return (await sendgrid.send({ to, from, ...template }))[0].statusCode;
        },
        "Template d-7 of SendGrid",
        "4711",
      ),
  ];
  yield [
    "send to an invalid address",
    () => refused(() => sendgrid.send({ ...mail, to: "nobody" }), "ResponseError", "address"),
  ];
}

async function* postmarkCalls(inbox) {
  const { host } = new URL(URL_OF_SERVER);
  const client = new ServerClient(inbox, { useHttps: false, requestHost: host });
  const mail = {
    From: "Shop <shop@example.org>",
    To: "Ada <ada@example.com>, bob@example.com",
    Subject: "Postmark one",
    TextBody: "Hello",
  };
  yield [
    "sendEmail",
    () =>
      caught(
        inbox,
        async () => {
          const attachment = {
            Name: "invoice.pdf",
            Content: FILE.toString("base64"),
            ContentType: "application/pdf",
            ContentID: null,
          };
          const answer = await client.sendEmail({
            ...mail,
            Tag: "orders",
            Metadata: { order: "7" },
            Headers: [{ Name: "X-Order", Value: "7" }],
            MessageStream: "outbound",
            TrackOpens: true,
            Attachments: [attachment],
          });
          return `${answer.ErrorCode} ${answer.MessageID}`;
        },
        "Subject: Postmark one",
        "X-PM-Tag: orders",
        "X-PM-Message-Stream: outbound",
        "invoice.pdf",
      ),
  ];
  yield [
    "sendEmailBatch, of which one is refused",
    () =>
      caught(
        inbox,
        async () => {
          const batch = [
            { ...mail, Subject: "Postmark two" },
            { ...mail, To: "nobody" },
          ];
          const answers = await client.sendEmailBatch(batch);
          return answers.map(({ ErrorCode }) => ErrorCode);
        },
        "Subject: Postmark two",
      ),
  ];
  const template = { From: mail.From, To: mail.To, TemplateModel: { code: "4711" } };
  yield [
    "sendEmailWithTemplate",
    () =>
      caught(
        inbox,
        async () =>
          (await client.sendEmailWithTemplate({ ...template, TemplateAlias: "welcome" })).Message,
        "Template welcome of Postmark",
        "4711",
      ),
  ];
  yield [
    "sendEmailBatchWithTemplates",
    () =>
      caught(
        inbox,
        async () =>
          (await client.sendEmailBatchWithTemplates([{ ...template, TemplateId: 12 }]))[0].Message,
        "Template 12 of Postmark",
      ),
  ];
  yield [
    "sendEmail without a body",
    () =>
      refused(
        () => client.sendEmail({ ...mail, TextBody: undefined }),
        "InvalidEmailRequestError",
        "TextBody",
      ),
  ];
}

async function* mailgunCalls(inbox) {
  const client = new Mailgun(FormData).client({
    username: "api",
    key: inbox,
    url: URL_OF_SERVER,
  });
  const mail = {
    from: "Shop <shop@example.org>",
    to: ["Ada <ada@example.com>", "bob@example.com"],
    subject: "Mailgun one",
    text: "Hello",
  };
  const create = async (data) => {
    const { status, id, message } = await client.messages.create("mg.example.org", data);
    return `${status} ${message} ${id}`;
  };
  yield [
    "messages.create",
    () =>
      caught(
        inbox,
        () =>
          create({
            ...mail,
            html: "<p>Hello</p>",
            "o:tag": ["orders", "new"],
            "h:X-Order": "7",
            "v:order": "7",
            attachment: { data: FILE, filename: "invoice.pdf" },
          }),
        "Subject: Mailgun one",
        "X-Mailgun-Tag: orders",
        "X-Mailgun-Tag: new",
        "invoice.pdf",
      ),
  ];
  yield [
    "messages.create with recipient variables",
    () =>
      caught(
        inbox,
        () =>
          create({
            ...mail,
            text: "Hello %recipient.name%",
            "recipient-variables": JSON.stringify({
              "ada@example.com": { name: "Ada" },
              "bob@example.com": { name: "Bob" },
            }),
          }),
        "To: bob@example.com",
        "Hello Bob",
      ),
  ];
  yield [
    "messages.create with a template",
    () =>
      caught(
        inbox,
        () =>
          create({
            ...mail,
            text: undefined,
            template: "welcome",
            "t:variables": JSON.stringify({ code: "4711" }),
          }),
        "welcome",
        "4711",
      ),
  ];
  const mime = "From: shop@example.org\r\nTo: ada@example.com\r\nSubject: In MIME\r\n\r\nHello\r\n";
  yield [
    "messages.create in MIME",
    () =>
      caught(inbox, () => create({ to: mail.to, message: Buffer.from(mime) }), "Subject: In MIME"),
  ];
  yield [
    "messages.create without content",
    () => refused(() => create({ ...mail, text: "" }), "MailgunAPIError", "text"),
  ];
}

async function* sesCalls(inbox, { client, send }) {
  const credentials = { accessKeyId: inbox, secretAccessKey: "any" };
  const options = { endpoint: URL_OF_SERVER, region: "eu-west-1", credentials, maxAttempts: 1 };
  const made = client(options);
  for (const [name, command, parts] of send.accepted) {
    yield [name, () => caught(inbox, async () => (await made.send(command)).MessageId, ...parts)];
  }
  for (const [name, command, className, part] of send.refused) {
    yield [name, () => refused(() => made.send(command), className, part)];
  }
}

const RAW = Buffer.from(
  "From: shop@example.org\r\nTo: ada@example.com\r\nSubject: Raw mail\r\n\r\nHello\r\n",
);
const simple = { Subject: { Data: "SES one" }, Body: { Text: { Data: "Hello" } } };
const to = { ToAddresses: ["Ada <ada@example.com>"] };

const sesVersion2 = {
  client: (options) => new v2.SESv2Client(options),
  send: {
    accepted: [
      [
        "SendEmail, Simple",
        new v2.SendEmailCommand({
          FromEmailAddress: "shop@example.org",
          Destination: { ...to, BccAddresses: ["bcc@example.com"] },
          ReplyToAddresses: ["help@example.org"],
          EmailTags: [{ Name: "kind", Value: "order" }],
          ConfigurationSetName: "production",
          Content: {
            Simple: {
              ...simple,
              Headers: [{ Name: "X-Order", Value: "7" }],
              Attachments: [{ RawContent: FILE, FileName: "invoice.pdf" }],
            },
          },
        }),
        ["Subject: SES one", "X-SES-Configuration-Set-Name: production", "invoice.pdf"],
      ],
      [
        "SendEmail, Raw",
        new v2.SendEmailCommand({ Content: { Raw: { Data: RAW } } }),
        ["Subject: Raw mail", "eu-west-1.amazonses.com"],
      ],
      [
        "SendEmail, Template",
        new v2.SendEmailCommand({
          FromEmailAddress: "shop@example.org",
          Destination: to,
          Content: { Template: { TemplateName: "welcome", TemplateData: '{"code":"4711"}' } },
        }),
        ["Template welcome of Amazon SES", "4711"],
      ],
    ],
    refused: [
      [
        "SendEmail from an invalid address",
        new v2.SendEmailCommand({
          FromEmailAddress: "nobody",
          Destination: to,
          Content: { Simple: simple },
        }),
        "BadRequestException",
        "FromEmailAddress",
      ],
    ],
  },
};

const sesVersion1 = {
  client: (options) => new v1.SESClient(options),
  send: {
    accepted: [
      [
        "SendEmail",
        new v1.SendEmailCommand({
          Source: "shop@example.org",
          Destination: to,
          Message: { ...simple, Subject: { Data: "SES version 1" } },
          Tags: [{ Name: "kind", Value: "order" }],
        }),
        ["Subject: SES version 1", "X-SES-Message-Tags: kind=order"],
      ],
      [
        "SendRawEmail",
        new v1.SendRawEmailCommand({ RawMessage: { Data: RAW }, Destinations: ["a@example.com"] }),
        ["Subject: Raw mail"],
      ],
    ],
    refused: [
      [
        "SendEmail from an invalid address",
        new v1.SendEmailCommand({ Source: "nobody", Destination: to, Message: simple }),
        "SESServiceException",
        "Source",
      ],
    ],
  },
};

const CLIENTS = [
  ["@sendgrid/mail", sendgridCalls],
  ["postmark", postmarkCalls],
  ["mailgun.js", mailgunCalls],
  ["@aws-sdk/client-sesv2", (inbox) => sesCalls(inbox, sesVersion2)],
  ["@aws-sdk/client-ses", (inbox) => sesCalls(inbox, sesVersion1)],
];

/** The version in the package.json of the nearest folder. */
function versionOf(name) {
  const main = require.resolve(name);
  const folder = main.slice(0, main.lastIndexOf(`/node_modules/${name}/`));
  return JSON.parse(readFileSync(`${folder}/node_modules/${name}/package.json`, "utf8")).version;
}

for (const [name, calls] of CLIENTS) {
  const inbox = `provider-${name.replaceAll(/[^a-z0-9]/g, "")}`;
  await api("POST", "/inboxes", { name: inbox });
  for await (const [call, run] of calls(inbox)) {
    const result = await run().then(
      (text) => ({ isOk: true, text }),
      (error) => ({ isOk: false, text: String(error?.stack ?? error) }),
    );
    console.log(JSON.stringify({ name, version: versionOf(name), call, ...result }));
  }
}
