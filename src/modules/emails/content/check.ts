/** Checks the message of a mail: its structure, its HTML and CSS, and on request its links. */

import { findLinks } from "../../../checks/find-links.ts";
import { lint } from "../../../checks/lint.ts";
import { createLinkCheck } from "../../../checks/request-links.ts";
import { nextIteration } from "../../../lib/yield.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { recipientLinks } from "../../../render/links.ts";
import type { OpenedMail } from "./contents.ts";
import type { EmailChecks, EmailFeature } from "./model.ts";

const MAX_FEATURES = 50;
/** Longest HTML whose support is checked; programs show about 100 kB. */
const MAX_CHARACTERS = 128 * 1024;

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
    const support = await supportOf(detail.html);
    const links = isLinked ? await requestLinks(urls, signal) : null;
    return { findings, ...support, urls, links };
  };
}

async function supportOf(html: string): Promise<Pick<EmailChecks, "support" | "features">> {
  // Loaded at the first check: the text of the data has half a megabyte.
  const { checkHtmlSupport } = await import("../../../checks/html-support/check.ts");
  const { findings, total } = checkHtmlSupport(html.slice(0, MAX_CHARACTERS));
  const features = findings
    .filter(({ shares }) => shares.supported < 100)
    .slice(0, MAX_FEATURES)
    .map(({ feature, found, results, shares }): EmailFeature => {
      const refusing = results.filter(({ support }) => support === "no");
      return {
        slug: feature.slug,
        title: feature.title,
        url: feature.url,
        uses: found,
        ...shares,
        unsupportedBy: refusing.map(({ family, platformName }) => `${family} ${platformName}`),
      };
    });
  return { support: total, features };
}
