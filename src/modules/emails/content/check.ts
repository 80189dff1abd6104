/** Checks the message of a mail: its structure, its HTML and CSS, and on request its links. */

import { createLinkCheck } from "../../../checks/request-links.ts";
import type { App } from "../../../core/app.ts";
import type { FetchGuarded } from "../../../protocols/fetch-guarded/fetch-guarded.ts";
import { SAMPLE_ID } from "../../../render/letter/tokens.ts";
import { recipientLinks } from "../../../render/links.ts";
import { checkContent } from "../../content-work/content-work.ts";
import type { OpenedMail } from "./contents.ts";
import type { EmailChecks } from "./model.ts";

type CheckOptions = {
  projectSeq: number;
  /** Id of the mail. */
  id: string;
  /** Whether the links are requested. */
  isLinked: boolean;
  /** Ends these requests. */
  signal: AbortSignal;
};

export type CheckEmail = (
  read: () => Promise<OpenedMail>,
  options: CheckOptions,
) => Promise<EmailChecks>;

export function createEmailCheck(deps: {
  app: App;
  fetchGuarded: FetchGuarded;
  url: string;
  linkKey: Uint8Array;
}): CheckEmail {
  const requestLinks = createLinkCheck(deps.fetchGuarded);

  return async (read, { projectSeq, id, isLinked, signal }) => {
    const checks = await checkContent(deps.app, projectSeq, async () => {
      const { raw, detail } = await read();
      // The text part has the links of the HTML, from which it is made.
      return { detail, raw, hasBareLf: false, links: "html" };
    });
    // A viewer sees the links of the sample.
    const own = [id, SAMPLE_ID].flatMap((each) =>
      Object.values(recipientLinks(deps.url, deps.linkKey, each)),
    );
    const urls = checks.urls.filter((url) => !own.includes(url));
    return { ...checks, urls, links: isLinked ? await requestLinks(urls, signal) : null };
  };
}
