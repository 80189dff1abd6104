/**
 * Serves the documentation as Markdown, for programs and language models: `GET /llms.txt` lists the
 * pages, and `GET /docs/sending.md` is one of them. They need no key, like the documentation of the API.
 */

import { Elysia } from "elysia";
import { AppError } from "../lib/errors.ts";
import { undocumented } from "./documented.ts";

const hidden = { detail: undocumented("ANYONE") };

export function docsRoutes() {
  return new Elysia({ name: "docs-routes" })
    .get("/llms.txt", async () => markdown((await pages()).docsList(), "text/plain"), hidden)
    .get(
      "/docs/:page",
      async ({ params }) => {
        const text = (await pages()).docsPage(params.page);
        if (text !== null) return markdown(text, "text/markdown");
        throw new AppError(404, "ROUTE_NOT_FOUND", "The documentation has no page of this name.", {
          suggestion: "GET /llms.txt lists all pages.",
        });
      },
      hidden,
    );
}

const pages = () => import("./docs-text.ts");

function markdown(text: string, type: string): Response {
  return new Response(text, {
    headers: { "Content-Type": `${type}; charset=utf-8`, "X-Content-Type-Options": "nosniff" },
  });
}
