/** The variables with which the templates of a mail are rendered. */

import type { RecipientLinks } from "../../render/links.ts";
import type { Variables } from "../../render/template/template.ts";
import { templateVariables } from "../../render/variables.ts";
import type { LeasedMail } from "../lane/rows.ts";

type Recipient = Pick<LeasedMail, "contactId" | "to" | "variables" | "projectName" | "language">;

export function variablesOf(mail: Recipient, links: RecipientLinks): Variables {
  return templateVariables({
    id: mail.contactId ?? "",
    email: mail.to ?? "",
    data: JSON.parse(mail.variables),
    links,
    projectName: mail.projectName,
    language: mail.language,
  });
}
