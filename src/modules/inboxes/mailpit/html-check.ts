/** GET /api/v1/message/{id}/html-check    the support of mail programs for the HTML of a message */

import type { SupportFinding, SupportResult } from "../../../checks/html-support/check.ts";
import type { App } from "../../../core/app.ts";
import { checkSupport } from "../../content-work/content-work.ts";
import { badRequest, jsonAnswer } from "./answers.ts";
import type { MailpitMessages, MailpitRoute } from "./context.ts";

export function mailpitHtmlCheckRoute(app: App, messages: MailpitMessages): MailpitRoute {
  return [
    "GET",
    "/api/v1/message/:id/html-check",
    async (context) => {
      const message = await messages.messageOf(context);
      const { projectSeq } = context.inbox;
      const { nodes, findings, total } = await checkSupport(app, projectSeq, async () => {
        const html = await messages.htmlOf(message);
        if (html === "") throw badRequest("message does not contain HTML");
        return html;
      });
      // Loaded at the first check: the text of the data has half a megabyte.
      const { supportPlatforms } = await import("../../../checks/html-support/check.ts");
      return jsonAnswer({
        Warnings: findings.filter(({ shares }) => shares.supported < 100).map(warningOf),
        Platforms: supportPlatforms(),
        Total: {
          Tests: findings.length,
          Nodes: nodes,
          Supported: total.supported,
          Partial: total.partial,
          Unsupported: total.unsupported,
        },
      });
    },
  ];
}

function warningOf({ feature, found, results, shares }: SupportFinding) {
  const { slug, title, description, url, category, tags, keywords, notes } = feature;
  return {
    Slug: slug,
    Title: title,
    Description: description,
    URL: url,
    Category: category,
    Tags: tags,
    Keywords: keywords,
    Results: results.map(resultOf),
    NotesByNumber: notes,
    Score: {
      Found: found,
      Supported: shares.supported,
      Partial: shares.partial,
      Unsupported: shares.unsupported,
    },
  };
}

function resultOf({ family, platform, platformName, version, support, notes }: SupportResult) {
  return {
    Name: `${family} ${platformName} (${version})`,
    Platform: platform,
    Family: family,
    Version: version,
    Support: support,
    NoteNumber: notes,
  };
}
