/** The variables of a template, and the precedence of two values with the same name. */

import type { RecipientLinks } from "./links.ts";
import type { Variables } from "./template/template.ts";

type Recipient = {
  /** Contact id. */
  id: string;
  email: string;
  /** The contact's data, overlaid by the data of the request. */
  data: Variables;
  links: RecipientLinks;
  projectName: string;
  /** The language of the mail, in which dates are written. */
  language: string;
};

/**
 * The data, at the top level and as `data`; variables of the service hide keys of the same name.
 */
export function templateVariables(recipient: Recipient): Variables {
  const { id, email, data, links, projectName, language } = recipient;
  const { unsubscribeUrl, subscribeUrl, manageUrl } = links;
  return mergeVariables(data, {
    data,
    id,
    email,
    // Names for templates that were written for Plunk.
    plunk_id: id,
    plunk_email: email,
    unsubscribeUrl,
    subscribeUrl,
    manageUrl,
    project: { name: projectName, language },
  });
}

/**
 * Merges two sets of variables; those in `above` win. A variable `order` in `above` also removes a
 * key `order.total` of `below`: otherwise `{{ order.total }}` would render the contact's key
 * instead of the value that the request sent.
 */
export function mergeVariables(below: Variables, above: Variables): Variables {
  const variables: Record<string, unknown> = { ...below, ...above };
  for (const name in below) {
    const dot = name.indexOf(".");
    if (dot === -1 || Object.hasOwn(above, name)) continue;
    if (Object.hasOwn(above, name.slice(0, dot))) delete variables[name];
  }
  return variables;
}
