/** Sources of relay reports as the interface shows and takes them. */

import { type Static, Type } from "@sinclair/typebox";
import { REPORT_PROVIDERS } from "../../db/schema/report-sources.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

export const REPORT_PATH = "/v1/relay-reports";

const Provider = named("ReportProvider", OneOf(REPORT_PROVIDERS), {
  description: "The provider of the relay (docs/relay-reports.md)",
});
const Time = Type.String({ format: "date-time" });
const Count = Type.Integer({ minimum: 0 });

const FIELDS = {
  id: Type.String(),
  provider: Provider,
  name: Type.String(),
  needsSigningKey: Type.Boolean(),
  topicArn: Nullable(Type.String()),
  received: Count,
  counted: Count,
  unknown: Count,
  lastReceivedAt: Nullable(Time),
  refusedAt: Nullable(Time),
  refusal: Nullable(Type.String()),
  createdAt: Time,
};
const TEXTS = {
  id: "Id of the source",
  provider: "The provider that sends the reports",
  name: "Its name",
  needsSigningKey:
    "True while its reports are refused, because the key for their signatures is missing",
  topicArn:
    "SES: the SNS topic whose subscription was confirmed; null before, and for other providers",
  received: "Reports that were accepted",
  counted: "Reports that changed something",
  unknown: "Reports about mail that this project did not send",
  lastReceivedAt: "When the last request was accepted; null if none was",
  refusedAt: "When the last request was refused; null if one was accepted since",
  refusal: "Why it was refused",
  createdAt: "When the source was created",
};
const SOURCE_EXAMPLE = {
  id: EXAMPLE.webhookId,
  provider: "POSTMARK" as const,
  name: "Postmark",
  needsSigningKey: false,
  topicArn: null,
  received: 1_204,
  counted: 1_190,
  unknown: 3,
  lastReceivedAt: EXAMPLE.createdAt,
  refusedAt: null,
  refusal: null,
  createdAt: EXAMPLE.createdAt,
};

export const ReportSource = named("ReportSource", described(Type.Object(FIELDS), TEXTS), {
  description: "A relay provider that reports what became of mail",
  example: SOURCE_EXAMPLE,
});
export type ReportSource = Static<typeof ReportSource>;

export const CreatedReportSource = named(
  "CreatedReportSource",
  described(Type.Object({ ...FIELDS, url: Type.String() }), {
    ...TEXTS,
    url: "The URL for the webhook at the provider, which is shown only in this response",
  }),
  {
    description: "A new source of reports with its URL",
    example: { ...SOURCE_EXAMPLE, url: `https://mail.example.com${REPORT_PATH}/rr_EXAMPLE` },
  },
);

export type CreatedReportSource = Static<typeof CreatedReportSource>;

const SigningKey = Type.String({ minLength: 1, maxLength: 1_000 });
const KEY_TEXT =
  "SENDGRID: the verification key; MAILGUN: the HTTP webhook signing key; RESEND: the signing secret " +
  "(whsec_…). Other providers have none";

export const ReportSourceInput = named(
  "ReportSourceInput",
  described(
    Input({
      provider: Provider,
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      signingKey: Type.Optional(SigningKey),
    }),
    {
      provider: "The provider that sends the reports",
      name: "A name by which people recognise the source; default: the name of the provider",
      signingKey: `${KEY_TEXT}. It can be set later, because some providers show it only then`,
    },
  ),
  { description: "A source of reports to create", example: { provider: "POSTMARK" } },
);

export const ReportSourceChange = named(
  "ReportSourceChange",
  described(Input({ signingKey: SigningKey }), { signingKey: KEY_TEXT }),
  { description: "The new signing key of a source", example: { signingKey: "whsec_EXAMPLE" } },
);

export const ReportSourceUrl = named(
  "ReportSourceUrl",
  described(Input({ url: Type.String({ minLength: 1, maxLength: 2_000 }) }), {
    url: "The URL that was entered at the provider",
  }),
  {
    description: "The URL of a source, to be tested",
    example: { url: `https://mail.example.com${REPORT_PATH}/rr_EXAMPLE` },
  },
);

export const ReportSourceTest = named(
  "ReportSourceTest",
  described(Type.Object({ isReached: Type.Boolean(), reason: Nullable(Type.String()) }), {
    isReached: "Whether the URL leads to this source",
    reason: "Why it does not; null if it does",
  }),
  {
    description: "Whether the URL of a source leads here",
    example: { isReached: true, reason: null },
  },
);

export type ReportSourceTest = Static<typeof ReportSourceTest>;
