/** Checks the message of a mail: its structure, its HTML and CSS, and on request its links. */

import { summarizeSupport } from "../../../checks/html-support/summary.ts";
import { findLinks } from "../../../checks/find-links.ts";
import { lint } from "../../../checks/lint.ts";
import { createLinkCheck } from "../../../checks/request-links.ts";
import { nextIteration } from "../../../lib/yield.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { recipientLinks } from "../../../render/links.ts";
import type { OpenedMail } from "./contents.ts";
import type { EmailChecks } from "./model.ts";

/** `isLinked`: whether the links are requested; `signal` ends these requests. */
type CheckOptions = { isLinked: boolean; signal: AbortSignal };

export type CheckEmail = (opened: OpenedMail, options: CheckOptions) => Promise<EmailChecks>;

export function createEmailCheck(deps: {
  fetchGuarded: FetchGuarded;
  url: string;
  linkKey: Uint8Array;
}): CheckEmail {
  const requestLinks = createLinkCheck(deps.fetchGuarded);

  return async ({ mail, raw, detail }, { isLinked, signal }) => {
    const own = Object.values(recipientLinks(deps.url, deps.linkKey, mail.id));
    // The text part has the links of the HTML, from which it is made.
    const urls = findLinks({ html: detail.html, text: "" })
      .map(({ url }) => url)
      .filter((url) => !own.includes(url));
    // Each of these takes up to a tenth of a second for the largest bodies; other work runs between.
    await nextIteration();
    const findings = lint({ detail, raw, hasBareLf: false });
    await nextIteration();
    const support = await summarizeSupport(detail.html);
    const links = isLinked ? await requestLinks(urls, signal) : null;
    return { findings, ...support, urls, links };
  };
}
