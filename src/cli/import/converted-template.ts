/** A template of another product, written in Liquid, with the first reason why that is not possible. */

import type { Converted } from "./convert-handlebars.ts";

type Given = {
  name: string;
  subject: string | null | undefined;
  html: string | null | undefined;
};

export function convertedTemplate(
  { name, subject, html }: Given,
  convert: (source: string) => Converted,
) {
  const [line, body] = [convert(subject || name), convert(html ?? "")];
  const faults = [
    ...(html ? [] : ["it has no HTML"]),
    ...(line.fault === null ? [] : [`subject, ${line.fault}`]),
    ...(body.fault === null ? [] : [`body, ${body.fault}`]),
  ];
  return {
    name,
    subject: line.liquid ?? "",
    body: body.liquid ?? "",
    type: "TRANSACTIONAL" as const,
    fault: faults[0] ?? null,
  };
}
