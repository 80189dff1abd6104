/** Says whether a template can be the confirmation mail of a form. */

import type { App } from "../../core/app.ts";
import type { TemplateRow } from "../templates.ts";
import { bodyToSend } from "../templates/assembled.ts";

/** The reason why it cannot, as a predicate; null if it can. */
export function confirmationFault(app: App, template: TemplateRow): string | null {
  if (template.type !== "TRANSACTIONAL") return "must be TRANSACTIONAL";
  return bodyToSend(app, template).includes("confirmUrl")
    ? null
    : "must contain {{ confirmUrl }}, the link that confirms";
}
