/** What a template sees, and in which order one value hides another (interface decision F). */

import type { RecipientLinks } from "./links.ts";
import type { Variables } from "./template.ts";

export type Recipient = {
  /** Contact id. */
  id: string;
  email: string;
  /** The contact's data with the request's over it. */
  data: Variables;
  links: RecipientLinks;
  projectName: string;
};

export function templateVariables(recipient: Recipient): Variables {
  return {
    ...recipient.data,
    data: recipient.data,
    id: recipient.id,
    email: recipient.email,
    ...recipient.links,
    project: { name: recipient.projectName },
  };
}
