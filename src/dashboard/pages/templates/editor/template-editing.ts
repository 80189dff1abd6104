import type { Editing } from "../../../ui/editors/use-autosave.ts";
import type { TemplateSource } from "./template-source.ts";

/** The editor of a template, as its parts get it. */
export type TemplateEditing = Editing<TemplateSource>;
