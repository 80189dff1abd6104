/** The type of the argument that the reader of each product gets. */

import type { StatusWords } from "../../modules/contacts/import/standing.ts";
import type { Collection } from "./collection.ts";
import type { HttpClient } from "./http-client.ts";
import type { SourceFile } from "./source-files.ts";

/** The meanings of columns and statuses that the caller gives, as in `POST /contacts/import`. */
export type SourceReading = {
  mapping: Readonly<Record<string, string | null>>;
  statuses: StatusWords;
  encoding: string | null;
};

export type ImportSource = {
  /** The files that the command line names; none with a key. */
  files: () => Generator<SourceFile>;
  /** The interface of the product; null if files are imported. */
  client: HttpClient | null;
  collection: Collection;
  reading: SourceReading;
};
