/** GET /api/v1/message/{id}/html-check    the support of mail programs for the HTML of a message */

import { badRequest, jsonAnswer } from "./answers.ts";
import type { MailpitMessages, MailpitRoute } from "./context.ts";

export function mailpitHtmlCheckRoute(messages: MailpitMessages): MailpitRoute {
  return [
    "GET",
    "/api/v1/message/:id/html-check",
    async (context) => {
      const { html } = await messages.detailOf(await messages.messageOf(context));
      if (html === "") throw badRequest("message does not contain HTML");
      return jsonAnswer({});
    },
  ];
}
