/** Answers of pages for recipients, whose errors are pages as well. */

import type { App } from "../../core/app.ts";
import type { Incoming } from "../../http/incoming.ts";
import { errorPage, Html, pageResponse } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { chooseTexts } from "../../render/language.ts";

/** The responses of a route that shows a page. */
export const PAGES = { 200: Html, 404: Html, 500: Html };
/** The responses of a route that receives its form. */
export const PAGES_OF_FORM = {
  ...PAGES,
  400: Html,
  403: Html,
  409: Html,
  413: Html,
  429: Html,
  503: Html,
};

export type Asked = Pick<Incoming, "request" | "server">;

/** Answers errors with a page that does not describe them; the log gets the description. */
export function answering(
  app: App,
  answer: (app: App, asked: Asked) => Response | Promise<Response>,
) {
  return async ({ request, server }: Asked): Promise<Response> => {
    try {
      return await answer(app, { request, server });
    } catch (error) {
      const status = error instanceof AppError ? error.status : 500;
      app.log.error("a preference page failed", { status, error: describeError(error) });
      const texts = chooseTexts(null, request.headers.get("accept-language"));
      return pageResponse(errorPage(texts), status);
    }
  };
}
