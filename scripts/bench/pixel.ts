/** Helper, the baseline of `tracking`: an Elysia server that answers every request with a pixel. */

import "../../src/lib/production.ts";
import { Elysia } from "elysia";

const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const headers = { "Content-Type": "image/gif" };

new Elysia({ serve: { hostname: "127.0.0.1" } })
  .get("/*", () => new Response(PIXEL, { headers }))
  .listen({ hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    console.log(JSON.stringify({ port }));
  });
