/** The variables of a template, and which of two values with one name is used. */

import type { RecipientLinks } from "./links.ts";
import type { Variables } from "./template/template.ts";

export type Recipient = {
  /** Contact id. */
  id: string;
  email: string;
  /** The contact's data with the request's over it. */
  data: Variables;
  links: RecipientLinks;
  projectName: string;
};

/** The data at the top level and as `data`; the variables of the service hide keys of the data. */
export function templateVariables(recipient: Recipient): Variables {
  const { id, email, data, links, projectName } = recipient;
  return overlaid(data, {
    data,
    id,
    email,
    // The names that templates of Plunk use.
    plunk_id: id,
    plunk_email: email,
    ...links,
    project: { name: projectName },
  });
}

/**
 * Variables with others over them. A variable `order` also hides a key `order.total` below it, which
 * `{{ order.total }}` would render otherwise: a contact cannot choose what a request's data means.
 */
export function overlaid(below: Variables, above: Variables): Variables {
  const variables: Record<string, unknown> = { ...below, ...above };
  for (const name in below) {
    const dot = name.indexOf(".");
    if (dot === -1 || Object.hasOwn(above, name)) continue;
    if (Object.hasOwn(above, name.slice(0, dot))) delete variables[name];
  }
  return variables;
}
