/** POST / of Amazon SES: SendEmail and SendRawEmail of its older interface (version 2010-12-01). */

import { newId } from "../../../lib/id.ts";
import { oneLine } from "../../../lib/one-line.ts";
import { type FormFields, readProviderForm } from "./form.ts";
import { readAccessKeyId } from "./keys.ts";
import { checkValue, invalidField, type Provider, ProviderFault } from "./provider.ts";
import { composeSes, MISSING_KEY, regionOf, SesSend } from "./ses.ts";

const NAMESPACE = "http://ses.amazonaws.com/doc/2010-12-01/";

/** The parameters of both actions; those of lists end with a number. */
const COMMON = /^(?:Action|Version|Source|SourceArn|ReturnPathArn|ConfigurationSetName)$/;
const TAGS = /^Tags\.member\.\d{1,4}\.(?:Name|Value)$/;
const ACTIONS: Readonly<Record<string, RegExp>> = {
  SendEmail:
    /^(?:ReturnPath|Destination\.(?:To|Cc|Bcc)Addresses\.member\.\d{1,4}|ReplyToAddresses\.member\.\d{1,4}|Message\.(?:Subject|Body\.(?:Text|Html))\.(?:Data|Charset))$/,
  SendRawEmail: /^(?:FromArn|RawMessage\.Data|Destinations\.member\.\d{1,4})$/,
};

export const sesQuery: Provider = {
  readKey: readAccessKeyId,
  missingKey: MISSING_KEY,

  async receive(call) {
    const form = await readProviderForm(call);
    const action = form.text("Action") ?? "";
    const own = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (own === undefined) {
      const known = Object.keys(ACTIONS).join(" and ");
      throw new ProviderFault(400, "Action", `Action: only ${known} are caught`);
    }
    const other = form
      .names()
      .find((name) => !COMMON.test(name) && !TAGS.test(name) && !own.test(name));
    if (other !== undefined) throw invalidField(other.slice(0, 200), "is not a known parameter");
    const send = checkValue(SesSend, action === "SendEmail" ? sendOf(form) : rawSendOf(form));
    const { now, request } = call;
    const { mail, id } = composeSes(send, { now, region: regionOf(request) });
    const result = `<${action}Result><MessageId>${id}</MessageId></${action}Result>`;
    return { mails: [mail], response: xml(`${action}Response`, result, { now, status: 200 }) };
  },

  refuse({ status, message, headers }, now) {
    const code = codeOf(status);
    const type = status >= 500 ? "Receiver" : "Sender";
    const text = Bun.escapeHTML(oneLine(ownNames(message)));
    const error = `<Error><Type>${type}</Type><Code>${code}</Code><Message>${text}</Message></Error>`;
    const answered = status === 401 || status === 403 ? 403 : status >= 500 ? status : 400;
    return xml("ErrorResponse", error, { now, status: answered, headers });
  },
};

/** The refusal of a field, whose path is that of version 2, with its name in this version. */
function ownNames(message: string): string {
  return message
    .replace(/^FromEmailAddress\b/, "Source")
    .replace(/^Content\.Simple\b/, "Message")
    .replace(/^Content\.Raw\b/, "RawMessage");
}

function codeOf(status: number): string {
  if (status === 401) return "MissingAuthenticationToken";
  if (status === 403) return "AccessDenied";
  return status >= 500 ? "ServiceUnavailable" : "InvalidParameterValue";
}

function xml(
  name: string,
  content: string,
  { now, status, headers = {} }: { now: number; status: number; headers?: Record<string, string> },
): Response {
  const id = newId(now);
  const metadata =
    name === "ErrorResponse"
      ? `<RequestId>${id}</RequestId>`
      : `<ResponseMetadata><RequestId>${id}</RequestId></ResponseMetadata>`;
  return new Response(`<${name} xmlns="${NAMESPACE}">${content}${metadata}</${name}>`, {
    status,
    headers: { ...headers, "Content-Type": "text/xml" },
  });
}

/** The call in the form of version 2. */
function sendOf(form: FormFields) {
  const body = (part: string) => {
    const Data = form.text(`Message.Body.${part}.Data`);
    return Data === null ? null : { Data };
  };
  return {
    ...commonOf(form),
    Destination: {
      ToAddresses: members(form, "Destination.ToAddresses"),
      CcAddresses: members(form, "Destination.CcAddresses"),
      BccAddresses: members(form, "Destination.BccAddresses"),
    },
    ReplyToAddresses: members(form, "ReplyToAddresses"),
    FeedbackForwardingEmailAddress: form.text("ReturnPath"),
    Content: {
      Simple: {
        Subject: { Data: form.text("Message.Subject.Data") },
        Body: { Text: body("Text"), Html: body("Html") },
      },
    },
  };
}

function rawSendOf(form: FormFields) {
  return {
    ...commonOf(form),
    Destination: { ToAddresses: members(form, "Destinations") },
    Content: { Raw: { Data: form.text("RawMessage.Data") ?? "" } },
  };
}

function commonOf(form: FormFields) {
  const numbers = form
    .names()
    .flatMap((name) => /^Tags\.member\.(\d{1,4})\.Name$/.exec(name)?.[1] ?? []);
  const arns = ["SourceArn", "FromArn"].flatMap((name) => form.texts(name)).join(", ");
  return {
    FromEmailAddress: form.text("Source"),
    FromEmailAddressIdentityArn: arns === "" ? null : arns,
    FeedbackForwardingEmailAddressIdentityArn: form.text("ReturnPathArn"),
    ConfigurationSetName: form.text("ConfigurationSetName"),
    EmailTags: numbers.map((number) => ({
      Name: form.text(`Tags.member.${number}.Name`) ?? "",
      Value: form.text(`Tags.member.${number}.Value`) ?? "",
    })),
  };
}

/** The items of a list, which are numbered from 1. */
function members(form: FormFields, name: string): string[] {
  const prefix = `${name}.member.`;
  return form.names().flatMap((each) => (each.startsWith(prefix) ? form.texts(each) : []));
}
