/** The module of templates: stores and previews the mails that requests and workflows refer to. */

import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Module } from "../module.ts";
import { templateRoutes } from "./routes.ts";
import type { Previews, Templates } from "./service.ts";

export function createTemplateModule(deps: {
  admission: Admission;
  templates: Templates;
  previews: Previews;
  writer: Writer;
}): Module {
  const { preview } = deps.previews;
  return { name: "templates", routes: [templateRoutes({ ...deps, preview })] };
}
